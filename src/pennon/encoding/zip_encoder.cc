#include "pennon/encoding/zip_encoder.h"

#include <cstring>
#include <utility>
#include <vector>

#include <arrow/util/bitmap_ops.h>

#include "pennon/error.h"
#include "pennon/wire/page_layout_writer.h"

namespace pennon::encoding {
namespace {

using BufferPtr = std::shared_ptr<arrow::Buffer>;

// Validity of the items of one list layer, where it is stored.
struct ItemBits {
  const uint8_t* bits;
  uint64_t run;  // items a value
  uint64_t bytes() const { return (run + 7) / 8; }
};

std::vector<ItemBits> StoredItemBits(const LeafValues& values) {
  std::vector<ItemBits> out;
  uint64_t run = 1;
  for (size_t k = 0; k < values.type.dimensions.size(); ++k) {
    run *= values.type.dimensions[k];
    if (values.item_validity[k] != nullptr) out.push_back({values.item_validity[k]->data(), run});
  }
  return out;
}

// The values with the validity of their items before each.
arrow::Result<BufferPtr> JoinItemBits(const LeafValues& values,
                                      const std::vector<ItemBits>& item_bits, uint64_t record_bytes,
                                      arrow::MemoryPool* pool) {
  if (item_bits.empty()) return values.data;
  const uint64_t value_bytes = values.type.bits_per_slot() / 8;
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
    std::memcpy(at, values.data->data() + i * value_bytes, value_bytes);
    at += value_bytes;
  }
  return BufferPtr(std::move(out));
}

arrow::Result<EncodedRecords> EncodeFixedRecords(const LeafValues& values,
                                                 arrow::MemoryPool* pool) {
  EncodedRecords out;
  const std::vector<ItemBits> item_bits = StoredItemBits(values);
  uint64_t record_bytes = values.type.bits_per_slot() / 8;
  for (const ItemBits& items : item_bits) record_bytes += items.bytes();
  if (record_bytes > UINT32_MAX / 8) {
    return Unsupported(
        "", "The format holds values of up to 512 MiB, bytes of one value: ", record_bytes);
  }
  out.bits_per_value = static_cast<uint32_t>(record_bytes * 8);
  out.encoding = wire::WriteFlat(values.type.bits_per_item);
  for (size_t k = values.type.dimensions.size(); k-- > 0;) {
    out.encoding = wire::WriteFixedSizeList(values.type.dimensions[k],
                                            values.item_validity[k] != nullptr, out.encoding);
  }
  ARROW_ASSIGN_OR_RAISE(out.data, JoinItemBits(values, item_bits, record_bytes, pool));
  return out;
}

}  // namespace

arrow::Result<EncodedRecords> EncodeRecords(const LeafValues& values, const PageOptions&,
                                            arrow::MemoryPool* pool) {
  if (values.type.kind == LeafKind::kFixed) return EncodeFixedRecords(values, pool);
  EncodedRecords out;
  out.bits_per_offset = static_cast<uint32_t>(values.type.offset_bits);
  out.encoding = wire::WriteVariable(out.bits_per_offset);
  out.data = values.data;
  out.offsets = values.offsets;
  return out;
}

}  // namespace pennon::encoding
