#include "pennon/overlay/take_pieces.h"

#include <numeric>

#include <arrow/array.h>
#include <arrow/builder.h>
#include <arrow/compute/initialize.h>
#include <arrow/json/from_string.h>
#include <arrow/type.h>
#include <gtest/gtest.h>

#include "pennon/error.h"

namespace pennon::overlay {
namespace {

std::shared_ptr<arrow::Array> FromJson(const std::shared_ptr<arrow::DataType>& type,
                                       std::string_view json) {
  return arrow::json::ArrayFromJSONString(type, json).ValueOrDie();
}

class TakePiecesTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { ASSERT_TRUE(arrow::compute::Initialize().ok()); }

  // Puts values of `plain`, from the second on, at slots 4 and 0 .. by offsets, and of `run` at
  // slots 1 and 2.
  void Check(const std::shared_ptr<arrow::DataType>& type, std::string_view base,
             std::string_view plain, std::string_view run, std::string_view expected) {
    auto plain_values = FromJson(type, plain);
    auto run_values = FromJson(type, run);
    std::vector<uint32_t> offsets = {10, 14};
    SlotList at_offsets{{}, offsets, 10};
    SlotList at_run{{{1, 2, 0}}, {}, 0};
    std::vector<Piece> pieces = {{plain_values->data().get(), 1, &at_offsets},
                                 {run_values->data().get(), 0, &at_run}};
    auto column = FromJson(type, base)->data()->Copy();
    arrow::Status status = TakePieces(pieces, &column, arrow::default_memory_pool());
    ASSERT_TRUE(status.ok()) << status.ToString();
    auto got = arrow::MakeArray(column);
    ASSERT_TRUE(got->ValidateFull().ok()) << got->ValidateFull().ToString();
    EXPECT_TRUE(got->Equals(FromJson(type, expected))) << got->ToString();
  }
};

TEST_F(TakePiecesTest, Lists) {
  Check(arrow::list(arrow::int32()), "[[1, 2], null, [], [3], [4, null]]",
        "[[99], null, [5, 6, 7]]", "[[], [8]]", "[null, [], [8], [3], [5, 6, 7]]");
  Check(arrow::large_list(arrow::utf8()), R"([["a"], ["b"], null, ["c", "d"], []])",
        R"([[], ["x", null], null])", R"([["long text"], []])",
        R"([["x", null], ["long text"], [], ["c", "d"], null])");
}

TEST_F(TakePiecesTest, MapsAndListsOfStructs) {
  Check(arrow::map(arrow::utf8(), arrow::int32()),
        R"([[["a", 1]], null, [], [["b", 2], ["c", null]], [["d", 4]]])",
        R"([[], [["e", 5]], null])", R"([null, [["f", 6], ["g", 7]]])",
        R"([[["e", 5]], null, [["f", 6], ["g", 7]], [["b", 2], ["c", null]], null])");
  auto item = arrow::struct_({arrow::field("x", arrow::int8()), arrow::field("y", arrow::utf8())});
  Check(arrow::list(item), R"([[{"x": 1, "y": "a"}], null, [], [null], []])",
        R"([null, [{"x": 2, "y": null}], [null, {"x": null, "y": "z"}]])",
        R"([[{"x": 3, "y": "q"}], null])",
        R"([[{"x": 2, "y": null}], [{"x": 3, "y": "q"}], null, [null],
            [null, {"x": null, "y": "z"}]])");
  Check(arrow::fixed_size_list(item, 1),
        R"([[{"x": 1, "y": "a"}], [null], [null], [{"x": 7, "y": "k"}], null])",
        R"([null, [{"x": 2, "y": null}], [{"x": null, "y": "z"}]])",
        R"([[{"x": 3, "y": "q"}], null])",
        R"([[{"x": 2, "y": null}], [{"x": 3, "y": "q"}], null, [{"x": 7, "y": "k"}],
            [{"x": null, "y": "z"}]])");
}

TEST_F(TakePiecesTest, DictionariesOfDifferentValues) {
  auto type = arrow::dictionary(arrow::int8(), arrow::utf8());
  auto values = [&](std::string_view indices, std::string_view words) {
    return arrow::DictionaryArray::FromArrays(type, FromJson(arrow::int8(), indices),
                                              FromJson(arrow::utf8(), words))
        .ValueOrDie();
  };
  auto source = values("[1, 0, null]", R"(["green", "blue"])");
  std::vector<uint32_t> offsets = {0, 2, 3};
  SlotList slots{{}, offsets, 0};
  Piece piece{source->data().get(), 0, &slots};
  auto column = values("[0, 1, 1, 0]", R"(["red", "blue"])")->data()->Copy();
  arrow::Status status = TakePieces({&piece, 1}, &column, arrow::default_memory_pool());
  ASSERT_TRUE(status.ok()) << status.ToString();
  ASSERT_TRUE(column->type->Equals(*type));
  auto got = arrow::MakeArray(column);
  ASSERT_TRUE(got->ValidateFull().ok()) << got->ValidateFull().ToString();
  const char* expected[] = {"blue", "blue", "green", nullptr};
  for (int64_t i = 0; i < 4; ++i) {
    auto scalar = got->GetScalar(i).ValueOrDie();
    ASSERT_EQ(scalar->is_valid, expected[i] != nullptr);
    if (expected[i] != nullptr) {
      EXPECT_EQ(static_cast<const arrow::DictionaryScalar&>(*scalar)
                    .GetEncodedValue()
                    .ValueOrDie()
                    ->ToString(),
                expected[i]);
    }
  }
}

// 100 base words and 100 others do not fit an int8, unless most of them are gone from the result.
TEST_F(TakePiecesTest, DictionariesThatOnlyFitWithoutUnusedValues) {
  auto type = arrow::dictionary(arrow::int8(), arrow::utf8());
  auto words = [&](char prefix) {
    arrow::StringBuilder builder;
    for (int i = 0; i < 100; ++i) EXPECT_TRUE(builder.Append(prefix + std::to_string(i)).ok());
    return builder.Finish().ValueOrDie();
  };
  arrow::Int8Builder indices;
  for (int8_t i = 0; i < 100; ++i) ASSERT_TRUE(indices.Append(i).ok());
  auto all = indices.Finish().ValueOrDie();
  auto source = arrow::DictionaryArray::FromArrays(type, all, words('b')).ValueOrDie();
  auto merge = [&](size_t overlaid) {
    std::vector<uint32_t> offsets(overlaid);
    std::iota(offsets.begin(), offsets.end(), 0);
    SlotList slots{{}, offsets, 0};
    Piece piece{source->data().get(), 0, &slots};
    auto column =
        arrow::DictionaryArray::FromArrays(type, all, words('a')).ValueOrDie()->data()->Copy();
    arrow::Status status = TakePieces({&piece, 1}, &column, arrow::default_memory_pool());
    if (status.ok()) {
      auto got = arrow::MakeArray(column);
      EXPECT_TRUE(got->ValidateFull().ok());
      EXPECT_EQ(got->GetScalar(0).ValueOrDie()->ToString().find("b0") != std::string::npos, true);
    }
    return status;
  };
  EXPECT_TRUE(merge(100).ok()) << merge(100).ToString();
}

}  // namespace
}  // namespace pennon::overlay
