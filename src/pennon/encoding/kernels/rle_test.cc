#include "pennon/encoding/kernels/rle.h"

#include <cstring>
#include <vector>

#include <gtest/gtest.h>

namespace pennon::encoding {
namespace {

std::vector<uint8_t> Words(const std::vector<uint32_t>& values) {
  std::vector<uint8_t> bytes(values.size() * 4);
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

// 3 x 7, 300 x 9, 7, 255 x 0.
std::vector<uint8_t> Sample() {
  std::vector<uint32_t> values(3, 7);
  values.insert(values.end(), 300, 9);
  values.push_back(7);
  values.insert(values.end(), 255, 0);
  return Words(values);
}

TEST(RleTest, MiniBlockEqualsTheReferenceAndComesBack) {
  std::vector<uint8_t> values;
  std::vector<uint8_t> lengths;
  ASSERT_TRUE(EncodeRleMiniBlock(Sample(), 32, &values, &lengths).ok());
  EXPECT_EQ(values, Words({7, 9, 9, 7, 0}));
  EXPECT_EQ(lengths, (std::vector<uint8_t>{3, 255, 45, 1, 255}));
  EXPECT_EQ(CountRuns(Sample(), 32), 5);
  std::vector<uint8_t> out(Sample().size());
  ASSERT_TRUE(DecodeRleMiniBlock(values, lengths, 32, 559, out).ok());
  EXPECT_EQ(out, Sample());
}

TEST(RleTest, EveryWidthComesBack) {
  const std::vector<uint8_t> bytes = {1, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0,
                                      0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 9};
  for (int bits : {8, 16, 32, 64}) {
    std::vector<uint8_t> block;
    ASSERT_TRUE(EncodeRleBlock(bytes, bits, &block).ok());
    std::vector<uint8_t> out(bytes.size());
    ASSERT_TRUE(
        DecodeRleBlock(block, bits, static_cast<int64_t>(bytes.size()) * 8 / bits, out).ok());
    EXPECT_EQ(out, bytes) << bits;
  }
}

TEST(RleTest, MiniBlockCutsExcessButNotLack) {
  std::vector<uint8_t> out(4);
  const std::vector<uint8_t> values = {1, 2};
  const std::vector<uint8_t> lengths = {3, 9};
  ASSERT_TRUE(DecodeRleMiniBlock(values, lengths, 8, 4, out).ok());
  EXPECT_EQ(out, (std::vector<uint8_t>{1, 1, 1, 2}));
  std::vector<uint8_t> more(13);
  EXPECT_TRUE(DecodeRleMiniBlock(values, lengths, 8, 13, more).IsIOError());
}

TEST(RleTest, BlockMustBeExact) {
  const std::vector<uint8_t> block = {2, 0, 0, 0, 0, 0, 0, 0, 5, 6, 2, 3};
  std::vector<uint8_t> out(5);
  ASSERT_TRUE(DecodeRleBlock(block, 8, 5, out).ok());
  EXPECT_EQ(out, (std::vector<uint8_t>{5, 5, 6, 6, 6}));
  EXPECT_TRUE(DecodeRleBlock(block, 8, 4, std::span(out).first(4)).IsIOError());
  out.resize(6);
  EXPECT_TRUE(DecodeRleBlock(block, 8, 6, out).IsIOError());
}

TEST(RleTest, RefusesHostileBytes) {
  std::vector<uint8_t> out(5);
  const std::vector<uint8_t> huge = {0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 5, 5};
  EXPECT_TRUE(DecodeRleBlock(huge, 8, 5, out).IsIOError());
  EXPECT_TRUE(DecodeRleBlock(std::span(huge).first(7), 8, 5, out).IsIOError());
  const std::vector<uint8_t> two = {1, 2};
  const std::vector<uint8_t> zero_run = {0, 5};
  EXPECT_TRUE(DecodeRleMiniBlock(two, zero_run, 8, 5, out).IsIOError());
  EXPECT_TRUE(DecodeRleMiniBlock(two, std::span(two).first(1), 8, 5, out).IsIOError());
  EXPECT_TRUE(DecodeRleMiniBlock(two, two, 24, 5, out).IsIOError());
}

}  // namespace
}  // namespace pennon::encoding
