#include "pennon/base/bitmap.h"

#include <numeric>

#include <gtest/gtest.h>

namespace pennon {
namespace {

TEST(BitmapTest, RankCountsValuesBelow) {
  Bitmap b = Bitmap::Of(std::vector<uint32_t>{1, 3});
  EXPECT_EQ(b.RankBelow(0), 0u);
  EXPECT_EQ(b.RankBelow(1), 0u);
  EXPECT_EQ(b.RankBelow(2), 1u);
  EXPECT_EQ(b.RankBelow(3), 1u);
  EXPECT_EQ(b.RankBelow(4), 2u);
}

TEST(BitmapTest, RankAtContainerEdges) {
  Bitmap b = Bitmap::Of(std::vector<uint32_t>{65535, 65536, 131071, 131072, 4294967295u});
  EXPECT_EQ(b.RankBelow(65535), 0u);
  EXPECT_EQ(b.RankBelow(65536), 1u);
  EXPECT_EQ(b.RankBelow(131072), 3u);
  EXPECT_EQ(b.RankBelow(4294967295u), 4u);
}

TEST(BitmapTest, BytesAreThoseOfTheFormat) {
  Bitmap two = Bitmap::Of(std::vector<uint32_t>{0, 2});
  const char expected[] =
      "\x3a\x30\x00\x00\x01\x00\x00\x00\x00\x00\x01\x00\x10\x00\x00\x00\x00\x00\x02\x00";
  EXPECT_EQ(two.Serialize(), std::string(expected, sizeof expected - 1));
  const char run[] = "\x3b\x30\x00\x00\x01\x00\x00\x05\x00\x01\x00\x00\x00\x05\x00";
  EXPECT_EQ(Bitmap::OfRange(0, 6).Serialize(), std::string(run, sizeof run - 1));
  EXPECT_EQ(Bitmap().Serialize(), std::string("\x3a\x30\x00\x00\x00\x00\x00\x00", 8));
}

TEST(BitmapTest, RoundTripsEveryContainerKind) {
  std::vector<uint32_t> values;
  for (uint32_t i = 0; i < 20000; ++i) values.push_back(i * 3);         // bitset container
  for (uint32_t i = 0; i < 100; ++i) values.push_back(200000 + i * 7);  // array container
  for (uint32_t i = 0; i < 5000; ++i) values.push_back(400000 + i);     // run container
  Bitmap b = Bitmap::Of(values);
  Bitmap back = Bitmap::Parse(b.Serialize()).ValueOrDie();
  EXPECT_EQ(back, b);
  EXPECT_EQ(back.ToVector(), values);
  EXPECT_EQ(back.ToVector(200000, 400002).size(), 102u);
}

TEST(BitmapTest, RefusesBrokenBytes) {
  std::string good = Bitmap::Of(std::vector<uint32_t>{1, 5, 70000}).Serialize();
  for (size_t cut = 0; cut < good.size(); ++cut) {
    EXPECT_FALSE(Bitmap::Parse(good.substr(0, cut)).ok()) << cut;
  }
  EXPECT_FALSE(Bitmap::Parse(good + "x").ok());
  std::string unsorted = Bitmap::Of(std::vector<uint32_t>{1, 5}).Serialize();
  std::swap(unsorted[unsorted.size() - 4], unsorted[unsorted.size() - 2]);
  EXPECT_FALSE(Bitmap::Parse(unsorted).ok());
}

TEST(BitmapTest, TakesMembersAndTheirRanks) {
  Bitmap b = Bitmap::OfRange(10, 20);
  b |= Bitmap::Of(std::vector<uint32_t>{5, 70000, 70002, 4294967295u});
  std::vector<uint32_t> values = {4, 5, 15, 69999, 70000, 70001, 4294967295u};
  std::vector<uint32_t> taken = b.TakeMembers(&values);
  EXPECT_EQ(taken, (std::vector<uint32_t>{5, 15, 70000, 4294967295u}));
  EXPECT_EQ(values, (std::vector<uint32_t>{4, 69999, 70001}));
  std::vector<uint32_t> ranks = b.RanksOfMembers(taken);
  for (size_t i = 0; i < taken.size(); ++i) EXPECT_EQ(ranks[i], b.RankBelow(taken[i]));
}

TEST(BitmapTest, RunsAreMaximalAndClipped) {
  Bitmap b = Bitmap::OfRange(10, 3000);
  b |= Bitmap::Of(std::vector<uint32_t>{5, 5000, 4294967295u});
  EXPECT_EQ(b.Runs(0, uint64_t{1} << 32),
            (std::vector<BitmapRun>{{5, 1}, {10, 2990}, {5000, 1}, {4294967295u, 1}}));
  EXPECT_EQ(b.Runs(6, 20), (std::vector<BitmapRun>{{10, 10}}));
  EXPECT_TRUE(b.Runs(20, 20).empty());
}

TEST(BitmapTest, MovedFromSetIsEmptyAndUsable) {
  Bitmap a = Bitmap::OfRange(0, 3);
  Bitmap b = std::move(a);
  EXPECT_EQ(b.cardinality(), 3u);
  EXPECT_TRUE(a.empty());  // NOLINT(bugprone-use-after-move): the class promises it
  a.Add(7);
  EXPECT_TRUE(a.Contains(7));
}

}  // namespace
}  // namespace pennon
