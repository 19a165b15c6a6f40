#include "pennon/expr/sql_tree.h"

#include <algorithm>
#include <array>
#include <utility>

#include <nlohmann/json.hpp>

#include "pennon/error.h"
#include "pennon/expr/types.h"

namespace pennon::expr {
namespace {

using Json = nlohmann::json;

// BETWEEN and simple CASE repeat an operand, so nesting them grows the tree beyond its text.
constexpr int kMaxParts = 600000;

const Json& Member(const Json& object, const char* key) {
  static const Json kNothing;
  if (!object.is_object()) return kNothing;
  auto found = object.find(key);
  return found == object.end() ? kNothing : *found;
}
std::string Text(const Json& object, const char* key) {
  const Json& value = Member(object, key);
  return value.is_string() ? value.get<std::string>() : "";
}
int64_t Integer(const Json& object, const char* key) {
  const Json& value = Member(object, key);
  return value.is_number_integer() ? value.get<int64_t>() : 0;
}
bool Boolean(const Json& object, const char* key) {
  const Json& value = Member(object, key);
  return value.is_boolean() && value.get<bool>();
}

class TreeReader {
 public:
  TreeReader(std::string_view sql, const LexedSql& lexed) : sql_(sql), lexed_(lexed) {}

  arrow::Result<Ast> Read(const Json& node, int depth) {
    if (depth > kMaxDepth) {
      return ErrorAt(sql_, position_,
                     "the expression is nested deeper than " + std::to_string(kMaxDepth));
    }
    if (++parts_ > kMaxParts) {
      return ErrorAt(sql_, position_,
                     "the expression has more parts than " + std::to_string(kMaxParts));
    }
    if (!node.is_object() || node.size() != 1) return Refuse("this form");
    using Reader = arrow::Result<Ast> (TreeReader::*)(const Json&, int);
    static constexpr std::array<std::pair<std::string_view, Reader>, 13> kForms = {{
        {"A_Const", &TreeReader::Constant},
        {"ColumnRef", &TreeReader::Column},
        {"A_Expr", &TreeReader::Operator},
        {"BoolExpr", &TreeReader::Logic},
        {"NullTest", &TreeReader::NullTest},
        {"BooleanTest", &TreeReader::BooleanTest},
        {"FuncCall", &TreeReader::Call},
        {"CoalesceExpr", &TreeReader::Coalesce},
        {"MinMaxExpr", &TreeReader::MinMax},
        {"CaseExpr", &TreeReader::Case},
        {"TypeCast", &TreeReader::Cast},
        {"A_Indirection", &TreeReader::Indirection},
        {"A_ArrayExpr", &TreeReader::List},
    }};
    const std::string& form = node.begin().key();
    const Json& body = node.begin().value();
    if (body.contains("location")) Locate(body);
    for (const auto& [name, reader] : kForms) {
      if (name == form) return (this->*reader)(body, depth);
    }
    return OtherForm(form, body);
  }

 private:
  // Remembers where `body` stands; later nodes without a place of their own keep the last one.
  void Locate(const Json& body) {
    const int64_t location = Integer(body, "location");
    if (location < 0) return;
    token_ = lexed_.TokenAt(static_cast<size_t>(location));
    if (token_ < lexed_.tokens.size()) position_ = lexed_.tokens[token_].character;
  }

  arrow::Status Refuse(const std::string& what) const {
    return ErrorAt(sql_, position_, what + " is not supported in an expression");
  }

  Ast Make(AstKind kind, std::string text = "") const {
    return Ast{.kind = kind, .position = position_, .text = std::move(text)};
  }

  arrow::Status ReadInto(Ast& parent, const Json& list, int depth) {
    if (!list.is_array()) return Refuse("this form");
    parent.args.reserve(list.size());
    for (const Json& item : list) {
      ARROW_ASSIGN_OR_RAISE(Ast arg, Read(item, depth + 1));
      parent.args.push_back(std::move(arg));
    }
    return arrow::Status::OK();
  }

