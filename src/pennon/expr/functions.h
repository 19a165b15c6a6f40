// The functions of the dialect, in one table.
#pragma once

#include <arrow/result.h>

#include "pennon/expr/ast.h"
#include "pennon/expr/binder.h"
#include "pennon/expr/node.h"

namespace pennon::expr {

/// Binds a kCall; errors: no such function, or it does not take these arguments.
arrow::Result<NodePtr> BindFunction(Binder& binder, const Ast& call);

}  // namespace pennon::expr
