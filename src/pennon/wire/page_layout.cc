#include "pennon/wire/page_layout.h"

#include <exception>
#include <utility>

#include "pennon/error.h"
#include "pennon/wire/message_reader.h"

namespace pennon::wire {

namespace {

/// Deeper trees than this do not occur: lists of lists are bounded by the schema's own depth.
constexpr int kMaxDepth = 24;

arrow::Status Bad(std::string_view path, std::string_view what) {
  return Corrupt(path, "cannot parse a page description: ", what);
}

uint64_t ParseScheme(std::string_view bytes) {
  uint64_t scheme = 0;
  pbf_reader message = ReaderOf(bytes);
  while (message.next()) {
    if (message.tag_and_type() == Tag(1, kVarint)) {
      scheme = message.get_uint64();
    } else {
      message.skip();
    }
  }
  return scheme;
}

/// Parses one message tree; the members say where in the tree of bytes it stands.
class EncodingParser {
 public:
  explicit EncodingParser(std::string_view path) : path_(path) {}

  arrow::Result<CompressiveEncoding> Parse(std::string_view bytes, int depth) const {
    if (depth > kMaxDepth) return Bad(path_, "encodings nested too deeply");
    std::optional<CompressiveEncoding> result;
    pbf_reader message = ReaderOf(bytes);
    while (message.next()) {
      const uint32_t number = message.tag();
      if (message.wire_type() != kBytes || number < 1 || number > 13) {
        message.skip();
        continue;
      }
      result.emplace();
      result->kind = static_cast<CompressionKind>(number);
      ARROW_RETURN_NOT_OK(ParseBody(ViewOf(message), depth, &*result));
    }
    if (!result) return Bad(path_, "an encoding names no known compression");
    return *std::move(result);
  }

 private:
  /// A child that the wire may give in any order: slot `at` of the children.
  struct ChildSlot {
    uint32_t tag;
    size_t at;
  };

  /// The fields that hold children, by kind; VariablePackedStruct is apart.
  static std::vector<ChildSlot> ChildSlots(CompressionKind kind) {
    switch (kind) {
      case CompressionKind::kVariable:
      case CompressionKind::kByteStreamSplit:
        return {{1, 0}};
      case CompressionKind::kOutOfLineBitpacking:
      case CompressionKind::kGeneral:
        return {{3, 0}};
      case CompressionKind::kFsst:
      case CompressionKind::kFixedSizeList:
      case CompressionKind::kPackedStruct:
        return {{2, 0}};
      case CompressionKind::kRle:
      case CompressionKind::kDictionary:
        return {{1, 0}, {2, 1}};
      default:
        return {};
    }
  }

  arrow::Status ParseBody(std::string_view bytes, int depth, CompressiveEncoding* out) const {
    if (out->kind == CompressionKind::kVariablePackedStruct) return ParseFields(bytes, depth, out);
    const std::vector<ChildSlot> slots = ChildSlots(out->kind);
    std::vector<std::optional<CompressiveEncoding>> children(slots.size());
    pbf_reader message = ReaderOf(bytes);
    while (message.next()) {
      const ChildSlot* slot = nullptr;
      for (const ChildSlot& s : slots) {
        if (message.tag() == s.tag && message.wire_type() == kBytes) slot = &s;
      }
      if (slot != nullptr) {
        ARROW_ASSIGN_OR_RAISE(children[slot->at], Parse(ViewOf(message), depth + 1));
      } else {
        ParseScalar(message, out);
      }
    }
    for (auto& child : children) {
      if (!child)
        return Bad(path_,
                   JoinParts("an encoding lacks its inner encoding: ", CompressionName(out->kind)));
      out->children.push_back(*std::move(child));
    }
    return arrow::Status::OK();
  }

  static void ParseScalar(pbf_reader& message, CompressiveEncoding* out) {
    const uint32_t tag = message.tag();
    const bool varint = message.wire_type() == kVarint;
    const bool bytes = message.wire_type() == kBytes;
    using Kind = CompressionKind;
    switch (out->kind) {
      case Kind::kFlat:
      case Kind::kInlineBitpacking:
      case Kind::kOutOfLineBitpacking:
        if (tag == 1 && varint) return void(out->bits = message.get_uint64());
        if (tag == 2 && bytes) return void(out->scheme = ParseScheme(ViewOf(message)));
        break;
      case Kind::kVariable:
        if (tag == 2 && bytes) return void(out->scheme = ParseScheme(ViewOf(message)));
        break;
      case Kind::kGeneral:
        if (tag == 1 && bytes) return void(out->scheme = ParseScheme(ViewOf(message)));
        break;
      case Kind::kConstant:
        if (tag == 1 && bytes) return void(out->value = std::string(ViewOf(message)));
        break;
      case Kind::kFsst:
        if (tag == 1 && bytes) return void(out->symbol_table = std::string(ViewOf(message)));
        break;
      case Kind::kDictionary:
        if (tag == 3 && varint) return void(out->num_items = message.get_uint64());
        break;
      case Kind::kFixedSizeList:
        if (tag == 1 && varint) return void(out->items_per_value = message.get_uint64());
        if (tag == 3 && varint) return void(out->has_validity = message.get_uint64() != 0);
        break;
      case Kind::kPackedStruct:
        if (tag == 1 && (varint || bytes)) return AppendUnsigned(message, &out->child_bits);
        break;
      default:
        break;
    }
    message.skip();
  }

