#include "pennon/encoding/dictionary/dictionary_encoder.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "pennon/encoding/dictionary/distinct_values.h"
#include "pennon/encoding/kernels/bitpacking.h"
#include "pennon/encoding/kernels/general.h"
#include "pennon/encoding/kernels/variable.h"
#include "pennon/encoding/mini_block/fixed_chunks.h"
#include "pennon/wire/page_layout_writer.h"

namespace pennon::encoding {
namespace {

using Bytes = std::vector<uint8_t>;

constexpr uint64_t kMinValues = 100;
constexpr uint64_t kMaxItems = 100'000;
constexpr uint64_t kSampleValues = 4096;
constexpr uint64_t kSampleBlocks = 32;
constexpr uint64_t kMinSample = 1024;
constexpr double kTooDistinct = 0.98;

// Whether evenly spread blocks of values have few enough distinct ones to look at all.
template <typename Keys>
bool SampleRepeats(const LeafValues& values, const Keys& keys, uint64_t limit) {
  const uint64_t count = std::min(values.length, kSampleValues);
  if (count < kMinSample) return true;
  DistinctValues<Keys> distinct(keys, count);
  const uint64_t block = count / kSampleBlocks;
  uint64_t sampled = 0;
  for (uint64_t b = 0; b < kSampleBlocks; ++b) {
    const uint64_t start = b * (values.length - block) / (kSampleBlocks - 1);
    for (uint64_t i = start; i < start + block; ++i) {
      if (!values.is_valid(i)) continue;
      distinct.Add(i);
      ++sampled;
    }
  }
  if (sampled < kMinSample) return true;  // the others are null
  const double share = static_cast<double>(distinct.first().size()) / static_cast<double>(sampled);
  return share < kTooDistinct && share * static_cast<double>(values.length - values.null_count) <=
                                     static_cast<double>(limit);
}

uint64_t PlainBytes(const LeafValues& values) {
  if (values.type.kind == LeafKind::kFixed) return values.length * values.type.bits_per_slot() / 8;
  return values.value_start(values.length) - values.value_start(0) +
         values.length * static_cast<uint64_t>(values.type.offset_bits) / 8;
}

template <typename Keys>
arrow::Result<std::optional<DictionaryValues>> TryKeys(const LeafValues& values, const Keys& keys,
                                                       const PageOptions& options,
                                                       arrow::MemoryPool* pool) {
  const EncodingHints& hints = options.hints;
  const uint64_t limit = std::min(values.length / hints.dictionary_divisor, kMaxItems);
  if (limit == 0 || !SampleRepeats(values, keys, limit)) return std::nullopt;
  ARROW_ASSIGN_OR_RAISE(
      std::unique_ptr<arrow::Buffer> buffer,
      arrow::AllocateBuffer(static_cast<int64_t>(values.length * sizeof(uint32_t)), pool));
  auto* indexes = reinterpret_cast<uint32_t*>(buffer->mutable_data());
  DistinctValues<Keys> distinct(keys, 1024);
  const bool strings = values.type.kind == LeafKind::kVariable;
  uint64_t item_bytes = 0;
  uint32_t last = 0;
  for (uint64_t i = 0; i < values.length; ++i) {
    if (values.is_valid(i)) {
      last = distinct.Add(i);
      if (distinct.first().size() > limit) return std::nullopt;
      if (strings && last + 1 == distinct.first().size() && distinct.first()[last] == i) {
        item_bytes += values.value(i).size();
        if (item_bytes > hints.dictionary_max_bytes) return std::nullopt;
      }
    }
    indexes[i] = last;
  }
  DictionaryValues out;
  out.indexes.type.bits_per_item = 32;
  out.indexes.length = values.length;
  out.indexes.null_count = values.null_count;
  out.indexes.validity = values.validity;
  out.indexes.data = std::move(buffer);
  const LeafValues items = TakeItems(values, distinct.first());
  // One item among nulls takes no bits of indexes, once these are packed.
  const bool packs_to_nothing = items.length == 1 && values.null_count > 0;
  if (!packs_to_nothing &&
      static_cast<double>(values.length * sizeof(uint32_t) + PlainBytes(items)) >
          hints.dictionary_size_ratio * static_cast<double>(PlainBytes(values))) {
    return std::nullopt;
  }
  ARROW_ASSIGN_OR_RAISE(out.dictionary, EncodeDictionaryItems(items, options));
  // Words may be as small by themselves, and then are quicker to read; not if they stay unpacked.
  if (hints.compression != CompressionHint::kNone && values.type.kind == LeafKind::kFixed &&
      values.type.bits_per_item == 64 &&
      static_cast<double>(FixedChunkBytes(out.indexes)) +
              static_cast<double>(out.dictionary.items->size()) >
          0.95 * static_cast<double>(FixedChunkBytes(values))) {
    return std::nullopt;
  }
  return out;
}

// Puts `encoding` and `bytes` into `best` if they are smaller.
struct Block {
  std::string encoding;
  Bytes bytes;
};

void TakeSmaller(Block block, Block* best) {
  if (block.bytes.size() < best->bytes.size()) *best = std::move(block);
}

int WidthOf(const LeafValues& items) {
  uint64_t all = 0;
  for (uint64_t i = 0; i < items.length; ++i) {
    uint64_t word = 0;
    std::memcpy(&word, items.fixed_bytes(i, 1).data(), items.type.bits_per_item / 8);
    all |= word;
  }
  return std::bit_width(all);
}

arrow::Result<Block> PlainBlock(const LeafValues& items) {
  Block block;
  if (items.type.kind == LeafKind::kFixed) {
    block.encoding = wire::WriteFlat(items.type.bits_per_slot());
    const std::span<const uint8_t> bytes = items.fixed_bytes(0, items.length);
    block.bytes.assign(bytes.begin(), bytes.end());
    return block;
  }
  const int bits = items.type.offset_bits;
  block.encoding = wire::WriteVariable(static_cast<uint64_t>(bits));
  const int64_t count = static_cast<int64_t>(items.length);
  ARROW_RETURN_NOT_OK(bits == 32
                          ? EncodeVariableBlock(items.offsets_as<int32_t>(), items.data->data(),
                                                count, 32, &block.bytes)
                          : EncodeVariableBlock(items.offsets_as<int64_t>(), items.data->data(),
                                                count, 64, &block.bytes));
  return block;
}

GeneralScheme SchemeOf(CompressionHint hint) {
  if (hint == CompressionHint::kNone) return GeneralScheme::kNone;
  return hint == CompressionHint::kZstd ? GeneralScheme::kZstd : GeneralScheme::kLz4;
}

}  // namespace

LeafValues TakeItems(const LeafValues& values, std::span<const uint64_t> first) {
  LeafValues items;
  items.type = values.type;
  items.length = first.size();
  Bytes data;
  if (values.type.kind == LeafKind::kFixed) {
    for (uint64_t i : first) {
      const std::span<const uint8_t> bytes = values.fixed_bytes(i, 1);
      data.insert(data.end(), bytes.begin(), bytes.end());
    }
  } else {
    const size_t width = static_cast<size_t>(values.type.offset_bits) / 8;
    Bytes offsets((first.size() + 1) * width);
    for (size_t i = 0; i < first.size(); ++i) {
      const std::string_view text = values.value(first[i]);
      data.insert(data.end(), text.begin(), text.end());
      const uint64_t end = data.size();
      std::memcpy(offsets.data() + (i + 1) * width, &end, width);  // little-endian
    }
    items.offsets = arrow::Buffer::FromVector(std::move(offsets));
  }
  items.data = arrow::Buffer::FromVector(std::move(data));
  return items;
}

arrow::Result<EncodedDictionary> EncodeDictionaryItems(const LeafValues& items,
                                                       const PageOptions& options) {
  ARROW_ASSIGN_OR_RAISE(Block best, PlainBlock(items));
  const Block plain = best;
  const uint64_t bits = items.type.bits_per_slot();
  if (items.type.kind == LeafKind::kFixed &&
      (bits == 8 || bits == 16 || bits == 32 || bits == 64) && !items.type.is_list()) {
    const int width = WidthOf(items);
    Block packed{wire::WriteOutOfLineBitpacking(bits, static_cast<uint64_t>(width)), {}};
    ARROW_RETURN_NOT_OK(EncodeOutOfLineBitpacking(items.fixed_bytes(0, items.length),
                                                  static_cast<int>(bits), width, &packed.bytes));
    TakeSmaller(std::move(packed), &best);
  }
  const GeneralScheme scheme = SchemeOf(options.hints.dictionary_compression);
  if (options.minor >= 2 && scheme != GeneralScheme::kNone && !plain.bytes.empty()) {
    const int level = options.hints.dictionary_compression_level;
    Block compressed{wire::WriteGeneral(GeneralSchemeNumber(scheme), level, plain.encoding), {}};
    ARROW_RETURN_NOT_OK(Compress(scheme, plain.bytes, level, &compressed.bytes));
    TakeSmaller(std::move(compressed), &best);
  }
  return EncodedDictionary{.encoding = std::move(best.encoding),
                           .num_items = items.length,
                           .items = arrow::Buffer::FromVector(std::move(best.bytes))};
}

arrow::Result<std::optional<DictionaryValues>> TryDictionary(const LeafValues& values,
                                                             const PageOptions& options,
                                                             arrow::MemoryPool* pool) {
  if (values.length < kMinValues || values.length > UINT32_MAX || values.type.is_list()) {
    return std::nullopt;
  }
  if (values.type.kind == LeafKind::kVariable) {
    if (values.type.offset_bits == 32) {
      return TryKeys(values, StringKeys<int32_t>(values), options, pool);
    }
    return TryKeys(values, StringKeys<int64_t>(values), options, pool);
  }
  if (values.type.kind != LeafKind::kFixed) return std::nullopt;
  if (values.type.bits_per_item == 64 && options.minor >= 2) {
    return TryKeys(values, WordKeys(values), options, pool);
  }
  if (values.type.bits_per_item == 128) {
    return TryKeys(values, TwoWordKeys(values), options, pool);
  }
  return std::nullopt;
}

}  // namespace pennon::encoding
