#include "pennon/overlay/coverage.h"

#include <arrow/type.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "pennon/error.h"
#include "pennon/schema/field_tree.h"
#include "pennon/schema/prune.h"

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
    file.data_file.major_version = 2;
    file.data_file.minor_version = 1;
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

// s (id 1) {a (2), l (3) [item (4)]}
Field Struct() {
  auto list = arrow::list(arrow::field("item", arrow::int32()));
  auto type = arrow::struct_({arrow::field("a", arrow::int32()), arrow::field("l", list)});
  return schema::FromArrow(*arrow::schema({arrow::field("s", type)}), 1).ValueOrDie().fields[0];
}

std::vector<size_t> OverlaysOf(const Case& c, const Field& field) {
  std::vector<size_t> overlays;
  for (const Layer& layer : LayersOf(c.fragment, field).ValueOrDie()) {
    overlays.push_back(layer.overlay);
  }
  return overlays;
}

TEST(Coverage, AStructIsDecidedByOverlaysThatHoldAllOfIt) {
  Case c;
  Field s = Struct();
  c.Add({2}, {0}, {{1}}, 2, true);
  c.Add({4, 2}, {0, 1}, {{1}}, 3, true);
  c.Add({2, 4}, {0, 1}, {{1, 2}, {1, 2}}, 4, false);
  c.Add({2, 4}, {0, 1}, {{1}, {1, 2}}, 5, false);
  c.Add({4}, {0}, {{7}}, 6, true);
  EXPECT_EQ(OverlaysOf(c, s), (std::vector<size_t>{2, 1}));
  EXPECT_EQ(OverlaysOf(c, s.children[0]), (std::vector<size_t>{3, 2, 1, 0}));
  EXPECT_EQ(OverlaysOf(c, s.children[1]), (std::vector<size_t>{4, 3, 2, 1}));
  EXPECT_FALSE(ResolvesWhole(c.fragment, s, s).ValueOrDie());
  c.fragment.overlays.erase(c.fragment.overlays.begin() + 3, c.fragment.overlays.end());
  c.fragment.overlays.erase(c.fragment.overlays.begin());
  EXPECT_TRUE(ResolvesWhole(c.fragment, s, s).ValueOrDie());
  // A projection to one field asks after the overlays of the whole struct.
  c.Add({4}, {0}, {{7}}, 6, true);
  const int32_t a[] = {2};
  const int32_t l[] = {3};
  EXPECT_TRUE(ResolvesWhole(c.fragment, s, schema::Prune(s, a)).ValueOrDie());
  EXPECT_FALSE(ResolvesWhole(c.fragment, s, schema::Prune(s, l)).ValueOrDie());
}

TEST(Coverage, StructsAndListsOwnColumnsIn2_0) {
  Case c;
  Field s = Struct();
  c.Add({1, 3, 4}, {0, 1, 2}, {{1}}, 2, true);
  c.fragment.overlays[0].data_file.major_version = 0;
  c.fragment.overlays[0].data_file.minor_version = 3;
  EXPECT_EQ(OverlaysOf(c, s), std::vector<size_t>{});
  EXPECT_EQ(OverlaysOf(c, s.children[0]), std::vector<size_t>{});
  std::vector<Layer> layers = LayersOf(c.fragment, s.children[1]).ValueOrDie();
  ASSERT_EQ(layers.size(), 1u);
  EXPECT_EQ(layers[0].position, 1u);
  // Later versions list a list by the fields below it.
  c.fragment.overlays[0].data_file.major_version = 2;
  c.fragment.overlays[0].data_file.minor_version = 1;
  layers = LayersOf(c.fragment, s.children[1]).ValueOrDie();
  ASSERT_EQ(layers.size(), 1u);
  EXPECT_EQ(layers[0].position, 2u);
}

TEST(Coverage, OneValueHasOneCoverage) {
  auto item = arrow::struct_({arrow::field("x", arrow::int8()), arrow::field("y", arrow::int8())});
  Field l = schema::FromArrow(*arrow::schema({arrow::field("l", arrow::list(item))}))
                .ValueOrDie()
                .fields[0];
  Case c;
  c.Add({2, 3}, {0, 1}, {{1, 5}, {1, 5}}, 2, false);
  EXPECT_EQ(OverlaysOf(c, l), std::vector<size_t>{0});
  c.Add({2, 3}, {0, 1}, {{1, 5}, {1, 6}}, 3, false);
  EXPECT_EQ(KindOf(LayersOf(c.fragment, l).status()), ErrorKind::kCorrupt);
}

}  // namespace
}  // namespace pennon::overlay