  arrow::Result<Ast> OtherForm(const std::string& form, const Json& body) {
    if (form == "SQLValueFunction") {
      const std::string op = Text(body, "op");
      if (op == "SVFOP_CURRENT_TIMESTAMP") return Make(AstKind::kCall, "now");
      if (op == "SVFOP_CURRENT_DATE") return Make(AstKind::kCall, "current_date");
      return Refuse("this value");
    }
    if (form == "SubLink") return Refuse("a subquery");
    if (form == "RowExpr") return Refuse("a row of values");
    if (form == "ParamRef") return Refuse("a parameter");
    return Refuse("this form (" + form + ")");
  }

  arrow::Result<Ast> Constant(const Json& body, int) {
    if (Boolean(body, "isnull")) return Make(AstKind::kNull);
    if (body.contains("boolval")) {
      Ast ast = Make(AstKind::kBoolean);
      ast.flag = Boolean(Member(body, "boolval"), "boolval");
      return ast;
    }
    if (body.contains("sval")) return Make(AstKind::kString, Text(Member(body, "sval"), "sval"));
    if (body.contains("fval")) return Make(AstKind::kNumber, Text(Member(body, "fval"), "fval"));
    if (body.contains("bsval")) return Bytes(Text(Member(body, "bsval"), "bsval"));
    if (!body.contains("ival")) return Refuse("this literal");
    const Json& ival = Member(body, "ival");
    if (ival.contains("ival")) return Make(AstKind::kNumber, std::to_string(Integer(ival, "ival")));
    // libpg_query leaves out the values of integers below 1: the digits stand in the text.
    size_t token = token_;
    while (token < lexed_.tokens.size() && lexed_.tokens[token].kind == TokenKind::kSymbol) ++token;
    if (token >= lexed_.tokens.size() || lexed_.tokens[token].kind != TokenKind::kNumber)
      return Refuse("this number");
    return Make(AstKind::kNumber, "-" + lexed_.tokens[token].text);
  }

  // X'6162' comes as "x6162".
  arrow::Result<Ast> Bytes(const std::string& digits) {
    Ast ast = Make(AstKind::kBytes);
    auto nibble = [](char c) {
      if (c >= '0' && c <= '9') return c - '0';
      if (c >= 'a' && c <= 'f') return c - 'a' + 10;
      if (c >= 'A' && c <= 'F') return c - 'A' + 10;
      return -1;
    };
    const bool is_even = digits.size() % 2 == 1 && digits[0] == 'x';
    for (size_t i = 1; is_even && i < digits.size(); i += 2) {
      const int high = nibble(digits[i]), low = nibble(digits[i + 1]);
      if (high < 0 || low < 0)
        return ErrorAt(sql_, position_, "X'…' holds what is not a hexadecimal digit");
      ast.text += static_cast<char>(high << 4 | low);
    }
    if (!is_even) return ErrorAt(sql_, position_, "X'…' needs two hexadecimal digits a byte");
    return ast;
  }

  // Names come from the tokens: PostgreSQL folds their case and cuts them after 63 bytes.
  arrow::Result<Ast> Column(const Json& body, int) {
    Ast ast = Make(AstKind::kColumn);
    const Json& fields = Member(body, "fields");
    size_t token = token_;
    for (const Json& field : fields) {
      if (!field.contains("String")) return Refuse("`*`");
      if (token >= lexed_.tokens.size()) return Refuse("this name");
      ast.path.push_back(lexed_.tokens[token].text);
      token += 2;  // the name and the point after it
    }
    if (ast.path.empty()) return Refuse("this name");
    return ast;
  }

  arrow::Result<Ast> Operator(const Json& body, int depth);
  arrow::Result<Ast> Like(const Json& body, int depth, bool ignore_case, bool negated);
  arrow::Result<Ast> Between(const Json& body, int depth, bool negated);
  arrow::Result<Ast> Plain(const Json& body, const std::string& op, int depth);

  arrow::Result<Ast> Negate(arrow::Result<Ast> made, bool negated) {
    if (!made.ok() || !negated) return made;
    Ast ast = Make(AstKind::kNot);
    ast.args.push_back(std::move(made).ValueUnsafe());
    return ast;
  }

  arrow::Result<Ast> Logic(const Json& body, int depth) {
    const std::string op = Text(body, "boolop");
    Ast ast = Make(op == "AND_EXPR"  ? AstKind::kAnd
                   : op == "OR_EXPR" ? AstKind::kOr
                                     : AstKind::kNot);
    ARROW_RETURN_NOT_OK(ReadInto(ast, Member(body, "args"), depth));
    return ast;
  }

