#include "pennon/encoding/kernels/fsst_encoder.h"

#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "pennon/encoding/kernels/fsst.h"

namespace pennon::encoding {
namespace {

using Texts = std::vector<std::string>;

std::span<const uint8_t> BytesOf(const std::string& text) {
  return {reinterpret_cast<const uint8_t*>(text.data()), text.size()};
}

FsstEncoder TrainOn(const Texts& texts) {
  std::vector<std::span<const uint8_t>> sample;
  for (const std::string& text : texts) sample.push_back(BytesOf(text));
  return FsstEncoder::Train(sample);
}

// Codes and decodes all texts, expects the same, and gives the coded bytes.
size_t ExpectRoundTrip(const FsstEncoder& encoder, const Texts& texts) {
  const std::string serialized = encoder.Serialize();
  const auto table = FsstTable::Parse(BytesOf(serialized));
  EXPECT_TRUE(table.ok()) << table.status().ToString();
  if (!table.ok()) return 0;
  EXPECT_EQ(table->num_symbols(), encoder.num_symbols());
  size_t total = 0;
  for (const std::string& text : texts) {
    std::vector<uint8_t> coded(2 * text.size() + 1);
    coded.resize(encoder.Encode(BytesOf(text), 0, coded.data()));
    total += coded.size();
    std::vector<uint8_t> decoded(table->MaxDecodedBytes(coded.size()) + FsstTable::kSlack);
    const uint8_t* end = table->Decode(coded, decoded.data());
    EXPECT_NE(end, nullptr);
    if (end == nullptr) return 0;
    EXPECT_EQ(std::string(decoded.begin(), decoded.begin() + (end - decoded.data())), text);
  }
  return total;
}

size_t SizeOf(const Texts& texts) {
  size_t total = 0;
  for (const std::string& text : texts) total += text.size();
  return total;
}

Texts Sentences(size_t count) {
  const std::vector<std::string> words = {"harbour", "lantern", "of", "the",   "quiet",
                                          "river",   "and",     "a",  "golden"};
  std::mt19937 engine(3);
  Texts out;
  for (size_t i = 0; i < count; ++i) {
    std::string text;
    for (int k = 0; k < 8; ++k) text += words[engine() % words.size()] + " ";
    out.push_back(text);
  }
  return out;
}

TEST(FsstEncoderTest, TextBecomesAThird) {
  const Texts texts = Sentences(500);
  EXPECT_LT(ExpectRoundTrip(TrainOn(texts), texts), SizeOf(texts) / 3);
}

TEST(FsstEncoderTest, SameSampleGivesSameTable) {
  const Texts texts = Sentences(100);
  EXPECT_EQ(TrainOn(texts).Serialize(), TrainOn(texts).Serialize());
}

TEST(FsstEncoderTest, TextsUnlikeTheSampleSurvive) {
  std::mt19937 engine(4);
  Texts texts = {"", "\xff", std::string(1, '\0'), std::string(1000, '\0'),
                 std::string(77, '\xff')};
  for (int i = 0; i < 300; ++i) {
    std::string text;
    for (size_t k = engine() % 40; k > 0; --k) text += static_cast<char>(engine());
    texts.push_back(text);
  }
  EXPECT_LE(ExpectRoundTrip(TrainOn(Sentences(50)), texts), 2 * SizeOf(texts));
  ExpectRoundTrip(TrainOn(texts), texts);
}

TEST(FsstEncoderTest, NothingToLearnFrom) {
  const FsstEncoder encoder = TrainOn({});
  EXPECT_EQ(encoder.num_symbols(), 0);
  EXPECT_EQ(ExpectRoundTrip(encoder, {"abc"}), 6u);
}

TEST(FsstEncoderTest, OneTextIsAFewSymbols) {
  const Texts texts(100, "abcdefghijklmnop");
  EXPECT_LE(ExpectRoundTrip(TrainOn(texts), texts), 300u);
}

}  // namespace
}  // namespace pennon::encoding
