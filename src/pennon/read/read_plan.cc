#include "pennon/read/read_plan.h"

#include <map>
#include <numeric>
#include <set>
#include <span>
#include <utility>

#include <arrow/array/array_primitive.h>
#include <arrow/array/util.h>
#include <arrow/record_batch.h>
#include <arrow/type.h>

#include "pennon/error.h"
#include "pennon/expr/expression.h"

namespace pennon::read {
namespace {

// What an expression looks at of a column: all of it, or fields inside structs.
struct Parts {
  bool whole = false;
  std::vector<int32_t> ids;
};

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
    std::vector<int> inputs;
    ARROW_ASSIGN_OR_RAISE(expr::Expression parsed,
                          Bind(
                              [&](const arrow::Schema& input) {
                                return filter.expression == nullptr
                                           ? expr::Expression::ParseFilter(filter.sql, input)
                                           : expr::Expression::FromArrow(filter.expression, input);
                              },
                              &inputs));
    if (parsed.type()->id() != arrow::Type::BOOL) {
      return InvalidInput("filter is not a condition: its type is ", parsed.type()->ToString());
    }
    plan_.filter = std::make_shared<const expr::Expression>(std::move(parsed));
    plan_.filter_columns = plan_.columns.size();
    return arrow::Status::OK();
  }

  arrow::Status AddColumn(std::string_view name) {
    ARROW_ASSIGN_OR_RAISE(Column column, FindColumn(manifest_, name));
    Output output;
    output.field = column.arrow_field;
    output.column = Index(std::move(column));
    plan_.outputs.push_back(std::move(output));
    return arrow::Status::OK();
  }

  arrow::Status AddExpression(const Projection& projection) {
    Output output;
    ARROW_ASSIGN_OR_RAISE(expr::Expression parsed, Bind(
                                                       [&](const arrow::Schema& input) {
                                                         return expr::Expression::ParseSql(
                                                             projection.sql, input);
                                                       },
                                                       &output.inputs));
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
  // Parses an expression and adds the columns that it reads, structs cut down to what it looks at.
  template <typename Parse>
  arrow::Result<expr::Expression> Bind(const Parse& parse, std::vector<int>* inputs) {
    ARROW_ASSIGN_OR_RAISE(expr::Expression whole, parse(*input_));
    std::map<int, Parts> parts;
    CollectParts(*whole.root(), &parts);
    arrow::FieldVector fields = input_->fields();
    std::vector<Column> columns;
    bool cut = false;
    for (const std::string& name : whole.columns()) {
      const int index = input_->GetFieldIndex(name);
      Column column = all_[static_cast<size_t>(index)];
      const Parts& part = parts[index];
      if (!part.whole && !part.ids.empty()) {
        column = PrunedColumn(*column.field, part.ids);
        if (!column.arrow_field->type()->Equals(*fields[static_cast<size_t>(index)]->type())) {
          fields[static_cast<size_t>(index)] = column.arrow_field;
          cut = true;
        }
      }
      columns.push_back(std::move(column));
    }
    for (Column& column : columns) inputs->push_back(Index(std::move(column)));
    if (!cut) return whole;
    return parse(arrow::Schema(std::move(fields)));
  }

  // Adds what `node` looks at to what is known of each column, by index in `all_`.
  void CollectParts(const expr::Node& node, std::map<int, Parts>* parts) const {
    std::vector<int> steps;
    const expr::Node* at = &node;
    while (at->kind == expr::NodeKind::kCall && at->column >= 0 && at->args.size() == 1) {
      steps.push_back(at->column);
      at = at->args[0].get();
    }
    if (at->kind != expr::NodeKind::kColumn) {
      for (const expr::NodePtr& arg : at->args) CollectParts(*arg, parts);
      return;
    }
    Parts& known = (*parts)[at->column];
    const Field* field = all_[static_cast<size_t>(at->column)].field;
    if (field == nullptr || steps.empty()) {
      known.whole = true;
      return;
    }
    for (auto step = steps.rbegin(); step != steps.rend(); ++step) {
      field = &field->children[static_cast<size_t>(*step)];
    }
    known.ids.push_back(field->id);
  }

  // The place of `column` in the plan's list.
  int Index(Column column) {
    for (size_t i = 0; i < plan_.columns.size(); ++i) {
      const Column& known = plan_.columns[i];
      if (known.name == column.name &&
          known.arrow_field->type()->Equals(*column.arrow_field->type())) {
        return static_cast<int>(i);
      }
    }
    plan_.columns.push_back(std::move(column));
    return static_cast<int>(plan_.columns.size()) - 1;
  }

  const table::Manifest& manifest_;
  std::vector<Column> all_;
  std::shared_ptr<arrow::Schema> input_;
  ReadPlan plan_;
};

// The columns `inputs` as a batch that expressions read by name.
std::shared_ptr<arrow::RecordBatch> InputBatch(
    const ReadPlan& plan, const std::vector<std::shared_ptr<arrow::ArrayData>>& columns,
    std::span<const int> inputs, int64_t rows) {
  std::vector<std::shared_ptr<arrow::Field>> fields;
  std::vector<std::shared_ptr<arrow::ArrayData>> data;
  for (const int i : inputs) {
    fields.push_back(plan.columns[static_cast<size_t>(i)].arrow_field);
    data.push_back(columns[static_cast<size_t>(i)]);
  }
  return arrow::RecordBatch::Make(arrow::schema(std::move(fields)), rows, std::move(data));
}

}  // namespace

arrow::Result<std::shared_ptr<arrow::BooleanArray>> ReadPlan::EvaluateFilter(
    const std::vector<std::shared_ptr<arrow::ArrayData>>& columns, int64_t rows,
    arrow::MemoryPool* pool) const {
  std::vector<int> inputs(filter_columns);
  std::iota(inputs.begin(), inputs.end(), 0);
  return filter->EvaluateFilter(*InputBatch(*this, columns, inputs, rows), pool);
}

arrow::Result<std::shared_ptr<arrow::RecordBatch>> ReadPlan::MakeOutput(
    const std::vector<std::shared_ptr<arrow::ArrayData>>& columns, int64_t rows,
    arrow::MemoryPool* pool) const {
  if (rows == 0) return arrow::RecordBatch::MakeEmpty(schema, pool);
  std::vector<std::shared_ptr<arrow::ArrayData>> data;
  for (const Output& output : outputs) {
    if (output.column >= 0) {
      data.push_back(columns[static_cast<size_t>(output.column)]);
      continue;
    }
    auto input = InputBatch(*this, columns, output.inputs, rows);
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
