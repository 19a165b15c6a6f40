// Puts overlay values over a column that was decoded from the base: one type-free pass per buffer,
// no call per cell.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <arrow/array/data.h>
#include <arrow/memory_pool.h>
#include <arrow/result.h>
#include <arrow/type_fwd.h>

namespace pennon::overlay {

/// `count` consecutive output slots from `slot` that take consecutive values from index `cell`.
struct SlotRun {
  uint32_t slot = 0;
  uint32_t count = 0;
  uint32_t cell = 0;
  bool operator==(const SlotRun&) const = default;
};

/// Where values go: runs, or else one slot a value, value i at `offsets[i] - minus`. Ascending,
/// disjoint.
struct SlotList {
  std::vector<SlotRun> runs;
  std::span<const uint32_t> offsets;
  uint32_t minus = 0;
};

/// Values of one overlay for some slots: value i of the list is `values` at index `first + i`.
struct Piece {
  const arrow::ArrayData* values = nullptr;
  uint64_t first = 0;
  const SlotList* slots = nullptr;
};

/// Says whether ScatterPieces can merge columns of `type`: booleans, fixed-width types, strings and
/// binary, fixed-size lists of the fixed-width ones, null, and structs of all these.
bool CanScatter(const arrow::DataType& type);

/// Overwrites the slots of `pieces` in `column`, whose buffers nobody else may see. A piece's NULL
/// makes its slot NULL; a valid value makes it valid. The slots of all pieces must be disjoint and
/// inside the column. A string column whose bytes no longer fit its offsets is a kUnsupported
/// error.
arrow::Status ScatterPieces(std::span<const Piece> pieces, arrow::ArrayData* column,
                            arrow::MemoryPool* pool);

/// A column of NULLs with buffers of its own, to scatter into. `type` must be one that CanScatter
/// takes.
arrow::Result<std::shared_ptr<arrow::ArrayData>> MakeWritableNulls(
    const std::shared_ptr<arrow::DataType>& type, uint64_t length, arrow::MemoryPool* pool);

}  // namespace pennon::overlay
