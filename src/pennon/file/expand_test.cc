#include "pennon/file/expand.h"

#include <string>
#include <vector>

#include <arrow/array/array_base.h>
#include <arrow/array/util.h>
#include <arrow/json/from_string.h>
#include <arrow/type.h>
#include <gtest/gtest.h>

namespace pennon::file {
namespace {

std::shared_ptr<arrow::Array> Json(const std::shared_ptr<arrow::DataType>& type,
                                   const std::string& text) {
  return arrow::json::ArrayFromJSONString(type, text).ValueOrDie();
}

const std::shared_ptr<arrow::DataType> kPair =
    arrow::struct_({arrow::field("x", arrow::int32()), arrow::field("y", arrow::utf8())});

struct Case {
  std::shared_ptr<arrow::DataType> type;
  std::string text;   ///< four values
  std::string empty;  ///< what stands between them
};

std::vector<Case> Cases() {
  return {
      {arrow::int16(), "[1, null, 3, 4]", "0"},
      {arrow::boolean(), "[true, null, true, true]", "false"},
      {arrow::decimal128(9, 2), R"(["1.25", "2.00", null, "3.50"])", R"("0.00")"},
      {arrow::utf8(), R"(["a", "", null, "xyz"])", R"("")"},
      {arrow::large_binary(), R"(["a", "b", "c", null])", R"("")"},
      {arrow::list(arrow::int32()), "[[1, null], [], null, [4]]", "[]"},
      {arrow::large_list(kPair), R"([[{"x": 1, "y": "a"}], null, [], [null]])", "[]"},
      {arrow::map(arrow::utf8(), arrow::int8()), R"([[["k", 1]], null, [], [["m", null]]])", "[]"},
      {kPair, R"([{"x": 1, "y": "a"}, null, {"x": null, "y": "b"}, {"x": 4, "y": null}])",
       R"({"x": 0, "y": ""})"},
      {arrow::fixed_size_list(kPair, 2),
       R"([[{"x": 1, "y": "a"}, null], null, [null, null], [{"x": 4, "y": "b"}, null]])",
       R"([{"x": 0, "y": ""}, {"x": 0, "y": ""}])"},
      {arrow::null(), "[null, null, null, null]", "null"},
  };
}

TEST(ExpandTest, SpreadsValuesOfEveryShape) {
  const std::vector<SlotRun> runs = {{1, 1}, {0, 2}, {2, 4}, {1, 6}};
  for (const Case& c : Cases()) {
    SCOPED_TRACE(c.type->ToString());
    const auto from = Json(c.type, c.text);
    const auto filler = Json(c.type, "[" + c.empty + "]");
    auto data = SpreadSlots(from->data()->Copy(), runs, 9, arrow::default_memory_pool());
    ASSERT_TRUE(data.ok()) << data.status();
    const auto array = arrow::MakeArray(*data);
    ASSERT_TRUE(array->ValidateFull().ok()) << array->ValidateFull();
    ASSERT_EQ(array->length(), 9);
    const std::vector<int> sources = {-1, 0, -1, -1, 1, 2, 3, -1, -1};
    for (int64_t i = 0; i < 9; ++i) {
      const int source = sources[static_cast<size_t>(i)];
      const auto expected = source < 0 ? filler : from->Slice(source, 1);
      EXPECT_TRUE(array->Slice(i, 1)->Equals(expected))
          << "slot " << i << ": " << array->Slice(i, 1)->ToString();
    }
  }
}

TEST(ExpandTest, SpreadsNothing) {
  for (const Case& c : Cases()) {
    SCOPED_TRACE(c.type->ToString());
    auto data =
        SpreadSlots(Json(c.type, "[]")->data()->Copy(), {}, 2, arrow::default_memory_pool());
    ASSERT_TRUE(data.ok()) << data.status();
    const auto filler = Json(c.type, "[" + c.empty + ", " + c.empty + "]");
    EXPECT_TRUE(arrow::MakeArray(*data)->Equals(filler));
  }
}

TEST(ExpandTest, MakesNulls) {
  for (const Case& c : Cases()) {
    SCOPED_TRACE(c.type->ToString());
    const auto data = MakeNulls(c.type, 3, arrow::default_memory_pool());
    ASSERT_TRUE(data.ok()) << data.status();
    const auto array = arrow::MakeArray(*data);
    EXPECT_TRUE(array->ValidateFull().ok());
    EXPECT_EQ(array->length(), 3);
    EXPECT_EQ(array->null_count(), 3);
  }
}

}  // namespace
}  // namespace pennon::file
