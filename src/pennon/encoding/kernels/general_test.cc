#include "pennon/encoding/kernels/general.h"

#include <string>
#include <vector>

#include <arrow/buffer.h>
#include <gtest/gtest.h>

namespace pennon::encoding {
namespace {

// "aaaaaaaaaaaaaaaabbbb", compressed by the Python reference of the format.
const std::vector<uint8_t> kZstd = {0x14, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x28, 0xb5,
                                    0x2f, 0xfd, 0x20, 0x14, 0x65, 0x00, 0x00, 0x30, 0x61, 0x61,
                                    0x62, 0x62, 0x62, 0x62, 0x01, 0x00, 0x32, 0xc0, 0x02};
const std::vector<uint8_t> kLz4 = {0x14, 0x00, 0x00, 0x00, 0x1a, 0x61, 0x01,
                                   0x00, 0x50, 0x61, 0x62, 0x62, 0x62, 0x62};
const std::string kText = "aaaaaaaaaaaaaaaabbbb";

std::string Text(std::span<const uint8_t> bytes) { return {bytes.begin(), bytes.end()}; }

TEST(GeneralTest, ReadsTheReferenceBytes) {
  for (auto [scheme, bytes] :
       {std::pair{GeneralScheme::kZstd, kZstd}, {GeneralScheme::kLz4, kLz4}}) {
    std::vector<uint8_t> out(20);
    ASSERT_TRUE(DecompressInto(scheme, bytes, out).ok());
    EXPECT_EQ(Text(out), kText);
    auto buffer = Decompress(scheme, bytes, 20);
    ASSERT_TRUE(buffer.ok());
    EXPECT_EQ((*buffer)->ToString(), kText);
    std::vector<uint8_t> scratch;
    ASSERT_TRUE(DecompressTo(scheme, bytes, 100, &scratch).ok());
    EXPECT_EQ(Text(scratch), kText);
  }
}

TEST(GeneralTest, ReadsABareZstdFrame) {
  const auto frame = std::span(kZstd).subspan(8);
  std::vector<uint8_t> out(20);
  ASSERT_TRUE(DecompressInto(GeneralScheme::kZstd, frame, out).ok());
  EXPECT_EQ(Text(out), kText);
  auto buffer = Decompress(GeneralScheme::kZstd, frame, 20);
  ASSERT_TRUE(buffer.ok()) << buffer.status();
  EXPECT_EQ((*buffer)->ToString(), kText);
  EXPECT_TRUE(Decompress(GeneralScheme::kZstd, frame, 19).status().IsIOError());
  EXPECT_TRUE(Decompress(GeneralScheme::kZstd, frame.first(10), 20).status().IsIOError());
}

TEST(GeneralTest, RoundTripsWhatItCompresses) {
  std::vector<uint8_t> content(300000);
  for (size_t i = 0; i < content.size(); ++i) content[i] = static_cast<uint8_t>(i * i >> 7);
  for (auto scheme : {GeneralScheme::kNone, GeneralScheme::kLz4, GeneralScheme::kZstd}) {
    for (size_t n : {size_t{0}, size_t{1}, content.size()}) {
      std::vector<uint8_t> packed = {9};
      const auto in = std::span(content).first(n);
      ASSERT_TRUE(Compress(scheme, in, 3, &packed).ok());
      EXPECT_EQ(packed[0], 9);
      std::vector<uint8_t> out(n);
      ASSERT_TRUE(DecompressInto(scheme, std::span(packed).subspan(1), out).ok());
      EXPECT_TRUE(std::equal(out.begin(), out.end(), in.begin()));
    }
  }
}

TEST(GeneralTest, EmptyBufferIsEmptyContent) {
  EXPECT_TRUE(DecompressInto(GeneralScheme::kZstd, {}, {}).ok());
  auto buffer = Decompress(GeneralScheme::kLz4, {}, 0);
  ASSERT_TRUE(buffer.ok());
  EXPECT_EQ((*buffer)->size(), 0);
  std::vector<uint8_t> one(1);
  EXPECT_TRUE(DecompressInto(GeneralScheme::kZstd, {}, one).IsIOError());
}

TEST(GeneralTest, ClaimedSizesAreBounded) {
  EXPECT_TRUE(Decompress(GeneralScheme::kZstd, kZstd, 19).status().IsIOError());
  EXPECT_TRUE(Decompress(GeneralScheme::kLz4, kLz4, 19).status().IsIOError());
  std::vector<uint8_t> lying = kZstd;
  lying[7] = 0x7F;  // an impossible size must not be allocated, whatever the limit
  EXPECT_TRUE(Decompress(GeneralScheme::kZstd, lying, INT64_MAX).status().IsIOError());
  lying = kLz4;
  lying[3] = 0xFF;
  EXPECT_TRUE(Decompress(GeneralScheme::kLz4, lying, INT64_MAX).status().IsIOError());
}

TEST(GeneralTest, RefusesWrongSizesAndBrokenBodies) {
  std::vector<uint8_t> out(21);
  EXPECT_TRUE(DecompressInto(GeneralScheme::kZstd, kZstd, out).IsIOError());
  for (auto [scheme, good] :
       {std::pair{GeneralScheme::kZstd, kZstd}, {GeneralScheme::kLz4, kLz4}}) {
    std::vector<uint8_t> bytes = good;
    bytes[0] = 21;  // one more than the body has
    EXPECT_TRUE(DecompressInto(scheme, bytes, out).IsIOError());
    bytes[0] = 19;
    EXPECT_TRUE(DecompressInto(scheme, bytes, std::span(out).first(19)).IsIOError());
    bytes = good;
    bytes.resize(bytes.size() - 3);
    EXPECT_TRUE(DecompressInto(scheme, bytes, std::span(out).first(20)).IsIOError());
  }
  EXPECT_TRUE(DecompressInto(GeneralScheme::kLz4, std::span(kLz4).first(3), out).IsIOError());
}

TEST(GeneralTest, NamesSchemes) {
  EXPECT_EQ(*GeneralSchemeOf(uint64_t{1}), GeneralScheme::kLz4);
  EXPECT_EQ(*GeneralSchemeOf(uint64_t{2}), GeneralScheme::kZstd);
  EXPECT_TRUE(GeneralSchemeOf(uint64_t{3}).status().IsNotImplemented());
  EXPECT_EQ(*GeneralSchemeOf(std::string_view("zstd")), GeneralScheme::kZstd);
  EXPECT_EQ(*GeneralSchemeOf(std::string_view("")), GeneralScheme::kNone);
  EXPECT_TRUE(GeneralSchemeOf(std::string_view("brotli")).status().IsNotImplemented());
}

}  // namespace
}  // namespace pennon::encoding
