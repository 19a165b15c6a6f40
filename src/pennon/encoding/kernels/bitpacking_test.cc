#include "pennon/encoding/kernels/bitpacking.h"

#include <array>
#include <cstring>
#include <vector>

#include <gtest/gtest.h>

#include "pennon/error.h"

namespace pennon::encoding {
namespace {

// The values that the golden bytes were made of (by the Python reference of the format).
uint64_t Value(uint64_t i, int width) {
  uint64_t v = (i + 1) * 0x9E3779B97F4A7C15u;
  v ^= v >> 29;
  v *= 0xBF58476D1CE4E5B9u;
  v ^= v >> 32;
  return width >= 64 ? v : v & ((uint64_t{1} << width) - 1);
}

template <typename T>
std::vector<T> Values(size_t n, int width) {
  std::vector<T> values(n);
  for (size_t i = 0; i < n; ++i) values[i] = static_cast<T>(Value(i, width));
  return values;
}

template <typename T>
std::span<const uint8_t> BytesOf(const std::vector<T>& values) {
  return {reinterpret_cast<const uint8_t*>(values.data()), values.size() * sizeof(T)};
}

uint64_t Fnv(std::span<const uint8_t> bytes, uint64_t hash = 0xcbf29ce484222325u) {
  for (uint8_t byte : bytes) hash = (hash ^ byte) * 0x100000001b3u;
  return hash;
}

template <typename T>
class UnitTest : public testing::Test {};
using Words = testing::Types<uint8_t, uint16_t, uint32_t, uint64_t>;
TYPED_TEST_SUITE(UnitTest, Words);

constexpr uint64_t kGoldenUnits[] = {0x89231e8ef128998eu, 0xd39ecdb6ab02100u, 0xba0dc104e82089cfu,
                                     0x5d41d4315f397b68u};

TYPED_TEST(UnitTest, EveryWidthEqualsTheReferenceAndComesBack) {
  using T = TypeParam;
  constexpr int kBits = sizeof(T) * 8;
  uint64_t hash = 0xcbf29ce484222325u;
  for (int width = 0; width <= kBits; ++width) {
    const std::vector<T> values = Values<T>(1024, width);
    std::vector<uint8_t> packed(PackedUnitBytes(width) + 1, 0xAA);  // one off: unaligned
    Pack1024<T>(values.data(), width, packed.data() + 1);
    hash = Fnv(std::span(packed).subspan(1), hash);
    std::vector<T> out(1024, 0x55);
    Unpack1024<T>(packed.data() + 1, width, out.data());
    EXPECT_EQ(out, values) << "width " << width;
  }
  EXPECT_EQ(hash, kGoldenUnits[sizeof(T) == 1 ? 0 : sizeof(T) == 2 ? 1 : sizeof(T) == 4 ? 2 : 3]);
}

TYPED_TEST(UnitTest, RowsLieWhereTheLayoutSays) {
  using T = TypeParam;
  constexpr int kBits = sizeof(T) * 8;
  constexpr int kLanes = 1024 / kBits;
  constexpr int kBase[] = {0, 64, 32, 96, 16, 80, 48, 112};
  const int width = kBits / 2 + 1;
  const std::vector<T> values = Values<T>(1024, width);
  std::vector<T> packed(PackedUnitBytes(width) / sizeof(T));
  Pack1024<T>(values.data(), width, reinterpret_cast<uint8_t*>(packed.data()));
  for (int row = 0; row < kBits; ++row) {
    for (int lane = 0; lane < kLanes; ++lane) {
      uint64_t value = 0;
      for (int b = 0; b < width; ++b) {
        const int bit = row * width + b;
        value |= (uint64_t{packed[bit / kBits * kLanes + lane]} >> (bit % kBits) & 1) << b;
      }
      ASSERT_EQ(value, values[kBase[row / 8] + 128 * (row % 8) + lane]) << row << " " << lane;
    }
  }
}

TEST(BitpackingTest, UnitEqualsGoldenBytes) {
  const std::vector<uint8_t> small = Values<uint8_t>(1024, 3);
  std::vector<uint8_t> packed(PackedUnitBytes(3));
  Pack1024<uint8_t>(small.data(), 3, packed.data());
  const std::vector<uint8_t> head = {0x01, 0x0e, 0x17, 0xc7, 0x6e, 0x35, 0x6b, 0x72};
  EXPECT_EQ(std::vector<uint8_t>(packed.begin(), packed.begin() + 8), head);

  const std::vector<uint32_t> wide = Values<uint32_t>(1024, 5);
  packed.resize(PackedUnitBytes(5));
  Pack1024<uint32_t>(wide.data(), 5, packed.data());
  const std::vector<uint8_t> tail = {0xf1, 0x92, 0x91, 0x66, 0x83, 0x4a, 0x83, 0x77};
  EXPECT_EQ(std::vector<uint8_t>(packed.end() - 8, packed.end()), tail);
}

TEST(BitpackingTest, WidthIsThatOfTheLargestValue) {
  EXPECT_EQ(BitWidth<uint8_t>({}), 0);
  const std::array<uint16_t, 3> zeros{};
  EXPECT_EQ(BitWidth<uint16_t>(zeros), 0);
  const std::array<uint32_t, 3> some{1, 16, 3};
  EXPECT_EQ(BitWidth<uint32_t>(some), 5);
  const std::array<uint64_t, 1> top{uint64_t{1} << 63};
  EXPECT_EQ(BitWidth<uint64_t>(top), 64);
}

TEST(BitpackingTest, InlineChunkEqualsTheReference) {
  std::vector<uint8_t> packed;
  const auto values = Values<uint16_t>(700, 5);
  ASSERT_TRUE(EncodeInlineBitpacking(BytesOf(values), 16, &packed).ok());
  EXPECT_EQ(packed.size(), 642u);
  EXPECT_EQ(Fnv(packed), 0x485656df0361b883u);
  std::vector<uint8_t> out(1401);
  ASSERT_TRUE(DecodeInlineBitpacking(packed, 16, 700, std::span(out).subspan(1)).ok());
  EXPECT_EQ(0, std::memcmp(out.data() + 1, values.data(), 1400));

  packed.clear();
  const auto wide = Values<uint64_t>(1024, 41);
  ASSERT_TRUE(EncodeInlineBitpacking(BytesOf(wide), 64, &packed).ok());
  EXPECT_EQ(Fnv(packed), 0xd2aa31ee8acf9d71u);
  out.resize(8192);
  ASSERT_TRUE(DecodeInlineBitpacking(packed, 64, 1024, out).ok());
  EXPECT_EQ(0, std::memcmp(out.data(), wide.data(), 8192));
}

TEST(BitpackingTest, InlineChunkRefusesHostileBytes) {
  std::vector<uint8_t> packed;
  ASSERT_TRUE(EncodeInlineBitpacking(BytesOf(Values<uint16_t>(10, 5)), 16, &packed).ok());
  std::vector<uint8_t> out(20);
  EXPECT_TRUE(DecodeInlineBitpacking(packed, 16, 10, out).ok());
  EXPECT_TRUE(DecodeInlineBitpacking(std::span(packed).first(641), 16, 10, out).IsIOError());
  EXPECT_TRUE(DecodeInlineBitpacking(std::span(packed).first(1), 16, 10, out).IsIOError());
  packed[0] = 17;
  EXPECT_TRUE(DecodeInlineBitpacking(packed, 16, 10, out).IsIOError());
  packed[1] = 0xFF;
  EXPECT_TRUE(DecodeInlineBitpacking(packed, 16, 10, out).IsIOError());
  EXPECT_TRUE(DecodeInlineBitpacking(packed, 12, 10, out).IsIOError());
  std::vector<uint8_t> large(2050);
  EXPECT_TRUE(DecodeInlineBitpacking(packed, 16, 1025, large).IsIOError());
  EXPECT_TRUE(DecodeInlineBitpacking(packed, 16, -1, {}).IsIOError());
}

struct OutOfLineCase {
  size_t n;
  int bits;
  int width;
  size_t bytes;
  uint64_t hash;
};

TEST(BitpackingTest, OutOfLineBlockEqualsTheReference) {
  for (const OutOfLineCase& c : {OutOfLineCase{2500, 16, 3, 1152, 0x2c0fdbff4a32b993u},
                                 {1100, 32, 7, 1200, 0x2df91e2be409edf1u},
                                 {1024, 8, 8, 1024, 0x189cc525a01d7311u},
                                 {5, 64, 0, 0, 0xcbf29ce484222325u},
                                 {3000, 64, 33, 12672, 0xc7ccd3dd5d85f565u}}) {
    SCOPED_TRACE(c.n);
    std::vector<uint8_t> bytes;
    for (size_t i = 0; i < c.n; ++i) {
      const uint64_t v = Value(i, c.width);
      const auto* p = reinterpret_cast<const uint8_t*>(&v);
      bytes.insert(bytes.end(), p, p + c.bits / 8);
    }
    std::vector<uint8_t> packed;
    ASSERT_TRUE(EncodeOutOfLineBitpacking(bytes, c.bits, c.width, &packed).ok());
    EXPECT_EQ(packed.size(), c.bytes);
    EXPECT_EQ(Fnv(packed), c.hash);
    std::vector<uint8_t> out(bytes.size());
    ASSERT_TRUE(DecodeOutOfLineBitpacking(packed, c.bits, c.width, c.n, out).ok());
    EXPECT_EQ(out, bytes);
    packed.push_back(0);
    EXPECT_TRUE(DecodeOutOfLineBitpacking(packed, c.bits, c.width, c.n, out).IsIOError());
  }
}

TEST(BitpackingTest, OutOfLineBlockReadsBothTails) {
  const auto values = Values<uint16_t>(3, 4);
  std::vector<uint8_t> out(6);
  ASSERT_TRUE(DecodeOutOfLineBitpacking(BytesOf(values), 16, 4, 3, out).ok());
  EXPECT_EQ(0, std::memcmp(out.data(), values.data(), 6));
  std::vector<uint16_t> padded = values;
  padded.resize(1024);
  std::vector<uint8_t> packed(PackedUnitBytes(4));
  Pack1024<uint16_t>(padded.data(), 4, packed.data());
  std::fill(out.begin(), out.end(), 0xEE);
  ASSERT_TRUE(DecodeOutOfLineBitpacking(packed, 16, 4, 3, out).ok());
  EXPECT_EQ(0, std::memcmp(out.data(), values.data(), 6));
}

TEST(BitpackingTest, OutOfLineBlockRefusesWidthsOutOfRange) {
  std::vector<uint8_t> out(2);
  EXPECT_TRUE(DecodeOutOfLineBitpacking(out, 16, 17, 1, out).IsIOError());
  EXPECT_TRUE(DecodeOutOfLineBitpacking(out, 16, -1, 1, out).IsIOError());
  EXPECT_TRUE(DecodeOutOfLineBitpacking(out, 128, 1, 1, out).IsIOError());
  std::vector<uint8_t> packed;
  const std::vector<uint8_t> five = {5};
  EXPECT_TRUE(EncodeOutOfLineBitpacking(five, 8, 2, &packed).IsInvalid());
}

TEST(BitpackingTest, UnitsGiveAnyRows) {
  const auto values = Values<uint32_t>(3072, 11);
  std::vector<uint8_t> packed(3 * PackedUnitBytes(11));
  for (int u = 0; u < 3; ++u) {
    Pack1024<uint32_t>(values.data() + u * 1024, 11, packed.data() + u * PackedUnitBytes(11));
  }
  std::vector<uint32_t> out(1500);
  auto out_bytes = std::span(reinterpret_cast<uint8_t*>(out.data()), out.size() * 4);
  ASSERT_TRUE(DecodeBitpackedUnits(packed, 32, 11, 700, 1500, out_bytes).ok());
  EXPECT_TRUE(std::equal(out.begin(), out.end(), values.begin() + 700));
  const auto two = std::span(packed).first(2 * PackedUnitBytes(11));
  EXPECT_TRUE(DecodeBitpackedUnits(two, 32, 11, 700, 1500, out_bytes).IsIOError());
  EXPECT_TRUE(DecodeBitpackedUnits(packed, 32, 33, 0, 1500, out_bytes).IsIOError());
}

TEST(BitpackingTest, BitStreamWidensAndExtendsSigns) {
  const std::vector<uint8_t> seven = {0x80, 0x83, 0x03};
  std::vector<uint8_t> out(3);
  ASSERT_TRUE(DecodeBitStream(seven, 0, 8, 7, false, 3, out).ok());
  EXPECT_EQ(out, (std::vector<uint8_t>{0, 7, 14}));
  const std::vector<uint8_t> nine = {0x01, 0xfc, 0xff, 0x03, 0x08};
  std::vector<int16_t> wide(3);
  auto wide_bytes = std::span(reinterpret_cast<uint8_t*>(wide.data()), 6);
  ASSERT_TRUE(DecodeBitStream(std::span(nine).subspan(1), 1, 16, 9, true, 3, wide_bytes).ok());
  EXPECT_EQ(wide, (std::vector<int16_t>{-2, 255, -256}));
  EXPECT_TRUE(
      DecodeBitStream(std::span(nine).subspan(2), 2, 16, 9, true, 3, wide_bytes).IsIOError());
  EXPECT_TRUE(DecodeBitStream(nine, 0, 16, 17, true, 1, wide_bytes.first(2)).IsIOError());
  EXPECT_TRUE(DecodeBitStream(nine, 8, 16, 9, true, 1, wide_bytes.first(2)).IsIOError());
}

}  // namespace
}  // namespace pennon::encoding
