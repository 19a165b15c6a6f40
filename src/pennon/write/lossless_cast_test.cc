#include "pennon/write/lossless_cast.h"

#include <cmath>
#include <limits>

#include <arrow/array.h>
#include <arrow/array/builder_primitive.h>
#include <arrow/compute/initialize.h>
#include <arrow/json/from_string.h>
#include <arrow/type.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "pennon/error.h"

namespace pennon::write {
namespace {

std::shared_ptr<arrow::Array> Json(const std::shared_ptr<arrow::DataType>& type,
                                   const std::string& text) {
  return arrow::json::ArrayFromJSONString(type, text).ValueOrDie();
}

Field FieldOf(std::shared_ptr<arrow::DataType> type, bool nullable = true) {
  Field field;
  field.name = "c";
  field.id = 1;
  field.nullable = nullable;
  field.type = std::move(type);
  return field;
}

struct Case {
  std::shared_ptr<arrow::DataType> column;
  std::shared_ptr<arrow::DataType> given;
  std::string values;
  std::string message = "";  // part of the error; empty = accepted
};

TEST(LosslessCastTest, AcceptsWhatKeepsEveryValue) {
  const std::vector<Case> cases = {
      {arrow::int32(), arrow::int32(), "[1, null]"},
      {arrow::struct_({arrow::field("a", arrow::int32()), arrow::field("b", arrow::utf8())}),
       arrow::struct_({arrow::field("b", arrow::large_utf8()), arrow::field("a", arrow::int64())}),
       R"([{"a": 1, "b": "x"}, null, {"a": null, "b": null}])"},
      {arrow::struct_({arrow::field("a", arrow::int8())}),
       arrow::struct_({arrow::field("b", arrow::int8())}), R"([{"b": 1}])", "wrong type"},
      {arrow::struct_({arrow::field("a", arrow::int8(), false)}),
       arrow::struct_({arrow::field("a", arrow::int8())}), R"([null, {"a": 1}])"},
      {arrow::dictionary(arrow::int8(), arrow::utf8()), arrow::utf8(), R"(["x", null, "x"])"},
      {arrow::dictionary(arrow::int8(), arrow::utf8()), arrow::int32(), "[1]", "wrong type"},
      {arrow::int32(), arrow::null(), "[null, null]"},
      {arrow::int32(), arrow::int64(), "[-2147483648, null, 2147483647]"},
      {arrow::int32(), arrow::int64(), "[2147483648]", "do not fit"},
      {arrow::uint8(), arrow::int64(), "[-1]", "do not fit"},
      {arrow::int32(), arrow::float64(), "[1.0, -2.0]"},
      {arrow::int32(), arrow::float64(), "[1.5]", "do not fit"},
      {arrow::float64(), arrow::float32(), "[0.1]"},
      {arrow::float32(), arrow::float64(), "[0.5, null]"},
      {arrow::float32(), arrow::float64(), "[0.1]", "rounded"},
      {arrow::float32(), arrow::float64(), "[1e300]", "rounded"},
      {arrow::float64(), arrow::int64(), "[9007199254740992]"},
      {arrow::float64(), arrow::int64(), "[9007199254740993]", "do not fit"},
      {arrow::utf8(), arrow::large_utf8(), R"(["a", null])"},
      {arrow::utf8(), arrow::int32(), "[1]", "wrong type"},
      {arrow::int32(), arrow::utf8(), R"(["1"])", "wrong type"},
      {arrow::utf8(), arrow::binary(), R"(["a"])", "wrong type"},
      {arrow::boolean(), arrow::int32(), "[1]", "wrong type"},
      {arrow::decimal128(10, 2), arrow::decimal128(12, 3), R"(["1.500"])"},
      {arrow::decimal128(10, 2), arrow::decimal128(12, 3), R"(["1.505"])", "do not fit"},
      {arrow::timestamp(arrow::TimeUnit::MICRO), arrow::timestamp(arrow::TimeUnit::NANO), "[1000]"},
      {arrow::timestamp(arrow::TimeUnit::MICRO), arrow::timestamp(arrow::TimeUnit::NANO), "[1001]",
       "do not fit"},
      {arrow::timestamp(arrow::TimeUnit::MICRO), arrow::timestamp(arrow::TimeUnit::MICRO, "UTC"),
       "[1]", "wrong type"},
      {arrow::fixed_size_list(arrow::float32(), 2), arrow::list(arrow::float32()),
       "[[1, 2], null]"},
      {arrow::fixed_size_list(arrow::float32(), 2), arrow::list(arrow::float32()), "[[1, 2, 3]]",
       "do not fit"},
      {arrow::fixed_size_list(arrow::float32(), 2), arrow::list(arrow::float64()), "[[1, 0.1]]",
       "rounded"},
  };
  ASSERT_TRUE(arrow::compute::Initialize().ok());
  for (const Case& test : cases) {
    const std::string name =
        test.given->ToString() + " " + test.values + " for " + test.column->ToString();
    auto result = CastLossless(FieldOf(test.column), Json(test.given, test.values));
    EXPECT_EQ(result.ok(), test.message.empty()) << name << ": " << result.status();
    if (result.ok()) {
      EXPECT_TRUE((*result)->type()->Equals(*test.column)) << name;
      EXPECT_EQ((*result)->null_count(), Json(test.given, test.values)->null_count()) << name;
      EXPECT_TRUE((*result)->ValidateFull().ok()) << name;
    } else {
      EXPECT_THAT(result.status().message(), testing::HasSubstr(test.message)) << name;
      EXPECT_THAT(result.status().message(), testing::HasSubstr(test.given->ToString())) << name;
    }
  }
}

TEST(LosslessCastTest, NamesTheFieldOfAStructThatDoesNotFit) {
  ASSERT_TRUE(arrow::compute::Initialize().ok());
  const auto given = arrow::struct_({arrow::field("a", arrow::int64())});
  auto result = CastLossless(FieldOf(arrow::struct_({arrow::field("a", arrow::int8())})),
                             Json(given, R"([{"a": 1000}])"));
  EXPECT_THAT(result.status().message(), testing::HasSubstr("column c.a is int8"));
  const auto strict = arrow::struct_({arrow::field("a", arrow::int64(), false)});
  result = CastLossless(FieldOf(strict), Json(given, R"([{"a": 1}, {"a": null}])"));
  EXPECT_THAT(result.status().message(), testing::HasSubstr("not nullable"));
  EXPECT_THAT(result.status().message(), testing::HasSubstr("c.a"));
}

TEST(LosslessCastTest, NansSurvive) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  arrow::DoubleBuilder builder;
  ASSERT_TRUE(builder.AppendValues({nan, std::numeric_limits<double>::infinity(), -0.0}).ok());
  auto result = CastLossless(FieldOf(arrow::float32()), builder.Finish().ValueOrDie());
  ASSERT_TRUE(result.ok()) << result.status();
  const auto& floats = static_cast<const arrow::FloatArray&>(**result);
  EXPECT_TRUE(std::isnan(floats.Value(0)));
  EXPECT_TRUE(std::isinf(floats.Value(1)));
  EXPECT_TRUE(std::signbit(floats.Value(2)));
}

TEST(LosslessCastTest, RefusesNullsForANonNullableColumn) {
  auto result = CastLossless(FieldOf(arrow::int32(), false), Json(arrow::int32(), "[1, null]"));
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(GetErrorDetail(result.status())->kind(), ErrorKind::kInvalidInput);
  EXPECT_THAT(result.status().message(), testing::HasSubstr("not nullable"));
}

}  // namespace
}  // namespace pennon::write
