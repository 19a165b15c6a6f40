// The tree as it was written: names are not looked up and literals have no type yet. SQL text and
// arrow::compute::Expression both become this tree, so that one binder gives both the same meaning.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <arrow/compute/type_fwd.h>
#include <arrow/status.h>
#include <arrow/type_fwd.h>

namespace pennon::expr {

/// The deepest nesting of a tree; AND, OR and IN take any number of terms at one depth.
inline constexpr int kMaxDepth = 400;

enum class AstKind {
  kNull,
  kBoolean,    ///< `flag`
  kNumber,     ///< `text`: decimal digits, sign, point, exponent
  kString,     ///< `text`
  kBytes,      ///< `text`: the bytes themselves
  kScalar,     ///< `scalar`: a literal that has its type already
  kColumn,     ///< `path`: the top-level column, then fields inside it
  kField,      ///< args[0], field `text` of it
  kSubscript,  ///< args[0][args[1]]
  kCompare,    ///< `text` is one of = <> < <= > >=
  kDistinct,   ///< args[0] IS [NOT: `flag`] DISTINCT FROM args[1]
  kIn,         ///< args[0] IN (the other args)
  kInValues,   ///< args[0] is one of `values`; `options` are arrow's SetLookupOptions
  kAnd,
  kOr,
  kNot,
  kIsNull,
  kIsBoolean,   ///< args[0] IS `flag`
  kLike,        ///< args: text, pattern, optional escape; `flag`: case is ignored
  kArithmetic,  ///< `text` is one of + - * / %
  kNegate,
  kCast,       ///< args[0] to `type`
  kCase,       ///< condition, value, condition, value, …, value for the rest
  kList,       ///< a list literal
  kCall,       ///< function `text`, in lower case
  kArrowCall,  ///< the arrow function `text` with `options`
};

struct Ast {
  AstKind kind;
  int position = 0;  ///< 1-based character in the SQL text; 0 where there is no text
  std::string text;
  bool flag = false;
  std::vector<std::string> path;
  std::vector<Ast> args;
  std::shared_ptr<arrow::Scalar> scalar;
  std::shared_ptr<arrow::Array> values;
  std::shared_ptr<arrow::DataType> type;
  std::shared_ptr<const arrow::compute::FunctionOptions> options;
};

/// Returns the error "invalid expression: `message` at position N, near `…`" (kInvalidInput).
/// `sql` may be empty, when the expression did not come from text.
arrow::Status ErrorAt(std::string_view sql, int position, const std::string& message);

}  // namespace pennon::expr
