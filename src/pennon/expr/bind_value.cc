// Arithmetic, casts, and values to be stored.
#include <utility>

#include <arrow/compute/api_scalar.h>
#include <arrow/compute/cast.h>
#include <arrow/scalar.h>
#include <arrow/type.h>
#include <arrow/type_traits.h>

#include "pennon/error.h"
#include "pennon/expr/binder.h"
#include "pennon/expr/literal.h"
#include "pennon/expr/number.h"
#include "pennon/expr/text_functions.h"
#include "pennon/expr/types.h"

namespace pennon::expr {
namespace {

namespace cp = arrow::compute;
using TypePtr = std::shared_ptr<arrow::DataType>;

bool IsNumber(const arrow::DataType& type) {
  return arrow::is_numeric(type.id()) || arrow::is_decimal(type.id());
}

// Integers are computed in 64 bits, so that int8 + int8 is exact; uint64 only with values that are
// not signed.
TypePtr IntegerResult(const NodePtr& left, const NodePtr& right) {
  auto is_unsigned_64 = [](const NodePtr& node) { return node->type->id() == arrow::Type::UINT64; };
  auto is_signed = [](const NodePtr& node) { return arrow::is_signed_integer(node->type->id()); };
  const bool has_uint64 = is_unsigned_64(left) || is_unsigned_64(right);
  return has_uint64 && !is_signed(left) && !is_signed(right) ? arrow::uint64() : arrow::int64();
}

arrow::Result<NodePtr> ToDecimal(NodePtr value) {
  if (arrow::is_decimal(value->type->id())) return value;
  const TypePtr type = arrow::decimal128(IntegerDigits(*value->type), 0);
  return Coerce(std::move(value), type);
}

// The literal as the other operand's arithmetic wants it: 1 beside a float is a float, 1 beside
// uint64 is one.
arrow::Result<NodePtr> BindBeside(Binder& binder, const Ast& literal, const TypePtr& other) {
  const bool adopts = arrow::is_floating(other->id()) || other->id() == arrow::Type::UINT64;
  if (literal.kind == AstKind::kNumber && adopts) return binder.BindNear(literal, other);
  return binder.Bind(literal);
}

arrow::Result<NodePtr> NumberArithmetic(const std::string& op, NodePtr left, NodePtr right) {
  const bool is_float =
      arrow::is_floating(left->type->id()) || arrow::is_floating(right->type->id());
  const bool is_decimal =
      !is_float && (arrow::is_decimal(left->type->id()) || arrow::is_decimal(right->type->id()));
  if (is_decimal) {
    ARROW_ASSIGN_OR_RAISE(left, ToDecimal(std::move(left)));
    ARROW_ASSIGN_OR_RAISE(right, ToDecimal(std::move(right)));
    if (op == "%") return InvalidInput("% takes integers or floats, not decimals; use CAST");
  } else {
    TypePtr type;
    if (is_float) {
      auto narrows = [](const NodePtr& node) {
        return node->type->id() == arrow::Type::FLOAT || arrow::is_integer(node->type->id());
      };
      type = narrows(left) && narrows(right) ? arrow::float32() : arrow::float64();
    } else {
      type = IntegerResult(left, right);
    }
    ARROW_ASSIGN_OR_RAISE(left, Coerce(std::move(left), type));
    ARROW_ASSIGN_OR_RAISE(right, Coerce(std::move(right), type));
  }
  std::string function = op == "+"   ? "add"
                         : op == "-" ? "subtract"
                         : op == "*" ? "multiply"
                         : op == "/" ? "divide"
                                     : "remainder";
  // Floats divide by zero as IEEE 754 says; for all others that is an error, as is overflow.
  if (!is_float) function += "_checked";
  return MakeArrowCall(function, {std::move(left), std::move(right)});
}

bool IsClose(const arrow::DataType& from, const arrow::DataType& to) {
  if (IsNumber(from) && IsNumber(to)) return true;
  if (IsText(from) && IsText(to)) return true;
  if (IsBytes(from) && IsBytes(to)) return true;
  const bool both_moments = (arrow::is_date(from.id()) || from.id() == arrow::Type::TIMESTAMP) &&
                            (arrow::is_date(to.id()) || to.id() == arrow::Type::TIMESTAMP);
  return both_moments || (arrow::is_time(from.id()) && arrow::is_time(to.id())) ||
         (from.id() == arrow::Type::DURATION && to.id() == arrow::Type::DURATION) ||
         (arrow::is_nested(from.id()) && from.id() == to.id());
}

}  // namespace

arrow::Result<NodePtr> Binder::BindArithmetic(const Ast& ast) {
  const Ast& left_ast = ast.args[0];
  const Ast& right_ast = ast.args[1];
  NodePtr left, right;
  if (IsUntyped(left_ast) && !IsUntyped(right_ast)) {
    ARROW_ASSIGN_OR_RAISE(right, Bind(right_ast));
    ARROW_ASSIGN_OR_RAISE(left, BindBeside(*this, left_ast, right->type));
  } else {
    ARROW_ASSIGN_OR_RAISE(left, Bind(left_ast));
    ARROW_ASSIGN_OR_RAISE(
        right, IsUntyped(right_ast) ? BindBeside(*this, right_ast, left->type) : Bind(right_ast));
  }
  if (left->type->id() == arrow::Type::NA) return MakeNull(right->type);
  if (right->type->id() == arrow::Type::NA) return MakeNull(left->type);
  if (IsNumber(*left->type) && IsNumber(*right->type)) {
    return NumberArithmetic(ast.text, std::move(left), std::move(right));
  }
  const bool is_temporal =
      arrow::is_temporal(left->type->id()) && arrow::is_temporal(right->type->id());
  if (!is_temporal || (ast.text != "+" && ast.text != "-")) {
    return Error(ast, "the operator " + ast.text + " does not take " + left->type->ToString() +
                          " and " + right->type->ToString());
  }
  return MakeArrowCall(ast.text == "+" ? "add_checked" : "subtract_checked",
                       {std::move(left), std::move(right)});
}

arrow::Result<NodePtr> Binder::BindNegate(const Ast& ast) {
  ARROW_ASSIGN_OR_RAISE(NodePtr value, Bind(ast.args[0]));
  if (value->type->id() == arrow::Type::NA) return value;
  if (!IsNumber(*value->type) && value->type->id() != arrow::Type::DURATION) {
    return Error(ast, "a minus sign takes a number; found " + value->type->ToString());
  }
  if (arrow::is_integer(value->type->id())) {
    ARROW_ASSIGN_OR_RAISE(value, Coerce(std::move(value), arrow::int64()));
  }
  return MakeArrowCall("negate_checked", {std::move(value)});
}

arrow::Result<NodePtr> Binder::BindCast(const Ast& ast) {
  const Ast& arg = ast.args[0];
  const TypePtr& type = ast.type;
  if (arg.kind == AstKind::kNull) return MakeNull(type);
  if (arg.kind == AstKind::kNumber && IsNumber(*type)) {
    ARROW_ASSIGN_OR_RAISE(PlacedLiteral placed, PlaceLiteral(arg, type));
    if (placed.standing == Standing::kExact) return MakeLiteral(placed.value);
    if (placed.standing != Standing::kBetween)
      return InvalidInput("the value does not fit the type ", type->ToString());
  }
  if (arg.kind == AstKind::kString && arrow::is_temporal(type->id())) {
    std::shared_ptr<arrow::Scalar> scalar = TemporalFromText(arg.text, type);
    // Nanoseconds are kept where they are written and no precision is asked for.
    if (!scalar && type->Equals(*arrow::timestamp(arrow::TimeUnit::MICRO))) {
      scalar = TemporalFromText(arg.text, arrow::timestamp(arrow::TimeUnit::NANO));
    }
    if (!scalar)
      return Error(arg,
                   "this text cannot be read as " + type->ToString() + " (YYYY-MM-DD HH:MM:SS)");
    return MakeLiteral(std::move(scalar));
  }
  if (arg.kind == AstKind::kString && arrow::is_decimal(type->id())) {
    const Ast number{.kind = AstKind::kNumber, .position = arg.position, .text = arg.text};
    ARROW_ASSIGN_OR_RAISE(PlacedLiteral placed, PlaceLiteral(number, type));
    if (placed.standing != Standing::kExact)
      return Error(arg, "this text does not fit " + type->ToString());
    return MakeLiteral(placed.value);
  }
  ARROW_ASSIGN_OR_RAISE(NodePtr value, Bind(arg));
  return CastNode(ast, std::move(value), type);
}

arrow::Result<NodePtr> Binder::CastNode(const Ast& at, NodePtr value, const TypePtr& type) {
  if (value->type->Equals(*type)) return value;
  if (value->type->id() == arrow::Type::NA) return MakeNull(type);
  const bool from_float = arrow::is_floating(value->type->id());
  if (from_float && arrow::is_integer(type->id())) {
    // Fractions are cut; NaN and what lies out of range fail in the checked cast.
    ARROW_ASSIGN_OR_RAISE(value, MakeArrowCall("trunc", {std::move(value)}));
    return MakeSafeCast(std::move(value), type);
  }
  if (from_float && IsText(*type)) {
    ARROW_ASSIGN_OR_RAISE(value, MakeFloatText(std::move(value)));
    return MakeSafeCast(std::move(value), type);
  }
  if (value->type->id() == arrow::Type::TIMESTAMP && IsText(*type)) {
    return Error(at,
                 "a timestamp cannot be cast to text; use date_part or compare with a timestamp");
  }
  if (!cp::CanCast(*value->type, *type)) {
    return Error(at,
                 "there is no cast from " + value->type->ToString() + " to " + type->ToString());
  }
  cp::CastOptions options = cp::CastOptions::Safe(type);
  options.allow_float_truncate =
      arrow::is_integer(value->type->id()) && arrow::is_floating(type->id());
  options.allow_decimal_truncate =
      arrow::is_decimal(value->type->id()) && arrow::is_integer(type->id());
  options.allow_time_truncate = value->type->id() == arrow::Type::TIMESTAMP;
  return MakeArrowCall("cast", {std::move(value)}, std::make_shared<cp::CastOptions>(options));
}

arrow::Result<NodePtr> Binder::BindStored(const Ast& ast, const TypePtr& type) {
  if (ast.kind == AstKind::kNull) return MakeNull(type);
  const bool is_literal =
      IsUntyped(ast) || ast.kind == AstKind::kBytes || ast.kind == AstKind::kBoolean;
  const bool is_plain =
      type->id() != arrow::Type::DICTIONARY && type->id() != arrow::Type::HALF_FLOAT &&
      type->id() != arrow::Type::STRING_VIEW && type->id() != arrow::Type::BINARY_VIEW;
  if (is_literal && is_plain) {
    ARROW_ASSIGN_OR_RAISE(PlacedLiteral placed, Placed(ast, PlaceLiteral(ast, type)));
    if (placed.standing != Standing::kExact)
      return Error(ast, "the value does not fit the type " + type->ToString());
    if (ast.kind == AstKind::kNumber && arrow::is_floating(type->id())) {
      // A whole number must stay the same; a fraction may be rounded.
      const auto written = Number::Parse(ast.text);
      Ast stored{.kind = AstKind::kScalar};
      stored.scalar = placed.value;
      arrow::Result<PlacedLiteral> back = PlaceLiteral(stored, arrow::decimal256(76, 0));
      const GridPoint whole = FloorToScale(*written, 0);
      if (written->is_integer() && back.ok() && back->standing == Standing::kExact &&
          static_cast<const arrow::Decimal256Scalar&>(*back->value).value != whole.floor) {
        return Error(ast, "the value does not fit the type " + type->ToString());
      }
    }
    return MakeLiteral(placed.value);
  }
  ARROW_ASSIGN_OR_RAISE(NodePtr value, Bind(ast));
  if (value->type->id() == arrow::Type::NA) return MakeNull(type);
  if (value->type->Equals(*type)) return value;
  const arrow::DataType& target =
      type->id() == arrow::Type::DICTIONARY
          ? *static_cast<const arrow::DictionaryType&>(*type).value_type()
          : *type;
  if (!value->type->Equals(target) &&
      (!IsClose(*value->type, target) || !cp::CanCast(*value->type, *type))) {
    return Error(ast, "the types do not fit: expected " + type->ToString() + ", found " +
                          value->type->ToString() + "; use CAST");
  }
  return Placed(ast, MakeSafeCast(std::move(value), type));
}

}  // namespace pennon::expr
