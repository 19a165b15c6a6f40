// Serialized arrow expressions mean what the same SQL text means.
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <arrow/array.h>
#include <arrow/builder.h>
#include <arrow/compute/api_scalar.h>
#include <arrow/compute/cast.h>
#include <arrow/compute/expression.h>
#include <arrow/record_batch.h>
#include <arrow/scalar.h>
#include <arrow/type.h>

#include "pennon/expr/expression.h"

namespace pennon::expr {
namespace {

namespace cp = arrow::compute;
using Positions = std::vector<int64_t>;

std::shared_ptr<arrow::RecordBatch> Rows() {
  arrow::Int32Builder i;
  arrow::DoubleBuilder f;
  arrow::FloatBuilder g;
  arrow::StringBuilder s;
  EXPECT_TRUE(i.AppendValues({1, 2, 3, 4}).ok());
  EXPECT_TRUE(i.AppendNull().ok());
  EXPECT_TRUE(f.AppendValues({1.5, std::nan(""), -0.0, 4.0}).ok());
  EXPECT_TRUE(f.AppendNull().ok());
  EXPECT_TRUE(g.AppendValues({0.1f, 0.5f, std::nanf(""), 4.0f}).ok());
  EXPECT_TRUE(g.AppendNull().ok());
  EXPECT_TRUE(s.AppendValues({"alpha", "a_b", "Beta", ""}).ok());
  EXPECT_TRUE(s.AppendNull().ok());
  auto ints = i.Finish().ValueOrDie();
  auto structs = arrow::StructArray::Make({ints}, std::vector<std::string>{"a"}).ValueOrDie();
  auto schema =
      arrow::schema({arrow::field("i", arrow::int32()), arrow::field("f", arrow::float64()),
                     arrow::field("g", arrow::float32()), arrow::field("s", arrow::utf8()),
                     arrow::field("st", structs->type())});
  return arrow::RecordBatch::Make(
      schema, 5,
      {ints, f.Finish().ValueOrDie(), g.Finish().ValueOrDie(), s.Finish().ValueOrDie(), structs});
}

Positions Keep(const cp::Expression& arrow_expression) {
  const auto rows = Rows();
  EXPECT_TRUE(cp::Serialize(arrow_expression).ok());
  auto expression =
      Expression::FromArrow(cp::Serialize(arrow_expression).ValueOrDie(), *rows->schema());
  EXPECT_TRUE(expression.ok()) << expression.status().ToString();
  if (!expression.ok()) return {-1};
  auto kept = expression->EvaluateFilter(*rows, arrow::default_memory_pool());
  EXPECT_TRUE(kept.ok()) << kept.status().ToString();
  if (!kept.ok()) return {-2};
  Positions positions;
  for (int64_t row = 0; row < (*kept)->length(); ++row) {
    if ((*kept)->Value(row)) positions.push_back(row);
  }
  return positions;
}

cp::Expression F(const std::string& name) { return cp::field_ref(name); }

TEST(FromArrow, ComparesNumbersExactlyAndFloatsInOneOrder) {
  EXPECT_EQ(Keep(cp::greater(F("i"), cp::literal(int64_t{2}))), (Positions{2, 3}));
  EXPECT_EQ(Keep(cp::greater(F("i"), cp::literal(1.5))), (Positions{1, 2, 3}));
  EXPECT_EQ(Keep(cp::equal(F("i"), cp::literal(int64_t{1} << 40))), (Positions{}));
  EXPECT_EQ(Keep(cp::less(F("i"), cp::literal(std::nan("")))), (Positions{0, 1, 2, 3}));
  EXPECT_EQ(Keep(cp::greater(F("f"), cp::literal(1.0))), (Positions{0, 1, 3}));
  EXPECT_EQ(Keep(cp::equal(F("f"), cp::literal(std::nan("")))), (Positions{1}));
  EXPECT_EQ(Keep(cp::equal(F("f"), cp::literal(0.0))), (Positions{2}));
  EXPECT_EQ(Keep(cp::equal(F("f"), F("f"))), (Positions{0, 1, 2, 3}));
  // A double literal is not rounded to the column's float.
  EXPECT_EQ(Keep(cp::equal(F("g"), cp::literal(0.1))), (Positions{}));
  EXPECT_EQ(Keep(cp::greater(F("g"), cp::literal(0.1))), (Positions{0, 1, 2, 3}));
  EXPECT_EQ(Keep(cp::equal(F("g"), cp::literal(0.1f))), (Positions{0}));
}

TEST(FromArrow, LooksUpValuesOfOtherTypesAndNull) {
  auto set = [](auto&& builder, auto values, bool with_null) {
    EXPECT_TRUE(builder.AppendValues(values).ok());
    const arrow::Status null_status = with_null ? builder.AppendNull() : arrow::Status::OK();
    EXPECT_TRUE(null_status.ok());
    return cp::SetLookupOptions(builder.Finish().ValueOrDie());
  };
  EXPECT_EQ(
      Keep(cp::call("is_in", {F("i")},
                    set(arrow::Int64Builder(), std::vector<int64_t>{1, int64_t{1} << 40}, false))),
      (Positions{0}));
  EXPECT_EQ(Keep(cp::call("is_in", {F("i")},
                          set(arrow::DoubleBuilder(), std::vector<double>{1.5, 3.0}, false))),
            (Positions{2}));
  EXPECT_EQ(
      Keep(cp::call("is_in", {F("i")}, set(arrow::Int32Builder(), std::vector<int32_t>{2}, true))),
      (Positions{1, 4}));
  EXPECT_EQ(
      Keep(cp::call("is_in", {F("f")},
                    set(arrow::DoubleBuilder(), std::vector<double>{std::nan(""), 0.0}, false))),
      (Positions{1, 2}));
}

TEST(FromArrow, KnowsNullNanTextAndNesting) {
  EXPECT_EQ(Keep(cp::is_null(F("f"))), (Positions{4}));
  EXPECT_EQ(Keep(cp::is_null(F("f"), /*nan_is_null=*/true)), (Positions{1, 4}));
  EXPECT_EQ(Keep(cp::is_valid(F("f"))), (Positions{0, 1, 2, 3}));
  EXPECT_EQ(Keep(cp::call("is_nan", {F("f")})), (Positions{1}));
  EXPECT_EQ(Keep(cp::call("match_like", {F("s")}, cp::MatchSubstringOptions("a\\_%"))),
            (Positions{1}));
  EXPECT_EQ(Keep(cp::call("starts_with", {F("s")}, cp::MatchSubstringOptions("A", true))),
            (Positions{0, 1}));
  EXPECT_EQ(Keep(cp::call("match_substring", {F("s")}, cp::MatchSubstringOptions("_"))),
            (Positions{1}));
  EXPECT_EQ(Keep(cp::equal(cp::call("utf8_upper", {F("s")}), cp::literal("BETA"))), (Positions{2}));
  EXPECT_EQ(Keep(cp::equal(cp::field_ref(arrow::FieldRef("st", "a")), cp::literal(3))),
            (Positions{2}));
  EXPECT_EQ(Keep(cp::equal(cp::call("cast", {F("i")}, cp::CastOptions::Safe(arrow::utf8())),
                           cp::literal("2"))),
            (Positions{1}));
  EXPECT_EQ(Keep(cp::equal(cp::call("add", {F("i"), cp::literal(1)}), cp::literal(3))),
            (Positions{1}));
}

TEST(FromArrow, FollowsThreeValuedLogic) {
  const auto none = cp::literal(arrow::MakeNullScalar(arrow::boolean()));
  EXPECT_EQ(Keep(cp::or_(none, cp::equal(F("i"), cp::literal(1)))), (Positions{0}));
  EXPECT_EQ(Keep(cp::not_(cp::and_(none, cp::equal(F("i"), cp::literal(1))))),
            (Positions{1, 2, 3}));
  EXPECT_EQ(Keep(cp::equal(F("i"), cp::literal(arrow::MakeNullScalar(arrow::int32())))),
            (Positions{}));
}

TEST(FromArrow, TakesLongChainsThatNestDeep) {
  cp::Expression chain = cp::equal(F("i"), cp::literal(1));
  for (int i = 0; i < 3000; ++i) chain = cp::or_(chain, cp::equal(F("i"), cp::literal(i % 2 + 1)));
  EXPECT_EQ(Keep(chain), (Positions{0, 1}));
}

TEST(FromArrow, RefusesWhatIsNoExpressionOverRows) {
  const auto rows = Rows();
  auto fails = [&](const cp::Expression& expression) {
    return !Expression::FromArrow(cp::Serialize(expression).ValueOrDie(), *rows->schema()).ok();
  };
  EXPECT_TRUE(fails(F("nothere")));
  EXPECT_TRUE(fails(cp::equal(F("s"), cp::literal(1))));
  EXPECT_TRUE(fails(cp::call("sum", {F("i")})));
  EXPECT_TRUE(fails(cp::call("no_such_function", {F("i")})));
  EXPECT_TRUE(fails(cp::call("strptime", {F("s")}, cp::CastOptions::Safe(arrow::int8()))));
  EXPECT_FALSE(Expression::FromArrow(arrow::Buffer::FromString("junk"), *rows->schema()).ok());
}

}  // namespace
}  // namespace pennon::expr
