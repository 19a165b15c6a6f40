// Comparisons, IN, IS DISTINCT FROM and LIKE. A literal is compared exactly, whatever the column's
// type.
#include <utility>

#include <arrow/array.h>
#include <arrow/builder.h>
#include <arrow/compute/api_scalar.h>
#include <arrow/scalar.h>
#include <arrow/type.h>
#include <arrow/type_traits.h>

#include "pennon/error.h"
#include "pennon/expr/binder.h"
#include "pennon/expr/literal.h"
#include "pennon/expr/text_functions.h"
#include "pennon/expr/types.h"

namespace pennon::expr {
namespace {

using Lookup = arrow::compute::SetLookupOptions;

// A literal that lies outside the values of a type, or between two of them, as one comparison with
// `floor`: x < 1.5 is x <= 1, x > 1.5 is x > 1, x = 1.5 is false.
arrow::Result<NodePtr> CompareUnheld(CompareOp op, NodePtr value, const PlacedLiteral& literal) {
  if (op == CompareOp::kEqual || op == CompareOp::kNotEqual) {
    return MakeUnlessNull(std::move(value), op == CompareOp::kNotEqual);
  }
  const bool is_less = op == CompareOp::kLess || op == CompareOp::kLessEqual;
  if (literal.standing != Standing::kBetween) {
    return MakeUnlessNull(std::move(value), is_less == (literal.standing == Standing::kAbove));
  }
  return MakeCompare(is_less ? CompareOp::kLessEqual : CompareOp::kGreater, std::move(value),
                     MakeLiteral(literal.value));
}

Ast TypedLiteral(const Ast& at, std::shared_ptr<arrow::Scalar> scalar) {
  Ast ast{.kind = AstKind::kScalar, .position = at.position};
  ast.scalar = std::move(scalar);
  return ast;
}

bool IsNull(const NodePtr& node) {
  return node->type->id() == arrow::Type::NA || (node->is_literal() && !node->value->is_valid);
}

}  // namespace

arrow::Result<NodePtr> Binder::BindCompare(CompareOp op, const Ast& left, const Ast& right) {
  if (IsUntyped(left) && !IsUntyped(right)) return BindCompare(Flip(op), right, left);
  ARROW_ASSIGN_OR_RAISE(NodePtr value, Bind(left));
  if (right.kind == AstKind::kNull) return MakeNull(arrow::boolean());
  if (IsUntyped(right)) return CompareLiteral(op, std::move(value), right);
  ARROW_ASSIGN_OR_RAISE(NodePtr other, Bind(right));
  return CompareNodes(op, std::move(value), std::move(other), left);
}

arrow::Result<NodePtr> Binder::CompareLiteral(CompareOp op, NodePtr value, const Ast& literal) {
  if (IsNull(value)) return MakeNull(arrow::boolean());
  ARROW_ASSIGN_OR_RAISE(PlacedLiteral placed, Placed(literal, PlaceLiteral(literal, value->type)));
  if (placed.standing != Standing::kExact) return CompareUnheld(op, std::move(value), placed);
  return MakeCompare(op, std::move(value), MakeLiteral(placed.value));
}

arrow::Result<NodePtr> Binder::CompareNodes(CompareOp op, NodePtr left, NodePtr right,
                                            const Ast& at) {
  if (IsNull(left) || IsNull(right)) return MakeNull(arrow::boolean());
  if (!left->type->Equals(*right->type)) {
    if (left->is_literal() && !right->is_literal())
      return CompareNodes(Flip(op), std::move(right), std::move(left), at);
    if (right->is_literal() && !arrow::is_nested(left->type->id())) {
      return CompareLiteral(op, std::move(left), TypedLiteral(at, right->value));
    }
  }
  std::shared_ptr<arrow::DataType> common = CommonType(left->type, right->type);
  if (!common || arrow::is_nested(common->id())) {
    return Error(at, "values of these types cannot be compared: " + left->type->ToString() + ", " +
                         right->type->ToString());
  }
  ARROW_ASSIGN_OR_RAISE(left, Coerce(std::move(left), common));
  ARROW_ASSIGN_OR_RAISE(right, Coerce(std::move(right), common));
  return MakeCompare(op, std::move(left), std::move(right));
}

arrow::Result<NodePtr> Binder::BindSame(const Ast& left, const Ast& right) {
  if (IsUntyped(left) && !IsUntyped(right)) return BindSame(right, left);
  ARROW_ASSIGN_OR_RAISE(NodePtr value, Bind(left));
  if (right.kind == AstKind::kNull) return MakeIsNull(std::move(value));
  if (IsUntyped(right)) {
    if (IsNull(value)) return MakeBoolean(false);
    ARROW_ASSIGN_OR_RAISE(PlacedLiteral placed, Placed(right, PlaceLiteral(right, value->type)));
    if (placed.standing != Standing::kExact) return MakeBoolean(false);
    return MakeSame(std::move(value), MakeLiteral(placed.value));
  }
  ARROW_ASSIGN_OR_RAISE(NodePtr other, Bind(right));
  if (IsNull(value)) return MakeIsNull(std::move(other));
  if (IsNull(other)) return MakeIsNull(std::move(value));
  std::shared_ptr<arrow::DataType> common = CommonType(value->type, other->type);
  if (!common || arrow::is_nested(common->id())) {
    return Error(left, "values of these types cannot be compared: " + value->type->ToString() +
                           ", " + other->type->ToString());
  }
  ARROW_ASSIGN_OR_RAISE(value, Coerce(std::move(value), common));
  ARROW_ASSIGN_OR_RAISE(other, Coerce(std::move(other), common));
  return MakeSame(std::move(value), std::move(other));
}

arrow::Result<NodePtr> Binder::BindIn(const Ast& ast) {
  ARROW_ASSIGN_OR_RAISE(NodePtr value, Bind(ast.args[0]));
  return InList(std::move(value), ast.args, 1);
}

arrow::Result<NodePtr> Binder::InList(NodePtr value, const std::vector<Ast>& items, size_t from) {
  if (IsNull(value)) return MakeNull(arrow::boolean());
  if (arrow::is_nested(value->type->id())) {
    return InvalidInput("values of this type cannot be compared: ", value->type->ToString());
  }
  ARROW_ASSIGN_OR_RAISE(auto builder, arrow::MakeBuilder(value->type));
  std::vector<NodePtr> others;  // comparisons with items that are no literals
  for (size_t i = from; i < items.size(); ++i) {
    const Ast& item = items[i];
    if (item.kind == AstKind::kNull) {
      ARROW_RETURN_NOT_OK(builder->AppendNull());
    } else if (IsUntyped(item) || item.kind == AstKind::kBytes || item.kind == AstKind::kBoolean) {
      ARROW_ASSIGN_OR_RAISE(PlacedLiteral placed, Placed(item, PlaceLiteral(item, value->type)));
      // No value equals a literal that the type does not hold.
      if (placed.standing == Standing::kExact)
        ARROW_RETURN_NOT_OK(builder->AppendScalar(*placed.value));
    } else {
      ARROW_ASSIGN_OR_RAISE(NodePtr other, Bind(item));
      ARROW_ASSIGN_OR_RAISE(NodePtr equal,
                            CompareNodes(CompareOp::kEqual, value, std::move(other), item));
      others.push_back(std::move(equal));
    }
  }
  ARROW_ASSIGN_OR_RAISE(std::shared_ptr<arrow::Array> values, builder->Finish());
  ARROW_ASSIGN_OR_RAISE(NodePtr in_values, values->length() == 0 ? MakeUnlessNull(value, false)
                                                                 : MakeIn(value, std::move(values),
                                                                          Lookup::INCONCLUSIVE));
  others.insert(others.begin(), std::move(in_values));
  return MakeLogic(NodeKind::kOr, std::move(others));
}

// Arrow's is_in; its values may have another type than the column.
arrow::Result<NodePtr> Binder::BindInValues(const Ast& ast) {
  ARROW_ASSIGN_OR_RAISE(NodePtr value, Bind(ast.args[0]));
  const auto& options = static_cast<const Lookup&>(*ast.options);
  std::shared_ptr<arrow::Array> values = ast.values;
  if (!values->type()->Equals(*value->type)) {
    ARROW_ASSIGN_OR_RAISE(auto builder, arrow::MakeBuilder(value->type));
    for (int64_t i = 0; i < values->length(); ++i) {
      ARROW_ASSIGN_OR_RAISE(std::shared_ptr<arrow::Scalar> scalar, values->GetScalar(i));
      if (scalar->type->id() == arrow::Type::DICTIONARY && scalar->is_valid) {
        ARROW_ASSIGN_OR_RAISE(
            scalar, static_cast<const arrow::DictionaryScalar&>(*scalar).GetEncodedValue());
      }
      if (!scalar->is_valid) {
        ARROW_RETURN_NOT_OK(builder->AppendNull());
        continue;
      }
      ARROW_ASSIGN_OR_RAISE(PlacedLiteral placed,
                            PlaceLiteral(TypedLiteral(ast, scalar), value->type));
      if (placed.standing == Standing::kExact)
        ARROW_RETURN_NOT_OK(builder->AppendScalar(*placed.value));
    }
    ARROW_ASSIGN_OR_RAISE(values, builder->Finish());
  }
  return MakeIn(std::move(value), std::move(values), options.GetNullMatchingBehavior());
}

arrow::Result<NodePtr> Binder::BindLike(const Ast& ast) {
  ARROW_ASSIGN_OR_RAISE(NodePtr text, BindText(ast.args[0]));
  ARROW_ASSIGN_OR_RAISE(NodePtr pattern, BindText(ast.args[1]));
  char escape = '\\';
  if (ast.args.size() > 2) {
    const Ast& given = ast.args[2];
    const bool is_character =
        given.kind == AstKind::kString && given.text.size() <= 1 &&
        (given.text.empty() || static_cast<unsigned char>(given.text[0]) < 0x80);
    if (!is_character) return Error(given, "ESCAPE takes one ASCII character");
    escape = given.text.empty() ? '\0' : given.text[0];
  }
  return MakeLike(std::move(text), std::move(pattern), escape, ast.flag);
}

}  // namespace pennon::expr
