#include "pennon/read/gather.h"

#include <random>

#include <arrow/array/array_base.h>
#include <arrow/array/concatenate.h>
#include <arrow/array/util.h>
#include <arrow/compute/api_vector.h>
#include <arrow/json/from_string.h>
#include <arrow/type.h>
#include <gtest/gtest.h>

namespace pennon::read {
namespace {

std::shared_ptr<arrow::Array> FromJson(const std::shared_ptr<arrow::DataType>& type,
                                       const std::string& json) {
  return arrow::json::ArrayFromJSONString(type, json).ValueOrDie();
}

std::shared_ptr<arrow::Array> Gathered(const arrow::ArrayVector& parts,
                                       const std::vector<FetchedPlace>& places) {
  auto data = Gather(parts, places, arrow::default_memory_pool());
  EXPECT_TRUE(data.ok()) << data.status();
  auto array = arrow::MakeArray(*data);
  EXPECT_TRUE(array->ValidateFull().ok());
  return array;
}

struct TypeCase {
  const char* name;
  std::shared_ptr<arrow::DataType> type;
  const char* first;
  const char* second;
  const char* expected;  // of places (1,1) (0,0) (0,2) (0,0) (1,0)
};

class GatherTypes : public ::testing::TestWithParam<TypeCase> {};

TEST_P(GatherTypes, PutsValuesInTheOrderAsked) {
  const TypeCase& c = GetParam();
  const arrow::ArrayVector parts = {FromJson(c.type, c.first), FromJson(c.type, c.second)};
  const std::vector<FetchedPlace> places = {{1, 1}, {0, 0}, {0, 2}, {0, 0}, {1, 0}};
  const auto expected = FromJson(c.type, c.expected);
  EXPECT_TRUE(Gathered(parts, places)->Equals(expected)) << Gathered(parts, places)->ToString();
  // Parts that are slices of longer arrays.
  const auto whole = arrow::Concatenate({parts[1], parts[0]}).ValueOrDie();
  EXPECT_TRUE(Gathered({whole->Slice(2), whole->Slice(0, 2)}, places)->Equals(expected));
}

INSTANTIATE_TEST_SUITE_P(
    All, GatherTypes,
    ::testing::Values(
        TypeCase{"int32", arrow::int32(), "[1, 2, null]", "[4, 5]", "[5, 1, null, 1, 4]"},
        TypeCase{"int8", arrow::int8(), "[1, 2, 3]", "[4, 5]", "[5, 1, 3, 1, 4]"},
        TypeCase{"boolean", arrow::boolean(), "[true, false, null]", "[false, true]",
                 "[true, true, null, true, false]"},
        TypeCase{"utf8", arrow::utf8(), R"(["a", "b", null])", R"(["", "long"])",
                 R"(["long", "a", null, "a", ""])"},
        TypeCase{"binary3", arrow::fixed_size_binary(3), R"(["abc", "def", "ghi"])",
                 R"([null, "jkl"])", R"(["jkl", "abc", "ghi", "abc", null])"},
        TypeCase{"list", arrow::fixed_size_list(arrow::int16(), 2), "[[1, 2], [3, 4], null]",
                 "[[5, 6], [7, 8]]", "[[7, 8], [1, 2], null, [1, 2], [5, 6]]"},
        TypeCase{"list_of_null", arrow::fixed_size_list(arrow::int16(), 2),
                 "[[1, null], [3, 4], null]", "[[5, 6], [7, 8]]",
                 "[[7, 8], [1, null], null, [1, null], [5, 6]]"},
        TypeCase{"list_of_list",
                 arrow::fixed_size_list(arrow::fixed_size_list(arrow::int8(), 2), 2),
                 "[[[1, 2], [3, 4]], null, [[9, 9], [8, 8]]]", "[[[5, 6], [5, 6]], null]",
                 "[null, [[1, 2], [3, 4]], [[9, 9], [8, 8]], [[1, 2], [3, 4]], [[5, 6], [5, 6]]]"},
        TypeCase{"struct", arrow::struct_({arrow::field("a", arrow::int32())}),
                 R"([{"a": 1}, null, {"a": null}])", R"([{"a": 4}, {"a": 5}])",
                 R"([{"a": 5}, {"a": 1}, {"a": null}, {"a": 1}, {"a": 4}])"}),
    [](const auto& info) { return info.param.name; });

TEST(Gather, GivesTheOnlyPartItself) {
  const auto part = FromJson(arrow::int32(), "[1, 2, 3]");
  const std::vector<FetchedPlace> places = {{0, 0}, {0, 1}, {0, 2}};
  EXPECT_EQ(Gather({part}, places, arrow::default_memory_pool()).ValueOrDie(), part->data());
}

}  // namespace
}  // namespace pennon::read
