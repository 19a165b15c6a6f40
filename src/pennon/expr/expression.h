// Filters and value expressions: one dialect, one meaning. SQL text and pyarrow expressions give
// the same checked tree. Floats order with NaN above every number and equal to itself, and -0.0
// equals 0.0; literals compare exactly with columns of any type; faults of arithmetic and casts are
// errors. An Expression is an immutable value, cheap to copy; all of it is thread-safe.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <arrow/result.h>
#include <arrow/type_fwd.h>

#include "pennon/expr/node.h"

namespace pennon::expr {

/// A checked expression over the columns of one input schema.
class Expression {
 public:
  /// Parses SQL text against `input`: the columns of the table, and the meta columns (_rowid, …)
  /// that the caller adds. Errors (kInvalidInput) name the 1-based character and the text there.
  static arrow::Result<Expression> ParseSql(std::string_view sql, const arrow::Schema& input);

  /// Parses a condition: as ParseSql, and the result must be boolean.
  static arrow::Result<Expression> ParseFilter(std::string_view sql, const arrow::Schema& input);

  /// Parses a value to be stored in `target`. A literal that does not fit its type is an error
  /// here, a computed value one when evaluated; both name the field. Types convert only among their
  /// kind (numbers, texts, moments); NULL needs a nullable field.
  static arrow::Result<Expression> ParseSqlAs(std::string_view sql, const arrow::Schema& input,
                                              const arrow::Field& target);

  /// Reads a serialized arrow::compute::Expression (pyarrow: `expr.__reduce__()[1][0]`).
  static arrow::Result<Expression> FromArrow(const std::shared_ptr<arrow::Buffer>& bytes,
                                             const arrow::Schema& input);

  const std::shared_ptr<arrow::DataType>& type() const { return root_->type; }
  /// The top-level columns that it reads, in the order of the input schema, without repeats.
  const std::vector<std::string>& columns() const { return columns_; }
  /// The checked tree, for planners.
  const NodePtr& root() const { return root_; }
  std::string ToString() const { return expr::ToString(*root_); }

  /// Computes a value for each row of `batch`, which must have columns() by name and type.
  arrow::Result<std::shared_ptr<arrow::Array>> Evaluate(const arrow::RecordBatch& batch,
                                                        arrow::MemoryPool* pool) const;

  /// Computes which rows of `batch` a condition keeps: true where it is true, false where it is
  /// false or NULL; the array has no NULL. Errors: the expression is not boolean.
  arrow::Result<std::shared_ptr<arrow::BooleanArray>> EvaluateFilter(
      const arrow::RecordBatch& batch, arrow::MemoryPool* pool) const;

 private:
  NodePtr root_;
  std::vector<std::string> columns_;
  std::vector<int> column_indices_;  // of columns_, in the input schema
  std::vector<std::shared_ptr<arrow::DataType>> column_types_;
  std::string target_;  // field that the value is for; may be empty

  static Expression Make(NodePtr root, const class Binder& binder, const arrow::Schema& input);
};

}  // namespace pennon::expr
