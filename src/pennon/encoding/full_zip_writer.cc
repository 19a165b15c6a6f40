#include "pennon/encoding/full_zip_writer.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include <arrow/util/bit_util.h>
#include <arrow/util/bitmap_ops.h>

#include "pennon/error.h"
#include "pennon/wire/page_layout_writer.h"

namespace pennon::encoding {
namespace {

using BufferPtr = std::shared_ptr<arrow::Buffer>;

wire::FullZipMessage MessageFor(const LeafValues& values) {
  wire::FullZipMessage message;
  const bool nullable = values.validity != nullptr;
  message.bits_def = nullable ? 1 : 0;
  message.num_items = static_cast<uint32_t>(values.length);
  message.num_visible_items = static_cast<uint32_t>(values.length);
  message.layers = {nullable ? wire::LayerKind::kNullableItem : wire::LayerKind::kAllValidItem};
  return message;
}

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

arrow::Result<BufferPtr> ZipFixed(const LeafValues& values, const std::vector<ItemBits>& item_bits,
                                  uint64_t record_bytes, arrow::MemoryPool* pool) {
  const bool nullable = values.validity != nullptr;
  if (!nullable && item_bits.empty()) return values.data;
  const uint64_t value_bytes = values.type.bits_per_slot() / 8;
  const uint64_t total = values.length * (record_bytes + (nullable ? 1 : 0));
  ARROW_ASSIGN_OR_RAISE(std::unique_ptr<arrow::Buffer> out,
                        arrow::AllocateBuffer(static_cast<int64_t>(total), pool));
  uint8_t* at = out->mutable_data();
  for (uint64_t i = 0; i < values.length; ++i) {
    if (nullable) *at++ = values.is_valid(i) ? 0 : 1;
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

template <typename Word>
std::vector<uint8_t> NarrowIndex(const std::vector<uint64_t>& starts) {
  std::vector<uint8_t> out(starts.size() * sizeof(Word));
  for (size_t i = 0; i < starts.size(); ++i) {
    const Word word = static_cast<Word>(starts[i]);
    std::memcpy(out.data() + i * sizeof(Word), &word, sizeof(Word));
  }
  return out;
}

std::vector<uint8_t> IndexBytes(const std::vector<uint64_t>& starts) {
  const uint64_t end = starts.back();
  if (end <= UINT8_MAX) return NarrowIndex<uint8_t>(starts);
  if (end <= UINT16_MAX) return NarrowIndex<uint16_t>(starts);
  return end <= UINT32_MAX ? NarrowIndex<uint32_t>(starts) : NarrowIndex<uint64_t>(starts);
}

arrow::Result<std::vector<BufferPtr>> ZipVariable(const LeafValues& values,
                                                  arrow::MemoryPool* pool) {
  const bool nullable = values.validity != nullptr;
  const uint64_t width = static_cast<uint64_t>(values.type.offset_bits) / 8;
  const uint64_t bytes = values.value_start(values.length) - values.value_start(0);
  const uint64_t total =
      bytes + (values.length - values.null_count) * width + (nullable ? values.length : 0);
  ARROW_ASSIGN_OR_RAISE(std::unique_ptr<arrow::Buffer> out,
                        arrow::AllocateBuffer(static_cast<int64_t>(total), pool));
  std::vector<uint64_t> starts;
  starts.reserve(values.length + 1);
  uint8_t* const begin = out->mutable_data();
  uint8_t* at = begin;
  for (uint64_t i = 0; i < values.length; ++i) {
    starts.push_back(static_cast<uint64_t>(at - begin));
    const bool valid = values.is_valid(i);
    if (nullable) *at++ = valid ? 0 : 1;
    if (!valid) continue;
    const std::string_view value = values.value(i);
    const uint64_t size = value.size();
    std::memcpy(at, &size, width);  // little-endian: the low bytes come first
    at += width;
    if (size != 0) std::memcpy(at, value.data(), size);
    at += size;
  }
  starts.push_back(static_cast<uint64_t>(at - begin));
  return std::vector<BufferPtr>{BufferPtr(std::move(out)),
                                arrow::Buffer::FromVector(IndexBytes(starts))};
}

}  // namespace

arrow::Result<EncodedPage> EncodeFullZip(const LeafValues& values, arrow::MemoryPool* pool) {
  EncodedPage page;
  page.length = values.length;
  wire::FullZipMessage message = MessageFor(values);
  if (values.type.kind == LeafKind::kVariable) {
    message.bits_per_offset = static_cast<uint32_t>(values.type.offset_bits);
    message.value_compression = wire::WriteVariable(message.bits_per_offset);
    ARROW_ASSIGN_OR_RAISE(page.buffers, ZipVariable(values, pool));
  } else {
    const std::vector<ItemBits> item_bits = StoredItemBits(values);
    uint64_t record_bytes = values.type.bits_per_slot() / 8;
    for (const ItemBits& items : item_bits) record_bytes += items.bytes();
    if (record_bytes > UINT32_MAX / 8) {
      return Unsupported(
          "", "The format holds values of up to 512 MiB, bytes of one value: ", record_bytes);
    }
    message.bits_per_value = static_cast<uint32_t>(record_bytes * 8);
    message.value_compression = wire::WriteFlat(values.type.bits_per_item);
    for (size_t k = values.type.dimensions.size(); k-- > 0;) {
      message.value_compression = wire::WriteFixedSizeList(
          values.type.dimensions[k], values.item_validity[k] != nullptr, message.value_compression);
    }
    ARROW_ASSIGN_OR_RAISE(BufferPtr records, ZipFixed(values, item_bits, record_bytes, pool));
    page.buffers.push_back(std::move(records));
  }
  page.encoding = wire::WriteFullZipPage(message);
  return page;
}

}  // namespace pennon::encoding
