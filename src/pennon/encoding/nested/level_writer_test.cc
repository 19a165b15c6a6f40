#include "pennon/encoding/nested/level_writer.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "pennon/encoding/kernels/block_values.h"
#include "pennon/wire/page_layout.h"
#include "pennon/wire/page_layout_writer.h"

namespace pennon::encoding {
namespace {

// Writes `levels` in two chunks, reads both back, and gives the kind of encoding and the bytes.
struct Written {
  wire::CompressionKind kind;
  size_t bytes = 0;
};

Written Write(const std::vector<uint16_t>& levels, int minor) {
  const uint32_t first = static_cast<uint32_t>(levels.size() / 2);
  const std::vector<uint32_t> chunks = {first, static_cast<uint32_t>(levels.size()) - first};
  const LevelWriter writer(levels, chunks, minor);
  wire::MiniBlockMessage message;
  message.def_compression = writer.encoding();
  message.value_compression = wire::WriteFlat(8);
  message.layers = {wire::LayerKind::kNullableItem};
  const auto layout = *wire::ParsePageLayout(wire::WriteMiniBlockPage(message), "test");
  const auto& encoding = *std::get<wire::MiniBlockLayout>(layout.layout).definition;
  const BlockDecoder decoder = BlockDecoder::Make(encoding, 16).ValueOrDie();
  Written out{.kind = encoding.kind};
  uint64_t at = 0;
  for (uint32_t count : chunks) {
    std::vector<uint8_t> bytes, scratch;
    EXPECT_TRUE(writer.AppendChunk(at, count, &bytes).ok());
    std::vector<uint16_t> read(count);
    const std::span<uint8_t> into(reinterpret_cast<uint8_t*>(read.data()), 2 * count);
    EXPECT_TRUE(decoder.Decode(bytes, count, into, &scratch).ok());
    EXPECT_EQ(read, std::vector<uint16_t>(levels.begin() + static_cast<ptrdiff_t>(at),
                                          levels.begin() + static_cast<ptrdiff_t>(at + count)));
    out.bytes += bytes.size();
    at += count;
  }
  return out;
}

std::vector<uint16_t> Levels(size_t count, uint16_t (*level)(size_t)) {
  std::vector<uint16_t> out;
  for (size_t i = 0; i < count; ++i) out.push_back(level(i));
  return out;
}

TEST(LevelWriterTest, FewLevelsStayPlain) {
  EXPECT_EQ(Write({0, 1, 0, 1, 1, 0}, 1).kind, wire::CompressionKind::kFlat);
  EXPECT_EQ(Write({0, 1, 0, 1, 1, 0}, 2).kind, wire::CompressionKind::kFlat);
}

TEST(LevelWriterTest, ManyLevelsArePackedToTheWidthOfThePage) {
  const auto mixed = Levels(2048, [](size_t i) { return static_cast<uint16_t>(i * 7 % 5 % 4); });
  for (int minor : {1, 2}) {
    const Written written = Write(mixed, minor);
    EXPECT_EQ(written.kind, wire::CompressionKind::kOutOfLineBitpacking);
    EXPECT_EQ(written.bytes, 2u * 128 * 2);
  }
}

TEST(LevelWriterTest, LevelsThatAreAllZeroTakeNoBytes) {
  const Written written = Write(std::vector<uint16_t>(3000), 2);
  EXPECT_EQ(written.kind, wire::CompressionKind::kOutOfLineBitpacking);
  EXPECT_EQ(written.bytes, 0u);
}

TEST(LevelWriterTest, LongRunsAreRunsIn22Only) {
  const auto runs = Levels(4000, [](size_t i) { return static_cast<uint16_t>(i / 1000 % 2); });
  EXPECT_EQ(Write(runs, 1).kind, wire::CompressionKind::kOutOfLineBitpacking);
  const Written written = Write(runs, 2);
  EXPECT_EQ(written.kind, wire::CompressionKind::kRle);
  EXPECT_EQ(written.bytes, 2u * 8 + 16 * 3);
}

TEST(LevelWriterTest, NoLevels) {
  EXPECT_FALSE(LevelWriter().has_levels());
  EXPECT_EQ(LevelWriter().encoding(), "");
  EXPECT_TRUE(LevelsOfValidity(nullptr, 7).empty());
}

}  // namespace
}  // namespace pennon::encoding
