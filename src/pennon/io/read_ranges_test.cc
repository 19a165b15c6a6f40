#include "pennon/io/read_ranges.h"

#include <algorithm>
#include <cstring>
#include <string>

#include <gtest/gtest.h>

#include "pennon/error.h"

namespace pennon::io {
namespace {

/// A file whose byte i is i * 7 mod 251; remembers its requests.
class PatternFile : public ReadableFile {
 public:
  explicit PatternFile(uint64_t size) : size_(size) {}
  const std::string& path() const override { return path_; }
  uint64_t size() const override { return size_; }
  arrow::Status ReadAt(uint64_t offset, std::span<uint8_t> out) const override {
    requests.emplace_back(offset, out.size());
    for (size_t i = 0; i < out.size(); ++i) out[i] = At(offset + i);
    return arrow::Status::OK();
  }
  void WillRead(std::span<const ByteRange> ranges) const override {
    for (const ByteRange& range : ranges) announced.emplace_back(range.offset, range.size);
  }
  static uint8_t At(uint64_t i) { return static_cast<uint8_t>(i * 7 % 251); }

  mutable std::vector<std::pair<uint64_t, uint64_t>> requests;
  mutable std::vector<std::pair<uint64_t, uint64_t>> announced;

 private:
  std::string path_ = "pattern";
  uint64_t size_;
};

using Requests = std::vector<std::pair<uint64_t, uint64_t>>;

arrow::Result<RangeBuffers> Fetch(const PatternFile& file, std::vector<RangeRead>& reads,
                                  const CoalesceOptions& options = {}) {
  std::vector<RangeRead*> pointers;
  for (RangeRead& read : reads) pointers.push_back(&read);
  return ReadRanges(file, pointers, arrow::default_memory_pool(), options);
}

void ExpectFilled(const std::vector<RangeRead>& reads) {
  for (const RangeRead& read : reads) {
    ASSERT_NE(read.data, nullptr);
    for (uint64_t i = 0; i < read.size; ++i)
      ASSERT_EQ(read.data[i], PatternFile::At(read.offset + i));
  }
}

TEST(ReadRanges, JoinsAcrossSmallHolesOnly) {
  PatternFile file(100000);
  std::vector<RangeRead> reads = {{.offset = 50000, .size = 10},
                                  {.offset = 0, .size = 100},
                                  {.offset = 150, .size = 50},
                                  {.offset = 201, .size = 9}};
  auto buffers = Fetch(file, reads, {.hole = 50});
  ASSERT_TRUE(buffers.ok());
  EXPECT_EQ(file.requests, (Requests{{0, 210}, {50000, 10}}));
  ExpectFilled(reads);
}

TEST(ReadRanges, HoleOfExactlyTheLimitIsJoined) {
  PatternFile file(1000);
  std::vector<RangeRead> reads = {
      {.offset = 0, .size = 10}, {.offset = 20, .size = 10}, {.offset = 41, .size = 1}};
  auto buffers = Fetch(file, reads, {.hole = 10});
  ASSERT_TRUE(buffers.ok());
  EXPECT_EQ(file.requests, (Requests{{0, 30}, {41, 1}}));
}

TEST(ReadRanges, PlacedReadsThatGoOnInTheFileAreOneRequest) {
  PatternFile file(1000);
  std::vector<uint8_t> words(3), values(30);
  std::vector<RangeRead> reads;
  for (uint64_t i = 0; i < 3; ++i) {
    // Values go to memory in the opposite order.
    reads.push_back({.offset = 100 + 11 * i, .size = 1, .into = words.data() + i});
    reads.push_back({.offset = 101 + 11 * i, .size = 10, .into = values.data() + 20 - 10 * i});
  }
  reads.push_back({.offset = 134, .size = 1, .into = words.data()});
  auto buffers = Fetch(file, reads);
  ASSERT_TRUE(buffers.ok());
  EXPECT_TRUE(buffers->empty());
  EXPECT_EQ(file.requests, (Requests{{100, 33}, {134, 1}}));
  reads.erase(reads.begin());  // its place was read over by the last
  ExpectFilled(reads);
}

TEST(ReadRanges, AnnouncesManyReadsBeforeTheFirst) {
  PatternFile file(1000000);
  std::vector<RangeRead> reads;
  Requests expected;
  for (uint64_t i = 0; i < 20; ++i) {
    reads.push_back({.offset = i * 20000, .size = 10});
    reads.push_back({.offset = i * 20000 + 50, .size = 10});
    expected.emplace_back(i * 20000, 60);
  }
  ASSERT_TRUE(Fetch(file, reads).ok());
  EXPECT_EQ(file.announced, expected);
  EXPECT_EQ(file.requests, expected);
  // A few are simply read.
  PatternFile other(1000000);
  reads.resize(8);
  ASSERT_TRUE(Fetch(other, reads).ok());
  EXPECT_TRUE(other.announced.empty());
}

TEST(ReadRanges, OverlapsAndEmptyReads) {
  PatternFile file(1000);
  std::vector<RangeRead> reads = {{.offset = 100, .size = 100},
                                  {.offset = 120, .size = 10},
                                  {.offset = 150, .size = 100},
                                  {.offset = 1000, .size = 0}};
  auto buffers = Fetch(file, reads, {.hole = 0});
  ASSERT_TRUE(buffers.ok());
  EXPECT_EQ(file.requests, (Requests{{100, 150}}));
  ExpectFilled(reads);
}

TEST(ReadRanges, LongRequestsAreCut) {
  PatternFile file(1000);
  std::vector<RangeRead> reads = {{.offset = 0, .size = 250}};
  auto buffers = Fetch(file, reads, {.hole = 0, .max_request = 100});
  ASSERT_TRUE(buffers.ok());
  EXPECT_EQ(file.requests, (Requests{{0, 100}, {100, 100}, {200, 50}}));
  ExpectFilled(reads);
}

TEST(ReadRanges, PlacedReadsJoinWhenTheFileGoesOn) {
  PatternFile file(1000);
  std::vector<uint8_t> memory(300);
  std::vector<RangeRead> reads = {{.offset = 0, .size = 100, .into = memory.data()},
                                  {.offset = 100, .size = 100, .into = memory.data() + 100},
                                  {.offset = 200, .size = 50, .into = memory.data() + 250}};
  auto buffers = Fetch(file, reads);
  ASSERT_TRUE(buffers.ok());
  EXPECT_EQ(file.requests, (Requests{{0, 250}}));
  EXPECT_EQ(reads[2].data, memory.data() + 250);
  ExpectFilled(reads);
}

TEST(ReadRanges, RangeOutsideTheFileIsAnErrorAndReadsNothing) {
  PatternFile file(1000);
  for (const RangeRead bad :
       {RangeRead{.offset = 990, .size = 11}, RangeRead{.offset = 1001, .size = 0},
        RangeRead{.offset = 10, .size = ~uint64_t{0}}}) {
    std::vector<RangeRead> reads = {{.offset = 0, .size = 10}, bad};
    auto buffers = Fetch(file, reads);
    ASSERT_FALSE(buffers.ok());
    EXPECT_EQ(GetErrorDetail(buffers.status())->kind(), ErrorKind::kCorrupt);
    EXPECT_TRUE(file.requests.empty());
  }
}

}  // namespace
}  // namespace pennon::io
