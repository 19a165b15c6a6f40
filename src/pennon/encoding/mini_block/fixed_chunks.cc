#include "pennon/encoding/mini_block/fixed_chunks.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include <arrow/util/bitmap_ops.h>

#include "pennon/encoding/kernels/bitpacking.h"
#include "pennon/encoding/kernels/byte_stream_split.h"
#include "pennon/encoding/kernels/rle.h"
#include "pennon/encoding/mini_block/general_chunks.h"
#include "pennon/error.h"
#include "pennon/wire/page_layout_writer.h"

namespace pennon::encoding {
namespace {

using Bytes = std::vector<uint8_t>;
using BufferPtr = std::shared_ptr<arrow::Buffer>;

constexpr uint64_t kChunkBytes = 8186;  // of value buffers

// Values as words of 8 to 64 bits, which all but Flat need.
bool AreWords(const LeafType& type) {
  const uint64_t bits = type.bits_per_item;
  return !type.is_list() && (bits == 8 || bits == 16 || bits == 32 || bits == 64);
}

// What the encodings of words take, about.
struct Estimate {
  uint64_t flat = 0;
  uint64_t packed = 0;  // a width word and a unit for every 1024 values
  uint64_t runs = 0;    // values in all runs
  uint64_t run_bytes = 0;
};

template <typename Word>
Estimate EstimateWords(const LeafValues& values) {
  Estimate out;
  const uint8_t* words = values.data->data();
  for (uint64_t at = 0; at < values.length; at += kUnitValues) {
    const uint64_t count = std::min<uint64_t>(kUnitValues, values.length - at);
    const uint8_t* unit = words + at * sizeof(Word);
    Word all = 0, before;
    std::memcpy(&before, unit, sizeof(Word));
    uint64_t changes = 1;
    for (uint64_t i = 0; i < count; ++i) {
      Word word;
      std::memcpy(&word, unit + i * sizeof(Word), sizeof(Word));
      all |= word;
      changes += word != before;
      before = word;
    }
    out.packed += InlineBitpackingBytes(8 * sizeof(Word), std::bit_width(all));
    out.runs += changes;
  }
  out.flat = values.length * sizeof(Word);
  // Runs end after 255 values and with their chunk, about every fourth unit.
  out.run_bytes = (out.runs + values.length / 1024) * (sizeof(Word) + 1);
  return out;
}

Estimate EstimateOf(const LeafValues& values) {
  switch (values.type.bits_per_item) {
    case 8:
      return EstimateWords<uint8_t>(values);
    case 16:
      return EstimateWords<uint16_t>(values);
    case 32:
      return EstimateWords<uint32_t>(values);
    default:
      return EstimateWords<uint64_t>(values);
  }
}

// Adds a stream of `bits` bits a value, cut as `counts` says. Where every chunk starts on a byte
// the data is the stream.
arrow::Status AddBitStream(const BufferPtr& data, uint64_t bits, uint64_t length,
                           uint64_t chunk_values, arrow::MemoryPool* pool, EncodedChunks* out) {
  const uint64_t chunk_bytes = (chunk_values * bits + 7) / 8;
  const uint64_t full_chunks = out->counts.size() - 1;
  const uint64_t last_bytes = ((length - full_chunks * chunk_values) * bits + 7) / 8;
  const uint64_t total = full_chunks * chunk_bytes + last_bytes;
  if (chunk_values * bits % 8 == 0 || full_chunks == 0) {
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

// Validity of the children of each list layer that has nulls, then the items.
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

// Cuts `values` into chunks of `step` and lets `append(bytes, out)` encode each to one buffer.
template <typename Append>
arrow::Result<EncodedChunks> EncodeEach(const LeafValues& values, uint64_t step,
                                        uint64_t expected_bytes, std::string encoding,
                                        Append&& append) {
  EncodedChunks out{.encoding = std::move(encoding)};
  Bytes stream;
  stream.reserve(expected_bytes);
  for (uint64_t at = 0; at < values.length; at += step) {
    const uint64_t count = std::min(step, values.length - at);
    const size_t start = stream.size();
    ARROW_RETURN_NOT_OK(append(values.fixed_bytes(at, count), &stream));
    out.counts.push_back(static_cast<uint32_t>(count));
    out.sizes.push_back(static_cast<uint32_t>(stream.size() - start));
  }
  out.streams.push_back(arrow::Buffer::FromVector(std::move(stream)));
  return out;
}

arrow::Result<EncodedChunks> EncodeBitpacked(const LeafValues& values, uint64_t max_chunk_values,
                                             uint64_t expected_bytes) {
  const int bits = static_cast<int>(values.type.bits_per_item);
  return EncodeEach(values, std::min<uint64_t>(max_chunk_values, kUnitValues), expected_bytes,
                    wire::WriteInlineBitpacking(values.type.bits_per_item),
                    [bits](std::span<const uint8_t> words, Bytes* out) {
                      return EncodeInlineBitpacking(words, bits, out);
                    });
}

arrow::Result<EncodedChunks> EncodeSplit(const LeafValues& values, uint64_t max_chunk_values) {
  const int bits = static_cast<int>(values.type.bits_per_item);
  return EncodeEach(values, std::min<uint64_t>(max_chunk_values, bits == 32 ? 1024 : 512),
                    values.length * values.type.bits_per_item / 8,
                    wire::WriteByteStreamSplit(values.type.bits_per_item),
                    [bits](std::span<const uint8_t> words, Bytes* out) {
                      return EncodeByteStreamSplit(words, bits, out);
                    });
}

arrow::Result<EncodedChunks> EncodeRuns(const LeafValues& values, uint64_t max_chunk_values) {
  const int bits = static_cast<int>(values.type.bits_per_item);
  const uint64_t run_bytes = values.type.bits_per_item / 8 + 1;
  EncodedChunks out{.encoding = wire::WriteRle(values.type.bits_per_item)};
  Bytes run_values, run_lengths;
  for (uint64_t at = 0; at < values.length;) {
    uint64_t count = std::min(max_chunk_values, values.length - at);
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

bool RunsPay(const Estimate& estimate, const EncodingHints& hints, uint64_t length) {
  if (hints.rle_threshold &&
      static_cast<double>(estimate.runs) >= *hints.rle_threshold * static_cast<double>(length)) {
    return false;
  }
  return estimate.run_bytes < std::min(estimate.flat, estimate.packed);
}

// Whether the bytes at the same place of the first values are alike: the mean entropy of the
// places is below 4 bits.
bool IsLowEntropy(const LeafValues& values) {
  constexpr uint64_t kSample = 64;
  constexpr double kLimitBits = 4.0;
  const uint64_t width = values.type.bits_per_item / 8;
  const uint64_t count = std::min(values.length, kSample);
  double bits = 0;
  for (uint64_t place = 0; place < width; ++place) {
    std::array<uint32_t, 256> seen{};
    for (uint64_t i = 0; i < count; ++i) ++seen[values.data->data()[i * width + place]];
    for (uint32_t times : seen) {
      if (times == 0) continue;
      const double share = static_cast<double>(times) / static_cast<double>(count);
      bits -= share * std::log2(share);
    }
  }
  return bits / static_cast<double>(width) < kLimitBits;
}

bool SplitPays(const LeafValues& values, const EncodingHints& hints) {
  if (!IsGeneral(hints.compression) || hints.byte_stream_split == SwitchHint::kOff) return false;
  if (values.type.bits_per_item != 32 && values.type.bits_per_item != 64) return false;
  return hints.byte_stream_split == SwitchHint::kOn || IsLowEntropy(values);
}

// `values`, whose null slots repeat the value before them, so that runs go on.
template <typename Word>
arrow::Result<LeafValues> RepeatAtNulls(const LeafValues& values, arrow::MemoryPool* pool) {
  LeafValues out = values;
  ARROW_ASSIGN_OR_RAISE(
      std::unique_ptr<arrow::Buffer> filled,
      arrow::AllocateBuffer(static_cast<int64_t>(values.length * sizeof(Word)), pool));
  const uint8_t* from = values.data->data();
  uint8_t* to = filled->mutable_data();
  Word last = 0;
  for (uint64_t i = 0; i < values.length; ++i) {
    if (values.is_valid(i)) std::memcpy(&last, from + i * sizeof(Word), sizeof(Word));
    std::memcpy(to + i * sizeof(Word), &last, sizeof(Word));
  }
  out.data = std::move(filled);
  return out;
}

arrow::Result<LeafValues> RepeatAtNulls(const LeafValues& values, arrow::MemoryPool* pool) {
  switch (values.type.bits_per_item) {
    case 8:
      return RepeatAtNulls<uint8_t>(values, pool);
    case 16:
      return RepeatAtNulls<uint16_t>(values, pool);
    case 32:
      return RepeatAtNulls<uint32_t>(values, pool);
    default:
      return RepeatAtNulls<uint64_t>(values, pool);
  }
}

// The encoding without General. `filled` has the values with something else at null slots.
arrow::Result<EncodedChunks> EncodePlain(const LeafValues& values, const LeafValues& filled,
                                         const EncodingHints& hints, uint64_t max_chunk_values,
                                         arrow::MemoryPool* pool) {
  if (hints.compression != CompressionHint::kNone && AreWords(values.type)) {
    const Estimate estimate = EstimateOf(filled);
    if (RunsPay(estimate, hints, values.length)) return EncodeRuns(filled, max_chunk_values);
    if (estimate.packed < estimate.flat) {
      return EncodeBitpacked(values, max_chunk_values, estimate.packed);
    }
  }
  return EncodeFlat(values, max_chunk_values, pool);
}

}  // namespace

arrow::Result<EncodedChunks> EncodeFixedChunks(const LeafValues& values, const EncodingHints& hints,
                                               uint64_t max_chunk_values, arrow::MemoryPool* pool) {
  LeafValues filled;
  const bool fill = values.validity != nullptr && AreWords(values.type);
  if (fill) {
    ARROW_ASSIGN_OR_RAISE(filled, RepeatAtNulls(values, pool));
  }
  ARROW_ASSIGN_OR_RAISE(EncodedChunks plain,
                        EncodePlain(values, fill ? filled : values, hints, max_chunk_values, pool));
  if (!IsGeneral(hints.compression)) return plain;
  ARROW_RETURN_NOT_OK(CompressChunks(hints, &plain));
  if (!AreWords(values.type) || !SplitPays(values, hints)) return plain;
  ARROW_ASSIGN_OR_RAISE(EncodedChunks split, EncodeSplit(values, max_chunk_values));
  ARROW_RETURN_NOT_OK(CompressChunks(hints, &split));
  return split.bytes() < plain.bytes() ? split : plain;
}

uint64_t FixedChunkBytes(const LeafValues& values) {
  if (!AreWords(values.type)) return values.length * values.type.bits_per_slot() / 8;
  const Estimate estimate = EstimateOf(values);
  return std::min({estimate.flat, estimate.packed, estimate.run_bytes});
}

}  // namespace pennon::encoding
