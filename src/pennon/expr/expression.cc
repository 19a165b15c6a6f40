#include "pennon/expr/expression.h"

#include <mutex>
#include <utility>

#include <arrow/array.h>
#include <arrow/compute/api_scalar.h>
#include <arrow/compute/exec.h>
#include <arrow/compute/initialize.h>
#include <arrow/record_batch.h>
#include <arrow/scalar.h>
#include <arrow/type.h>

#include "pennon/error.h"
#include "pennon/expr/binder.h"
#include "pennon/expr/evaluate.h"
#include "pennon/expr/from_arrow.h"
#include "pennon/expr/sql_parser.h"

namespace pennon::expr {
namespace {

arrow::Status InitializeKernels() {
  static const arrow::Status status = arrow::compute::Initialize();
  return status;
}

arrow::Status RequireBoolean(const Node& root) {
  if (root.type->id() == arrow::Type::BOOL) return arrow::Status::OK();
  return InvalidInput("a filter must be a condition, true or false; found a value of type ",
                      root.type->ToString(), ": ", ToString(root));
}

// Faults of values come from Arrow's kernels without our detail.
arrow::Status ValueFault(const arrow::Status& status, const std::string& expression,
                         const std::string& target) {
  if (GetErrorDetail(status)) return status;
  if (!target.empty())
    return InvalidInput("a value does not fit column ", target, ": ", status.message(), " in ",
                        expression);
  return InvalidInput("an expression fails on a row: ", status.message(), " in ", expression);
}

}  // namespace

Expression Expression::Make(NodePtr root, const Binder& binder, const arrow::Schema& input) {
  Expression expression;
  expression.root_ = std::move(root);
  for (int index : binder.columns()) {
    expression.columns_.push_back(input.field(index)->name());
    expression.column_indices_.push_back(index);
    expression.column_types_.push_back(input.field(index)->type());
  }
  return expression;
}

arrow::Result<Expression> Expression::ParseSql(std::string_view sql, const arrow::Schema& input) {
  ARROW_RETURN_NOT_OK(InitializeKernels());
  ARROW_ASSIGN_OR_RAISE(Ast ast, ParseSqlText(sql, input.field_names()));
  Binder binder(input, sql);
  ARROW_ASSIGN_OR_RAISE(NodePtr root, binder.Bind(ast));
  return Make(std::move(root), binder, input);
}

arrow::Result<Expression> Expression::ParseFilter(std::string_view sql,
                                                  const arrow::Schema& input) {
  ARROW_ASSIGN_OR_RAISE(Expression expression, ParseSql(sql, input));
  ARROW_RETURN_NOT_OK(RequireBoolean(*expression.root_));
  return expression;
}

arrow::Result<Expression> Expression::ParseSqlAs(std::string_view sql, const arrow::Schema& input,
                                                 const arrow::Field& target) {
  ARROW_RETURN_NOT_OK(InitializeKernels());
  ARROW_ASSIGN_OR_RAISE(Ast ast, ParseSqlText(sql, input.field_names()));
  Binder binder(input, sql);
  arrow::Result<NodePtr> root = binder.BindStored(ast, target.type());
  if (!root.ok())
    return InvalidInput("cannot set column ", target.name(), ": ", root.status().message());
  const bool is_null = (*root)->is_literal() && !(*root)->value->is_valid;
  if (is_null && !target.nullable())
    return InvalidInput("cannot set column to NULL, it is not nullable: ", target.name());
  Expression expression = Make(std::move(root).ValueUnsafe(), binder, input);
  expression.target_ = target.name();
  return expression;
}

arrow::Result<Expression> Expression::FromArrow(const std::shared_ptr<arrow::Buffer>& bytes,
                                                const arrow::Schema& input) {
  ARROW_RETURN_NOT_OK(InitializeKernels());
  ARROW_ASSIGN_OR_RAISE(Ast ast, ReadArrowExpression(bytes, input));
  Binder binder(input, "");
  ARROW_ASSIGN_OR_RAISE(NodePtr root, binder.Bind(ast));
  return Make(std::move(root), binder, input);
}

arrow::Result<std::shared_ptr<arrow::Array>> Expression::Evaluate(const arrow::RecordBatch& batch,
                                                                  arrow::MemoryPool* pool) const {
  std::vector<arrow::Datum> columns(column_indices_.empty() ? 0 : column_indices_.back() + 1);
  for (size_t i = 0; i < columns_.size(); ++i) {
    std::shared_ptr<arrow::Array> column = batch.GetColumnByName(columns_[i]);
    if (!column || !column->type()->Equals(*column_types_[i])) {
      return InvalidInput("a batch lacks a column of an expression; expected ", columns_[i],
                          " of type ", column_types_[i]->ToString(), ", found ",
                          column ? column->type()->ToString() : "none");
    }
    columns[column_indices_[i]] = std::move(column);
  }
  arrow::compute::ExecContext context(pool);
  context.set_use_threads(false);
  arrow::Result<arrow::Datum> value = EvaluateNode(*root_, columns, batch.num_rows(), &context);
  if (!value.ok()) return ValueFault(value.status(), ToString(), target_);
  if (value->is_scalar())
    return arrow::MakeArrayFromScalar(*value->scalar(), batch.num_rows(), pool);
  return value->make_array();
}

arrow::Result<std::shared_ptr<arrow::BooleanArray>> Expression::EvaluateFilter(
    const arrow::RecordBatch& batch, arrow::MemoryPool* pool) const {
  ARROW_RETURN_NOT_OK(RequireBoolean(*root_));
  ARROW_ASSIGN_OR_RAISE(std::shared_ptr<arrow::Array> value, Evaluate(batch, pool));
  if (value->null_count() != 0) {
    arrow::compute::ExecContext context(pool);
    ARROW_ASSIGN_OR_RAISE(
        arrow::Datum filled,
        arrow::compute::CallFunction("coalesce", {value, arrow::Datum(false)}, &context));
    value = filled.make_array();
  }
  return std::static_pointer_cast<arrow::BooleanArray>(value);
}

}  // namespace pennon::expr
