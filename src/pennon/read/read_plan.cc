#include "pennon/read/read_plan.h"

#include <algorithm>
#include <utility>

#include <arrow/array/array_primitive.h>
#include <arrow/array/util.h>
#include <arrow/record_batch.h>
#include <arrow/type.h>

#include "pennon/error.h"
#include "pennon/expr/expression.h"

namespace pennon::read {
namespace {

// Collects columns to read, each once, and the outputs made of them.
class Planner {
 public:
  explicit Planner(const table::Manifest& manifest)
      : manifest_(manifest), all_(AllColumns(manifest)) {
    std::vector<std::shared_ptr<arrow::Field>> fields;
    for (const Column& column : all_) fields.push_back(column.arrow_field);
    input_ = arrow::schema(std::move(fields));
  }

  arrow::Status AddFilter(const Filter& filter) {
    if (filter.empty()) return arrow::Status::OK();
    if (!filter.sql.empty() && filter.expression != nullptr) {
      return InvalidInput("a filter is SQL text or an expression, not both: ", filter.sql);
    }
    arrow::Result<expr::Expression> parsed =
        filter.expression == nullptr ? expr::Expression::ParseFilter(filter.sql, *input_)
                                     : expr::Expression::FromArrow(filter.expression, *input_);
    ARROW_RETURN_NOT_OK(parsed.status());
    if (parsed->type()->id() != arrow::Type::BOOL) {
      return InvalidInput("filter is not a condition: its type is ", parsed->type()->ToString());
    }
    ARROW_RETURN_NOT_OK(AddInputs(*parsed));
    plan_.filter = std::make_shared<const expr::Expression>(std::move(parsed).ValueUnsafe());
    plan_.filter_columns = plan_.columns.size();
    return arrow::Status::OK();
  }

  arrow::Status AddColumn(std::string_view name) {
    ARROW_ASSIGN_OR_RAISE(Column column, FindColumn(manifest_, name));
    Output output;
    output.field = column.arrow_field;
    ARROW_ASSIGN_OR_RAISE(output.column, Index(std::move(column)));
    plan_.outputs.push_back(std::move(output));
    return arrow::Status::OK();
  }

  arrow::Status AddExpression(const Projection& projection) {
    ARROW_ASSIGN_OR_RAISE(expr::Expression parsed,
                          expr::Expression::ParseSql(projection.sql, *input_));
    ARROW_RETURN_NOT_OK(AddInputs(parsed));
    Output output;
    output.field = arrow::field(projection.name, parsed.type());
    output.expression = std::make_shared<const expr::Expression>(std::move(parsed));
    plan_.outputs.push_back(std::move(output));
    return arrow::Status::OK();
  }

  // A row column asked for by an option, unless the list has it already.
  arrow::Status AddOnce(std::string_view name) {
    for (const Output& output : plan_.outputs) {
      if (output.field->name() == name) return arrow::Status::OK();
    }
    return AddColumn(name);
  }

  ReadPlan Finish(bool all_columns) {
    std::vector<std::shared_ptr<arrow::Field>> fields;
    for (const Output& output : plan_.outputs) fields.push_back(output.field);
    std::shared_ptr<const arrow::KeyValueMetadata> metadata;
    if (all_columns) metadata = manifest_.schema().ToArrow()->metadata();
    plan_.schema = arrow::schema(std::move(fields), std::move(metadata));
    return std::move(plan_);
  }

 private:
  arrow::Status AddInputs(const expr::Expression& expression) {
    for (const std::string& name : expression.columns()) {
      ARROW_ASSIGN_OR_RAISE(Column column, FindColumn(manifest_, name));
      ARROW_RETURN_NOT_OK(Index(std::move(column)).status());
    }
    return arrow::Status::OK();
  }

  // The place of `column` in the plan's list.
  arrow::Result<int> Index(Column column) {
    for (size_t i = 0; i < plan_.columns.size(); ++i) {
      if (plan_.columns[i].name == column.name) return static_cast<int>(i);
    }
    ARROW_RETURN_NOT_OK(CheckReadable(column));
    plan_.columns.push_back(std::move(column));
    return static_cast<int>(plan_.columns.size()) - 1;
  }

  const table::Manifest& manifest_;
  std::vector<Column> all_;
  std::shared_ptr<arrow::Schema> input_;
  ReadPlan plan_;
};

// The first `count` columns as a batch that expressions read by name.
std::shared_ptr<arrow::RecordBatch> InputBatch(
    const ReadPlan& plan, const std::vector<std::shared_ptr<arrow::ArrayData>>& columns,
    size_t count, int64_t rows) {
  std::vector<std::shared_ptr<arrow::Field>> fields;
  std::vector<std::shared_ptr<arrow::ArrayData>> data;
  for (size_t i = 0; i < count; ++i) {
    fields.push_back(plan.columns[i].arrow_field);
    data.push_back(columns[i]);
  }
  return arrow::RecordBatch::Make(arrow::schema(std::move(fields)), rows, std::move(data));
}

}  // namespace

arrow::Result<std::shared_ptr<arrow::BooleanArray>> ReadPlan::EvaluateFilter(
    const std::vector<std::shared_ptr<arrow::ArrayData>>& columns, int64_t rows,
    arrow::MemoryPool* pool) const {
  return filter->EvaluateFilter(*InputBatch(*this, columns, filter_columns, rows), pool);
}

arrow::Result<std::shared_ptr<arrow::RecordBatch>> ReadPlan::MakeOutput(
    const std::vector<std::shared_ptr<arrow::ArrayData>>& columns, int64_t rows,
    arrow::MemoryPool* pool) const {
  if (rows == 0) return arrow::RecordBatch::MakeEmpty(schema, pool);
  std::vector<std::shared_ptr<arrow::ArrayData>> data;
  std::shared_ptr<arrow::RecordBatch> input;
  for (const Output& output : outputs) {
    if (output.column >= 0) {
      data.push_back(columns[static_cast<size_t>(output.column)]);
      continue;
    }
    if (input == nullptr) input = InputBatch(*this, columns, columns.size(), rows);
    ARROW_ASSIGN_OR_RAISE(std::shared_ptr<arrow::Array> value,
                          output.expression->Evaluate(*input, pool));
    data.push_back(value->data());
  }
  return arrow::RecordBatch::Make(schema, rows, std::move(data));
}

arrow::Result<ReadPlan> PlanRead(const table::Manifest& manifest, const Columns& columns,
                                 const Filter& filter, bool with_row_id, bool with_row_address) {
  Planner planner(manifest);
  ARROW_RETURN_NOT_OK(planner.AddFilter(filter));
  if (columns.all) {
    for (const Field& field : manifest.schema().fields)
      ARROW_RETURN_NOT_OK(planner.AddColumn(field.name));
  }
  for (const Projection& projection : columns.list) {
    ARROW_RETURN_NOT_OK(projection.sql.empty() ? planner.AddColumn(projection.name)
                                               : planner.AddExpression(projection));
  }
  if (with_row_id) ARROW_RETURN_NOT_OK(planner.AddOnce(kRowIdName));
  if (with_row_address) ARROW_RETURN_NOT_OK(planner.AddOnce(kRowAddressName));
  return planner.Finish(columns.all);
}

}  // namespace pennon::read
