#include "pennon/table/row_lineage.h"

#include <gtest/gtest.h>

#include <numeric>
#include <random>

#include "pennon/error.h"

namespace pennon::table {
namespace {

using Ids = std::vector<uint64_t>;

std::string Bytes(std::initializer_list<int> bytes) { return {bytes.begin(), bytes.end()}; }

void ExpectCorrupt(const arrow::Status& status) {
  ASSERT_NE(GetErrorDetail(status), nullptr) << status.ToString();
  EXPECT_EQ(GetErrorDetail(status)->kind(), ErrorKind::kCorrupt) << status.ToString();
}

TEST(RowIds, ReadsEverySegmentKind) {
  // {range {start 5, end 8}}
  EXPECT_EQ(*DecodeRowIds(Bytes({10, 6, 10, 4, 8, 5, 16, 8}), 3), (Ids{5, 6, 7}));
  // {range_with_holes {start 0, end 5, holes {u16 {base 1, offsets [0, 2]}}}}
  EXPECT_EQ(
      *DecodeRowIds(Bytes({10, 16, 18, 14, 16, 5, 26, 10, 10, 8, 8, 1, 18, 4, 0, 0, 2, 0}), 3),
      (Ids{0, 2, 4}));
  // {range_with_bitmap {start 2, end 13, bitmap 21 04}}: least significant bit first
  EXPECT_EQ(*DecodeRowIds(Bytes({10, 10, 26, 8, 8, 2, 16, 13, 26, 2, 0x21, 0x04}), 3),
            (Ids{2, 7, 12}));
  // {sorted_array {u32 {base 7, offsets [1, 3]}}}
  EXPECT_EQ(*DecodeRowIds(Bytes({10, 16, 34, 14, 18, 12, 8, 7, 18, 8, 1, 0, 0, 0, 3, 0, 0, 0}), 2),
            (Ids{8, 10}));
  // {array {u64 {values [9, 4]}}}
  EXPECT_EQ(*DecodeRowIds(Bytes({10, 22, 42, 20, 26, 18, 18, 16, 9, 0, 0, 0,
                                 0,  0,  0,  0,  4,  0,  0,  0,  0, 0, 0, 0}),
                          2),
            (Ids{9, 4}));
}

TEST(RowIds, RefusesBrokenSegments) {
  ExpectCorrupt(DecodeRowIds(Bytes({10, 6, 10, 4, 8, 5, 16, 8}), 4).status());  // too few
  ExpectCorrupt(DecodeRowIds(Bytes({10, 6, 10, 4, 8, 5, 16, 8}), 2).status());  // too many
  ExpectCorrupt(
      DecodeRowIds(Bytes({10, 6, 10, 4, 8, 8, 16, 5}), 3).status());  // ends before it starts
  ExpectCorrupt(DecodeRowIds(Bytes({10, 0}), 0).status());            // no kind
  ExpectCorrupt(DecodeRowIds(Bytes({10, 9, 26, 7, 8, 2, 16, 13, 26, 1, 0x21}), 2)
                    .status());  // bitmap too short
  ExpectCorrupt(DecodeRowIds(Bytes({10, 10, 26, 8, 8, 2, 16, 13, 26, 2, 0x21, 0x0C}), 4)
                    .status());  // padding bit
  // {range {end 2^63}}: claims more than there is memory for
  ExpectCorrupt(
      DecodeRowIds(
          Bytes({10, 13, 10, 11, 16, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 1}), 50)
          .status());
  ExpectCorrupt(DecodeRowIds("random bytes", 50).status());
}

TEST(RowIds, RoundTripsAnyList) {
  std::mt19937_64 random(7);
  for (int round = 0; round < 300; ++round) {
    Ids ids;
    while (ids.size() < random() % 60) {
      const int kind = random() % 4;
      const uint64_t start = kind == 0 ? random() : random() % (kind == 1 ? 1000 : 1'000'000);
      for (uint64_t i = 0; i < random() % 20; ++i) ids.push_back(start + i);
    }
    const auto read = DecodeRowIds(EncodeRowIds(ids), ids.size());
    ASSERT_TRUE(read.ok()) << read.status().ToString();
    ASSERT_EQ(*read, ids);
  }
  const Ids extreme = {UINT64_MAX - 1, UINT64_MAX, 0, 1};
  EXPECT_EQ(*DecodeRowIds(EncodeRowIds(extreme), 4), extreme);
  Ids run(100000);
  std::iota(run.begin(), run.end(), 1234);
  EXPECT_LT(EncodeRowIds(run).size(), 16u);
}

TEST(RowVersions, CountsSpansAndFillsTheTail) {
  // {span {range_with_bitmap {end 4, bitmap 09}}, version 3}: a span only says how many
  const std::string bytes = Bytes({10, 11, 10, 7, 26, 5, 16, 4, 26, 1, 9, 16, 3});
  EXPECT_EQ(*DecodeRowVersions(bytes, 2), (Ids{3, 3}));
  EXPECT_EQ(*DecodeRowVersions(bytes, 4), (Ids{3, 3, 1, 1}));
  EXPECT_EQ(*DecodeRowVersions("", 2), (Ids{1, 1}));
  ExpectCorrupt(DecodeRowVersions(bytes, 1).status());
}

TEST(RowVersions, StampsCoveredRows) {
  const std::vector<uint32_t> offsets = {0, 3, 4};
  const auto stamped = StampRowVersions("", 6, Bitmap::Of(offsets), 9);
  ASSERT_TRUE(stamped.ok());
  EXPECT_EQ(*DecodeRowVersions(*stamped, 6), (Ids{9, 1, 1, 9, 9, 1}));
  const std::vector<uint32_t> more = {1};
  const auto again = StampRowVersions(*stamped, 6, Bitmap::Of(more), 10);
  EXPECT_EQ(*DecodeRowVersions(*again, 6), (Ids{9, 10, 1, 9, 9, 1}));
  EXPECT_EQ(GetErrorDetail(StampRowVersions("", 4, Bitmap::Of(offsets), 9).status())->kind(),
            ErrorKind::kInvalidInput);
}

TEST(RowLineage, SurvivesMutation) {
  const Ids ids = {5, 6, 7, 8, 9, 10, 11, 12, 13, 3, 2, 900, 70000};
  const std::string sound = EncodeRowIds(ids);
  for (size_t at = 0; at < sound.size(); ++at) {
    ExpectCorrupt(DecodeRowIds(sound.substr(0, at), ids.size()).status());
    for (int bit = 0; bit < 8; ++bit) {
      std::string broken = sound;
      broken[at] = static_cast<char>(broken[at] ^ (1 << bit));
      const auto read = DecodeRowIds(broken, ids.size());
      EXPECT_TRUE(!read.ok() || read->size() == ids.size());
      (void)DecodeRowVersions(broken, ids.size());
    }
  }
}

}  // namespace
}  // namespace pennon::table
