#include "pennon/file/packed_rows.h"

#include <cstring>
#include <limits>

#include "pennon/encoding/leaf_type.h"
#include "pennon/encoding/output.h"
#include "pennon/error.h"

namespace pennon::file {
namespace {

arrow::Result<encoding::LeafType> ChildType(const Field& field, const Field& child) {
  ARROW_ASSIGN_OR_RAISE(encoding::LeafType leaf, encoding::LeafType::Make(*child.type));
  if (leaf.kind != encoding::LeafKind::kFixed || leaf.bits_per_item % 8 != 0) {
    return Unsupported("", "packed structs hold values of a fixed number of bytes only: field '",
                       field.name, "', child '", child.name, "', type ", child.logical_type);
  }
  return leaf;
}

template <uint64_t kWidth>
void CopyStrided(const uint8_t* from, uint64_t stride, uint64_t count, uint8_t* to) {
  for (uint64_t i = 0; i < count; ++i) std::memcpy(to + i * kWidth, from + i * stride, kWidth);
}

void CopyColumn(const uint8_t* from, uint64_t stride, uint64_t count, uint64_t width, uint8_t* to) {
  switch (width) {
    case 1:
      return CopyStrided<1>(from, stride, count, to);
    case 2:
      return CopyStrided<2>(from, stride, count, to);
    case 4:
      return CopyStrided<4>(from, stride, count, to);
    case 8:
      return CopyStrided<8>(from, stride, count, to);
    default:
      for (uint64_t i = 0; i < count; ++i) std::memcpy(to + i * width, from + i * stride, width);
  }
}

}  // namespace

arrow::Result<uint64_t> PackedRowBytes(const Field& field) {
  uint64_t bytes = 0;
  for (const Field& child : field.children) {
    ARROW_ASSIGN_OR_RAISE(const encoding::LeafType leaf, ChildType(field, child));
    bytes += leaf.bits_per_slot() / 8;  // LeafType keeps each far from overflowing the sum
    if (bytes > std::numeric_limits<int32_t>::max()) {
      return Unsupported("", "packed rows of that many bytes are not supported: field '",
                         field.name, "', bytes ", bytes);
    }
  }
  if (bytes == 0) return Unsupported("", "packed structs need a child: field '", field.name, "'");
  return bytes;
}

arrow::Result<std::vector<std::shared_ptr<arrow::ArrayData>>> SplitPackedRows(
    const Field& field, const uint8_t* rows, uint64_t count, arrow::MemoryPool* pool) {
  ARROW_ASSIGN_OR_RAISE(const uint64_t stride, PackedRowBytes(field));
  std::vector<std::shared_ptr<arrow::ArrayData>> children;
  for (const Field& child : field.children) {
    ARROW_ASSIGN_OR_RAISE(encoding::LeafType leaf, ChildType(field, child));
    const uint64_t width = leaf.bits_per_slot() / 8;
    ARROW_ASSIGN_OR_RAISE(auto out, encoding::ColumnOutput::Make(std::move(leaf), count, pool));
    CopyColumn(rows, stride, count, width, out->values());
    rows += width;
    ARROW_ASSIGN_OR_RAISE(auto data, out->Finish(child.type));
    children.push_back(std::move(data));
  }
  return children;
}

}  // namespace pennon::file
