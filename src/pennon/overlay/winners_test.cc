#include "pennon/overlay/winners.h"

#include <algorithm>
#include <map>
#include <random>
#include <set>

#include <gtest/gtest.h>

#include "pennon/overlay/oracle.h"

namespace pennon::overlay {
namespace {

// A fragment with one field, overlaid by the oracle's list; keeps the coverage bytes alive.
struct Stack {
  explicit Stack(const std::vector<OracleOverlay>& overlays) {
    field.id = 7;
    for (const OracleOverlay& overlay : overlays) {
      bytes.push_back(Bitmap::Of(overlay.offsets).Serialize());
    }
    for (size_t i = 0; i < overlays.size(); ++i) {
      table::OverlayFile file;
      file.data_file.fields = {7};
      file.data_file.column_indices = {0};
      file.dense = true;
      file.coverage = {bytes[i]};
      file.committed_version = overlays[i].committed_version;
      fragment.overlays.push_back(file);
    }
  }

  arrow::Result<WinnerMap> Find(Bitmap want, uint64_t min_skip = 1) {
    ARROW_ASSIGN_OR_RAISE(std::vector<Layer> layers, LayersOf(fragment, field));
    return FindWinners(std::move(want), layers, Parse(), min_skip);
  }
  arrow::Result<WinnerMap> FindAll(uint64_t rows, uint64_t min_skip) {
    ARROW_ASSIGN_OR_RAISE(std::vector<Layer> layers, LayersOf(fragment, field));
    return FindAllWinners(rows, layers, Parse(), min_skip);
  }
  arrow::Result<WinnerMap> FindRows(std::vector<uint32_t> want) {
    ARROW_ASSIGN_OR_RAISE(std::vector<Layer> layers, LayersOf(fragment, field));
    return FindWinners(std::move(want), layers, Parse());
  }
  CoverageProvider Parse() {
    return [this](const Layer& layer) -> arrow::Result<std::shared_ptr<const Bitmap>> {
      ++parsed;
      ARROW_ASSIGN_OR_RAISE(Bitmap bitmap, ParseCoverage(fragment, layer, 1 << 20));
      return std::make_shared<const Bitmap>(std::move(bitmap));
    };
  }