  arrow::Result<Ast> NullTest(const Json& body, int depth) {
    Ast ast = Make(AstKind::kIsNull);
    ARROW_ASSIGN_OR_RAISE(Ast arg, Read(Member(body, "arg"), depth + 1));
    ast.args.push_back(std::move(arg));
    return Negate(std::move(ast), Text(body, "nulltesttype") == "IS_NOT_NULL");
  }

  arrow::Result<Ast> BooleanTest(const Json& body, int depth) {
    const std::string test = Text(body, "booltesttype");
    const bool unknown = test == "IS_UNKNOWN" || test == "IS_NOT_UNKNOWN";
    Ast ast = Make(unknown ? AstKind::kIsNull : AstKind::kIsBoolean, unknown ? "unknown" : "");
    ast.flag = test == "IS_TRUE" || test == "IS_NOT_TRUE";
    ARROW_ASSIGN_OR_RAISE(Ast arg, Read(Member(body, "arg"), depth + 1));
    ast.args.push_back(std::move(arg));
    return Negate(std::move(ast), test.rfind("IS_NOT", 0) == 0);
  }

  arrow::Result<Ast> Call(const Json& body, int depth) {
    const Json& names = Member(body, "funcname");
    if (!names.is_array() || names.empty()) return Refuse("this call");
    const std::string name = Text(Member(names.back(), "String"), "sval");
    for (const char* form : {"over", "agg_distinct", "agg_star", "agg_filter", "agg_order",
                             "agg_within_group", "func_variadic"}) {
      if (body.contains(form)) return Refuse("an aggregate or window call of " + name);
    }
    Ast ast = Make(AstKind::kCall, name);
    if (body.contains("args")) ARROW_RETURN_NOT_OK(ReadInto(ast, Member(body, "args"), depth));
    return ast;
  }

  arrow::Result<Ast> Coalesce(const Json& body, int depth) {
    Ast ast = Make(AstKind::kCall, "coalesce");
    ARROW_RETURN_NOT_OK(ReadInto(ast, Member(body, "args"), depth));
    return ast;
  }

  arrow::Result<Ast> MinMax(const Json& body, int depth) {
    Ast ast = Make(AstKind::kCall, Text(body, "op") == "IS_LEAST" ? "least" : "greatest");
    ARROW_RETURN_NOT_OK(ReadInto(ast, Member(body, "args"), depth));
    return ast;
  }

  arrow::Result<Ast> Case(const Json& body, int depth) {
    Ast ast = Make(AstKind::kCase);
    const Json& whens = Member(body, "args");
    for (const Json& item : whens) {
      const Json& when = Member(item, "CaseWhen");
      ARROW_ASSIGN_OR_RAISE(Ast condition, Read(Member(when, "expr"), depth + 1));
      if (body.contains("arg")) {
        Ast equal = Make(AstKind::kCompare, "=");
        ARROW_ASSIGN_OR_RAISE(Ast subject, Read(Member(body, "arg"), depth + 1));
        equal.args.push_back(std::move(subject));
        equal.args.push_back(std::move(condition));
        condition = std::move(equal);
      }
      ARROW_ASSIGN_OR_RAISE(Ast result, Read(Member(when, "result"), depth + 1));
      ast.args.push_back(std::move(condition));
      ast.args.push_back(std::move(result));
    }
    Ast rest = Make(AstKind::kNull);
    if (body.contains("defresult")) {
      ARROW_ASSIGN_OR_RAISE(rest, Read(Member(body, "defresult"), depth + 1));
    }
    ast.args.push_back(std::move(rest));
    return ast;
  }

