// Spreads an array over the slots of a longer one.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include <arrow/array/data.h>
#include <arrow/memory_pool.h>
#include <arrow/result.h>
#include <arrow/type_fwd.h>

namespace pennon::file {

/// The next `count` values go to the slots from `out`.
struct SlotRun {
  uint64_t count = 0;
  uint64_t out = 0;
};

/// Gives an array of `length` slots that holds the values of `data`, of offset 0 and any type that
/// a table can have, in the slots of `runs`: ascending, disjoint, in all as many as `data` has. The
/// other slots are valid and zero or empty. Takes what it can of the buffers of `data`.
arrow::Result<std::shared_ptr<arrow::ArrayData>> SpreadSlots(std::shared_ptr<arrow::ArrayData> data,
                                                             std::span<const SlotRun> runs,
                                                             uint64_t length,
                                                             arrow::MemoryPool* pool);

/// Gives an array of `length` nulls whose buffers nobody shares.
arrow::Result<std::shared_ptr<arrow::ArrayData>> MakeNulls(
    const std::shared_ptr<arrow::DataType>& type, uint64_t length, arrow::MemoryPool* pool);

}  // namespace pennon::file
