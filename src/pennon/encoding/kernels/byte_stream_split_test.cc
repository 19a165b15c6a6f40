#include "pennon/encoding/kernels/byte_stream_split.h"

#include <vector>

#include <gtest/gtest.h>

namespace pennon::encoding {
namespace {

TEST(ByteStreamSplitTest, LaysOutStreamsAndJoinsThem) {
  const std::vector<uint8_t> values = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};
  std::vector<uint8_t> split;
  ASSERT_TRUE(EncodeByteStreamSplit(values, 32, &split).ok());
  EXPECT_EQ(split, (std::vector<uint8_t>{1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15, 4, 8, 12, 16}));
  std::vector<uint8_t> out(16);
  ASSERT_TRUE(DecodeByteStreamSplit(split, 32, 4, out).ok());
  EXPECT_EQ(out, values);
  split.clear();
  ASSERT_TRUE(EncodeByteStreamSplit(values, 64, &split).ok());
  EXPECT_EQ(split, (std::vector<uint8_t>{1, 9, 2, 10, 3, 11, 4, 12, 5, 13, 6, 14, 7, 15, 8, 16}));
  ASSERT_TRUE(DecodeByteStreamSplit(split, 64, 2, out).ok());
  EXPECT_EQ(out, values);
}

TEST(ByteStreamSplitTest, RefusesWrongSizes) {
  std::vector<uint8_t> in(15);
  std::vector<uint8_t> out(16);
  EXPECT_TRUE(DecodeByteStreamSplit(in, 32, 4, out).IsIOError());
  in.resize(17);
  EXPECT_TRUE(DecodeByteStreamSplit(in, 32, 4, out).IsIOError());
  in.resize(16);
  EXPECT_TRUE(DecodeByteStreamSplit(in, 16, 8, out).IsIOError());
  EXPECT_TRUE(DecodeByteStreamSplit({}, 32, 0, {}).ok());
}

}  // namespace
}  // namespace pennon::encoding
