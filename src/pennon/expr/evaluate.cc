#include "pennon/expr/evaluate.h"

#include <utility>

#include <arrow/array.h>
#include <arrow/buffer_builder.h>
#include <arrow/compute/api_scalar.h>
#include <arrow/compute/api_vector.h>
#include <arrow/compute/exec.h>
#include <arrow/scalar.h>
#include <arrow/type.h>

#include "pennon/expr/float_order.h"

namespace pennon::expr {
namespace {

namespace cp = arrow::compute;
using arrow::Datum;

// Replaces NULL by `answer` in a boolean value.
arrow::Result<Datum> FillNull(const Datum& value, bool answer, cp::ExecContext* context) {
  return cp::CallFunction("coalesce", {value, Datum(answer)}, context);
}

arrow::Result<std::shared_ptr<arrow::Array>> AsArray(const Datum& value, int64_t length,
                                                     cp::ExecContext* context) {
  if (!value.is_scalar()) return value.make_array();
  return arrow::MakeArrayFromScalar(*value.scalar(), length, context->memory_pool());
}

// Computes `node` in the rows where `mask` (a boolean without NULL) is true; other rows are NULL.
arrow::Result<Datum> EvaluateWhere(const Node& node, const std::vector<Datum>& columns,
                                   int64_t length, const Datum& mask, cp::ExecContext* context) {
  ARROW_ASSIGN_OR_RAISE(std::shared_ptr<arrow::Array> wanted, AsArray(mask, length, context));
  const auto& bits = static_cast<const arrow::BooleanArray&>(*wanted);
  const int64_t count = bits.true_count();
  if (count == 0) return Datum(arrow::MakeNullScalar(node.type));
  if (count == length) return EvaluateNode(node, columns, length, context);
  std::vector<Datum> kept(columns.size());
  for (size_t i = 0; i < columns.size(); ++i) {
    if (columns[i].kind() == Datum::NONE) continue;
    ARROW_ASSIGN_OR_RAISE(kept[i],
                          cp::Filter(columns[i], wanted, cp::FilterOptions::Defaults(), context));
  }
  ARROW_ASSIGN_OR_RAISE(Datum part, EvaluateNode(node, kept, count, context));
  ARROW_ASSIGN_OR_RAISE(std::shared_ptr<arrow::Array> values, AsArray(part, count, context));
  // Puts the values back at their rows.
  arrow::TypedBufferBuilder<int64_t> places(context->memory_pool());
  arrow::TypedBufferBuilder<bool> validity(context->memory_pool());
  ARROW_RETURN_NOT_OK(places.Resize(length));
  ARROW_RETURN_NOT_OK(validity.Resize(length));
  int64_t place = 0;
  for (int64_t row = 0; row < length; ++row) {
    const bool is_wanted = bits.Value(row);
    places.UnsafeAppend(is_wanted ? place++ : 0);
    validity.UnsafeAppend(is_wanted);
  }
  ARROW_ASSIGN_OR_RAISE(std::shared_ptr<arrow::Buffer> place_buffer, places.Finish());
  ARROW_ASSIGN_OR_RAISE(std::shared_ptr<arrow::Buffer> validity_buffer, validity.Finish());
  const arrow::Int64Array indices(length, place_buffer, validity_buffer);
  return cp::Take(values, Datum(indices.data()), cp::TakeOptions::NoBoundsCheck(), context);
}

arrow::Result<Datum> EvaluateLogic(const Node& node, const std::vector<Datum>& columns,
                                   int64_t length, cp::ExecContext* context) {
  const bool is_and = node.kind == NodeKind::kAnd;
  Datum answer{std::make_shared<arrow::BooleanScalar>(is_and)};
  for (const NodePtr& term : node.args) {
    arrow::Result<Datum> next = EvaluateNode(*term, columns, length, context);
    if (!next.ok()) {
      // Is the fault in a row that the terms before have decided already?
      ARROW_ASSIGN_OR_RAISE(Datum open, FillNull(answer, is_and, context));
      if (!is_and) {
        ARROW_ASSIGN_OR_RAISE(open, cp::Invert(open, context));
      }
      ARROW_ASSIGN_OR_RAISE(std::shared_ptr<arrow::Array> bits, AsArray(open, length, context));
      if (static_cast<const arrow::BooleanArray&>(*bits).true_count() == length)
        return next.status();
      next = EvaluateWhere(*term, columns, length, Datum(bits), context);
      if (!next.ok()) return next.status();
    }
    ARROW_ASSIGN_OR_RAISE(answer, is_and ? cp::KleeneAnd(answer, *next, context)
                                         : cp::KleeneOr(answer, *next, context));
    if (answer.is_scalar()) {
      const auto& scalar = answer.scalar_as<arrow::BooleanScalar>();
      if (scalar.is_valid && scalar.value != is_and) return answer;
    }
  }
  return answer;
}

arrow::Result<Datum> EvaluateCase(const Node& node, const std::vector<Datum>& columns,
                                  int64_t length, cp::ExecContext* context) {
  Datum open{std::make_shared<arrow::BooleanScalar>(true)};  // rows that no condition has taken yet
  std::vector<Datum> parts;
  for (size_t i = 0; i < node.args.size(); i += 2) {
    if (i + 1 == node.args.size()) {
      ARROW_ASSIGN_OR_RAISE(Datum rest,
                            EvaluateWhere(*node.args[i], columns, length, open, context));
      parts.push_back(std::move(rest));
      break;
    }
    ARROW_ASSIGN_OR_RAISE(Datum holds,
                          EvaluateWhere(*node.args[i], columns, length, open, context));
    ARROW_ASSIGN_OR_RAISE(holds, FillNull(holds, false, context));
    ARROW_ASSIGN_OR_RAISE(Datum part,
                          EvaluateWhere(*node.args[i + 1], columns, length, holds, context));
    parts.push_back(std::move(part));
    ARROW_ASSIGN_OR_RAISE(Datum fails, cp::Invert(holds, context));
    ARROW_ASSIGN_OR_RAISE(open, cp::And(open, fails, context));
  }
  // Each row has a value in one part at most.
  return cp::CallFunction("coalesce", parts, context);
}

}  // namespace

arrow::Result<Datum> CompareValues(CompareOp op, const Datum& left, const Datum& right,
                                   cp::ExecContext* context) {
  static constexpr const char* kFunctions[] = {"equal",      "not_equal", "less",
                                               "less_equal", "greater",   "greater_equal"};
  ARROW_ASSIGN_OR_RAISE(Datum left_keys, FloatOrderKeys(left, context->memory_pool()));
  ARROW_ASSIGN_OR_RAISE(Datum right_keys, FloatOrderKeys(right, context->memory_pool()));
  return cp::CallFunction(kFunctions[static_cast<int>(op)],
                          {std::move(left_keys), std::move(right_keys)}, context);
}

arrow::Result<Datum> EvaluateNode(const Node& node, const std::vector<Datum>& columns,
                                  int64_t length, cp::ExecContext* context) {
  switch (node.kind) {
    case NodeKind::kColumn:
      return columns[node.column];
    case NodeKind::kLiteral:
      return Datum(node.value);
    case NodeKind::kAnd:
    case NodeKind::kOr:
      return EvaluateLogic(node, columns, length, context);
    case NodeKind::kCase:
      return EvaluateCase(node, columns, length, context);
    default:
      break;
  }
  std::vector<Datum> args;
  args.reserve(node.args.size());
  for (const NodePtr& arg : node.args) {
    ARROW_ASSIGN_OR_RAISE(Datum value, EvaluateNode(*arg, columns, length, context));
    args.push_back(std::move(value));
  }
  switch (node.kind) {
    case NodeKind::kCompare:
      return CompareValues(node.op, args[0], args[1], context);
    case NodeKind::kNot:
      return cp::Invert(args[0], context);
    case NodeKind::kIsNull:
      return cp::IsNull(args[0], cp::NullOptions(), context);
    default:
      return node.kernel(args, length, context);
  }
}

}  // namespace pennon::expr
