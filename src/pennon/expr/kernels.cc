#include "pennon/expr/kernels.h"

#include <algorithm>
#include <utility>

#include <arrow/array.h>
#include <arrow/compute/api_scalar.h>
#include <arrow/compute/cast.h>
#include <arrow/compute/exec.h>
#include <arrow/compute/expression.h>
#include <arrow/scalar.h>
#include <arrow/type.h>
#include <arrow/type_traits.h>

#include "pennon/error.h"
#include "pennon/expr/evaluate.h"
#include "pennon/expr/float_order.h"

namespace pennon::expr {
namespace {

namespace cp = arrow::compute;

std::shared_ptr<Node> NewNode(NodeKind kind, std::shared_ptr<arrow::DataType> type,
                              std::vector<NodePtr> args) {
  auto node = std::make_shared<Node>();
  node->kind = kind;
  node->type = std::move(type);
  node->args = std::move(args);
  return node;
}

// Computes a node of literals at once.
arrow::Result<NodePtr> Finish(std::shared_ptr<Node> node) {
  const bool is_constant =
      !node->args.empty() && std::all_of(node->args.begin(), node->args.end(),
                                         [](const NodePtr& arg) { return arg->is_literal(); });
  if (!is_constant) return node;
  ARROW_ASSIGN_OR_RAISE(arrow::Datum value, EvaluateNode(*node, {}, 1, cp::default_exec_context()));
  if (value.is_scalar()) return MakeLiteral(value.scalar());
  ARROW_ASSIGN_OR_RAISE(std::shared_ptr<arrow::Scalar> scalar, value.make_array()->GetScalar(0));
  return MakeLiteral(std::move(scalar));
}

// Binds `function` over arguments of the given types, once for all batches.
arrow::Result<cp::Expression> BindCall(const std::string& function,
                                       const std::vector<NodePtr>& args,
                                       std::shared_ptr<cp::FunctionOptions> options) {
  arrow::FieldVector fields;
  std::vector<cp::Expression> refs;
  for (size_t i = 0; i < args.size(); ++i) {
    fields.push_back(arrow::field(std::to_string(i), args[i]->type));
    refs.push_back(cp::field_ref(static_cast<int>(i)));
  }
  return cp::call(function, std::move(refs), std::move(options)).Bind(arrow::Schema(fields));
}

arrow::Result<arrow::Datum> RunBound(const cp::Expression& bound,
                                     const std::vector<arrow::Datum>& args, int64_t length,
                                     cp::ExecContext* context) {
  const bool is_constant = std::all_of(args.begin(), args.end(),
                                       [](const arrow::Datum& arg) { return arg.is_scalar(); });
  if (!is_constant || args.empty())
    return cp::ExecuteScalarExpression(bound, cp::ExecBatch(args, length), context);
  ARROW_ASSIGN_OR_RAISE(arrow::Datum once,
                        cp::ExecuteScalarExpression(bound, cp::ExecBatch(args, 1), context));
  if (once.is_scalar()) return once;
  ARROW_ASSIGN_OR_RAISE(std::shared_ptr<arrow::Scalar> scalar, once.make_array()->GetScalar(0));
  return arrow::Datum(std::move(scalar));
}

}  // namespace

NodePtr MakeLiteral(std::shared_ptr<arrow::Scalar> value) {
  auto node = NewNode(NodeKind::kLiteral, value->type, {});
  node->value = std::move(value);
  return node;
}

NodePtr MakeNull(const std::shared_ptr<arrow::DataType>& type) {
  return MakeLiteral(arrow::MakeNullScalar(type));
}
NodePtr MakeBoolean(bool value) {
  return MakeLiteral(std::make_shared<arrow::BooleanScalar>(value));
}

NodePtr MakeColumn(int index, std::string name, std::shared_ptr<arrow::DataType> type) {
  auto node = NewNode(NodeKind::kColumn, std::move(type), {});
  node->column = index;
  node->name = std::move(name);
  return node;
}

arrow::Result<NodePtr> MakeArrowCall(const std::string& function, std::vector<NodePtr> args,
                                     std::shared_ptr<const cp::FunctionOptions> options) {
  // Arrow's interface takes the options without const and only reads them.
  auto bound = BindCall(function, args, std::const_pointer_cast<cp::FunctionOptions>(options));
  if (!bound.ok()) {
    std::string types;
    for (const NodePtr& arg : args) types += (types.empty() ? "" : ", ") + arg->type->ToString();
    return InvalidInput("no function takes these arguments: ", function, "(", types, ")");
  }
  auto node = NewNode(NodeKind::kCall, bound->type()->GetSharedPtr(), std::move(args));
  node->name = function;
  node->kernel = [bound = std::move(bound).ValueUnsafe()](
                     const std::vector<arrow::Datum>& values, int64_t length,
                     cp::ExecContext* context) { return RunBound(bound, values, length, context); };
  return Finish(std::move(node));
}

arrow::Result<NodePtr> MakeKernelCall(std::string name, std::shared_ptr<arrow::DataType> type,
                                      std::vector<NodePtr> args, Kernel kernel) {
  auto node = NewNode(NodeKind::kCall, std::move(type), std::move(args));
  node->name = std::move(name);
  node->kernel = std::move(kernel);
  return Finish(std::move(node));
}

arrow::Result<NodePtr> MakeLogic(NodeKind kind, std::vector<NodePtr> terms) {
  if (kind != NodeKind::kNot && terms.size() == 1) return terms[0];
  return Finish(NewNode(kind, arrow::boolean(), std::move(terms)));
}

arrow::Result<NodePtr> MakeCompare(CompareOp op, NodePtr left, NodePtr right) {
  auto node = NewNode(NodeKind::kCompare, arrow::boolean(), {std::move(left), std::move(right)});
  node->op = op;
  return Finish(std::move(node));
}

arrow::Result<NodePtr> MakeSame(NodePtr left, NodePtr right) {
  auto kernel = [](const std::vector<arrow::Datum>& args, int64_t,
                   cp::ExecContext* context) -> arrow::Result<arrow::Datum> {
    ARROW_ASSIGN_OR_RAISE(arrow::Datum equal,
                          CompareValues(CompareOp::kEqual, args[0], args[1], context));
    ARROW_ASSIGN_OR_RAISE(arrow::Datum left_null, cp::IsNull(args[0], cp::NullOptions(), context));
    ARROW_ASSIGN_OR_RAISE(arrow::Datum right_null, cp::IsNull(args[1], cp::NullOptions(), context));
    ARROW_ASSIGN_OR_RAISE(arrow::Datum both_null, cp::And(left_null, right_null, context));
    return cp::CallFunction("coalesce", {equal, both_null}, context);
  };
  return MakeKernelCall("same", arrow::boolean(), {std::move(left), std::move(right)},
                        std::move(kernel));
}

arrow::Result<NodePtr> MakeIn(NodePtr value, std::shared_ptr<arrow::Array> values,
                              int null_behavior) {
  ARROW_ASSIGN_OR_RAISE(arrow::Datum keys, FloatOrderKeys(values, arrow::default_memory_pool()));
  auto options = std::make_shared<cp::SetLookupOptions>(
      keys, static_cast<cp::SetLookupOptions::NullMatchingBehavior>(null_behavior));
  // The hash table of the values is made here, once.
  const NodePtr key = MakeColumn(0, "key", keys.type());
  ARROW_ASSIGN_OR_RAISE(cp::Expression bound, BindCall("is_in", {key}, std::move(options)));
  auto node = NewNode(NodeKind::kIn, arrow::boolean(), {std::move(value)});
  node->values = std::move(values);
  node->kernel = [bound = std::move(bound)](
                     const std::vector<arrow::Datum>& args, int64_t length,
                     cp::ExecContext* context) -> arrow::Result<arrow::Datum> {
    ARROW_ASSIGN_OR_RAISE(arrow::Datum sought, FloatOrderKeys(args[0], context->memory_pool()));
    return RunBound(bound, {sought}, length, context);
  };
  return Finish(std::move(node));
}

arrow::Result<NodePtr> MakeIsNull(NodePtr value) {
  return Finish(NewNode(NodeKind::kIsNull, arrow::boolean(), {std::move(value)}));
}

arrow::Result<NodePtr> MakeUnlessNull(NodePtr value, bool answer) {
  ARROW_ASSIGN_OR_RAISE(NodePtr truth, MakeArrowCall("true_unless_null", {std::move(value)}));
  return answer ? truth : MakeLogic(NodeKind::kNot, {std::move(truth)});
}

arrow::Result<NodePtr> MakeCase(std::vector<NodePtr> args) {
  std::shared_ptr<arrow::DataType> type = args.back()->type;
  return Finish(NewNode(NodeKind::kCase, std::move(type), std::move(args)));
}

arrow::Result<NodePtr> MakeSafeCast(NodePtr value, const std::shared_ptr<arrow::DataType>& type) {
  if (value->type->Equals(*type)) return value;
  return MakeArrowCall("cast", {std::move(value)},
                       std::make_shared<cp::CastOptions>(cp::CastOptions::Safe(type)));
}

arrow::Result<NodePtr> Coerce(NodePtr value, const std::shared_ptr<arrow::DataType>& type) {
  if (value->type->Equals(*type)) return value;
  if (type->id() == arrow::Type::TIMESTAMP) {
    const auto& target = static_cast<const arrow::TimestampType&>(*type);
    const bool is_wall_time =
        value->type->id() != arrow::Type::TIMESTAMP ||
        static_cast<const arrow::TimestampType&>(*value->type).timezone().empty();
    if (is_wall_time && !target.timezone().empty()) {
      ARROW_ASSIGN_OR_RAISE(value, MakeSafeCast(std::move(value), arrow::timestamp(target.unit())));
      return MakeArrowCall("assume_timezone", {std::move(value)},
                           std::make_shared<cp::AssumeTimezoneOptions>(target.timezone()));
    }
  }
  auto options = std::make_shared<cp::CastOptions>(cp::CastOptions::Safe(type));
  options->allow_float_truncate =
      arrow::is_integer(value->type->id()) && arrow::is_floating(type->id());
  return MakeArrowCall("cast", {std::move(value)}, std::move(options));
}

}  // namespace pennon::expr
