#include "pennon/read/result_cache.h"

#include <algorithm>
#include <atomic>
#include <thread>

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

TEST(ResultCache, ValuesBelongToTheirMap) {
  Stack stack;
  ResultCache cache(1 << 20);
  auto map = cache.Winners(stack.fragment, stack.field, 100).ValueOrDie();
  EXPECT_EQ(cache.Values(map), nullptr);
  auto values = std::make_shared<const overlay::LoadedSources>(3);
  cache.KeepValues(map, values, 100);
  EXPECT_EQ(cache.Values(map), values);
  // The map of other overlays has other values.
  stack.fragment.overlays.pop_back();
  auto other = cache.Winners(stack.fragment, stack.field, 100).ValueOrDie();
  EXPECT_NE(other, map);
  EXPECT_EQ(cache.Values(other), nullptr);
  cache.KeepValues(other, values, 2 << 20);  // more than the cache may hold
  EXPECT_EQ(cache.Values(other), nullptr);
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

TEST(ResultCache, ThreadsShareMaps) {
  Stack stack;
  const std::vector<uint32_t> rows = {0, 2, 52, 99};
  for (const uint64_t bytes : {uint64_t{1} << 20, uint64_t{1}}) {  // 1: nothing stays for long
    ResultCache cache(bytes);
    std::atomic<int> wrong{0};
    std::vector<std::thread> threads;
    for (uint64_t t = 0; t < 4; ++t) {
      threads.emplace_back([&, t] {
        for (uint64_t round = 0; round < 200; ++round) {
          const uint64_t overlays = 1 + (t + round) % 3;
          table::Fragment fragment = stack.fragment;
          fragment.overlays.resize(overlays);
          const auto map = cache.Winners(fragment, stack.field, 100);
          const auto some = cache.WinnersOf(fragment, stack.field, 100, rows);
          const bool right = map.ok() && some.ok() && (*map)->sources.size() == overlays &&
                             (*map)->cells == 1 + 2 * overlays;
          if (!right) ++wrong;
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(wrong, 0);
    // Threads that miss at the same moment may each build it.
    if (bytes > 1) {
      EXPECT_LE(cache.counters().winner_maps_built, 3u * 4u);
    }
  }
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
