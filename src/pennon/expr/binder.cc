#include "pennon/expr/binder.h"

#include <algorithm>
#include <utility>

#include <arrow/array.h>
#include <arrow/builder.h>
#include <arrow/compute/api_scalar.h>
#include <arrow/scalar.h>
#include <arrow/type.h>
#include <arrow/type_traits.h>

#include "pennon/error.h"
#include "pennon/expr/functions.h"
#include "pennon/expr/list_functions.h"
#include "pennon/expr/literal.h"
#include "pennon/expr/types.h"

namespace pennon::expr {
namespace {

// Unpacks encodings that the kernels do not take.
arrow::Result<NodePtr> Plain(NodePtr value) {
  switch (value->type->id()) {
    case arrow::Type::DICTIONARY:
      return MakeSafeCast(value,
                          static_cast<const arrow::DictionaryType&>(*value->type).value_type());
    case arrow::Type::STRING_VIEW:
      return MakeSafeCast(value, arrow::utf8());
    case arrow::Type::BINARY_VIEW:
      return MakeSafeCast(value, arrow::binary());
    case arrow::Type::HALF_FLOAT:
      return MakeSafeCast(value, arrow::float32());
    default:
      return value;
  }
}

std::string SomeNames(const arrow::FieldVector& fields) {
  constexpr size_t kShown = 12;
  std::string names;
  for (size_t i = 0; i < std::min(fields.size(), kShown); ++i)
    names += (i ? ", " : "") + fields[i]->name();
  return names + (fields.size() > kShown ? ", …" : "");
}

}  // namespace

arrow::Status Binder::Error(const Ast& at, const std::string& message) const {
  return ErrorAt(sql_, at.position, message);
}

arrow::Status Binder::Placed(const Ast& at, const arrow::Status& status) const {
  if (status.ok() || status.message().rfind("invalid expression: ", 0) == 0) return status;
  return Error(at, status.message());
}

arrow::Result<NodePtr> Binder::Bind(const Ast& ast) {
  ARROW_ASSIGN_OR_RAISE(NodePtr node, Placed(ast, BindUnplaced(ast)));
  return Placed(ast, Plain(std::move(node)));
}

arrow::Result<NodePtr> Binder::BindUnplaced(const Ast& ast) {
  switch (ast.kind) {
    case AstKind::kNull:
    case AstKind::kBoolean:
    case AstKind::kNumber:
    case AstKind::kString:
    case AstKind::kBytes:
    case AstKind::kScalar: {
      ARROW_ASSIGN_OR_RAISE(std::shared_ptr<arrow::Scalar> scalar, DefaultScalar(ast));
      return MakeLiteral(std::move(scalar));
    }
    case AstKind::kColumn:
      return BindColumn(ast);
    case AstKind::kField: {
      ARROW_ASSIGN_OR_RAISE(NodePtr value, Bind(ast.args[0]));
      return Field(ast, std::move(value), ast.text);
    }
    case AstKind::kSubscript:
      return BindSubscript(ast);
    case AstKind::kCompare: {
      static constexpr const char* kOps[] = {"=", "<>", "<", "<=", ">", ">="};
      const auto op = std::find(std::begin(kOps), std::end(kOps), ast.text) - std::begin(kOps);
      return BindCompare(static_cast<CompareOp>(op), ast.args[0], ast.args[1]);
    }
    case AstKind::kDistinct: {
      ARROW_ASSIGN_OR_RAISE(NodePtr same, BindSame(ast.args[0], ast.args[1]));
      return ast.flag ? same : MakeLogic(NodeKind::kNot, {std::move(same)});
    }
    case AstKind::kIn:
      return BindIn(ast);
    case AstKind::kInValues:
      return BindInValues(ast);
    case AstKind::kAnd:
    case AstKind::kOr:
    case AstKind::kNot:
      return BindLogic(ast);
    case AstKind::kIsNull: {
      ARROW_ASSIGN_OR_RAISE(NodePtr value,
                            ast.text == "unknown" ? BindCondition(ast.args[0]) : Bind(ast.args[0]));
      return MakeIsNull(std::move(value));
    }
    case AstKind::kIsBoolean: {
      ARROW_ASSIGN_OR_RAISE(NodePtr value, BindCondition(ast.args[0]));
      return MakeSame(std::move(value), MakeBoolean(ast.flag));
    }
    case AstKind::kLike:
      return BindLike(ast);
    case AstKind::kArithmetic:
      return BindArithmetic(ast);
    case AstKind::kNegate:
      return BindNegate(ast);
    case AstKind::kCast:
      return BindCast(ast);
    case AstKind::kCase:
      return BindCase(ast);
    case AstKind::kList:
      return BindList(ast);
    case AstKind::kCall:
      return BindFunction(*this, ast);
    case AstKind::kArrowCall: {
      std::vector<NodePtr> args;
      for (const Ast& arg : ast.args) {
        ARROW_ASSIGN_OR_RAISE(NodePtr node, Bind(arg));
        args.push_back(std::move(node));
      }
      return MakeArrowCall(ast.text, std::move(args), ast.options);
    }
  }
  return Error(ast, "this form is not supported");
}

arrow::Result<NodePtr> Binder::BindColumn(const Ast& ast) {
  const std::vector<int> found = input_.GetAllFieldIndices(ast.path[0]);
  if (found.empty()) {
    return Error(ast, "there is no column " + ast.path[0] + " among " + SomeNames(input_.fields()));
  }
  if (found.size() > 1) return Error(ast, "several columns have the name " + ast.path[0]);
  columns_.insert(found[0]);
  NodePtr node = MakeColumn(found[0], ast.path[0], input_.field(found[0])->type());
  for (size_t i = 1; i < ast.path.size(); ++i) {
    ARROW_ASSIGN_OR_RAISE(node, Field(ast, std::move(node), ast.path[i]));
  }
  return node;
}

arrow::Result<NodePtr> Binder::Field(const Ast& at, NodePtr value, const std::string& name) {
  if (value->type->id() != arrow::Type::STRUCT) {
    return Error(at,
                 "only a struct has fields; `" + name + "` is asked of " + value->type->ToString());
  }
  const auto& type = static_cast<const arrow::StructType&>(*value->type);
  const int index = type.GetFieldIndex(name);
  if (index < 0)
    return Error(at, "there is no field " + name + " among " + SomeNames(type.fields()));
  ARROW_ASSIGN_OR_RAISE(
      NodePtr call,
      MakeArrowCall("struct_field", {std::move(value)},
                    std::make_shared<arrow::compute::StructFieldOptions>(std::vector<int>{index})));
  // Planners read from `column` which field it is, as of a column which one.
  auto field = std::make_shared<Node>(*call);
  field->column = index;
  return field;
}

arrow::Result<NodePtr> Binder::BindSubscript(const Ast& ast) {
  ARROW_ASSIGN_OR_RAISE(NodePtr list, Bind(ast.args[0]));
  ARROW_ASSIGN_OR_RAISE(NodePtr index, Bind(ast.args[1]));
  if (!IsList(*list->type))
    return Error(ast, "only a list has elements; found " + list->type->ToString());
  if (!arrow::is_integer(index->type->id()))
    return Error(ast, "the index of an element must be an integer");
  return MakeElement(std::move(list), std::move(index));
}

arrow::Result<NodePtr> Binder::BindCondition(const Ast& ast) {
  ARROW_ASSIGN_OR_RAISE(NodePtr node, Bind(ast));
  if (node->type->id() == arrow::Type::NA) return MakeNull(arrow::boolean());
  if (node->type->id() != arrow::Type::BOOL) {
    return Error(ast, "a condition must be boolean; found " + node->type->ToString());
  }
  return node;
}

arrow::Result<NodePtr> Binder::BindText(const Ast& ast) {
  ARROW_ASSIGN_OR_RAISE(NodePtr node, Bind(ast));
  if (node->type->id() == arrow::Type::NA) return MakeNull(arrow::utf8());
  if (!IsText(*node->type)) return Error(ast, "text is expected; found " + node->type->ToString());
  return node;
}

arrow::Result<NodePtr> Binder::BindLogic(const Ast& ast) {
  std::vector<NodePtr> terms;
  terms.reserve(ast.args.size());
  for (const Ast& arg : ast.args) {
    ARROW_ASSIGN_OR_RAISE(NodePtr term, BindCondition(arg));
    terms.push_back(std::move(term));
  }
  const NodeKind kind = ast.kind == AstKind::kAnd  ? NodeKind::kAnd
                        : ast.kind == AstKind::kOr ? NodeKind::kOr
                                                   : NodeKind::kNot;
  return MakeLogic(kind, std::move(terms));
}

arrow::Result<NodePtr> Binder::BindCase(const Ast& ast) {
  std::vector<const Ast*> results;
  for (size_t i = 0; i + 1 < ast.args.size(); i += 2) results.push_back(&ast.args[i + 1]);
  results.push_back(&ast.args.back());
  ARROW_ASSIGN_OR_RAISE(std::vector<NodePtr> values, BindTogether(results));
  std::vector<NodePtr> args;
  for (size_t i = 0; i + 1 < ast.args.size(); i += 2) {
    ARROW_ASSIGN_OR_RAISE(NodePtr condition, BindCondition(ast.args[i]));
    args.push_back(std::move(condition));
    args.push_back(values[i / 2]);
  }
  args.push_back(values.back());
  return MakeCase(std::move(args));
}

arrow::Result<NodePtr> Binder::BindNear(const Ast& ast,
                                        const std::shared_ptr<arrow::DataType>& type) {
  if (ast.kind == AstKind::kNull) return MakeNull(type);
  if (!IsUntyped(ast)) return Bind(ast);
  arrow::Result<PlacedLiteral> placed = PlaceLiteral(ast, type);
  if (placed.ok() && placed->standing == Standing::kExact) return MakeLiteral(placed->value);
  return Bind(ast);
}

arrow::Result<std::vector<NodePtr>> Binder::BindTogether(const std::vector<const Ast*>& asts) {
  std::vector<NodePtr> nodes(asts.size());
  std::shared_ptr<arrow::DataType> common;
  auto meet = [&](size_t i) -> arrow::Status {
    if (nodes[i]->type->id() == arrow::Type::NA) return arrow::Status::OK();
    std::shared_ptr<arrow::DataType> next =
        common ? CommonType(common, nodes[i]->type) : nodes[i]->type;
    if (!next) {
      return Error(*asts[i], "the values have no common type: " + common->ToString() + ", " +
                                 nodes[i]->type->ToString());
    }
    common = std::move(next);
    return arrow::Status::OK();
  };
  for (size_t i = 0; i < asts.size(); ++i) {
    if (IsUntyped(*asts[i])) continue;
    ARROW_ASSIGN_OR_RAISE(nodes[i], Bind(*asts[i]));
    ARROW_RETURN_NOT_OK(meet(i));
  }
  for (size_t i = 0; i < asts.size(); ++i) {
    if (!IsUntyped(*asts[i])) continue;
    ARROW_ASSIGN_OR_RAISE(nodes[i], common ? BindNear(*asts[i], common) : Bind(*asts[i]));
    ARROW_RETURN_NOT_OK(meet(i));
  }
  if (!common) common = arrow::null();
  for (size_t i = 0; i < asts.size(); ++i) {
    ARROW_ASSIGN_OR_RAISE(nodes[i], Placed(*asts[i], Coerce(std::move(nodes[i]), common)));
  }
  return nodes;
}

arrow::Result<NodePtr> Binder::BindList(const Ast& ast) {
  std::vector<const Ast*> items;
  for (const Ast& arg : ast.args) items.push_back(&arg);
  ARROW_ASSIGN_OR_RAISE(std::vector<NodePtr> nodes, BindTogether(items));
  const std::shared_ptr<arrow::DataType> type = nodes.empty() ? arrow::null() : nodes[0]->type;
  ARROW_ASSIGN_OR_RAISE(auto builder, arrow::MakeBuilder(type));
  for (const NodePtr& node : nodes) {
    if (!node->is_literal()) return Error(ast, "a list may hold literals only");
    ARROW_RETURN_NOT_OK(builder->AppendScalar(*node->value));
  }
  ARROW_ASSIGN_OR_RAISE(std::shared_ptr<arrow::Array> values, builder->Finish());
  return MakeLiteral(std::make_shared<arrow::ListScalar>(values));
}

}  // namespace pennon::expr