  arrow::Status ParseFields(std::string_view bytes, int depth, CompressiveEncoding* out) const {
    pbf_reader message = ReaderOf(bytes);
    while (message.next()) {
      if (message.tag_and_type() != Tag(1, kBytes)) {
        message.skip();
        continue;
      }
      std::optional<CompressiveEncoding> value;
      std::optional<uint64_t> bits;
      bool variable = false;
      pbf_reader field = ReaderOf(ViewOf(message));
      while (field.next()) {
        switch (field.tag_and_type()) {
          case Tag(1, kBytes): {
            ARROW_ASSIGN_OR_RAISE(value, Parse(ViewOf(field), depth + 1));
            break;
          }
          case Tag(2, kVarint):
          case Tag(3, kVarint):
            variable = field.tag() == 3;
            bits = field.get_uint64();
            break;
          default:
            field.skip();
        }
      }
      if (!value || !bits)
        return Bad(path_, "a child of a packed struct lacks its encoding or width");
      out->children.push_back(*std::move(value));
      out->child_bits.push_back(*bits);
      out->child_is_variable.push_back(variable);
    }
    return arrow::Status::OK();
  }

  std::string_view path_;
};

class LayoutParser {
 public:
  explicit LayoutParser(std::string_view path) : path_(path), encodings_(path) {}

  arrow::Result<PageLayout> Parse(std::string_view bytes, int depth) const {
    if (depth > kMaxDepth) return Bad(path_, "layouts nested too deeply");
    std::optional<PageLayout> result;
    pbf_reader message = ReaderOf(bytes);
    while (message.next()) {
      switch (message.tag_and_type()) {
        case Tag(1, kBytes): {
          ARROW_ASSIGN_OR_RAISE(result.emplace().layout, MiniBlock(ViewOf(message)));
          break;
        }
        case Tag(2, kBytes): {
          ARROW_ASSIGN_OR_RAISE(result.emplace().layout, ConstantPage(ViewOf(message)));
          break;
        }
        case Tag(3, kBytes): {
          ARROW_ASSIGN_OR_RAISE(result.emplace().layout, FullZip(ViewOf(message)));
          break;
        }
        case Tag(4, kBytes): {
          ARROW_ASSIGN_OR_RAISE(result.emplace().layout, Blob(ViewOf(message), depth));
          break;
        }
        default:
          message.skip();
      }
    }
    if (!result) return Bad(path_, "it names no known layout");
    return *std::move(result);
  }

 private:
  arrow::Result<MiniBlockLayout> MiniBlock(std::string_view bytes) const {
    MiniBlockLayout out;
    std::optional<CompressiveEncoding> values;
    pbf_reader message = ReaderOf(bytes);
    while (message.next()) {
      switch (message.tag_and_type()) {
        case Tag(1, kBytes): {
          ARROW_ASSIGN_OR_RAISE(out.repetition, encodings_.Parse(ViewOf(message), 0));
          break;
        }
        case Tag(2, kBytes): {
          ARROW_ASSIGN_OR_RAISE(out.definition, encodings_.Parse(ViewOf(message), 0));
          break;
        }
        case Tag(3, kBytes): {
          ARROW_ASSIGN_OR_RAISE(values, encodings_.Parse(ViewOf(message), 0));
          break;
        }
        case Tag(4, kBytes): {
          ARROW_ASSIGN_OR_RAISE(out.dictionary, encodings_.Parse(ViewOf(message), 0));
          break;
        }
        case Tag(5, kVarint):
          out.num_dictionary_items = message.get_uint64();
          break;
        case Tag(6, kVarint):
        case Tag(6, kBytes): {
          ARROW_RETURN_NOT_OK(Layers(message, &out.layers));
          break;
        }
        case Tag(7, kVarint):
          out.num_buffers = message.get_uint64();
          break;
        case Tag(8, kVarint):
          out.repetition_index_depth = message.get_uint64();
          break;
        case Tag(9, kVarint):
          out.num_items = message.get_uint64();
          break;
        case Tag(10, kVarint):
          out.has_large_chunk = message.get_uint64() != 0;
          break;
        default:
          message.skip();
      }
    }
    if (!values) return Bad(path_, "a mini-block page lacks its value encoding");
    out.values = *std::move(values);
    return out;
  }