  arrow::Result<Ast> Cast(const Json& body, int depth) {
    const int position = position_;
    ARROW_ASSIGN_OR_RAISE(Ast arg, Read(Member(body, "arg"), depth + 1));
    position_ = position;
    const Json& type = Member(body, "typeName");
    Locate(type);
    Ast ast = Make(AstKind::kCast);
    const Json& names = Member(type, "names");
    if (!names.is_array() || names.empty() || type.contains("arrayBounds"))
      return Refuse("this type");
    std::string name = Text(Member(names.back(), "String"), "sval");
    // `float` and `double precision` are one type to PostgreSQL and two to Lance.
    const bool is_float = token_ < lexed_.tokens.size() && lexed_.tokens[token_].text.size() == 5;
    if (name == "float8" && names.size() > 1 && is_float) name = "float4";
    std::vector<int> modifiers;
    for (const Json& item : Member(type, "typmods")) {
      const Json& value = Member(Member(item, "A_Const"), "ival");
      modifiers.push_back(static_cast<int>(Integer(value, "ival")));
    }
    auto found = SqlType(name, modifiers);
    if (!found.ok()) return ErrorAt(sql_, position_, found.status().message());
    ast.type = std::move(found).ValueUnsafe();
    ast.position = position;
    ast.args.push_back(std::move(arg));
    return ast;
  }

  arrow::Result<Ast> Indirection(const Json& body, int depth) {
    ARROW_ASSIGN_OR_RAISE(Ast value, Read(Member(body, "arg"), depth + 1));
    const Json& steps = Member(body, "indirection");
    if (steps.size() > 32) return Refuse("a path of more than 32 steps");
    for (const Json& step : steps) {
      Ast outer = Make(AstKind::kField);
      if (step.contains("String")) {
        outer.text = Text(Member(step, "String"), "sval");
      } else if (step.contains("A_Indices") && !Boolean(Member(step, "A_Indices"), "is_slice")) {
        ARROW_ASSIGN_OR_RAISE(Ast index,
                              Read(Member(Member(step, "A_Indices"), "uidx"), depth + 1));
        const bool is_field = index.kind == AstKind::kString;
        outer = Make(is_field ? AstKind::kField : AstKind::kSubscript, is_field ? index.text : "");
        if (!is_field) outer.args.push_back(std::move(index));
      } else {
        return Refuse("a slice");
      }
      outer.position = value.position;
      outer.args.insert(outer.args.begin(), std::move(value));
      value = std::move(outer);
    }
    return value;
  }

  arrow::Result<Ast> List(const Json& body, int depth) {
    Ast ast = Make(AstKind::kList);
    if (body.contains("elements"))
      ARROW_RETURN_NOT_OK(ReadInto(ast, Member(body, "elements"), depth));
    return ast;
  }

