#include "pennon/expr/node.h"

#include <utility>

#include <arrow/array.h>
#include <arrow/scalar.h>
#include <arrow/type.h>

#include "pennon/expr/types.h"

namespace pennon::expr {
namespace {

std::string Join(const std::vector<NodePtr>& args, const char* between) {
  std::string text;
  for (const NodePtr& arg : args) text += (text.empty() ? "" : between) + ToString(*arg);
  return text;
}

std::string LiteralText(const arrow::Scalar& value) {
  if (!value.is_valid) return "NULL";
  const bool is_quoted = IsText(*value.type);
  return is_quoted ? "'" + value.ToString() + "'" : value.ToString();
}

std::string CaseText(const Node& node) {
  std::string text = "CASE";
  for (size_t i = 0; i + 1 < node.args.size(); i += 2) {
    text += " WHEN " + ToString(*node.args[i]) + " THEN " + ToString(*node.args[i + 1]);
  }
  return text + " ELSE " + ToString(*node.args.back()) + " END";
}

}  // namespace

CompareOp Flip(CompareOp op) {
  switch (op) {
    case CompareOp::kLess:
      return CompareOp::kGreater;
    case CompareOp::kLessEqual:
      return CompareOp::kGreaterEqual;
    case CompareOp::kGreater:
      return CompareOp::kLess;
    case CompareOp::kGreaterEqual:
      return CompareOp::kLessEqual;
    default:
      return op;
  }
}

const char* Symbol(CompareOp op) {
  static constexpr const char* kSymbols[] = {"=", "<>", "<", "<=", ">", ">="};
  return kSymbols[static_cast<int>(op)];
}

std::string ToString(const Node& node) {
  switch (node.kind) {
    case NodeKind::kColumn:
      return node.name;
    case NodeKind::kLiteral:
      return LiteralText(*node.value);
    case NodeKind::kCompare:
      return "(" + ToString(*node.args[0]) + " " + Symbol(node.op) + " " + ToString(*node.args[1]) +
             ")";
    case NodeKind::kIn:
      return "(" + ToString(*node.args[0]) + " IN " + std::to_string(node.values->length()) +
             " values)";
    case NodeKind::kAnd:
      return "(" + Join(node.args, " AND ") + ")";
    case NodeKind::kOr:
      return "(" + Join(node.args, " OR ") + ")";
    case NodeKind::kNot:
      return "NOT " + ToString(*node.args[0]);
    case NodeKind::kIsNull:
      return "(" + ToString(*node.args[0]) + " IS NULL)";
    case NodeKind::kCall:
      return node.name + "(" + Join(node.args, ", ") + ")";
    case NodeKind::kCase:
      return CaseText(node);
  }
  return "?";
}

}  // namespace pennon::expr
