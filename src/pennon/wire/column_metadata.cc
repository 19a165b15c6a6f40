#include "pennon/wire/column_metadata.h"

#include <optional>
#include <utility>

#include "pennon/error.h"
#include "pennon/wire/message_reader.h"

namespace pennon::wire {

namespace {

constexpr uint64_t kBufferAlignment = 64;

class Parser {
 public:
  Parser(std::string_view page_message, uint64_t file_size, bool aligned, std::string_view path)
      : page_message_(page_message), file_size_(file_size), aligned_(aligned), path_(path) {}

  arrow::Result<ColumnMetadata> Column(std::string_view bytes) const {
    ColumnMetadata out;
    bool has_encoding = false;
    pbf_reader message = ReaderOf(bytes);
    while (message.next()) {
      switch (message.tag_and_type()) {
        case Tag(1, kBytes): {
          ARROW_ASSIGN_OR_RAISE(auto body,
                                Envelope(ViewOf(message), "lance.encodings.ColumnEncoding"));
          ARROW_ASSIGN_OR_RAISE(out.encoding, ColumnEncoding(body));
          has_encoding = true;
          break;
        }
        case Tag(2, kBytes): {
          ARROW_ASSIGN_OR_RAISE(auto page, Page(ViewOf(message)));
          out.pages.push_back(std::move(page));
          break;
        }
        default:
          message.skip();
      }
    }
    if (!has_encoding) return Bad("the column's encoding is missing");
    return out;
  }

 private:
  template <typename... Parts>
  arrow::Status Bad(Parts&&... parts) const {
    return Corrupt(path_, "cannot parse column metadata: ", std::forward<Parts>(parts)...);
  }

  arrow::Result<ColumnEncodingKind> ColumnEncoding(std::string_view bytes) const {
    std::optional<ColumnEncodingKind> kind;
    pbf_reader message = ReaderOf(bytes);
    while (message.next()) {
      switch (message.tag_and_type()) {
        case Tag(1, kBytes):
          kind = ColumnEncodingKind::kValues;
          break;
        case Tag(2, kBytes):
          kind = ColumnEncodingKind::kZoneIndex;
          break;
        case Tag(3, kBytes):
          kind = ColumnEncodingKind::kBlob;
          break;
        default:
          break;
      }
      message.skip();
    }
    if (!kind) return Bad("the column's encoding is empty");
    return *kind;
  }

  /// Unwraps Encoding.direct.encoding, an Any that must hold `message_name`.
  arrow::Result<std::string_view> Envelope(std::string_view bytes,
                                           std::string_view message_name) const {
    std::optional<std::string_view> any;
    pbf_reader encoding = ReaderOf(bytes);
    while (encoding.next()) {
      if (encoding.tag_and_type() != Tag(2, kBytes)) {
        encoding.skip();
        continue;
      }
      any = std::string_view();
      pbf_reader direct = ReaderOf(ViewOf(encoding));
      while (direct.next()) {
        if (direct.tag_and_type() == Tag(1, kBytes)) {
          any = ViewOf(direct);
        } else {
          direct.skip();
        }
      }
    }
    if (!any) return Bad("an encoding is not stored in place (direct)");
    std::string_view url, value;
    pbf_reader message = ReaderOf(*any);
    while (message.next()) {
      switch (message.tag_and_type()) {
        case Tag(1, kBytes):
          url = ViewOf(message);
          break;
        case Tag(2, kBytes):
          value = ViewOf(message);
          break;
        default:
          message.skip();
      }
    }
    const size_t slash = url.rfind('/');
    if (slash == std::string_view::npos || url.substr(slash + 1) != message_name) {
      return Bad("an encoding has another message type than the file's version uses: expected ",
                 message_name, ", found '", url.substr(0, 80), "'");
    }
    return value;
  }

  arrow::Result<PageMetadata> Page(std::string_view bytes) const {
    PageMetadata out;
    std::vector<uint64_t> offsets, sizes;
    std::optional<std::string_view> encoding;
    pbf_reader message = ReaderOf(bytes);
    while (message.next()) {
      switch (message.tag_and_type()) {
        case Tag(1, kVarint):
          offsets.push_back(message.get_uint64());
          break;
        case Tag(1, kBytes):
          AppendUnsigned(message, &offsets);
          break;
        case Tag(2, kVarint):
          sizes.push_back(message.get_uint64());
          break;
        case Tag(2, kBytes):
          AppendUnsigned(message, &sizes);
          break;
        case Tag(3, kVarint):
          out.length = message.get_uint64();
          break;
        case Tag(4, kBytes):
          encoding = ViewOf(message);
          break;
        default:
          message.skip();
      }
    }
    if (!encoding) return Bad("a page's encoding is missing");
    ARROW_ASSIGN_OR_RAISE(out.encoding, Envelope(*encoding, page_message_));
    ARROW_ASSIGN_OR_RAISE(out.buffers, Buffers(offsets, sizes));
    return out;
  }

  arrow::Result<std::vector<BufferLocation>> Buffers(const std::vector<uint64_t>& offsets,
                                                     const std::vector<uint64_t>& sizes) const {
    if (offsets.size() != sizes.size()) {
      return Bad("a page gives another number of buffer offsets than sizes: ", offsets.size(),
                 " and ", sizes.size());
    }
    std::vector<BufferLocation> out(offsets.size());
    for (size_t i = 0; i < offsets.size(); ++i) {
      if (offsets[i] > file_size_ || sizes[i] > file_size_ - offsets[i]) {
        return Bad("a page buffer is not inside the file: offset ", offsets[i], ", size ", sizes[i],
                   ", file size ", file_size_);
      }
      if (aligned_ && offsets[i] % kBufferAlignment != 0) {
        return Bad("a page buffer does not start at a multiple of 64: offset ", offsets[i]);
      }
      out[i] = {offsets[i], sizes[i]};
    }
    return out;
  }

  std::string_view page_message_;
  uint64_t file_size_;
  bool aligned_;
  std::string_view path_;
};

}  // namespace

arrow::Result<ColumnMetadata> ParseColumnMetadata(std::string_view bytes,
                                                  std::string_view page_message, uint64_t file_size,
                                                  bool aligned, std::string_view path) {
  try {
    return Parser(page_message, file_size, aligned, path).Column(bytes);
  } catch (const protozero::exception& error) {
    return Corrupt(path, "cannot parse column metadata: ", error.what());
  }
}

}  // namespace pennon::wire
