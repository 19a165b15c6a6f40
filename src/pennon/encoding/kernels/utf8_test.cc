#include "pennon/encoding/kernels/utf8.h"

#include <memory>
#include <random>
#include <string>
#include <vector>

#include <arrow/array/array_binary.h>
#include <arrow/array/builder_binary.h>
#include <arrow/array/util.h>
#include <gtest/gtest.h>

#include "pennon/error.h"

namespace pennon::encoding {
namespace {

/// `values` one after the other in one buffer, nullptr = a null whose bytes are `null_bytes`.
template <typename Builder, typename Offset>
std::shared_ptr<arrow::ArrayData> Strings(const std::vector<const char*>& values,
                                          const std::string& null_bytes = "") {
  Builder builder;
  for (const char* value : values) {
    EXPECT_TRUE(builder.Append(value != nullptr ? std::string(value) : null_bytes).ok());
  }
  auto data = builder.Finish().ValueOrDie()->data()->Copy();
  std::shared_ptr<arrow::Buffer> bits = arrow::AllocateBitmap(data->length).ValueOrDie();
  for (size_t i = 0; i < values.size(); ++i) {
    arrow::bit_util::SetBitTo(bits->mutable_data(), static_cast<int64_t>(i), values[i] != nullptr);
  }
  data->buffers[0] = bits;
  data->null_count = arrow::kUnknownNullCount;
  return data;
}

arrow::Status CheckBoth(const std::vector<const char*>& values,
                        const std::string& null_bytes = "") {
  const auto small = CheckUtf8(*Strings<arrow::StringBuilder, int32_t>(values, null_bytes));
  const auto large = CheckUtf8(*Strings<arrow::LargeStringBuilder, int64_t>(values, null_bytes));
  EXPECT_EQ(small.ToString(), large.ToString());
  return small;
}

TEST(Utf8, GoodValues) {
  EXPECT_TRUE(CheckBoth({}).ok());
  EXPECT_TRUE(CheckBoth({"", "", nullptr}).ok());
  EXPECT_TRUE(CheckBoth({"plain", "", nullptr, "text"}).ok());
  EXPECT_TRUE(CheckBoth({"\u00e9", "\u20ac", "", "\U0001F600", "z", ""}).ok());
}

TEST(Utf8, BadValuesAreCorrupt) {
  for (const auto& [bytes, at] :
       std::vector<std::pair<const char*, int>>{{"ab\xff", 2},      // no such byte
                                                {"\x80", 0},        // a continuation alone
                                                {"\u00e9\xc3", 2},  // a character without its end
                                                {"\xc0\xaf", 0},    // overlong
                                                {"x\xed\xa0\x80", 1},     // a surrogate
                                                {"\xf4\x90\x80\x80", 0},  // above U+10FFFF
                                                {"\u20ac\u20ac\xf0\x9f\x98", 6}}) {
    const auto status = CheckBoth({"good", "\u00e9", nullptr, bytes, "more"});
    const auto* const detail = GetErrorDetail(status);
    ASSERT_NE(detail, nullptr) << status.ToString();
    EXPECT_EQ(detail->kind(), ErrorKind::kCorrupt);
    EXPECT_NE(status.message().find("value 3"), std::string::npos) << status.message();
    EXPECT_NE(status.message().find("byte " + std::to_string(at) + " of"), std::string::npos)
        << status.message();
  }
}

TEST(Utf8, ACharacterCutIntoTwoValuesIsCorrupt) {
  // All bytes together are valid.
  EXPECT_FALSE(CheckBoth({"a\xc3", "\xa9z"}).ok());
  EXPECT_FALSE(CheckBoth({"\xf0\x9f", "", "\x98\x80"}).ok());
  EXPECT_FALSE(CheckBoth({"\xc3", nullptr}, "\xa9").ok());
}

TEST(Utf8, BytesOfNullsDoNotMatter) {
  EXPECT_TRUE(CheckBoth({"a", nullptr, "\u00e9"}, "\xff\xfe").ok());
  EXPECT_FALSE(CheckBoth({"a", nullptr, "\xff"}, "\xff\xfe").ok());
}

TEST(Utf8, AgreesWithArrowOnRandomBytes) {
  const std::vector<const char*> pieces = {"a",    "\u00e9",         "\u20ac",   "\U0001F600",
                                           "\xc3", "\xa9",           "\xe2\x82", "\xf0",
                                           "",     "long plain text"};
  std::mt19937 random(7);
  int good = 0;
  for (int round = 0; round < 2000; ++round) {
    arrow::StringBuilder builder;
    const unsigned last = round % 2 == 0 ? 4 : 10;  // half the rounds have good pieces only
    const unsigned count = random() % 9;
    for (unsigned i = 0; i < count; ++i) {
      std::string value;
      for (unsigned k = random() % 4; k > 0; --k) value += pieces[random() % last];
      ASSERT_TRUE((random() % 5 == 0 ? builder.AppendNull() : builder.Append(value)).ok());
    }
    const auto array = std::static_pointer_cast<arrow::StringArray>(builder.Finish().ValueOrDie());
    ASSERT_EQ(CheckUtf8(*array->data()).ok(), array->ValidateUTF8().ok());
    good += array->ValidateUTF8().ok() ? 1 : 0;
  }
  EXPECT_GT(good, 1000);
  EXPECT_LT(good, 1900);
}

}  // namespace
}  // namespace pennon::encoding
