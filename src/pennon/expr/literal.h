// Where a literal stands among the values of a column's type. Comparisons and IN build on it, so
// that a literal that the type cannot hold (i32 > 1.5, u8 = 256) still gives the exact answer.
#pragma once

#include <memory>
#include <string_view>

#include <arrow/result.h>
#include <arrow/type_fwd.h>

#include "pennon/expr/ast.h"

namespace pennon::expr {

enum class Standing {
  kExact,    ///< the type holds the literal
  kBetween,  ///< it lies between two neighbouring values
  kAbove,    ///< it is greater than every value
  kBelow,    ///< it is less than every value
};

struct PlacedLiteral {
  Standing standing;
  std::shared_ptr<arrow::Scalar>
      value;  ///< kExact: the literal; kBetween: the greatest value below it
};

/// Whether the node is a literal whose type depends on its surroundings: number, string or NULL.
bool IsUntyped(const Ast& ast);

/// Places a literal (kNumber, kString, kBytes, kBoolean, kScalar; not NULL) among the values of
/// `type`. A number in SQL text is rounded to a float type; typed floats are not. Text becomes a
/// date, time or timestamp where the type is one (without zone: wall time in the type's zone).
/// Errors (kInvalidInput, without position): the literal is of another kind, or its text cannot be
/// read.
arrow::Result<PlacedLiteral> PlaceLiteral(const Ast& literal,
                                          const std::shared_ptr<arrow::DataType>& type);

/// Returns the literal in the type that it has on its own: int64 (uint64, decimal or double as its
/// size needs), double, string, binary, boolean, null.
arrow::Result<std::shared_ptr<arrow::Scalar>> DefaultScalar(const Ast& literal);

/// Converts text as CAST does: date, time, timestamp; null if `type` is none of them or the text is
/// not one.
std::shared_ptr<arrow::Scalar> TemporalFromText(std::string_view text,
                                                const std::shared_ptr<arrow::DataType>& type);

}  // namespace pennon::expr