  Field field;
  table::Fragment fragment;
  std::vector<std::string> bytes;
  int parsed = 0;
};

// offset -> (overlay, rank), whatever the form of the sources.
std::map<uint32_t, OracleAnswer> Answers(const WinnerMap& map) {
  std::map<uint32_t, OracleAnswer> answers;
  for (const WinnerSource& source : map.sources) {
    for (const WinnerRun& run : source.runs) {
      for (uint32_t i = 0; i < run.count; ++i) {
        EXPECT_TRUE(answers.emplace(run.first + i, OracleAnswer{source.layer.overlay, run.rank + i})
                        .second);
      }
    }
    for (size_t i = 0; i < source.offsets.size(); ++i) {
      uint64_t rank = source.ranks.empty() ? i : source.ranks[i];
      EXPECT_TRUE(
          answers.emplace(source.offsets[i], OracleAnswer{source.layer.overlay, rank}).second);
    }
    EXPECT_EQ(source.AllOffsets().size(), source.cells);
  }
  return answers;
}

TEST(Winners, HigherVersionThenLaterPositionWins) {
  Stack stack({{5, {1, 2, 3}}, {6, {2, 3, 4}}, {6, {3, 9}}});
  WinnerMap map = stack.Find(Bitmap::OfRange(0, 10)).ValueOrDie();
  std::map<uint32_t, OracleAnswer> want = {
      {1, {0, 0}}, {2, {1, 0}}, {3, {2, 0}}, {4, {1, 2}}, {9, {2, 1}}};
  EXPECT_EQ(Answers(map), want);
  EXPECT_EQ(map.cells, 5u);
  EXPECT_EQ(map.overlaid.ToVector(), (std::vector<uint32_t>{1, 2, 3, 4, 9}));
  EXPECT_EQ(map.skippable, (std::vector<BitmapRun>{{1, 4}, {9, 1}}));
}

TEST(Winners, UnsortedListIsOrderedByVersion) {
  Stack stack({{9, {1}}, {4, {1, 2}}});
  WinnerMap map = stack.Find(Bitmap::OfRange(0, 3)).ValueOrDie();
  EXPECT_EQ(Answers(map), (std::map<uint32_t, OracleAnswer>{{1, {0, 0}}, {2, {1, 1}}}));
}

TEST(Winners, NoOverlayGivesAnEmptyMap) {
  Stack stack({});
  WinnerMap map = stack.Find(Bitmap::OfRange(0, 100)).ValueOrDie();
  EXPECT_TRUE(map.sources.empty());
  EXPECT_EQ(map.cells, 0u);
}

TEST(Winners, OlderCoveragesAreNotParsedOnceAllRowsAreDecided) {
  Stack stack({{1, {0, 1, 2}}, {2, {0, 1}}, {3, {1, 5}}});
  WinnerMap map = stack.Find(Bitmap::Of(std::vector<uint32_t>{1, 5})).ValueOrDie();
  EXPECT_EQ(stack.parsed, 1);
  EXPECT_EQ(Answers(map), (std::map<uint32_t, OracleAnswer>{{1, {2, 0}}, {5, {2, 1}}}));
}

TEST(Winners, ShortRunsAreNotSkippable) {
  Stack stack({{1, {0, 1, 2, 3, 10, 11, 20}}});
  WinnerMap map = stack.Find(Bitmap::OfRange(0, 30), 3).ValueOrDie();
  EXPECT_EQ(map.skippable, (std::vector<BitmapRun>{{0, 4}}));
}

// The three ways to the same answer: the full map, the map for some rows, and the oracle; and the
// restriction of the full map to those rows.
TEST(Winners, FullMapRowsAndOracleAgree) {
  std::mt19937 random(20240611);
  auto pick = [&](uint32_t n) { return std::uniform_int_distribution<uint32_t>(0, n - 1)(random); };
  for (int round = 0; round < 400; ++round) {
    uint32_t rows = 1 + pick(round % 4 == 0 ? 300 : 40);
    std::vector<OracleOverlay> overlays;
    for (uint32_t i = 0, n = pick(7); i < n; ++i) {
      std::set<uint32_t> offsets;
      if (pick(3) == 0) {  // a contiguous piece, so that sources take the run form
        uint32_t first = pick(rows);
        for (uint32_t o = first; o < std::min(rows, first + 1 + pick(rows)); ++o) offsets.insert(o);
      } else {
        for (uint32_t c = pick(rows + 1); c > 0; --c) offsets.insert(pick(rows));
      }
      overlays.push_back({1 + pick(4), {offsets.begin(), offsets.end()}});
    }
    Stack stack(overlays);
    WinnerMap set = stack.Find(Bitmap::OfRange(0, rows)).ValueOrDie();
    uint64_t min_skip = 1 + pick(5);
    WinnerMap full = stack.FindAll(rows, min_skip).ValueOrDie();
    ASSERT_EQ(Answers(set), Answers(full)) << "round " << round;
    ASSERT_EQ(stack.Find(Bitmap::OfRange(0, rows), min_skip)->skippable, full.skippable);
    std::map<uint32_t, OracleAnswer> oracle;
    for (uint32_t offset = 0; offset < rows; ++offset) {
      if (auto answer = ResolveCell(overlays, offset)) oracle[offset] = *answer;
    }
    ASSERT_EQ(Answers(full), oracle) << "round " << round;

    std::set<uint32_t> asked;
    for (uint32_t c = pick(rows + 1); c > 0; --c) asked.insert(pick(rows));
    std::vector<uint32_t> some(asked.begin(), asked.end());
    std::map<uint32_t, OracleAnswer> expected;
    for (uint32_t offset : some) {
      if (oracle.contains(offset)) expected[offset] = oracle[offset];
    }
    WinnerMap direct = stack.Find(Bitmap::Of(some)).ValueOrDie();
    ASSERT_EQ(Answers(direct), expected) << "round " << round;
    WinnerMap by_rows = stack.FindRows(some).ValueOrDie();
    ASSERT_EQ(Answers(by_rows), expected) << "round " << round;
    ASSERT_EQ(by_rows.overlaid, direct.overlaid);
    ASSERT_EQ(by_rows.skippable, direct.skippable);
    WinnerMap restricted = RestrictWinners(full, some);
    ASSERT_EQ(Answers(restricted), expected) << "round " << round;
    ASSERT_EQ(restricted.overlaid, direct.overlaid);
    ASSERT_EQ(restricted.skippable, direct.skippable);
  }
}

}  // namespace
}  // namespace pennon::overlay
