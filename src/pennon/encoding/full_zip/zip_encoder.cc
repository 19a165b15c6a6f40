#include "pennon/encoding/full_zip/zip_encoder.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include <arrow/util/bitmap_ops.h>

#include "pennon/encoding/kernels/fsst_values.h"
#include "pennon/encoding/mini_block/general_chunks.h"
#include "pennon/error.h"
#include "pennon/wire/page_layout_writer.h"

namespace pennon::encoding {
namespace {

using BufferPtr = std::shared_ptr<arrow::Buffer>;

constexpr uint64_t kMinZstdBytes = 32 << 10;  // of all values
constexpr uint64_t kLongValue = 32 << 10;
constexpr double kWorthwhile = 0.95;

// Validity of the items of one list layer, where it is stored.
struct ItemBits {
  const uint8_t* bits;
  uint64_t run;  // items a value
  uint64_t bytes() const { return (run + 7) / 8; }
};

std::vector<ItemBits> StoredItemBits(const LeafValues& values, size_t layers) {
  std::vector<ItemBits> out;
  uint64_t run = 1;
  for (size_t k = 0; k < layers; ++k) {
    run *= values.type.dimensions[k];
    if (values.item_validity[k] != nullptr) out.push_back({values.item_validity[k]->data(), run});
  }
  return out;
}

// The values, of `value_bytes` each, with the validity of their items before each.
arrow::Result<BufferPtr> JoinItemBits(const LeafValues& values,
                                      const std::vector<ItemBits>& item_bits, uint64_t record_bytes,
                                      uint64_t value_bytes, arrow::MemoryPool* pool) {
  if (item_bits.empty()) return values.data;
  ARROW_ASSIGN_OR_RAISE(
      std::unique_ptr<arrow::Buffer> out,
      arrow::AllocateBuffer(static_cast<int64_t>(values.length * record_bytes), pool));
  uint8_t* at = out->mutable_data();
  for (uint64_t i = 0; i < values.length; ++i) {
    for (const ItemBits& items : item_bits) {
      at[items.bytes() - 1] = 0;
      arrow::internal::CopyBitmap(items.bits, static_cast<int64_t>(i * items.run),
                                  static_cast<int64_t>(items.run), at, 0);
      at += items.bytes();
    }
    if (value_bytes > 0) std::memcpy(at, values.data->data() + i * value_bytes, value_bytes);
    at += value_bytes;
  }
  return BufferPtr(std::move(out));
}

arrow::Result<EncodedRecords> EncodeFixedRecords(const LeafValues& values,
                                                 arrow::MemoryPool* pool) {
  EncodedRecords out;
  // Items, or inner lists, that are all null leave nothing but their validity.
  const size_t dimensions = values.type.dimensions.size();
  const size_t null_layer = values.FirstNullLayer();
  const size_t layers = std::min(dimensions, null_layer + 1);
  const std::vector<ItemBits> item_bits = StoredItemBits(values, layers);
  const uint64_t value_bytes = null_layer < dimensions ? 0 : values.type.bits_per_slot() / 8;
  uint64_t record_bytes = value_bytes;
  for (const ItemBits& items : item_bits) record_bytes += items.bytes();
  if (record_bytes > UINT32_MAX / 8) {
    return Unsupported(
        "", "The format holds values of up to 512 MiB, bytes of one value: ", record_bytes);
  }
  out.bits_per_value = static_cast<uint32_t>(record_bytes * 8);
  out.encoding = null_layer < dimensions ? wire::WriteNullConstant()
                                         : wire::WriteFlat(values.type.bits_per_item);
  for (size_t k = layers; k-- > 0;) {
    out.encoding = wire::WriteFixedSizeList(values.type.dimensions[k],
                                            values.item_validity[k] != nullptr, out.encoding);
  }
  ARROW_ASSIGN_OR_RAISE(out.data, JoinItemBits(values, item_bits, record_bytes, value_bytes, pool));
  return out;
}

// Bytes that all values take.
uint64_t TotalBytes(const LeafValues& values) {
  return values.value_start(values.length) - values.value_start(0);
}

bool ZstdIsWanted(const LeafValues& values, const EncodingHints& hints) {
  if (hints.compression == CompressionHint::kNone || hints.compression == CompressionHint::kFsst ||
      TotalBytes(values) < kMinZstdBytes) {
    return false;
  }
  if (IsGeneral(hints.compression)) return true;
  for (uint64_t i = 0; i < values.length; ++i) {
    if (values.value_start(i + 1) - values.value_start(i) > kLongValue) return true;
  }
  return false;
}

std::span<const uint8_t> BytesOf(const LeafValues& values, uint64_t i) {
  const std::string_view text = values.value(i);
  return {reinterpret_cast<const uint8_t*>(text.data()), text.size()};
}

// Whether a few values spread over the page become smaller: images, for one, do not.
arrow::Result<bool> SampleShrinks(const LeafValues& values, GeneralCompressor* compressor) {
  constexpr uint64_t kSampleValues = 16;
  uint64_t before = 0;
  std::vector<uint8_t> after;
  const uint64_t step = std::max<uint64_t>(1, values.length / kSampleValues);
  for (uint64_t i = 0; i < values.length; i += step) {
    const std::span<const uint8_t> value = BytesOf(values, i);
    before += value.size();
    if (!value.empty()) ARROW_RETURN_NOT_OK(compressor->Append(value, &after));
  }
  return static_cast<double>(after.size()) < kWorthwhile * static_cast<double>(before);
}

// Compresses each value; gives nothing if that is of no use.
template <typename Offset>
arrow::Result<std::optional<EncodedRecords>> TryZstd(const LeafValues& values,
                                                     const EncodingHints& hints) {
  ARROW_ASSIGN_OR_RAISE(GeneralCompressor compressor,
                        GeneralCompressor::Make(GeneralScheme::kZstd, hints.compression_level));
  ARROW_ASSIGN_OR_RAISE(const bool shrinks, SampleShrinks(values, &compressor));
  if (!shrinks) return std::nullopt;
  std::vector<uint8_t> data;
  std::vector<Offset> offsets(values.length + 1);
  for (uint64_t i = 0; i < values.length; ++i) {
    const std::span<const uint8_t> value = BytesOf(values, i);
    if (!value.empty()) ARROW_RETURN_NOT_OK(compressor.Append(value, &data));
    offsets[i + 1] = static_cast<Offset>(data.size());
  }
  if (data.size() >= TotalBytes(values)) return std::nullopt;
  const uint64_t bits = 8 * sizeof(Offset);
  return EncodedRecords{
      .encoding = wire::WriteGeneral(GeneralSchemeNumber(GeneralScheme::kZstd),
                                     hints.compression_level, wire::WriteVariable(bits)),
      .bits_per_offset = static_cast<uint32_t>(bits),
      .data = arrow::Buffer::FromVector(std::move(data)),
      .offsets = arrow::Buffer::FromVector(std::move(offsets))};
}

arrow::Result<EncodedRecords> EncodeVariableRecords(const LeafValues& values,
                                                    const EncodingHints& hints,
                                                    arrow::MemoryPool* pool) {
  if (ZstdIsWanted(values, hints)) {
    ARROW_ASSIGN_OR_RAISE(std::optional<EncodedRecords> compressed,
                          values.type.offset_bits == 32 ? TryZstd<int32_t>(values, hints)
                                                        : TryZstd<int64_t>(values, hints));
    if (compressed) return std::move(*compressed);
  }
  EncodedRecords out;
  out.bits_per_offset = static_cast<uint32_t>(values.type.offset_bits);
  out.encoding = wire::WriteVariable(out.bits_per_offset);
  ARROW_ASSIGN_OR_RAISE(FsstValues coded, EncodeFsst(values, hints, pool));
  out.data = coded.used() ? std::move(coded.data) : values.data;
  out.offsets = coded.used() ? std::move(coded.offsets) : values.offsets;
  if (coded.used()) out.encoding = wire::WriteFsst(coded.table, out.encoding);
  return out;
}

}  // namespace

arrow::Result<EncodedRecords> EncodeRecords(const LeafValues& values, const PageOptions& options,
                                            arrow::MemoryPool* pool) {
  return values.type.kind == LeafKind::kFixed ? EncodeFixedRecords(values, pool)
                                              : EncodeVariableRecords(values, options.hints, pool);
}

}  // namespace pennon::encoding
