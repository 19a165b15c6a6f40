#include "pennon/encoding/chunk_encoder.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <span>
#include <utility>

#include <arrow/util/bitmap_ops.h>

#include "pennon/encoding/bitpacking.h"
#include "pennon/encoding/rle.h"
#include "pennon/encoding/variable.h"
#include "pennon/error.h"
#include "pennon/wire/page_layout_writer.h"

namespace pennon::encoding {
namespace {

using Bytes = std::vector<uint8_t>;
using BufferPtr = std::shared_ptr<arrow::Buffer>;

constexpr uint64_t kChunkBytes = 8186;  // of value buffers of fixed width
constexpr uint64_t kMaxVariableValues = 2048;

bool IsWord(uint64_t bits) { return bits == 8 || bits == 16 || bits == 32 || bits == 64; }

// Bytes of the whole page in InlineBitpacking: a width word and a unit for every 1024 values.
template <typename Word>
uint64_t BitpackedBytes(const LeafValues& values) {
  uint64_t bytes = 0;
  const Word* words = reinterpret_cast<const Word*>(values.data->data());
  for (uint64_t at = 0; at < values.length; at += kUnitValues) {
    const uint64_t count = std::min<uint64_t>(kUnitValues, values.length - at);
    Word all = 0;
    for (uint64_t i = 0; i < count; ++i) {
      Word word;
      std::memcpy(&word, words + at + i, sizeof(Word));
      all |= word;
    }
    bytes += InlineBitpackingBytes(8 * sizeof(Word), std::bit_width(all));
  }
  return bytes;
}

uint64_t BitpackedBytes(const LeafValues& values) {
  switch (values.type.bits_per_item) {
    case 8:
      return BitpackedBytes<uint8_t>(values);
    case 16:
      return BitpackedBytes<uint16_t>(values);
    case 32:
      return BitpackedBytes<uint32_t>(values);
    default:
      return BitpackedBytes<uint64_t>(values);
  }
}

// Bytes of the page in Rle; runs end with their chunk.
uint64_t RleBytes(const LeafValues& values) {
  const int bits = static_cast<int>(values.type.bits_per_item);
  uint64_t runs = 0;
  for (uint64_t at = 0; at < values.length; at += kMaxChunkValues) {
    const uint64_t count = std::min(kMaxChunkValues, values.length - at);
    runs += static_cast<uint64_t>(CountRuns(values.fixed_bytes(at, count), bits));
  }
  return runs * (values.type.bits_per_item / 8 + 1);
}

// Adds a stream of `bits` bits a value, cut as `counts` says. Where every chunk starts on a byte
// the data is the stream.
arrow::Status AddBitStream(const BufferPtr& data, uint64_t bits, uint64_t length,
                           uint64_t chunk_values, arrow::MemoryPool* pool, EncodedChunks* out) {
  const uint64_t chunk_bytes = (chunk_values * bits + 7) / 8;
  const uint64_t last_values = length - (out->counts.size() - 1) * chunk_values;
  const uint64_t last_bytes = (last_values * bits + 7) / 8;
  const uint64_t total = (out->counts.size() - 1) * chunk_bytes + last_bytes;
  if (chunk_values * bits % 8 == 0 || out->counts.size() == 1) {
    out->streams.push_back(arrow::SliceBuffer(data, 0, static_cast<int64_t>(total)));
    return arrow::Status::OK();
  }
  ARROW_ASSIGN_OR_RAISE(std::unique_ptr<arrow::Buffer> copy,
                        arrow::AllocateBuffer(static_cast<int64_t>(total), pool));
  for (size_t chunk = 0; chunk < out->counts.size(); ++chunk) {
    uint8_t* to = copy->mutable_data() + chunk * chunk_bytes;
    const uint64_t count = out->counts[chunk];
    to[(count * bits + 7) / 8 - 1] = 0;
    arrow::internal::CopyBitmap(data->data(), static_cast<int64_t>(chunk * chunk_values * bits),
                                static_cast<int64_t>(count * bits), to, 0);
  }
  out->streams.push_back(std::move(copy));
  return arrow::Status::OK();
}

// A stored buffer of `bits` bits a value.
struct BitStream {
  BufferPtr data;
  uint64_t bits;
};

// FixedSizeList layers: validity of the children of each layer that has nulls, then the items.
arrow::Result<EncodedChunks> EncodeFlat(const LeafValues& values, uint64_t max_chunk_values,
                                        arrow::MemoryPool* pool) {
  EncodedChunks out;
  std::vector<BitStream> streams;
  out.encoding = wire::WriteFlat(values.type.bits_per_item);
  uint64_t run = 1, bits = 0;
  for (size_t k = 0; k < values.type.dimensions.size(); ++k) {
    run *= values.type.dimensions[k];
    if (values.item_validity[k] == nullptr) continue;
    streams.push_back({values.item_validity[k], run});
    bits += run;
  }
  for (size_t k = values.type.dimensions.size(); k-- > 0;) {
    out.encoding = wire::WriteFixedSizeList(values.type.dimensions[k],
                                            values.item_validity[k] != nullptr, out.encoding);
  }
  streams.push_back({values.data, values.type.bits_per_slot()});
  bits += values.type.bits_per_slot();
  uint64_t count = max_chunk_values;
  while (count > 2 && (count * bits + 7) / 8 >= kChunkBytes) count /= 2;
  if (count * bits / 8 > std::numeric_limits<uint32_t>::max()) {
    return Unsupported("",
                       "Values of this size do not fit the chunks of a page; bits of one: ", bits);
  }
  for (uint64_t at = 0; at < values.length; at += count) {
    out.counts.push_back(static_cast<uint32_t>(std::min(count, values.length - at)));
    for (const BitStream& stream : streams) {
      out.sizes.push_back(static_cast<uint32_t>((out.counts.back() * stream.bits + 7) / 8));
    }
  }
  for (const BitStream& stream : streams) {
    ARROW_RETURN_NOT_OK(AddBitStream(stream.data, stream.bits, values.length, count, pool, &out));
  }
  return out;
}

arrow::Result<EncodedChunks> EncodeBitpacked(const LeafValues& values, uint64_t max_chunk_values,
                                             uint64_t expected_bytes) {
  const int bits = static_cast<int>(values.type.bits_per_item);
  EncodedChunks out{.encoding = wire::WriteInlineBitpacking(values.type.bits_per_item)};
  const uint64_t step = std::min<uint64_t>(max_chunk_values, kUnitValues);
  Bytes packed;
  packed.reserve(expected_bytes);
  for (uint64_t at = 0; at < values.length; at += step) {
    const uint64_t count = std::min(step, values.length - at);
    const size_t start = packed.size();
    ARROW_RETURN_NOT_OK(EncodeInlineBitpacking(values.fixed_bytes(at, count), bits, &packed));
    out.counts.push_back(static_cast<uint32_t>(count));
    out.sizes.push_back(static_cast<uint32_t>(packed.size() - start));
  }
  out.streams.push_back(arrow::Buffer::FromVector(std::move(packed)));
  return out;
}

arrow::Result<EncodedChunks> EncodeRuns(const LeafValues& values, uint64_t max_chunk_values) {
  const int bits = static_cast<int>(values.type.bits_per_item);
  const uint64_t run_bytes = values.type.bits_per_item / 8 + 1;
  EncodedChunks out{.encoding = wire::WriteRle(values.type.bits_per_item)};
  Bytes run_values, run_lengths;
  for (uint64_t at = 0; at < values.length;) {
    const uint64_t left = values.length - at;
    uint64_t count = std::min(max_chunk_values, left);
    while (count > 2 &&
           static_cast<uint64_t>(CountRuns(values.fixed_bytes(at, count), bits)) * run_bytes >
               kChunkBytes) {
      count = std::bit_floor(count - 1);
    }
    const size_t values_before = run_values.size(), lengths_before = run_lengths.size();
    ARROW_RETURN_NOT_OK(
        EncodeRleMiniBlock(values.fixed_bytes(at, count), bits, &run_values, &run_lengths));
    out.counts.push_back(static_cast<uint32_t>(count));
    out.sizes.push_back(static_cast<uint32_t>(run_values.size() - values_before));
    out.sizes.push_back(static_cast<uint32_t>(run_lengths.size() - lengths_before));
    at += count;
  }
  out.streams.push_back(arrow::Buffer::FromVector(std::move(run_values)));
  out.streams.push_back(arrow::Buffer::FromVector(std::move(run_lengths)));
  return out;
}

arrow::Result<EncodedChunks> EncodeFixed(const LeafValues& values, uint64_t max_chunk_values,
                                         arrow::MemoryPool* pool) {
  const uint64_t bits = values.type.bits_per_item;
  if (!values.type.is_list() && IsWord(bits)) {
    const uint64_t flat = values.length * bits / 8;
    const uint64_t packed = BitpackedBytes(values);
    const uint64_t runs = RleBytes(values);
    if (runs < flat && runs < packed) return EncodeRuns(values, max_chunk_values);
    if (packed < flat) return EncodeBitpacked(values, max_chunk_values, packed);
  }
  return EncodeFlat(values, max_chunk_values, pool);
}

// Values of the next chunk of strings, from `first` on: what is left, if it fits, or a power of
// two.
uint64_t VariableChunkValues(const LeafValues& values, uint64_t first, uint64_t max_bytes,
                             uint64_t max_values) {
  const uint64_t width = static_cast<uint64_t>(values.type.offset_bits) / 8;
  const uint64_t start = values.value_start(first);
  const auto bytes = [&](uint64_t count) {
    return (count + 1) * width + values.value_start(first + count) - start;
  };
  const uint64_t left = values.length - first;
  if (left <= 2 || (left <= max_values && bytes(left) <= max_bytes)) return left;
  uint64_t count = 2;
  while (2 * count < left && 2 * count <= max_values && bytes(2 * count) <= max_bytes) {
    count *= 2;
  }
  return count;
}

template <typename Offset>
arrow::Result<EncodedChunks> EncodeStrings(const LeafValues& values, const PageOptions& options,
                                           uint64_t max_chunk_values) {
  constexpr int kBits = 8 * sizeof(Offset);
  EncodedChunks out{.encoding = wire::WriteVariable(kBits)};
  const uint64_t max_values = std::min(max_chunk_values, kMaxVariableValues);
  Bytes body;
  body.reserve(values.value_start(values.length) - values.value_start(0) +
               values.length * sizeof(Offset) * 9 / 8 + 64);
  for (uint64_t at = 0; at < values.length;) {
    const uint64_t count =
        VariableChunkValues(values, at, options.hints.minichunk_bytes, max_values);
    const size_t start = body.size();
    ARROW_RETURN_NOT_OK(EncodeVariableMiniBlock(values.offsets_as<Offset>() + at,
                                                values.data->data(), static_cast<int64_t>(count),
                                                kBits, &body));
    if (body.size() - start > std::numeric_limits<uint32_t>::max()) {
      return Unsupported("", "Strings of this size do not fit the chunks of a page; bytes of ",
                         count, " values: ", body.size() - start);
    }
    out.counts.push_back(static_cast<uint32_t>(count));
    out.sizes.push_back(static_cast<uint32_t>(body.size() - start));
    at += count;
  }
  out.streams.push_back(arrow::Buffer::FromVector(std::move(body)));
  return out;
}

}  // namespace

arrow::Result<EncodedChunks> EncodeChunks(const LeafValues& values, const PageOptions& options,
                                          arrow::MemoryPool* pool, uint64_t max_chunk_values) {
  if (values.type.kind == LeafKind::kFixed) return EncodeFixed(values, max_chunk_values, pool);
  return values.type.offset_bits == 32 ? EncodeStrings<int32_t>(values, options, max_chunk_values)
                                       : EncodeStrings<int64_t>(values, options, max_chunk_values);
}

}  // namespace pennon::encoding
