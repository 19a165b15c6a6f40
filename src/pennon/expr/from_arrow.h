// From serialized arrow::compute::Expression to the tree as written.
#pragma once

#include <memory>

#include <arrow/result.h>
#include <arrow/type_fwd.h>

#include "pennon/expr/ast.h"

namespace pennon::expr {

/// Reads the bytes that arrow::compute::Serialize and pyarrow's Expression.__reduce__ give; `input`
/// names the columns of references by index. Errors (kInvalidInput): the bytes are none, or hold
/// what no expression over rows can.
arrow::Result<Ast> ReadArrowExpression(const std::shared_ptr<arrow::Buffer>& bytes,
                                       const arrow::Schema& input);

}  // namespace pennon::expr
