#include "pennon/encoding/mini_block/string_chunks.h"

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "pennon/encoding/kernels/fsst_values.h"
#include "pennon/encoding/kernels/variable.h"
#include "pennon/encoding/mini_block/general_chunks.h"
#include "pennon/error.h"
#include "pennon/wire/page_layout_writer.h"

namespace pennon::encoding {
namespace {

constexpr uint64_t kMaxVariableValues = 2048;
constexpr uint64_t kLargestText21 = 16 * 1024;  // leaves room for levels in a chunk of 32 KiB

// Values of the next chunk, from `first` on: what is left, if it fits, or a power of two.
template <typename Offset>
uint64_t ChunkValues(const Offset* offsets, uint64_t left, uint64_t max_bytes,
                     uint64_t max_values) {
  const auto bytes = [offsets](uint64_t count) {
    return (count + 1) * sizeof(Offset) + static_cast<uint64_t>(offsets[count] - offsets[0]);
  };
  if (left <= 2 || (left <= max_values && bytes(left) <= max_bytes)) return left;
  uint64_t count = 2;
  while (2 * count < left && 2 * count <= max_values && bytes(2 * count) <= max_bytes) {
    count *= 2;
  }
  return count;
}

template <typename Offset>
arrow::Result<EncodedChunks> CutChunks(const Offset* offsets, const uint8_t* bytes, uint64_t length,
                                       uint64_t max_bytes, uint64_t max_values) {
  constexpr int kBits = 8 * sizeof(Offset);
  EncodedChunks out{.encoding = wire::WriteVariable(kBits)};
  std::vector<uint8_t> stream;
  stream.reserve(static_cast<uint64_t>(offsets[length] - offsets[0]) +
                 length * sizeof(Offset) * 9 / 8 + 64);
  for (uint64_t at = 0; at < length;) {
    const uint64_t count = ChunkValues(offsets + at, length - at, max_bytes, max_values);
    const size_t start = stream.size();
    ARROW_RETURN_NOT_OK(
        EncodeVariableMiniBlock(offsets + at, bytes, static_cast<int64_t>(count), kBits, &stream));
    if (stream.size() - start > std::numeric_limits<uint32_t>::max()) {
      return Unsupported("", "Strings of this size do not fit the chunks of a page; bytes of ",
                         count, " values: ", stream.size() - start);
    }
    out.counts.push_back(static_cast<uint32_t>(count));
    out.sizes.push_back(static_cast<uint32_t>(stream.size() - start));
    at += count;
  }
  out.streams.push_back(arrow::Buffer::FromVector(std::move(stream)));
  return out;
}

}  // namespace

arrow::Result<EncodedChunks> EncodeStringChunks(const LeafValues& values,
                                                const PageOptions& options,
                                                uint64_t max_chunk_values,
                                                arrow::MemoryPool* pool) {
  uint64_t max_bytes = options.hints.minichunk_bytes;
  if (options.minor < 2) max_bytes = std::min(max_bytes, kLargestText21);
  const uint64_t max_values = std::min(max_chunk_values, kMaxVariableValues);
  ARROW_ASSIGN_OR_RAISE(const FsstValues coded, EncodeFsst(values, options.hints, pool));
  const arrow::Buffer& offsets = coded.used() ? *coded.offsets : *values.offsets;
  const arrow::Buffer& data = coded.used() ? *coded.data : *values.data;
  arrow::Result<EncodedChunks> chunks =
      values.type.offset_bits == 32 ? CutChunks(reinterpret_cast<const int32_t*>(offsets.data()),
                                                data.data(), values.length, max_bytes, max_values)
                                    : CutChunks(reinterpret_cast<const int64_t*>(offsets.data()),
                                                data.data(), values.length, max_bytes, max_values);
  ARROW_RETURN_NOT_OK(chunks.status());
  if (coded.used()) chunks->encoding = wire::WriteFsst(coded.table, chunks->encoding);
  if (IsGeneral(options.hints.compression)) {
    ARROW_RETURN_NOT_OK(CompressChunks(options.hints, &*chunks));
  }
  return chunks;
}

}  // namespace pennon::encoding
