// From the JSON tree of PostgreSQL's parser to the tree as written.
#pragma once

#include <string>
#include <string_view>

#include <arrow/result.h>

#include "pennon/expr/ast.h"
#include "pennon/expr/sql_lexer.h"

namespace pennon::expr {

/// Reads the parse tree `json` of `lexed.statement`; `sql` is the text as given, for messages.
arrow::Result<Ast> ReadSqlTree(const std::string& json, std::string_view sql,
                               const LexedSql& lexed);

}  // namespace pennon::expr