  arrow::Result<FullZipLayout> FullZip(std::string_view bytes) const {
    FullZipLayout out;
    std::optional<CompressiveEncoding> values;
    bool has_width = false;
    pbf_reader message = ReaderOf(bytes);
    while (message.next()) {
      switch (message.tag_and_type()) {
        case Tag(1, kVarint):
          out.bits_rep = message.get_uint64();
          break;
        case Tag(2, kVarint):
          out.bits_def = message.get_uint64();
          break;
        case Tag(3, kVarint):
        case Tag(4, kVarint):
          out.is_variable = message.tag() == 4;
          out.bits = message.get_uint64();
          has_width = true;
          break;
        case Tag(5, kVarint):
          out.num_items = message.get_uint64();
          break;
        case Tag(6, kVarint):
          out.num_visible_items = message.get_uint64();
          break;
        case Tag(7, kBytes): {
          ARROW_ASSIGN_OR_RAISE(values, encodings_.Parse(ViewOf(message), 0));
          break;
        }
        case Tag(8, kVarint):
        case Tag(8, kBytes): {
          ARROW_RETURN_NOT_OK(Layers(message, &out.layers));
          break;
        }
        default:
          message.skip();
      }
    }
    if (!values || !has_width)
      return Bad(path_, "a full-zip page lacks its value encoding or width");
    out.values = *std::move(values);
    return out;
  }

  arrow::Result<ConstantLayout> ConstantPage(std::string_view bytes) const {
    ConstantLayout out;
    pbf_reader message = ReaderOf(bytes);
    while (message.next()) {
      switch (message.tag_and_type()) {
        case Tag(5, kVarint):
        case Tag(5, kBytes): {
          ARROW_RETURN_NOT_OK(Layers(message, &out.layers));
          break;
        }
        case Tag(6, kBytes):
          out.inline_value = std::string(ViewOf(message));
          break;
        case Tag(7, kBytes): {
          ARROW_ASSIGN_OR_RAISE(out.repetition, encodings_.Parse(ViewOf(message), 0));
          break;
        }
        case Tag(8, kBytes): {
          ARROW_ASSIGN_OR_RAISE(out.definition, encodings_.Parse(ViewOf(message), 0));
          break;
        }
        case Tag(9, kVarint):
          out.num_rep_values = message.get_uint64();
          break;
        case Tag(10, kVarint):
          out.num_def_values = message.get_uint64();
          break;
        default:
          message.skip();
      }
    }
    return out;
  }

  arrow::Result<BlobLayout> Blob(std::string_view bytes, int depth) const {
    BlobLayout out;
    pbf_reader message = ReaderOf(bytes);
    while (message.next()) {
      switch (message.tag_and_type()) {
        case Tag(1, kBytes): {
          ARROW_ASSIGN_OR_RAISE(PageLayout inner, Parse(ViewOf(message), depth + 1));
          out.inner = std::make_shared<const PageLayout>(std::move(inner));
          break;
        }
        case Tag(2, kVarint):
        case Tag(2, kBytes): {
          ARROW_RETURN_NOT_OK(Layers(message, &out.layers));
          break;
        }
        default:
          message.skip();
      }
    }
    if (!out.inner) return Bad(path_, "a blob page lacks its inner layout");
    return out;
  }

  arrow::Status Layers(pbf_reader& message, std::vector<LayerKind>* out) const {
    std::vector<uint64_t> numbers;
    AppendUnsigned(message, &numbers);
    for (const uint64_t number : numbers) {
      if (number < 1 || number > 6)
        return Bad(path_, JoinParts("unknown kind of nesting layer: ", number));
      out->push_back(static_cast<LayerKind>(number));
    }
    return arrow::Status::OK();
  }

  std::string_view path_;
  EncodingParser encodings_;
};

}  // namespace

std::string_view CompressionName(CompressionKind kind) {
  static constexpr std::string_view kNames[] = {"",
                                                "Flat",
                                                "Variable",
                                                "Constant",
                                                "OutOfLineBitpacking",
                                                "InlineBitpacking",
                                                "Fsst",
                                                "Dictionary",
                                                "Rle",
                                                "ByteStreamSplit",
                                                "General",
                                                "FixedSizeList",
                                                "PackedStruct",
                                                "VariablePackedStruct"};
  return kNames[static_cast<size_t>(kind)];
}

arrow::Result<PageLayout> ParsePageLayout(std::string_view bytes, std::string_view path) {
  try {
    return LayoutParser(path).Parse(bytes, 0);
  } catch (const protozero::exception& error) {
    return Bad(path, error.what());
  }
}

}  // namespace pennon::wire
