#include "pennon/encoding/full_zip_writer.h"

#include <cstring>
#include <utility>
#include <vector>

#include "pennon/encoding/zip_encoder.h"
#include "pennon/wire/page_layout_writer.h"

namespace pennon::encoding {
namespace {

using BufferPtr = std::shared_ptr<arrow::Buffer>;

wire::FullZipMessage MessageFor(const LeafValues& values, const EncodedRecords& records) {
  wire::FullZipMessage message;
  const bool nullable = values.validity != nullptr;
  message.bits_def = nullable ? 1 : 0;
  message.bits_per_value = records.bits_per_value;
  message.bits_per_offset = records.bits_per_offset;
  message.num_items = static_cast<uint32_t>(values.length);
  message.num_visible_items = static_cast<uint32_t>(values.length);
  message.value_compression = records.encoding;
  message.layers = {nullable ? wire::LayerKind::kNullableItem : wire::LayerKind::kAllValidItem};
  return message;
}

arrow::Result<BufferPtr> ZipFixed(const LeafValues& values, const EncodedRecords& records,
                                  arrow::MemoryPool* pool) {
  if (values.validity == nullptr) return records.data;
  const uint64_t value_bytes = records.bits_per_value / 8;
  ARROW_ASSIGN_OR_RAISE(
      std::unique_ptr<arrow::Buffer> out,
      arrow::AllocateBuffer(static_cast<int64_t>(values.length * (value_bytes + 1)), pool));
  uint8_t* at = out->mutable_data();
  for (uint64_t i = 0; i < values.length; ++i) {
    *at++ = values.is_valid(i) ? 0 : 1;
    std::memcpy(at, records.data->data() + i * value_bytes, value_bytes);
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
                                                  const EncodedRecords& records,
                                                  arrow::MemoryPool* pool) {
  const bool nullable = values.validity != nullptr;
  const uint64_t width = records.bits_per_offset / 8;
  const uint64_t bytes = records.value_start(values.length) - records.value_start(0);
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
    const uint64_t start = records.value_start(i);
    const uint64_t size = records.value_start(i + 1) - start;
    std::memcpy(at, &size, width);  // little-endian: the low bytes come first
    at += width;
    if (size != 0) std::memcpy(at, records.data->data() + start, size);
    at += size;
  }
  starts.push_back(static_cast<uint64_t>(at - begin));
  return std::vector<BufferPtr>{BufferPtr(std::move(out)),
                                arrow::Buffer::FromVector(IndexBytes(starts))};
}

}  // namespace

arrow::Result<EncodedPage> EncodeFullZip(const LeafValues& values, const PageOptions& options,
                                         arrow::MemoryPool* pool) {
  ARROW_ASSIGN_OR_RAISE(const EncodedRecords records, EncodeRecords(values, options, pool));
  EncodedPage page;
  page.length = values.length;
  page.encoding = wire::WriteFullZipPage(MessageFor(values, records));
  if (values.type.kind == LeafKind::kVariable) {
    ARROW_ASSIGN_OR_RAISE(page.buffers, ZipVariable(values, records, pool));
  } else {
    ARROW_ASSIGN_OR_RAISE(BufferPtr zipped, ZipFixed(values, records, pool));
    page.buffers.push_back(std::move(zipped));
  }
  return page;
}

}  // namespace pennon::encoding
