#include "pennon/encoding/packed_struct/packed_struct_writer.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include <arrow/util/bitmap_ops.h>

#include "pennon/encoding/constant/constant_writer.h"
#include "pennon/encoding/full_zip/full_zip_writer.h"
#include "pennon/encoding/full_zip/zip_encoder.h"
#include "pennon/encoding/mini_block/chunk_encoder.h"
#include "pennon/encoding/mini_block/mini_block_writer.h"
#include "pennon/error.h"
#include "pennon/wire/page_layout_writer.h"

namespace pennon::encoding {
namespace {

using BufferPtr = std::shared_ptr<arrow::Buffer>;

constexpr uint64_t kChunkBytes = 8186;

bool AllPlainFixed(const std::vector<LeafType>& children) {
  return std::all_of(children.begin(), children.end(), [](const LeafType& type) {
    return type.kind == LeafKind::kFixed && !type.is_list();
  });
}

// Nulls of `child` in rows that are not null.
uint64_t NullsInRows(const arrow::ArrayData& child, const arrow::Buffer* validity) {
  if (child.GetNullCount() == 0) return 0;
  if (validity == nullptr) return static_cast<uint64_t>(child.GetNullCount());
  uint64_t nulls = 0;
  for (int64_t i = 0; i < child.length; ++i) {
    if (child.IsNull(i) && arrow::bit_util::GetBit(validity->data(), i)) ++nulls;
  }
  return nulls;
}

// Cuts rows of `bytes` each into chunks of a power of two.
EncodedChunks CutRows(BufferPtr data, uint64_t rows, uint64_t bytes, std::string encoding,
                      uint64_t max_chunk_values) {
  uint64_t most = max_chunk_values;
  while (most > 2 && most * bytes >= kChunkBytes) most /= 2;
  EncodedChunks chunks;
  chunks.encoding = std::move(encoding);
  chunks.streams.push_back(std::move(data));
  for (uint64_t at = 0; at < rows; at += most) {
    const uint64_t count = std::min(most, rows - at);
    chunks.counts.push_back(static_cast<uint32_t>(count));
    chunks.sizes.push_back(static_cast<uint32_t>(count * bytes));
  }
  return chunks;
}

// One child's values, each by itself.
struct ZippedChild {
  EncodedRecords records;
  uint64_t bytes(uint64_t row) const {
    if (records.bits_per_offset == 0) return records.bits_per_value / 8;
    return records.bits_per_offset / 8 + records.value_start(row + 1) - records.value_start(row);
  }
};

arrow::Result<EncodedRecords> ZipRows(const ShreddedRows& rows,
                                      const std::vector<LeafValues>& children,
                                      const PageOptions& options, arrow::MemoryPool* pool) {
  std::vector<ZippedChild> zipped;
  std::vector<wire::PackedChild> messages;
  for (const LeafValues& child : children) {
    ARROW_ASSIGN_OR_RAISE(EncodedRecords records, EncodeRecords(child, options, pool));
    const bool is_variable = records.bits_per_offset != 0;
    messages.push_back({.values = records.encoding,
                        .bits = is_variable ? records.bits_per_offset : records.bits_per_value,
                        .is_variable = is_variable});
    zipped.push_back({std::move(records)});
  }
  const auto num_rows = static_cast<uint64_t>(rows.values->length);
  const auto is_valid = [&](uint64_t row) {
    return rows.validity == nullptr ||
           arrow::bit_util::GetBit(rows.validity->data(), static_cast<int64_t>(row));
  };
  std::vector<uint64_t> offsets = {0};
  offsets.reserve(num_rows + 1);
  for (uint64_t row = 0; row < num_rows; ++row) {
    uint64_t bytes = 0;
    if (is_valid(row)) {
      for (const ZippedChild& child : zipped) bytes += child.bytes(row);
    }
    offsets.push_back(offsets.back() + bytes);
  }
  ARROW_ASSIGN_OR_RAISE(std::unique_ptr<arrow::Buffer> data,
                        arrow::AllocateBuffer(static_cast<int64_t>(offsets.back()), pool));
  uint8_t* at = data->mutable_data();
  for (uint64_t row = 0; row < num_rows; ++row) {
    if (!is_valid(row)) continue;
    for (const ZippedChild& child : zipped) {
      const EncodedRecords& records = child.records;
      uint64_t size = child.bytes(row);
      const uint8_t* from = records.data->data() + row * size;
      if (records.bits_per_offset != 0) {
        const uint64_t width = records.bits_per_offset / 8;
        size -= width;
        std::memcpy(at, &size, width);  // little-endian: the low bytes come first
        at += width;
        from = records.data->data() + records.value_start(row);
      }
      if (size != 0) std::memcpy(at, from, size);
      at += size;
    }
  }
  EncodedRecords out;
  out.encoding = wire::WriteVariablePackedStruct(messages);
  out.bits_per_offset = offsets.back() > UINT32_MAX ? 64 : 32;
  out.data = std::move(data);
  if (out.bits_per_offset == 64) {
    out.offsets = arrow::Buffer::FromVector(std::move(offsets));
  } else {
    out.offsets = arrow::Buffer::FromVector(std::vector<uint32_t>(offsets.begin(), offsets.end()));
  }
  return out;
}

}  // namespace

arrow::Result<std::vector<LeafValues>> PackedChildren(const ShreddedRows& rows,
                                                      const std::vector<LeafType>& children,
                                                      arrow::MemoryPool* pool) {
  std::vector<LeafValues> out;
  const arrow::ArrayData& values = *rows.values;
  for (size_t i = 0; i < children.size(); ++i) {
    const std::shared_ptr<arrow::ArrayData> child =
        values.child_data[i]->Slice(values.offset, values.length);
    if (const uint64_t nulls = NullsInRows(*child, rows.validity.get())) {
      return Unsupported("", "Children of a packed struct cannot be null: child ",
                         values.type->field(static_cast<int>(i))->name(), ", nulls: ", nulls);
    }
    ARROW_ASSIGN_OR_RAISE(LeafValues leaf, LeafValues::Make(children[i], *child, rows.validity,
                                                            rows.null_count, pool));
    out.push_back(std::move(leaf));
  }
  return out;
}

arrow::Result<BufferPtr> PackRows(const std::vector<LeafValues>& children,
                                  arrow::MemoryPool* pool) {
  uint64_t row_bytes = 0;
  for (const LeafValues& child : children) row_bytes += child.type.bits_per_slot() / 8;
  const uint64_t rows = children[0].length;
  ARROW_ASSIGN_OR_RAISE(std::unique_ptr<arrow::Buffer> out,
                        arrow::AllocateBuffer(static_cast<int64_t>(rows * row_bytes), pool));
  uint64_t column = 0;
  if (rows == 0) return BufferPtr(std::move(out));  // the children have no buffers
  for (const LeafValues& child : children) {
    const uint64_t bytes = child.type.bits_per_slot() / 8;
    const uint8_t* from = child.data->data();
    uint8_t* to = out->mutable_data() + column;
    for (uint64_t row = 0; row < rows; ++row) {
      std::memcpy(to + row * row_bytes, from + row * bytes, bytes);
    }
    column += bytes;
  }
  return BufferPtr(std::move(out));
}

arrow::Result<std::optional<EncodedPage>> EncodePackedRows(const PageNesting& nesting,
                                                           BufferPtr data,
                                                           const std::vector<uint64_t>& child_bits,
                                                           int minor) {
  uint64_t bytes = 0;
  for (uint64_t bits : child_bits) bytes += bits / 8;
  const uint64_t rows = static_cast<uint64_t>(data->size()) / bytes;
  const std::string encoding = wire::WritePackedStruct(child_bits);
  return EncodeMiniBlock(
      nesting,
      [&](uint64_t max_chunk_values) -> arrow::Result<EncodedChunks> {
        return CutRows(data, rows, bytes, encoding, max_chunk_values);
      },
      nullptr, minor);
}

arrow::Result<std::optional<EncodedPage>> EncodePackedStructPage(
    const ShreddedRows& rows, const std::vector<LeafType>& children, const PageOptions& options,
    arrow::MemoryPool* pool) {
  if (rows.null_count == static_cast<uint64_t>(rows.values->length))
    return EncodeAllNull(rows.nesting, options.minor);
  ARROW_ASSIGN_OR_RAISE(const std::vector<LeafValues> values, PackedChildren(rows, children, pool));
  if (AllPlainFixed(children)) {
    std::vector<uint64_t> bits;
    for (const LeafType& child : children) bits.push_back(child.bits_per_item);
    ARROW_ASSIGN_OR_RAISE(BufferPtr data, PackRows(values, pool));
    return EncodePackedRows(rows.nesting, std::move(data), bits, options.minor);
  }
  ARROW_ASSIGN_OR_RAISE(const EncodedRecords records, ZipRows(rows, values, options, pool));
  return EncodeFullZip(rows.nesting, records, pool);
}

}  // namespace pennon::encoding
