#include "pennon/read/result_cache.h"

#include <algorithm>

#include <arrow/type.h>
#include <gtest/gtest.h>

namespace pennon::read {
namespace {

struct Stack {
  Stack() {
    field.id = 3;
    field.type = arrow::int32();
    for (uint32_t i = 0; i < 3; ++i) {
      bytes.push_back(Bitmap::Of(std::vector<uint32_t>{i, i + 1, 50 + i}).Serialize());
    }
    for (size_t i = 0; i < 3; ++i) {
      table::OverlayFile file;
      file.data_file.path = "o" + std::to_string(i) + ".lance";
      file.data_file.fields = {3};
      file.data_file.column_indices = {0};
      file.dense = true;
      file.coverage = {bytes[i]};
      file.committed_version = 2 + i;
      fragment.overlays.push_back(file);
    }
    fragment.physical_rows = 100;
  }
  Field field;
  table::Fragment fragment;
  std::vector<std::string> bytes;
};

TEST(ResultCache, WinnerMapIsBuiltOnce) {
  Stack stack;
  ResultCache cache(1 << 20);
  auto first = cache.Winners(stack.fragment, stack.field, 100).ValueOrDie();
  auto second = cache.Winners(stack.fragment, stack.field, 100).ValueOrDie();
  EXPECT_EQ(first, second);
  EXPECT_EQ(cache.counters().winner_maps_built, 1u);
  EXPECT_EQ(cache.counters().bitmaps_parsed, 3u);
}

TEST(ResultCache, AnotherFieldParsesNothing) {
  Stack stack;
  ResultCache cache(1 << 20);
  stack.field.id = 4;
  EXPECT_EQ(cache.Winners(stack.fragment, stack.field, 100).ValueOrDie(), nullptr);
  EXPECT_EQ(cache.counters().bitmaps_parsed, 0u);
}

TEST(ResultCache, RowsUseTheFullMapIfThereIsOne) {
  Stack stack;
  ResultCache cache(1 << 20);
  std::vector<uint32_t> rows = {2, 52};
  auto direct = cache.WinnersOf(stack.fragment, stack.field, 100, rows).ValueOrDie();
  EXPECT_EQ(cache.counters().bitmaps_parsed, 1u) << "the newest overlay decides both rows";
  ASSERT_EQ(direct->sources.size(), 1u);
  EXPECT_EQ(direct->sources[0].layer.overlay, 2u);
  ASSERT_TRUE(cache.Winners(stack.fragment, stack.field, 100).ok());
  uint64_t parsed = cache.counters().bitmaps_parsed;
  rows = {0, 1, 51};
  auto restricted = cache.WinnersOf(stack.fragment, stack.field, 100, rows).ValueOrDie();
  EXPECT_EQ(cache.counters().bitmaps_parsed, parsed);
  EXPECT_EQ(restricted->cells, 3u);
}

TEST(ResultCache, UncoveredRowsGiveNoWinners) {
  Stack stack;
  ResultCache cache(1 << 20);
  std::vector<uint32_t> rows = {20, 99};
  EXPECT_EQ(cache.WinnersOf(stack.fragment, stack.field, 100, rows).ValueOrDie(), nullptr);
}

TEST(ResultCache, ANewOverlayIsANewMap) {
  Stack stack;
  ResultCache cache(1 << 20);
  auto before = cache.Winners(stack.fragment, stack.field, 100).ValueOrDie();
  table::OverlayFile file = stack.fragment.overlays[0];
  file.data_file.path = "new.lance";
  file.committed_version = 9;
  stack.fragment.overlays.push_back(file);
  auto after = cache.Winners(stack.fragment, stack.field, 100).ValueOrDie();
  EXPECT_NE(before, after);
  EXPECT_EQ(after->sources[0].layer.overlay, 3u);
}

TEST(Deletions, LiveOffsetsSkipDeletedRows) {
  Deletions deletions;
  deletions.offsets = {0, 1, 4, 9};
  deletions.set = Bitmap::Of(deletions.offsets);
  std::vector<uint64_t> live;
  for (uint64_t i = 0; i < 12; ++i) {
    if (!deletions.set.Contains(static_cast<uint32_t>(i))) live.push_back(i);
  }
  for (uint64_t p = 0; p < live.size(); ++p) {
    EXPECT_EQ(deletions.LiveOffset(p), live[p]);
    EXPECT_EQ(deletions.LiveBelow(live[p]), p);
  }
}

}  // namespace
}  // namespace pennon::read
