// Kernels on list values.
#pragma once

#include <arrow/result.h>

#include "pennon/expr/node.h"

namespace pennon::expr {

/// Element `index` (1-based; from the end when negative) of a list; NULL where there is none.
arrow::Result<NodePtr> MakeElement(NodePtr list, NodePtr index);

/// Whether `test` is true for an element of the list; NULL for a NULL list. In `test` column 0 is
/// the element and column 1 the value of `other` (may be null) in the list's row.
arrow::Result<NodePtr> MakeAnyElement(NodePtr list, NodePtr other, NodePtr test);

}  // namespace pennon::expr
