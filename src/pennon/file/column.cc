#include "pennon/file/column.h"

#include <algorithm>
#include <optional>
#include <utility>

#include <arrow/buffer.h>

#include "pennon/encoding/catalog.h"
#include "pennon/encoding/v20/page.h"
#include "pennon/error.h"
#include "pennon/file/leaf_field.h"
#include "pennon/file/rounds.h"

namespace pennon::file {

namespace {

/// Bytes of decoders that a column keeps between reads.
constexpr size_t kCacheBytes = 4 << 20;

}  // namespace

arrow::Status Located(const arrow::Status& status, const std::string& path, const Field& field) {
  const ErrorDetail* const detail = GetErrorDetail(status);
  if (status.ok() || detail == nullptr) return status;
  ErrorPlace place = detail->place();
  if (place.field) return status;
  if (place.path.empty()) place.path = path;
  place.field = field.id;
  return MakeError(detail->kind(), std::move(place),
                   JoinParts(status.message(), "; column '", field.name, "'"),
                   detail->retry_helps());
}

arrow::Result<std::shared_ptr<const Column>> Column::Open(const Container& container,
                                                          uint32_t column) {
  std::shared_ptr<Column> out(new Column());
  ARROW_ASSIGN_OR_RAISE(out->bytes_, container.ReadColumnMetadata(column));
  const bool is_v20 = container.footer().minor == 0;
  ARROW_ASSIGN_OR_RAISE(
      out->metadata_,
      wire::ParseColumnMetadata(
          out->bytes_, is_v20 ? "lance.encodings.ArrayEncoding" : "lance.encodings21.PageLayout",
          container.file_size(), /*aligned=*/!is_v20, container.path()));
  // Pages without values hold nothing to read.
  std::erase_if(out->metadata_.pages,
                [](const wire::PageMetadata& page) { return page.length == 0; });
  out->starts_.push_back(0);
  for (const wire::PageMetadata& page : out->metadata_.pages) {
    uint64_t end;
    if (__builtin_add_overflow(out->starts_.back(), page.length, &end)) {
      return Corrupt(container.path(),
                     "the pages of a column have more values than can be counted: column ", column);
    }
    out->starts_.push_back(end);
    for (const wire::BufferLocation& buffer : page.buffers) out->page_bytes_ += buffer.size;
  }
  out->decoders_.resize(out->metadata_.pages.size());
  return out;
}

arrow::Status Column::CheckRanges(std::span<const RowRange> ranges, uint64_t out_length) const {
  uint64_t row = 0, slot = 0;
  for (const RowRange& range : ranges) {
    if (range.first < row || range.first > length() || range.count > length() - range.first) {
      return InvalidInput("rows to read must ascend and lie in the column: rows ", range.first,
                          " and ", range.count, " more, column length ", length());
    }
    if (range.out < slot || range.out > out_length || range.count > out_length - range.out) {
      return InvalidInput("slots to fill must ascend and lie in the output: slots ", range.out,
                          " and ", range.count, " more, output length ", out_length);
    }
    row = range.first + range.count;
    slot = range.out + range.count;
  }
  return arrow::Status::OK();
}

Column::Plan Column::SplitByPage(std::span<const RowRange> ranges) const {
  Plan plan;
  plan.rows.reserve(ranges.size() + 1);
  size_t page = 0;
  for (const RowRange& range : ranges) {
    uint64_t first = range.first;
    const uint64_t end = range.first + range.count;
    if (first < end && first >= starts_[page + 1]) {
      const auto above = std::upper_bound(starts_.begin() + static_cast<std::ptrdiff_t>(page),
                                          starts_.end(), first);
      page = static_cast<size_t>(above - starts_.begin()) - 1;
    }
    while (first < end) {
      const uint64_t count = std::min(end, starts_[page + 1]) - first;
      if (plan.pages.empty() || plan.pages.back().page != page) {
        plan.pages.push_back({page, plan.rows.size(), plan.rows.size()});
      }
      plan.rows.push_back({first - starts_[page], count, range.out + (first - range.first)});
      ++plan.pages.back().end_rows;
      plan.pages.back().count += count;
      first += count;
      if (first < end) ++page;
    }
  }
  return plan;
}

arrow::Result<Column::Decoder> Column::DecoderOf(const Container& container, const Field& field,
                                                 const encoding::LeafType& type,
                                                 size_t page) const {
  {
    const std::lock_guard lock(mutex_);
    if (decoders_[page] && decoders_type_ == type) return decoders_[page];
  }
  const wire::PageMetadata& metadata = metadata_.pages[page];
  encoding::PageDescription description{.path = container.path(),
                                        .column = field.name,
                                        .encoding = metadata.encoding,
                                        .minor = container.footer().minor,
                                        .length = metadata.length,
                                        .file_size = container.file_size(),
                                        .side_files = container.side_files()};
  for (const wire::BufferLocation& buffer : metadata.buffers) {
    description.buffers.push_back({buffer.position, buffer.size});
  }
  ARROW_ASSIGN_OR_RAISE(Decoder decoder, encoding::MakePageDecoder(description, type));
  const std::lock_guard lock(mutex_);
  if (!(decoders_type_ == type)) {
    std::fill(decoders_.begin(), decoders_.end(), nullptr);
    decoders_type_ = type;
  }
  decoders_[page] = decoder;
  return decoder;
}

arrow::Result<Column::Plan> Column::MakePlan(const Container& container, const Field& field,
                                             const encoding::LeafType& type,
                                             std::span<const RowRange> ranges,
                                             uint64_t out_length) const {
  // In 2.0 columns may hold blobs, for those who ask for them (ReadAs).
  if (metadata_.encoding != wire::ColumnEncodingKind::kValues && container.footer().minor != 0) {
    return Unsupported(container.path(), "columns with zone maps or blobs are not supported yet");
  }
  ARROW_RETURN_NOT_OK(CheckRanges(ranges, out_length));
  Plan plan = SplitByPage(ranges);
  for (PagePlan& page : plan.pages) {
    ARROW_ASSIGN_OR_RAISE(page.decoder, DecoderOf(container, field, type, page.page));
    const wire::PageMetadata& metadata = metadata_.pages[page.page];
    uint64_t size = 0;
    for (const wire::BufferLocation& buffer : metadata.buffers) size += buffer.size;
    const double share = static_cast<double>(page.count) / static_cast<double>(metadata.length);
    page.bytes = static_cast<uint64_t>(static_cast<double>(size) * share);
  }
  return plan;
}

arrow::Status Column::ReadPages(const Container& container, const Plan& plan,
                                encoding::ColumnOutput* out) const {
  std::vector<std::unique_ptr<encoding::PageRead>> reads;
  for (size_t first = 0; first < plan.pages.size();) {
    uint64_t bytes = 0;
    size_t end = first;
    reads.clear();
    for (; end < plan.pages.size(); ++end) {
      const PagePlan& page = plan.pages[end];
      if (end > first && bytes + page.bytes > kBatchBytes) break;
      bytes += page.bytes;
      ARROW_ASSIGN_OR_RAISE(auto read, page.decoder->Start(plan.RowsOf(page), out));
      reads.push_back(std::move(read));
    }
    ARROW_ASSIGN_OR_RAISE(
        const auto kept,
        FetchInRounds<encoding::PageRead>(container, std::span(reads),
                                          out->type().is_blob ? kMostBlobRounds : kMostRounds));
    for (auto& read : reads) ARROW_RETURN_NOT_OK(read->Decode());
    first = end;
  }
  return arrow::Status::OK();
}

std::unique_ptr<encoding::ColumnOutput> Column::ViewMapped(const Container& container,
                                                           const Plan& plan,
                                                           const encoding::LeafType& type,
                                                           uint64_t out_length) const {
  if (type.kind != encoding::LeafKind::kFixed || plan.rows.size() != 1) return nullptr;
  if (plan.rows[0].count != out_length) return nullptr;
  const std::shared_ptr<arrow::Buffer> mapped = container.Mapped();
  if (mapped == nullptr) return nullptr;
  const std::optional<uint64_t> offset = plan.pages[0].decoder->FlatOffset(plan.rows[0].first);
  // Arrow wants items aligned to their own size.
  const uint64_t item = type.bits_per_item / 8;
  if (!offset || item == 0 || *offset % (item & -item) != 0) return nullptr;
  const uint64_t bytes = out_length * (type.bits_per_slot() / 8);
  auto values =
      arrow::SliceBuffer(mapped, static_cast<int64_t>(*offset), static_cast<int64_t>(bytes));
  return encoding::ColumnOutput::MakeOver(type, out_length, std::move(values), container.pool());
}

void Column::TrimCache(const Plan& plan) const {
  size_t bytes = 0;
  for (const PagePlan& page : plan.pages) bytes += page.decoder->MemoryBytes();
  const std::lock_guard lock(mutex_);
  if (bytes > kCacheBytes) {
    for (const PagePlan& page : plan.pages) decoders_[page.page] = nullptr;
    return;
  }
  // Reads of other pages may have filled the cache: forget those first.
  size_t total = 0;
  for (const Decoder& decoder : decoders_) total += decoder ? decoder->MemoryBytes() : 0;
  if (total <= kCacheBytes) return;
  std::fill(decoders_.begin(), decoders_.end(), nullptr);
  for (const PagePlan& page : plan.pages) decoders_[page.page] = page.decoder;
}

arrow::Status Column::CheckEncoding(const Container& container, const ValueForm& form) const {
  if (metadata_.encoding == form.encoding) return arrow::Status::OK();
  if (metadata_.encoding == wire::ColumnEncodingKind::kZoneIndex) {
    return Unsupported(container.path(), "columns with zone maps are not supported yet");
  }
  return Corrupt(container.path(), metadata_.encoding == wire::ColumnEncodingKind::kBlob
                                       ? "column holds blobs, but its field does not say so"
                                       : "column of a blob field does not hold blobs");
}

arrow::Result<std::shared_ptr<const std::vector<uint64_t>>> Column::ItemStarts(
    std::string_view path) const {
  {
    const std::lock_guard lock(mutex_);
    if (item_starts_) return item_starts_;
  }
  auto starts = std::make_shared<std::vector<uint64_t>>(1, 0);
  for (const wire::PageMetadata& page : metadata_.pages) {
    ARROW_ASSIGN_OR_RAISE(const uint64_t items, encoding::V20ListItems(page.encoding, path));
    uint64_t end;
    if (__builtin_add_overflow(starts->back(), items, &end)) {
      return Corrupt(path, "the pages of a list have more items than can be counted");
    }
    starts->push_back(end);
  }
  const std::lock_guard lock(mutex_);
  item_starts_ = std::move(starts);
  return item_starts_;
}

arrow::Status Column::CheckStructHeader(std::string_view path) const {
  for (const wire::PageMetadata& page : metadata_.pages) {
    ARROW_RETURN_NOT_OK(encoding::CheckV20StructHeader(page.encoding, path));
  }
  return arrow::Status::OK();
}

arrow::Result<std::shared_ptr<arrow::ArrayData>> Column::ReadAs(const Container& container,
                                                                const Field& field,
                                                                const ValueForm& form,
                                                                std::span<const RowRange> ranges,
                                                                uint64_t out_length) const {
  const auto read = [&]() -> arrow::Result<std::shared_ptr<arrow::ArrayData>> {
    ARROW_RETURN_NOT_OK(CheckEncoding(container, form));
    // Decoders check what the pages claim, so this comes before the memory for it.
    ARROW_ASSIGN_OR_RAISE(const Plan plan,
                          MakePlan(container, field, form.leaf, ranges, out_length));
    if (const auto view = ViewMapped(container, plan, form.leaf, out_length))
      return view->Finish(form.type);
    ARROW_ASSIGN_OR_RAISE(auto out,
                          encoding::ColumnOutput::Make(form.leaf, out_length, container.pool()));
    uint64_t slot = 0;
    for (const RowRange& range : ranges) {
      out->ZeroSlots(slot, range.out - slot);
      slot = range.out + range.count;
    }
    out->ZeroSlots(slot, out_length - slot);
    ARROW_RETURN_NOT_OK(ReadPages(container, plan, out.get()));
    TrimCache(plan);
    return out->Finish(form.type);
  };
  auto result = read();
  if (!result.ok()) return Located(result.status(), container.path(), field);
  return result;
}

arrow::Result<std::shared_ptr<arrow::ArrayData>> Column::Read(const Container& container,
                                                              const Field& field,
                                                              std::span<const RowRange> ranges,
                                                              uint64_t out_length) const {
  auto leaf = LeafTypeOf(field);
  if (!leaf.ok()) return Located(leaf.status(), container.path(), field);
  const ValueForm form{.leaf = *std::move(leaf), .type = LeafArrowType(field)};
  return ReadAs(container, field, form, ranges, out_length);
}

size_t Column::MemoryBytes() const {
  size_t bytes =
      sizeof(*this) + bytes_.capacity() + starts_.capacity() * sizeof(uint64_t) +
      metadata_.pages.capacity() * (sizeof(wire::PageMetadata) + 2 * sizeof(wire::BufferLocation));
  const std::lock_guard lock(mutex_);
  for (const Decoder& decoder : decoders_)
    bytes += sizeof(Decoder) + (decoder ? decoder->MemoryBytes() : 0);
  return bytes;
}

}  // namespace pennon::file
