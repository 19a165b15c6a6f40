#include "pennon/encoding/kernels/variable.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace pennon::encoding {
namespace {

const std::string kBytes = "xxabcde";
const std::vector<int32_t> kOffsets = {2, 4, 4, 7};  // "ab" "" "cde"

std::vector<std::string> Strings(const VariableView& view) {
  std::vector<std::string> all;
  for (int64_t i = 0; i < view.num_values; ++i) {
    all.emplace_back(view.value(i).begin(), view.value(i).end());
  }
  return all;
}

const uint8_t* Bytes() { return reinterpret_cast<const uint8_t*>(kBytes.data()); }

TEST(VariableTest, MiniBlockHasTheLayoutOfTheFormat) {
  std::vector<uint8_t> out;
  ASSERT_TRUE(EncodeVariableMiniBlock(kOffsets.data(), Bytes(), 3, 32, &out).ok());
  EXPECT_EQ(out, (std::vector<uint8_t>{16, 0, 0, 0, 18,  0,   0,   0,   18,  0,  0,  0,
                                       21, 0, 0, 0, 'a', 'b', 'c', 'd', 'e', 72, 72, 72}));
  auto view = ViewVariableMiniBlock(out, 32, 3);
  ASSERT_TRUE(view.ok()) << view.status();
  EXPECT_EQ(Strings(*view), (std::vector<std::string>{"ab", "", "cde"}));
}

TEST(VariableTest, BlockHasTheLayoutOfTheFormat) {
  std::vector<uint8_t> out;
  ASSERT_TRUE(EncodeVariableBlock(kOffsets.data(), Bytes(), 3, 32, &out).ok());
  EXPECT_EQ(out, (std::vector<uint8_t>{32, 0, 0, 0, 24, 0, 0, 0, 0, 0,   0,   0,   2,   0,  0,
                                       0,  2, 0, 0, 0,  5, 0, 0, 0, 'a', 'b', 'c', 'd', 'e'}));
  auto view = ViewVariableBlock(out, 32, 3);
  ASSERT_TRUE(view.ok()) << view.status();
  EXPECT_EQ(Strings(*view), (std::vector<std::string>{"ab", "", "cde"}));
}

TEST(VariableTest, WideOffsetsComeBack) {
  const std::vector<int64_t> wide(kOffsets.begin(), kOffsets.end());
  std::vector<uint8_t> mini;
  std::vector<uint8_t> block;
  ASSERT_TRUE(EncodeVariableMiniBlock(wide.data(), Bytes(), 3, 64, &mini).ok());
  ASSERT_TRUE(EncodeVariableBlock(wide.data(), Bytes(), 3, 64, &block).ok());
  EXPECT_EQ(mini.size() % 8, 0u);
  EXPECT_EQ(block[0], 64);
  EXPECT_EQ(block[8], 48);
  EXPECT_EQ(Strings(*ViewVariableMiniBlock(mini, 64, 3)),
            (std::vector<std::string>{"ab", "", "cde"}));
  EXPECT_EQ(Strings(*ViewVariableBlock(block, 64, 3)), (std::vector<std::string>{"ab", "", "cde"}));
}

TEST(VariableTest, NoValuesIsOneOffset) {
  const int32_t zero = 0;
  std::vector<uint8_t> out;
  ASSERT_TRUE(EncodeVariableMiniBlock(&zero, nullptr, 0, 32, &out).ok());
  EXPECT_EQ(out, (std::vector<uint8_t>{4, 0, 0, 0}));
  EXPECT_TRUE(ViewVariableMiniBlock(out, 32, 0).ok());
}

TEST(VariableTest, CopiesOffsetsOfAnyRun) {
  std::vector<uint8_t> out;
  ASSERT_TRUE(EncodeVariableMiniBlock(kOffsets.data(), Bytes(), 3, 32, &out).ok());
  const VariableView view = *ViewVariableMiniBlock(out, 32, 3);
  std::vector<int32_t> offsets(3);
  ASSERT_TRUE(view.CopyOffsets<int32_t>(1, 2, 100, offsets.data()).ok());
  EXPECT_EQ(offsets, (std::vector<int32_t>{100, 100, 103}));
  std::vector<int64_t> wide(4);
  ASSERT_TRUE(view.CopyOffsets<int64_t>(0, 3, int64_t{1} << 40, wide.data()).ok());
  EXPECT_EQ(wide[3], (int64_t{1} << 40) + 5);
  EXPECT_TRUE(view.CopyOffsets<int32_t>(0, 3, INT32_MAX - 4, offsets.data()).IsIOError());
}

TEST(VariableTest, RefusesHostileBytes) {
  std::vector<uint8_t> good;
  ASSERT_TRUE(EncodeVariableMiniBlock(kOffsets.data(), Bytes(), 3, 32, &good).ok());
  const auto broken = [&](size_t at, uint8_t value) {
    std::vector<uint8_t> bytes = good;
    bytes[at] = value;
    return ViewVariableMiniBlock(bytes, 32, 3).status();
  };
  EXPECT_TRUE(broken(0, 15).IsIOError());   // first offset
  EXPECT_TRUE(broken(4, 19).IsIOError());   // decreasing
  EXPECT_TRUE(broken(12, 25).IsIOError());  // beyond the end
  EXPECT_TRUE(broken(15, 0x80).IsIOError());
  EXPECT_TRUE(ViewVariableMiniBlock(good, 32, 6).status().IsIOError());
  EXPECT_TRUE(ViewVariableMiniBlock(good, 32, INT64_MAX).status().IsIOError());
  EXPECT_TRUE(ViewVariableMiniBlock(good, 32, -1).status().IsIOError());
  EXPECT_TRUE(ViewVariableMiniBlock(good, 16, 3).status().IsIOError());
  EXPECT_TRUE(ViewVariableMiniBlock({}, 32, 0).status().IsIOError());

  std::vector<uint8_t> block;
  ASSERT_TRUE(EncodeVariableBlock(kOffsets.data(), Bytes(), 3, 32, &block).ok());
  EXPECT_TRUE(ViewVariableBlock(block, 64, 3).status().IsIOError());
  EXPECT_TRUE(ViewVariableBlock(block, 32, 2).status().IsIOError());
  block.pop_back();
  EXPECT_TRUE(ViewVariableBlock(block, 32, 3).status().IsIOError());
  EXPECT_TRUE(ViewVariableBlock({}, 32, 0).status().IsIOError());
}

}  // namespace
}  // namespace pennon::encoding