  std::string_view sql_;
  const LexedSql& lexed_;
  size_t token_ = 0;
  int position_ = 1;
  int parts_ = 0;
};

arrow::Result<Ast> TreeReader::Operator(const Json& body, int depth) {
  const std::string kind = Text(body, "kind");
  const Json& names = Member(body, "name");
  const std::string op =
      names.is_array() && !names.empty() ? Text(Member(names.back(), "String"), "sval") : "";
  if (kind == "AEXPR_BETWEEN" || kind == "AEXPR_NOT_BETWEEN")
    return Between(body, depth, kind != "AEXPR_BETWEEN");
  if (kind == "AEXPR_LIKE" || kind == "AEXPR_ILIKE")
    return Like(body, depth, kind == "AEXPR_ILIKE", op[0] == '!');
  const bool is_any = kind == "AEXPR_OP_ANY" && op == "=";
  if (kind == "AEXPR_IN" || is_any) {
    Ast ast = Make(AstKind::kIn);
    const Json& right = Member(body, "rexpr");
    const Json& items = is_any ? Member(Member(right, "A_ArrayExpr"), "elements")
                               : Member(Member(right, "List"), "items");
    ARROW_ASSIGN_OR_RAISE(Ast value, Read(Member(body, "lexpr"), depth + 1));
    ast.args.push_back(std::move(value));
    ARROW_RETURN_NOT_OK(ReadInto(ast, items, depth));
    return Negate(std::move(ast), !is_any && op == "<>");
  }
  if (kind == "AEXPR_DISTINCT" || kind == "AEXPR_NOT_DISTINCT") {
    ARROW_ASSIGN_OR_RAISE(Ast ast, Plain(body, "=", depth));
    ast.kind = AstKind::kDistinct;
    ast.flag = kind == "AEXPR_NOT_DISTINCT";
    return ast;
  }
  if (kind == "AEXPR_NULLIF") {
    ARROW_ASSIGN_OR_RAISE(Ast ast, Plain(body, "=", depth));
    ast.kind = AstKind::kCall;
    ast.text = "nullif";
    return ast;
  }
  if (kind != "AEXPR_OP") return Refuse("this operator (" + op + ")");
  return Plain(body, op, depth);
}

// A binary operator, or a sign.
arrow::Result<Ast> TreeReader::Plain(const Json& body, const std::string& op, int depth) {
  static constexpr std::string_view kArithmetic = "+-*/%";
  const bool is_arithmetic = op.size() == 1 && kArithmetic.find(op[0]) != std::string_view::npos;
  const bool is_compare =
      op == "=" || op == "<>" || op == "<" || op == "<=" || op == ">" || op == ">=";
  if (!is_arithmetic && !is_compare && op != "||") return Refuse("the operator " + op);
  Ast ast = Make(is_compare      ? AstKind::kCompare
                 : is_arithmetic ? AstKind::kArithmetic
                                 : AstKind::kCall,
                 op);
  if (!body.contains("lexpr")) {
    if (op != "-" && op != "+") return Refuse("the operator " + op);
    ARROW_ASSIGN_OR_RAISE(Ast value, Read(Member(body, "rexpr"), depth + 1));
    if (op == "+") return value;
    ast.kind = AstKind::kNegate;
    ast.args.push_back(std::move(value));
    return ast;
  }
  ARROW_ASSIGN_OR_RAISE(Ast left, Read(Member(body, "lexpr"), depth + 1));
  ARROW_ASSIGN_OR_RAISE(Ast right, Read(Member(body, "rexpr"), depth + 1));
  ast.args.push_back(std::move(left));
  ast.args.push_back(std::move(right));
  return ast;
}

arrow::Result<Ast> TreeReader::Between(const Json& body, int depth, bool negated) {
  const Json& bounds = Member(Member(Member(body, "rexpr"), "List"), "items");
  if (bounds.size() != 2) return Refuse("this BETWEEN");
  Ast both = Make(AstKind::kAnd);
  for (int i = 0; i < 2; ++i) {
    Ast side = Make(AstKind::kCompare, i == 0 ? ">=" : "<=");
    ARROW_ASSIGN_OR_RAISE(Ast value, Read(Member(body, "lexpr"), depth + 2));
    ARROW_ASSIGN_OR_RAISE(Ast bound, Read(bounds[i], depth + 2));
    side.args.push_back(std::move(value));
    side.args.push_back(std::move(bound));
    both.args.push_back(std::move(side));
  }
  return Negate(std::move(both), negated);
}

arrow::Result<Ast> TreeReader::Like(const Json& body, int depth, bool ignore_case, bool negated) {
  Ast ast = Make(AstKind::kLike);
  ast.flag = ignore_case;
  ARROW_ASSIGN_OR_RAISE(Ast text, Read(Member(body, "lexpr"), depth + 1));
  ARROW_ASSIGN_OR_RAISE(Ast pattern, Read(Member(body, "rexpr"), depth + 1));
  ast.args.push_back(std::move(text));
  if (pattern.kind == AstKind::kCall && pattern.text == "like_escape" && pattern.args.size() == 2) {
    ast.args.push_back(std::move(pattern.args[0]));
    ast.args.push_back(std::move(pattern.args[1]));
  } else {
    ast.args.push_back(std::move(pattern));
  }
  return Negate(std::move(ast), negated);
}

}  // namespace

arrow::Result<Ast> ReadSqlTree(const std::string& json, std::string_view sql,
                               const LexedSql& lexed) {
  const Json tree = Json::parse(json, nullptr, /*allow_exceptions=*/false);
  const Json& statements = Member(tree, "stmts");
  if (!statements.is_array() || statements.size() != 1)
    return ErrorAt(sql, 1, "one expression is expected");
  const Json& select = Member(Member(statements[0], "stmt"), "SelectStmt");
  const Json& targets = Member(select, "targetList");
  if (!targets.is_array() || targets.size() != 1)
    return ErrorAt(sql, 1, "one expression is expected");
  return TreeReader(sql, lexed).Read(Member(Member(targets[0], "ResTarget"), "val"), 0);
}

}  // namespace pennon::expr
