// Puts fetched rows in the order they were asked for.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <arrow/array/data.h>
#include <arrow/memory_pool.h>
#include <arrow/result.h>
#include <arrow/type_fwd.h>

namespace pennon::read {

/// Where a row lies among fetched arrays.
struct FetchedPlace {
  uint32_t part = 0;   ///< which array
  uint32_t index = 0;  ///< in it
};

/// The values at `places` of `parts`, arrays of one type, at least one: value i of the result is
/// that of places[i]. Values of fixed width are copied once, whatever their number of parts.
arrow::Result<std::shared_ptr<arrow::ArrayData>> Gather(const arrow::ArrayVector& parts,
                                                        std::span<const FetchedPlace> places,
                                                        arrow::MemoryPool* pool);

}  // namespace pennon::read
