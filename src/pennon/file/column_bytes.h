// How much of an Arrow array the rows of one column are, so that pages come out at about one size.
#pragma once

#include <cstdint>

#include <arrow/array/data.h>

#include "pennon/file/column_plan.h"

namespace pennon::file {

/// Bytes of the values that rows [first, first + count) of `rows` hold in the column of `plan`,
/// levels included; an estimate. The offsets of lists need not have been checked.
uint64_t ColumnBytes(const arrow::ArrayData& rows, const ColumnPlan& plan, int64_t first,
                     int64_t count);

}  // namespace pennon::file
