#include "pennon/overlay/coverage.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "pennon/error.h"

namespace pennon::overlay {
namespace {

using ::testing::HasSubstr;

struct Case {
  Field field;
  table::Fragment fragment;
  std::vector<std::string> bytes;

  // Adds an overlay whose positions cover `offsets`, one list a field.
  void Add(std::vector<int32_t> fields, std::vector<int32_t> columns,
           std::vector<std::vector<uint32_t>> offsets, uint64_t version, bool dense) {
    bytes.reserve(64);
    table::OverlayFile file;
    file.data_file.path = "overlay.lance";
    file.data_file.fields = std::move(fields);
    file.data_file.column_indices = std::move(columns);
    file.dense = dense;
    file.committed_version = version;
    for (const auto& list : offsets) {
      bytes.push_back(Bitmap::Of(list).Serialize());
      file.coverage.push_back(bytes.back());
    }
    fragment.overlays.push_back(std::move(file));
  }
};

Case Users() {
  Case c;
  c.field.id = 3;
  c.field.name = "age";
  c.Add({3}, {0}, {{1, 3}}, 2, true);
  c.Add({2, 3, 4}, {0, 1, 2}, {{2, 3}, {7}, {1}}, 3, false);
  c.Add({2}, {0}, {{0}}, 4, true);
  return c;
}

ErrorKind KindOf(const arrow::Status& status) {
  const ErrorDetail* detail = GetErrorDetail(status);
  return detail == nullptr ? ErrorKind::kIo : detail->kind();
}

TEST(Coverage, LayersOfAFieldNewestFirst) {
  Case c = Users();
  std::vector<Layer> layers = LayersOf(c.fragment, c.field).ValueOrDie();
  ASSERT_EQ(layers.size(), 2u);
  EXPECT_EQ(layers[0].overlay, 1u);
  EXPECT_EQ(layers[0].position, 1u);
  EXPECT_EQ(layers[0].column, 1);
  EXPECT_EQ(layers[1].overlay, 0u);
}

TEST(Coverage, SparseTakesTheFieldsOwnBitmap) {
  Case c = Users();
  std::vector<Layer> layers = LayersOf(c.fragment, c.field).ValueOrDie();
  EXPECT_EQ(ParseCoverage(c.fragment, layers[0], 8).ValueOrDie().ToVector(),
            (std::vector<uint32_t>{7}));
  EXPECT_EQ(ParseCoverage(c.fragment, layers[1], 8).ValueOrDie().ToVector(),
            (std::vector<uint32_t>{1, 3}));
}

TEST(Coverage, TombstonesAndForeignFieldsAreNoLayer) {
  Case c;
  c.field.id = 3;
  c.Add({-2, 77}, {0, 1}, {{1}}, 2, true);
  EXPECT_TRUE(LayersOf(c.fragment, c.field).ValueOrDie().empty());
}

TEST(Coverage, OffsetBeyondTheFragmentIsCorrupt) {
  Case c = Users();
  std::vector<Layer> layers = LayersOf(c.fragment, c.field).ValueOrDie();
  arrow::Status status = ParseCoverage(c.fragment, layers[0], 7).status();
  EXPECT_EQ(KindOf(status), ErrorKind::kCorrupt);
  EXPECT_THAT(status.message(), HasSubstr("offset 7 of 7 rows"));
  EXPECT_THAT(status.message(), HasSubstr("overlay.lance"));
}

TEST(Coverage, BrokenBytesAreCorrupt) {
  Case c = Users();
  c.fragment.overlays[0].coverage = {std::string_view("\x3a\x30\0\0\xff\xff\0\0", 8)};
  std::vector<Layer> layers = LayersOf(c.fragment, c.field).ValueOrDie();
  EXPECT_EQ(KindOf(ParseCoverage(c.fragment, layers[1], 8).status()), ErrorKind::kCorrupt);
}

TEST(Coverage, MissingBitmapOrColumnIsCorrupt) {
  Case c = Users();
  c.fragment.overlays[1].coverage.pop_back();
  c.fragment.overlays[1].coverage.pop_back();
  std::vector<Layer> layers = LayersOf(c.fragment, c.field).ValueOrDie();
  EXPECT_EQ(KindOf(ParseCoverage(c.fragment, layers[0], 8).status()), ErrorKind::kCorrupt);
  c.fragment.overlays[0].data_file.column_indices = {-1};
  EXPECT_EQ(KindOf(LayersOf(c.fragment, c.field).status()), ErrorKind::kCorrupt);
}

TEST(Coverage, FieldListedTwiceIsCorrupt) {
  Case c;
  c.field.id = 3;
  c.Add({3, 3}, {0, 1}, {{1}}, 2, true);
  EXPECT_EQ(KindOf(LayersOf(c.fragment, c.field).status()), ErrorKind::kCorrupt);
}

}  // namespace
}  // namespace pennon::overlay
