#include "pennon/expr/functions.h"

#include <algorithm>
#include <chrono>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <arrow/array.h>
#include <arrow/compute/api_scalar.h>
#include <arrow/compute/exec.h>
#include <arrow/scalar.h>
#include <arrow/type.h>
#include <arrow/type_traits.h>

#include "pennon/error.h"
#include "pennon/expr/list_functions.h"
#include "pennon/expr/literal.h"
#include "pennon/expr/text_functions.h"
#include "pennon/expr/types.h"

namespace pennon::expr {
namespace {

namespace cp = arrow::compute;
using Bound = arrow::Result<NodePtr>;

Bound OfText(Binder& binder, const Ast& call, const char* function,
             std::shared_ptr<const cp::FunctionOptions> options = nullptr) {
  ARROW_ASSIGN_OR_RAISE(NodePtr text, binder.BindText(call.args[0]));
  return MakeArrowCall(function, {std::move(text)}, std::move(options));
}

Bound Lower(Binder& binder, const Ast& call) { return OfText(binder, call, "utf8_lower"); }
Bound Upper(Binder& binder, const Ast& call) { return OfText(binder, call, "utf8_upper"); }
Bound Length(Binder& binder, const Ast& call) { return OfText(binder, call, "utf8_length"); }
Bound Reverse(Binder& binder, const Ast& call) { return OfText(binder, call, "utf8_reverse"); }

Bound OctetLength(Binder& binder, const Ast& call) {
  ARROW_ASSIGN_OR_RAISE(NodePtr value, binder.Bind(call.args[0]));
  return MakeArrowCall("binary_length", {std::move(value)});
}

// Which characters a trim takes: spaces, or those of the second argument.
Bound Trim(Binder& binder, const Ast& call, const char* function) {
  std::string characters = " ";
  if (call.args.size() > 1) {
    if (call.args[1].kind != AstKind::kString)
      return binder.Error(call.args[1], "the characters to trim must be a string literal");
    characters = call.args[1].text;
  }
  return OfText(binder, call, function, std::make_shared<cp::TrimOptions>(characters));
}
Bound TrimBoth(Binder& binder, const Ast& call) { return Trim(binder, call, "utf8_trim"); }
Bound TrimLeft(Binder& binder, const Ast& call) { return Trim(binder, call, "utf8_ltrim"); }
Bound TrimRight(Binder& binder, const Ast& call) { return Trim(binder, call, "utf8_rtrim"); }

template <auto make>
Bound TwoTexts(Binder& binder, const Ast& call) {
  ARROW_ASSIGN_OR_RAISE(NodePtr text, binder.BindText(call.args[0]));
  ARROW_ASSIGN_OR_RAISE(NodePtr part, binder.BindText(call.args[1]));
  return make(std::move(text), std::move(part));
}

Bound Replace(Binder& binder, const Ast& call) {
  ARROW_ASSIGN_OR_RAISE(NodePtr text, binder.BindText(call.args[0]));
  ARROW_ASSIGN_OR_RAISE(NodePtr from, binder.BindText(call.args[1]));
  ARROW_ASSIGN_OR_RAISE(NodePtr to, binder.BindText(call.args[2]));
  return MakeReplace(std::move(text), std::move(from), std::move(to));
}

arrow::Result<NodePtr> BindInteger(Binder& binder, const Ast& ast) {
  ARROW_ASSIGN_OR_RAISE(NodePtr value, binder.Bind(ast));
  if (!arrow::is_integer(value->type->id())) return binder.Error(ast, "an integer is expected");
  return value;
}

Bound Substring(Binder& binder, const Ast& call) {
  ARROW_ASSIGN_OR_RAISE(NodePtr text, binder.BindText(call.args[0]));
  ARROW_ASSIGN_OR_RAISE(NodePtr start, BindInteger(binder, call.args[1]));
  NodePtr count;
  if (call.args.size() > 2) {
    ARROW_ASSIGN_OR_RAISE(count, BindInteger(binder, call.args[2]));
  }
  return MakeSubstring(std::move(text), std::move(start), std::move(count));
}

// Every argument as text; numbers and the like by CAST.
arrow::Result<std::vector<NodePtr>> BindTexts(Binder& binder, const std::vector<Ast>& asts) {
  std::vector<NodePtr> texts;
  for (const Ast& ast : asts) {
    Ast cast{.kind = AstKind::kCast, .position = ast.position};
    cast.type = arrow::utf8();
    cast.args.push_back(ast);
    ARROW_ASSIGN_OR_RAISE(NodePtr text, binder.Bind(cast));
    texts.push_back(std::move(text));
  }
  return texts;
}

Bound Join(std::vector<NodePtr> texts, NodePtr separator,
           cp::JoinOptions::NullHandlingBehavior nulls) {
  texts.push_back(std::move(separator));
  return MakeArrowCall("binary_join_element_wise", std::move(texts),
                       std::make_shared<cp::JoinOptions>(nulls));
}

NodePtr TextLiteral(std::string text) {
  return MakeLiteral(std::make_shared<arrow::StringScalar>(std::move(text)));
}

// a || b: NULL if either is.
Bound Concatenate(Binder& binder, const Ast& call) {
  ARROW_ASSIGN_OR_RAISE(std::vector<NodePtr> texts, BindTexts(binder, call.args));
  return Join(std::move(texts), TextLiteral(""), cp::JoinOptions::EMIT_NULL);
}

// concat(a, b, …): NULL counts as ''.
Bound Concat(Binder& binder, const Ast& call) {
  ARROW_ASSIGN_OR_RAISE(std::vector<NodePtr> texts, BindTexts(binder, call.args));
  return Join(std::move(texts), TextLiteral(""), cp::JoinOptions::SKIP);
}

Bound ConcatWithSeparator(Binder& binder, const Ast& call) {
  ARROW_ASSIGN_OR_RAISE(std::vector<NodePtr> texts, BindTexts(binder, call.args));
  NodePtr separator = texts[0];
  texts.erase(texts.begin());
  return Join(std::move(texts), std::move(separator), cp::JoinOptions::SKIP);
}

Bound MatchRegex(Binder& binder, const Ast& call) {
  const Ast& pattern = call.args[1];
  if (pattern.kind != AstKind::kString)
    return binder.Error(pattern, "the regular expression must be a string literal");
  ARROW_ASSIGN_OR_RAISE(NodePtr text, binder.BindText(call.args[0]));
  bool ignore_case = false;
  if (call.args.size() > 2) {
    if (call.args[2].kind != AstKind::kString || call.args[2].text != "i") {
      return binder.Error(call.args[2], "the only flag of a regular expression is 'i'");
    }
    ignore_case = true;
  }
  NodePtr none = MakeNull(text->type);
  ARROW_ASSIGN_OR_RAISE(NodePtr probe, MakeArrowCall("match_substring_regex", {std::move(text)},
                                                     std::make_shared<cp::MatchSubstringOptions>(
                                                         pattern.text, ignore_case)));
  // A bad pattern shows when it is used first: use it now.
  const Kernel& kernel = probe->is_literal() ? Kernel() : probe->kernel;
  if (kernel)
    ARROW_RETURN_NOT_OK(
        kernel({arrow::Datum(none->value)}, 1, cp::default_exec_context()).status());
  return probe;
}

// Lance gives the list of matched groups; what filters ask is whether there is one, so a match
// gives ['match'].
Bound RegexGroups(Binder& binder, const Ast& call) {
  const std::string& pattern = call.args[1].text;
  if (call.args[1].kind == AstKind::kString && pattern.find('(') != std::string::npos) {
    return binder.Error(call.args[1], "regexp_match with groups is not supported; use regexp_like");
  }
  if (call.args[1].kind != AstKind::kString || call.args.size() > 2)
    return MatchRegex(binder, call);
  ARROW_ASSIGN_OR_RAISE(NodePtr text, binder.BindText(call.args[0]));
  ARROW_ASSIGN_OR_RAISE(
      NodePtr match,
      MakeArrowCall("extract_regex", {std::move(text)},
                    std::make_shared<cp::ExtractRegexOptions>("(?P<match>" + pattern + ")")));
  Kernel kernel = [](const std::vector<arrow::Datum>& args, int64_t length,
                     cp::ExecContext* context) -> arrow::Result<arrow::Datum> {
    std::shared_ptr<arrow::Array> found;
    if (args[0].is_scalar()) {
      ARROW_ASSIGN_OR_RAISE(
          found, arrow::MakeArrayFromScalar(*args[0].scalar(), length, context->memory_pool()));
    } else {
      found = args[0].make_array();
    }
    ARROW_ASSIGN_OR_RAISE(std::shared_ptr<arrow::Array> texts,
                          static_cast<const arrow::StructArray&>(*found).GetFlattenedField(0));
    std::shared_ptr<arrow::Array> lists;
    ARROW_ASSIGN_OR_RAISE(lists,
                          arrow::FixedSizeListArray::FromArrays(texts, 1, texts->null_bitmap()));
    return arrow::Datum(lists);
  };
  const auto type = arrow::fixed_size_list(
      static_cast<const arrow::StructType&>(*match->type).field(0)->type(), 1);
  return MakeKernelCall("regexp_match", type, {std::move(match)}, std::move(kernel));
}

Bound OfNumber(Binder& binder, const Ast& call, const char* function,
               std::shared_ptr<const cp::FunctionOptions> options = nullptr) {
  ARROW_ASSIGN_OR_RAISE(NodePtr value, binder.Bind(call.args[0]));
  const bool is_number =
      arrow::is_numeric(value->type->id()) || arrow::is_decimal(value->type->id());
  if (!is_number)
    return binder.Error(call.args[0], "a number is expected; found " + value->type->ToString());
  if (arrow::is_integer(value->type->id())) {
    ARROW_ASSIGN_OR_RAISE(value, Coerce(std::move(value), arrow::int64()));
  }
  return MakeArrowCall(function, {std::move(value)}, std::move(options));
}

template <const char* const& function>
Bound Numeric(Binder& binder, const Ast& call) {
  return OfNumber(binder, call, function);
}
constexpr const char* kAbs = "abs_checked";
constexpr const char* kCeil = "ceil";
constexpr const char* kFloor = "floor";
constexpr const char* kTrunc = "trunc";
constexpr const char* kSign = "sign";
constexpr const char* kSqrt = "sqrt";
constexpr const char* kExp = "exp";
constexpr const char* kLn = "ln";
constexpr const char* kLog10 = "log10";
constexpr const char* kLog2 = "log2";

Bound Round(Binder& binder, const Ast& call) {
  int64_t digits = 0;
  if (call.args.size() > 1) {
    ARROW_ASSIGN_OR_RAISE(NodePtr places, BindInteger(binder, call.args[1]));
    ARROW_ASSIGN_OR_RAISE(places, MakeSafeCast(std::move(places), arrow::int64()));
    if (!places->is_literal() || !places->value->is_valid)
      return binder.Error(call.args[1], "the digits to round to must be a literal");
    digits = static_cast<const arrow::Int64Scalar&>(*places->value).value;
  }
  return OfNumber(binder, call, "round",
                  std::make_shared<cp::RoundOptions>(digits, cp::RoundMode::HALF_TOWARDS_INFINITY));
}

Bound Power(Binder& binder, const Ast& call) {
  ARROW_ASSIGN_OR_RAISE(std::vector<NodePtr> both,
                        binder.BindTogether({&call.args[0], &call.args[1]}));
  return MakeArrowCall("power_checked", std::move(both));
}

Bound Modulo(Binder& binder, const Ast& call) {
  Ast ast = call;
  ast.kind = AstKind::kArithmetic;
  ast.text = "%";
  return binder.BindArithmetic(ast);
}

Bound IsNan(Binder& binder, const Ast& call) {
  ARROW_ASSIGN_OR_RAISE(NodePtr value, binder.Bind(call.args[0]));
  if (arrow::is_integer(value->type->id()) || arrow::is_decimal(value->type->id()))
    return MakeUnlessNull(std::move(value), false);
  return MakeArrowCall("is_nan", {std::move(value)});
}

std::vector<const Ast*> All(const Ast& call) {
  std::vector<const Ast*> asts;
  for (const Ast& arg : call.args) asts.push_back(&arg);
  return asts;
}

// The first value that is not NULL; later ones are computed only in rows that need them.
Bound Coalesce(Binder& binder, const Ast& call) {
  ARROW_ASSIGN_OR_RAISE(std::vector<NodePtr> values, binder.BindTogether(All(call)));
  std::vector<NodePtr> args;
  for (size_t i = 0; i + 1 < values.size(); ++i) {
    ARROW_ASSIGN_OR_RAISE(NodePtr is_null, MakeIsNull(values[i]));
    ARROW_ASSIGN_OR_RAISE(NodePtr is_value, MakeLogic(NodeKind::kNot, {std::move(is_null)}));
    args.push_back(std::move(is_value));
    args.push_back(values[i]);
  }
  args.push_back(values.back());
  return args.size() == 1 ? Bound(args[0]) : MakeCase(std::move(args));
}

Bound NullIf(Binder& binder, const Ast& call) {
  ARROW_ASSIGN_OR_RAISE(NodePtr value, binder.Bind(call.args[0]));
  ARROW_ASSIGN_OR_RAISE(NodePtr equal,
                        binder.BindCompare(CompareOp::kEqual, call.args[0], call.args[1]));
  NodePtr none = MakeNull(value->type);
  return MakeCase({std::move(equal), std::move(none), std::move(value)});
}

Bound Extreme(Binder& binder, const Ast& call, const char* function) {
  ARROW_ASSIGN_OR_RAISE(std::vector<NodePtr> values, binder.BindTogether(All(call)));
  if (arrow::is_floating(values[0]->type->id())) {
    return binder.Error(call, "greatest and least of floats are not supported; use CASE");
  }
  return MakeArrowCall(function, std::move(values),
                       std::make_shared<cp::ElementWiseAggregateOptions>(/*skip_nulls=*/true));
}
Bound Greatest(Binder& binder, const Ast& call) {
  return Extreme(binder, call, "max_element_wise");
}
Bound Least(Binder& binder, const Ast& call) { return Extreme(binder, call, "min_element_wise"); }

int64_t MicrosecondsNow() {
  return std::chrono::duration_cast<std::chrono::microseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

Bound Now(Binder&, const Ast&) {
  return MakeLiteral(std::make_shared<arrow::TimestampScalar>(
      MicrosecondsNow(), arrow::timestamp(arrow::TimeUnit::MICRO, "UTC")));
}

Bound CurrentDate(Binder&, const Ast&) {
  return MakeLiteral(
      std::make_shared<arrow::Date32Scalar>(static_cast<int32_t>(MicrosecondsNow() / 86400000000)));
}

Bound ToTimestamp(Binder& binder, const Ast& call) {
  Ast cast{.kind = AstKind::kCast, .position = call.position};
  ARROW_ASSIGN_OR_RAISE(NodePtr value, binder.Bind(call.args[0]));
  const bool is_seconds = arrow::is_integer(value->type->id());
  cast.type = is_seconds ? arrow::timestamp(arrow::TimeUnit::SECOND)
                         : arrow::timestamp(arrow::TimeUnit::NANO);
  if (is_seconds) {
    ARROW_ASSIGN_OR_RAISE(value, MakeSafeCast(std::move(value), arrow::int64()));
    return MakeSafeCast(std::move(value), cast.type);
  }
  cast.args.push_back(call.args[0]);
  return binder.BindCast(cast);
}

// date_part('year', x) and EXTRACT(year FROM x).
Bound DatePart(Binder& binder, const Ast& call) {
  static const std::vector<std::pair<std::string_view, const char*>> kParts = {
      {"year", "year"},       {"quarter", "quarter"},   {"month", "month"},
      {"week", "iso_week"},   {"day", "day"},           {"hour", "hour"},
      {"minute", "minute"},   {"second", "second"},     {"doy", "day_of_year"},
      {"dow", "day_of_week"}, {"isodow", "day_of_week"}};
  if (call.args[0].kind != AstKind::kString)
    return binder.Error(call.args[0], "the part must be a string literal");
  std::string part = call.args[0].text;
  std::transform(part.begin(), part.end(), part.begin(),
                 [](unsigned char c) { return std::tolower(c); });
  const auto found = std::find_if(kParts.begin(), kParts.end(),
                                  [&](const auto& entry) { return entry.first == part; });
  if (found == kParts.end()) {
    return binder.Error(call.args[0],
                        "there is no such part; known are year, quarter, month, week, day, hour, "
                        "minute, second, doy, dow, isodow");
  }
  ARROW_ASSIGN_OR_RAISE(NodePtr value, binder.Bind(call.args[1]));
  std::shared_ptr<cp::FunctionOptions> options;
  if (part == "dow")
    options = std::make_shared<cp::DayOfWeekOptions>(/*count_from_zero=*/true, /*week_start=*/7);
  if (part == "isodow")
    options = std::make_shared<cp::DayOfWeekOptions>(/*count_from_zero=*/false, /*week_start=*/1);
  return MakeArrowCall(found->second, {std::move(value)}, std::move(options));
}

Bound DateTrunc(Binder& binder, const Ast& call) {
  static const std::vector<std::pair<std::string_view, cp::CalendarUnit>> kUnits = {
      {"year", cp::CalendarUnit::YEAR},     {"quarter", cp::CalendarUnit::QUARTER},
      {"month", cp::CalendarUnit::MONTH},   {"week", cp::CalendarUnit::WEEK},
      {"day", cp::CalendarUnit::DAY},       {"hour", cp::CalendarUnit::HOUR},
      {"minute", cp::CalendarUnit::MINUTE}, {"second", cp::CalendarUnit::SECOND}};
  const auto found = std::find_if(kUnits.begin(), kUnits.end(), [&](const auto& entry) {
    return entry.first == call.args[0].text;
  });
  if (call.args[0].kind != AstKind::kString || found == kUnits.end()) {
    return binder.Error(
        call.args[0],
        "the unit must be 'year', 'quarter', 'month', 'week', 'day', 'hour', 'minute' or 'second'");
  }
  ARROW_ASSIGN_OR_RAISE(NodePtr value, binder.Bind(call.args[1]));
  return MakeArrowCall("floor_temporal", {std::move(value)},
                       std::make_shared<cp::RoundTemporalOptions>(1, found->second));
}

arrow::Result<NodePtr> BindListValue(Binder& binder, const Ast& ast) {
  ARROW_ASSIGN_OR_RAISE(NodePtr list, binder.Bind(ast));
  if (!IsList(*list->type))
    return binder.Error(ast, "a list is expected; found " + list->type->ToString());
  return list;
}

Bound ListLength(Binder& binder, const Ast& call) {
  ARROW_ASSIGN_OR_RAISE(NodePtr list, BindListValue(binder, call.args[0]));
  return MakeArrowCall("list_value_length", {std::move(list)});
}

NodePtr ElementOf(const NodePtr& list) {
  return MakeColumn(0, "element",
                    static_cast<const arrow::BaseListType&>(*list->type).value_type());
}

Bound ListHas(Binder& binder, const Ast& call) {
  ARROW_ASSIGN_OR_RAISE(NodePtr list, BindListValue(binder, call.args[0]));
  const Ast& needle = call.args[1];
  if (IsUntyped(needle)) {
    if (needle.kind == AstKind::kNull) return MakeNull(arrow::boolean());
    ARROW_ASSIGN_OR_RAISE(NodePtr test,
                          binder.CompareLiteral(CompareOp::kEqual, ElementOf(list), needle));
    return MakeAnyElement(std::move(list), nullptr, std::move(test));
  }
  ARROW_ASSIGN_OR_RAISE(NodePtr value, binder.Bind(needle));
  ARROW_ASSIGN_OR_RAISE(NodePtr test,
                        binder.CompareNodes(CompareOp::kEqual, ElementOf(list),
                                            MakeColumn(1, "value", value->type), needle));
  return MakeAnyElement(std::move(list), std::move(value), std::move(test));
}

Bound ListHasAny(Binder& binder, const Ast& call) {
  if (call.args[1].kind != AstKind::kList)
    return binder.Error(call.args[1], "a list literal such as ['a', 'b'] is expected");
  ARROW_ASSIGN_OR_RAISE(NodePtr list, BindListValue(binder, call.args[0]));
  ARROW_ASSIGN_OR_RAISE(NodePtr test, binder.InList(ElementOf(list), call.args[1].args, 0));
  return MakeAnyElement(std::move(list), nullptr, std::move(test));
}

Bound ListHasAll(Binder& binder, const Ast& call) {
  if (call.args[1].kind != AstKind::kList)
    return binder.Error(call.args[1], "a list literal such as ['a', 'b'] is expected");
  ARROW_ASSIGN_OR_RAISE(NodePtr list, BindListValue(binder, call.args[0]));
  ARROW_ASSIGN_OR_RAISE(NodePtr is_list, MakeUnlessNull(list, true));
  std::vector<NodePtr> terms = {std::move(is_list)};
  for (const Ast& item : call.args[1].args) {
    ARROW_ASSIGN_OR_RAISE(NodePtr test, binder.InList(ElementOf(list), {item}, 0));
    ARROW_ASSIGN_OR_RAISE(NodePtr term, MakeAnyElement(list, nullptr, std::move(test)));
    terms.push_back(std::move(term));
  }
  return MakeLogic(NodeKind::kAnd, std::move(terms));
}

Bound ListElement(Binder& binder, const Ast& call) {
  Ast ast = call;
  ast.kind = AstKind::kSubscript;
  return binder.Bind(ast);
}

struct Function {
  std::string_view name;
  size_t min_args;
  size_t max_args;
  Bound (*bind)(Binder&, const Ast&);
};

constexpr size_t kMany = 1000;

// Everything that can be called, by name.
constexpr Function kFunctions[] = {
    {"||", 2, 2, Concatenate},
    {"abs", 1, 1, Numeric<kAbs>},
    {"array_contains", 2, 2, ListHas},
    {"array_element", 2, 2, ListElement},
    {"array_has", 2, 2, ListHas},
    {"array_has_all", 2, 2, ListHasAll},
    {"array_has_any", 2, 2, ListHasAny},
    {"array_length", 1, 1, ListLength},
    {"btrim", 1, 2, TrimBoth},
    {"cardinality", 1, 1, ListLength},
    {"ceil", 1, 1, Numeric<kCeil>},
    {"char_length", 1, 1, Length},
    {"character_length", 1, 1, Length},
    {"coalesce", 1, kMany, Coalesce},
    {"concat", 1, kMany, Concat},
    {"concat_ws", 2, kMany, ConcatWithSeparator},
    {"contains", 2, 2, TwoTexts<MakeContains>},
    {"current_date", 0, 0, CurrentDate},
    {"date_part", 2, 2, DatePart},
    {"date_trunc", 2, 2, DateTrunc},
    {"datepart", 2, 2, DatePart},
    {"ends_with", 2, 2, TwoTexts<MakeEndsWith>},
    {"exp", 1, 1, Numeric<kExp>},
    {"extract", 2, 2, DatePart},
    {"floor", 1, 1, Numeric<kFloor>},
    {"greatest", 1, kMany, Greatest},
    {"ifnull", 2, 2, Coalesce},
    {"instr", 2, 2, TwoTexts<MakePosition>},
    {"isnan", 1, 1, IsNan},
    {"least", 1, kMany, Least},
    {"length", 1, 1, Length},
    {"list_contains", 2, 2, ListHas},
    {"list_element", 2, 2, ListElement},
    {"list_has", 2, 2, ListHas},
    {"list_has_all", 2, 2, ListHasAll},
    {"list_has_any", 2, 2, ListHasAny},
    {"list_length", 1, 1, ListLength},
    {"ln", 1, 1, Numeric<kLn>},
    {"log10", 1, 1, Numeric<kLog10>},
    {"log2", 1, 1, Numeric<kLog2>},
    {"lower", 1, 1, Lower},
    {"ltrim", 1, 2, TrimLeft},
    {"mod", 2, 2, Modulo},
    {"now", 0, 0, Now},
    {"nullif", 2, 2, NullIf},
    {"nvl", 2, 2, Coalesce},
    {"octet_length", 1, 1, OctetLength},
    {"position", 2, 2, TwoTexts<MakePosition>},
    {"pow", 2, 2, Power},
    {"power", 2, 2, Power},
    {"regexp_like", 2, 3, MatchRegex},
    {"regexp_match", 2, 2, RegexGroups},
    {"replace", 3, 3, Replace},
    {"reverse", 1, 1, Reverse},
    {"round", 1, 2, Round},
    {"rtrim", 1, 2, TrimRight},
    {"sign", 1, 1, Numeric<kSign>},
    {"signum", 1, 1, Numeric<kSign>},
    {"sqrt", 1, 1, Numeric<kSqrt>},
    {"starts_with", 2, 2, TwoTexts<MakeStartsWith>},
    {"strpos", 2, 2, TwoTexts<MakePosition>},
    {"substr", 2, 3, Substring},
    {"substring", 2, 3, Substring},
    {"to_timestamp", 1, 1, ToTimestamp},
    {"trim", 1, 2, TrimBoth},
    {"trunc", 1, 1, Numeric<kTrunc>},
    {"upper", 1, 1, Upper},
};

bool IsAggregate(std::string_view name) {
  return name == "count" || name == "sum" || name == "avg" || name == "min" || name == "max";
}

}  // namespace

Bound BindFunction(Binder& binder, const Ast& call) {
  const auto* found =
      std::find_if(std::begin(kFunctions), std::end(kFunctions),
                   [&](const Function& function) { return function.name == call.text; });
  if (found == std::end(kFunctions)) {
    if (IsAggregate(call.text))
      return binder.Error(call, "an aggregate is not supported in an expression: " + call.text);
    return binder.Error(call, "there is no function " + call.text);
  }
  if (call.args.size() < found->min_args || call.args.size() > found->max_args) {
    return binder.Error(
        call, "the function " + call.text +
                  " does not take this number of arguments: " + std::to_string(call.args.size()));
  }
  return found->bind(binder, call);
}

}  // namespace pennon::expr
