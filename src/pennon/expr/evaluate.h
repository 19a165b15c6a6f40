// Computes a checked tree over one batch.
#pragma once

#include <vector>

#include <arrow/datum.h>
#include <arrow/result.h>

#include "pennon/expr/node.h"

namespace pennon::expr {

/// Computes `node` over `length` rows; `columns` is indexed as the input schema, and only the
/// columns that the node reads need a value. Gives an array of `length`, or a scalar for every row.
/// In AND, OR and CASE a fault counts only in rows whose answer depends on it: `x <> 0 AND 10 / x >
/// 1` is never an error.
arrow::Result<arrow::Datum> EvaluateNode(const Node& node, const std::vector<arrow::Datum>& columns,
                                         int64_t length, arrow::compute::ExecContext* context);

/// Compares values of one type; floats by FloatOrderKeys.
arrow::Result<arrow::Datum> CompareValues(CompareOp op, const arrow::Datum& left,
                                          const arrow::Datum& right,
                                          arrow::compute::ExecContext* context);

}  // namespace pennon::expr
