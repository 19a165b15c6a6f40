#include "pennon/encoding/dictionary/dictionary_output.h"

#include <cstring>
#include <string>
#include <vector>

#include <arrow/array/array_base.h>
#include <arrow/array/array_dict.h>
#include <arrow/array/util.h>
#include <arrow/memory_pool.h>
#include <arrow/type.h>
#include <gtest/gtest.h>

#include "pennon/encoding/dictionary/dictionary_items.h"
#include "pennon/encoding/output.h"
#include "pennon/error.h"

namespace pennon::encoding {
namespace {

bool IsCorrupt(const arrow::Status& status) {
  const ErrorDetail* const detail = GetErrorDetail(status);
  return detail != nullptr && detail->kind() == ErrorKind::kCorrupt;
}

using wire::CompressionKind;
using wire::CompressiveEncoding;

CompressiveEncoding Variable32() {
  CompressiveEncoding offsets, out;
  offsets.bits = 32;
  out.kind = CompressionKind::kVariable;
  out.children.push_back(offsets);
  return out;
}

/// Strings in block form.
std::vector<uint8_t> Block(const std::vector<std::string>& items) {
  std::vector<uint32_t> words = {32, static_cast<uint32_t>(8 + 4 * (items.size() + 1)), 0};
  std::string bytes;
  for (const std::string& item : items) {
    bytes += item;
    words.push_back(static_cast<uint32_t>(bytes.size()));
  }
  std::vector<uint8_t> out(words.size() * 4 + bytes.size());
  std::memcpy(out.data(), words.data(), words.size() * 4);
  std::memcpy(out.data() + words.size() * 4, bytes.data(), bytes.size());
  return out;
}

const auto kType = arrow::dictionary(arrow::int8(), arrow::utf8());

DictionaryItems Items(const std::vector<std::string>& items) {
  return *DictionaryItems::Decode(Variable32(), *LeafType::Make(*kType), items.size(), 1,
                                  Block(items));
}

std::unique_ptr<ColumnOutput> Output(uint64_t slots) {
  return *ColumnOutput::Make(*LeafType::Make(*kType), slots, arrow::default_memory_pool());
}

TEST(DictionaryOutputTest, PagesWithOtherItemsShareOneDictionary) {
  const DictionaryItems first = Items({"a", "b"});
  const DictionaryItems second = Items({"c", "b", ""});
  const auto out = Output(6);
  const uint8_t indices[] = {1, 0, 2, 1, 0, 1};
  ASSERT_TRUE(first.Gather(indices, 8, 2, 0, out.get()).ok());
  ASSERT_TRUE(second.Gather(indices + 2, 8, 3, 2, out.get()).ok());
  ASSERT_TRUE(first.Gather(indices + 5, 8, 1, 5, out.get()).ok());
  const auto data = out->Finish(kType);
  ASSERT_TRUE(data.ok()) << data.status().ToString();
  const auto array = arrow::MakeArray(*data);
  ASSERT_TRUE(array->ValidateFull().ok());
  const auto& dictionary = static_cast<const arrow::DictionaryArray&>(*array);
  EXPECT_EQ(dictionary.dictionary()->ToString(), "[\n  \"a\",\n  \"b\",\n  \"c\",\n  \"\"\n]");
  const int64_t expected[] = {1, 0, 3, 1, 2, 1};
  for (int64_t i = 0; i < 6; ++i) EXPECT_EQ(dictionary.GetValueIndex(i), expected[i]) << i;
}

TEST(DictionaryOutputTest, AnIndexWithoutItemIsCorrupt) {
  const DictionaryItems items = Items({"a", "b"});
  const auto out = Output(2);
  const uint8_t indices[] = {1, 2};
  EXPECT_TRUE(IsCorrupt(items.Gather(indices, 8, 2, 0, out.get())));
}

TEST(DictionaryOutputTest, MoreItemsThanIndexesCanNameAreRefused) {
  std::vector<std::string> low, high;
  for (int i = 0; i < 100; ++i) {
    low.push_back("low" + std::to_string(i));
    high.push_back("high" + std::to_string(i));
  }
  const auto out = Output(2);
  const uint8_t indices[] = {99, 99};
  ASSERT_TRUE(Items(low).Gather(indices, 8, 1, 0, out.get()).ok());
  const arrow::Status status = Items(high).Gather(indices, 8, 1, 1, out.get());
  ASSERT_FALSE(status.ok());
  EXPECT_NE(status.message().find("read fewer rows"), std::string::npos) << status.ToString();
}

TEST(DictionaryOutputTest, SlotsWithoutValuesHaveAnItemToName) {
  const auto out = Output(2);
  out->ZeroSlots(0, 2);
  const auto data = out->Finish(kType);
  ASSERT_TRUE(data.ok());
  EXPECT_TRUE(arrow::MakeArray(*data)->ValidateFull().ok());
}

TEST(DictionaryOutputTest, CountsThatTheBytesCannotHoldAreCorrupt) {
  const LeafType numbers = *LeafType::Make(*arrow::dictionary(arrow::int32(), arrow::uint64()));
  CompressiveEncoding packed, width;
  packed.kind = CompressionKind::kOutOfLineBitpacking;
  packed.bits = 64;
  width.bits = 0;
  packed.children.push_back(width);
  const uint64_t huge = uint64_t{1} << 31;
  EXPECT_TRUE(IsCorrupt(DictionaryItems::Decode(packed, numbers, huge, 10, {}).status()));
  EXPECT_TRUE(DictionaryItems::Decode(packed, numbers, 10, 10, {}).ok());
  const std::vector<uint8_t> block = Block({"a"});
  EXPECT_TRUE(IsCorrupt(
      DictionaryItems::Decode(Variable32(), *LeafType::Make(*kType), huge, 10, block).status()));
}

}  // namespace
}  // namespace pennon::encoding
