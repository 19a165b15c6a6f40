// SQL text to the tree as written.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <arrow/result.h>

#include "pennon/expr/ast.h"

namespace pennon::expr {

/// Parses one expression; `columns` are the names that bare words may mean. Errors are
/// kInvalidInput and name the 1-based character: bad syntax, subqueries, rows, parameters, too deep
/// nesting.
arrow::Result<Ast> ParseSqlText(std::string_view sql, const std::vector<std::string>& columns);

}  // namespace pennon::expr
