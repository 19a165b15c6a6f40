#include "pennon/encoding/dictionary/dictionary_encoder.h"

#include <string>
#include <vector>

#include <arrow/array/array_base.h>
#include <arrow/array/builder_binary.h>
#include <arrow/array/builder_primitive.h>
#include <arrow/type.h>
#include <gtest/gtest.h>

namespace pennon::encoding {
namespace {

LeafValues ValuesOf(const arrow::Array& array) {
  return LeafValues::Make(LeafType::Make(*array.type()).ValueOrDie(), *array.data(),
                          arrow::default_memory_pool())
      .ValueOrDie();
}

std::shared_ptr<arrow::Array> Words(int count, int distinct, int null_every = 0) {
  arrow::StringBuilder builder;
  for (int i = 0; i < count; ++i) {
    const bool null = null_every != 0 && i % null_every == 0;
    EXPECT_TRUE((null ? builder.AppendNull()
                      : builder.Append("word number " + std::to_string(i * 7 % distinct)))
                    .ok());
  }
  return builder.Finish().ValueOrDie();
}

std::shared_ptr<arrow::Array> Numbers(int count, int64_t distinct, int64_t factor) {
  arrow::Int64Builder builder;
  for (int i = 0; i < count; ++i) EXPECT_TRUE(builder.Append(i * 7 % distinct * factor).ok());
  return builder.Finish().ValueOrDie();
}

std::optional<DictionaryValues> Try(const arrow::Array& array, PageOptions options) {
  return TryDictionary(ValuesOf(array), options, arrow::default_memory_pool()).ValueOrDie();
}

TEST(DictionaryEncoderTest, RepeatedStringsBecomeIndexes) {
  const auto array = Words(500, 9, 5);
  const auto coded = Try(*array, {.minor = 1});
  ASSERT_TRUE(coded.has_value());
  EXPECT_EQ(coded->dictionary.num_items, 9u);
  EXPECT_EQ(coded->indexes.length, 500u);
  EXPECT_EQ(coded->indexes.null_count, 100u);
  const LeafValues values = ValuesOf(*array);
  const auto* indexes = reinterpret_cast<const uint32_t*>(coded->indexes.data->data());
  std::vector<std::string> items(9);
  for (uint64_t i = 0; i < 500; ++i) {
    ASSERT_LT(indexes[i], 9u);
    if (!values.is_valid(i)) continue;
    std::string& item = items[indexes[i]];
    if (item.empty()) item = values.value(i);
    EXPECT_EQ(item, values.value(i));
  }
}

TEST(DictionaryEncoderTest, ItemsAreCompressedIn22) {
  const auto array = Words(2000, 500);
  const auto plain = Try(*array, {.minor = 1});
  const auto compressed = Try(*array, {.minor = 2});
  ASSERT_TRUE(plain && compressed);
  EXPECT_LT(compressed->dictionary.items->size(), plain->dictionary.items->size() / 2);
  PageOptions none{.minor = 2};
  none.hints.dictionary_compression = CompressionHint::kNone;
  EXPECT_EQ(Try(*array, none)->dictionary.items->size(), plain->dictionary.items->size());
}

TEST(DictionaryEncoderTest, ManyDistinctOrFewValuesStay) {
  EXPECT_FALSE(Try(*Words(5000, 5000), {.minor = 2}));
  EXPECT_FALSE(Try(*Words(5000, 2600), {.minor = 2}));
  EXPECT_TRUE(Try(*Words(5000, 1000), {.minor = 2}));
  EXPECT_FALSE(Try(*Words(99, 3), {.minor = 2}));
}

TEST(DictionaryEncoderTest, HintsMoveTheLimits) {
  PageOptions options{.minor = 2};
  options.hints.dictionary_divisor = 100;
  EXPECT_FALSE(Try(*Words(5000, 60), options));
  options.hints.dictionary_divisor = 50;
  EXPECT_TRUE(Try(*Words(5000, 60), options));
  options.hints.dictionary_max_bytes = 100;
  EXPECT_FALSE(Try(*Words(5000, 60), options));
}

TEST(DictionaryEncoderTest, WordsBecomeIndexesWhereThatIsSmaller) {
  constexpr int64_t kLarge = 1'000'000'007;
  EXPECT_FALSE(Try(*Numbers(5000, 50, kLarge), {.minor = 1}));
  EXPECT_TRUE(Try(*Numbers(5000, 50, kLarge), {.minor = 2}));
  // Packed to 6 bits they are smaller without items.
  EXPECT_FALSE(Try(*Numbers(5000, 50, 1), {.minor = 2}));
}

TEST(DictionaryEncoderTest, OneValueAmongNullsIsAnItem) {
  for (const std::string value : {"", "a word"}) {
    arrow::StringBuilder builder;
    ASSERT_TRUE(builder.AppendNulls(2500).ok());
    ASSERT_TRUE(builder.Append(value).ok());
    ASSERT_TRUE(builder.AppendNulls(2499).ok());
    const auto coded = Try(*builder.Finish().ValueOrDie(), {.minor = 1});
    ASSERT_TRUE(coded.has_value()) << value;
    EXPECT_EQ(coded->dictionary.num_items, 1u);
  }
}

}  // namespace
}  // namespace pennon::encoding
