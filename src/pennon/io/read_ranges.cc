#include "pennon/io/read_ranges.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "pennon/error.h"

namespace pennon::io {

namespace {

/// So many requests, one after the other, are worth telling the store of.
constexpr size_t kManyReads = 8;

/// Where empty reads point: not null, never read from.
const uint8_t kNothing = 0;

arrow::Status ReadCut(const ReadableFile& file, uint64_t offset, uint8_t* into, uint64_t size,
                      uint64_t max_request) {
  while (size > 0) {
    const uint64_t piece = std::min(size, max_request);
    ARROW_RETURN_NOT_OK(file.ReadAt(offset, {into, static_cast<size_t>(piece)}));
    offset += piece;
    into += piece;
    size -= piece;
  }
  return arrow::Status::OK();
}

/// Most reads come in order.
void SortByOffset(std::vector<RangeRead*>& reads) {
  const auto by_offset = [](const RangeRead* a, const RangeRead* b) {
    return a->offset < b->offset;
  };
  if (!std::is_sorted(reads.begin(), reads.end(), by_offset))
    std::stable_sort(reads.begin(), reads.end(), by_offset);
}

/// Reads that name their place: joined while they go on in the file, wherever they go.
arrow::Status ReadInto(const ReadableFile& file, std::vector<RangeRead*>& reads,
                       const CoalesceOptions& options) {
  std::vector<std::span<uint8_t>> parts;
  for (size_t i = 0; i < reads.size();) {
    const uint64_t start = reads[i]->offset;
    uint64_t size = 0;
    parts.clear();
    for (; i < reads.size(); ++i) {
      RangeRead& read = *reads[i];
      if (read.offset != start + size) break;
      if (size > 0 && size + read.size > options.max_request) break;
      read.data = read.into;
      if (!parts.empty() && parts.back().data() + parts.back().size() == read.into) {
        parts.back() = {parts.back().data(), parts.back().size() + read.size};
      } else {
        parts.emplace_back(read.into, read.size);
      }
      size += read.size;
    }
    ARROW_RETURN_NOT_OK(parts.size() == 1
                            ? ReadCut(file, start, parts[0].data(), size, options.max_request)
                            : file.ReadScattered(start, parts));
  }
  return arrow::Status::OK();
}

/// Reads that want a place: one buffer for each group without a hole above the limit.
arrow::Status ReadGroups(const ReadableFile& file, std::vector<RangeRead*>& reads,
                         arrow::MemoryPool* pool, const CoalesceOptions& options,
                         RangeBuffers* buffers) {
  for (size_t i = 0; i < reads.size();) {
    const uint64_t start = reads[i]->offset;
    uint64_t end = start;
    const size_t group = i;
    for (; i < reads.size() &&
           (i == group || reads[i]->offset <= end || reads[i]->offset - end <= options.hole);
         ++i) {
      end = std::max(end, reads[i]->offset + reads[i]->size);
    }
    ARROW_ASSIGN_OR_RAISE(auto buffer,
                          arrow::AllocateBuffer(static_cast<int64_t>(end - start), pool));
    uint8_t* const base = buffer->mutable_data();
    ARROW_RETURN_NOT_OK(ReadCut(file, start, base, end - start, options.max_request));
    for (size_t k = group; k < i; ++k) reads[k]->data = base + (reads[k]->offset - start);
    buffers->push_back(std::move(buffer));
  }
  return arrow::Status::OK();
}

/// Announces reads if they are many; near ones as one. They ascend.
void Announce(const ReadableFile& file, std::span<RangeRead* const> reads,
              const CoalesceOptions& options) {
  if (reads.size() < kManyReads) return;
  std::vector<ByteRange> ranges;
  for (const RangeRead* read : reads) {
    const uint64_t end = ranges.empty() ? 0 : ranges.back().offset + ranges.back().size;
    if (!ranges.empty() && read->offset <= end + options.hole) {
      ranges.back().size = std::max(end, read->offset + read->size) - ranges.back().offset;
    } else {
      ranges.push_back({read->offset, read->size});
    }
  }
  if (ranges.size() >= kManyReads) file.WillRead(ranges);
}

}  // namespace

arrow::Result<RangeBuffers> ReadRanges(const ReadableFile& file, std::span<RangeRead* const> reads,
                                       arrow::MemoryPool* pool, const CoalesceOptions& options) {
  std::vector<RangeRead*> placed, unplaced;
  const uint64_t file_size = file.size();
  for (RangeRead* read : reads) {
    if (read->offset > file_size || read->size > file_size - read->offset) {
      return Corrupt(file.path(), "a range to read is not inside the file: offset ", read->offset,
                     ", size ", read->size, ", file size ", file_size);
    }
    if (read->size == 0) {
      read->data = read->into != nullptr ? read->into : &kNothing;
    } else {
      (read->into != nullptr ? placed : unplaced).push_back(read);
    }
  }
  if (std::shared_ptr<arrow::Buffer> mapped = file.Mapped()) {
    for (RangeRead* read : placed) {
      std::memcpy(read->into, mapped->data() + read->offset, read->size);
      read->data = read->into;
    }
    for (RangeRead* read : unplaced) read->data = mapped->data() + read->offset;
    return RangeBuffers{std::move(mapped)};
  }
  SortByOffset(placed);
  SortByOffset(unplaced);
  Announce(file, placed, options);
  Announce(file, unplaced, options);
  RangeBuffers buffers;
  ARROW_RETURN_NOT_OK(ReadInto(file, placed, options));
  ARROW_RETURN_NOT_OK(ReadGroups(file, unplaced, pool, options, &buffers));
  return buffers;
}

}  // namespace pennon::io
