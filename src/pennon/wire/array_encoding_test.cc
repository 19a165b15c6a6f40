#include "pennon/wire/array_encoding.h"

#include <string>

#include <gtest/gtest.h>

namespace pennon::wire {
namespace {

std::string Bytes(std::initializer_list<int> values) {
  std::string bytes;
  for (int v : values) bytes.push_back(static_cast<char>(v));
  return bytes;
}

// A nullable int32 page as the reference writer writes it.
const std::string kSomeNulls =
    Bytes({0x12, 0x14, 0x12, 0x12, 0x0a, 0x06, 0x0a, 0x04, 0x08, 0x01, 0x12,
           0x00, 0x12, 0x08, 0x0a, 0x06, 0x08, 0x20, 0x12, 0x02, 0x08, 0x01});

TEST(ArrayEncodingTest, ReadsTheReferenceBytes) {
  auto parsed = ParseArrayEncoding(kSomeNulls, "f");
  ASSERT_TRUE(parsed.ok()) << parsed.status();
  EXPECT_EQ(*parsed, MakeSomeNulls(MakeFlat(1, 0), MakeFlat(32, 1)));
  EXPECT_EQ(*SerializeArrayEncoding(*parsed), kSomeNulls);
}

TEST(ArrayEncodingTest, EveryKindComesBack) {
  ArrayEncoding zstd = MakeFlat(8, 1);
  zstd.scheme = "zstd";
  const ArrayEncoding binary = MakeBinary(MakeNoNulls(MakeFlat(64, 0)), zstd, 7);
  std::vector<ArrayEncoding> all = {
      binary,
      MakeAllNulls(),
      MakeNoNulls(MakeFixedSizeList(4, MakeNoNulls(MakeFlat(16, 0)))),
      {.kind = ArrayEncodingKind::kList,
       .null_adjustment = 6,
       .num_items = 5,
       .children = {MakeFlat(64, 0)}},
      {.kind = ArrayEncodingKind::kSimpleStruct},
      {.kind = ArrayEncodingKind::kDictionary,
       .num_items = 3,
       .children = {MakeFlat(8, 0), binary}},
      {.kind = ArrayEncodingKind::kFsst, .symbol_table = "table", .children = {binary}},
      {.kind = ArrayEncodingKind::kBitpacked,
       .bits = 16,
       .packed_bits = 9,
       .is_signed = true,
       .buffer = {3, 1}},
      {.kind = ArrayEncodingKind::kBitpackedForNonNeg,
       .bits = 32,
       .packed_bits = 7,
       .buffer = {2, 0}},
      {.kind = ArrayEncodingKind::kFixedSizeBinary, .byte_width = 3, .children = {MakeFlat(8, 0)}},
  };
  for (const ArrayEncoding& node : all) {
    auto parsed = ParseArrayEncoding(*SerializeArrayEncoding(node), "f");
    ASSERT_TRUE(parsed.ok()) << parsed.status() << ArrayEncodingName(node.kind);
    EXPECT_EQ(*parsed, node) << ArrayEncodingName(node.kind);
  }
}

TEST(ArrayEncodingTest, PackedStructNamesItsBuffer) {
  auto parsed = ParseArrayEncoding(Bytes({0x4a, 0x04, 0x12, 0x02, 0x08, 0x05}), "f");
  ASSERT_TRUE(parsed.ok());
  EXPECT_EQ(parsed->kind, ArrayEncodingKind::kPackedStruct);
  EXPECT_EQ(parsed->buffer.index, 5u);
  const ArrayEncoding written = MakePackedStruct({MakeFlat(16, 0), MakeFlat(8, 0)}, 5);
  const std::string bytes = *SerializeArrayEncoding(written);
  EXPECT_EQ(bytes, Bytes({0x4a, 0x14, 0x0a, 0x06, 0x0a, 0x04, 0x08, 0x10, 0x12, 0x00, 0x0a,
                          0x06, 0x0a, 0x04, 0x08, 0x08, 0x12, 0x00, 0x12, 0x02, 0x08, 0x05}));
  EXPECT_EQ(ParseArrayEncoding(bytes, "f")->buffer.index, 5u);
}

TEST(ArrayEncodingTest, KindsOfLaterVersionsAreNamed) {
  auto parsed = ParseArrayEncoding(Bytes({0x9a, 0x01, 0x02, 0x08, 0x08}), "f");
  ASSERT_TRUE(parsed.ok());
  EXPECT_EQ(ArrayEncodingName(parsed->kind), "Rle");
  EXPECT_TRUE(SerializeArrayEncoding(*parsed).status().IsNotImplemented());
}

TEST(ArrayEncodingTest, RefusesWhatLacksParts) {
  for (const std::string& bad :
       {std::string(), Bytes({0x12, 0x00}), Bytes({0x12, 0x02, 0x0a, 0x00}),
        Bytes({0x12, 0x04, 0x12, 0x02, 0x12, 0x00}),  // validity missing
        Bytes({0x1a, 0x02, 0x08, 0x04}),              // list without items
        Bytes({0x32, 0x02, 0x18, 0x04}), Bytes({0xba, 0x01, 0x00})}) {
    EXPECT_TRUE(ParseArrayEncoding(bad, "f").status().IsIOError());
  }
}

TEST(ArrayEncodingTest, RefusesEveryTruncationAndDeepNesting) {
  for (size_t n = 0; n < kSomeNulls.size(); ++n) {
    EXPECT_FALSE(ParseArrayEncoding(kSomeNulls.substr(0, n), "f").ok()) << n;
  }
  ArrayEncoding node = MakeFlat(8, 0);
  for (int i = 0; i < 30; ++i) node = MakeFixedSizeList(1, node);
  EXPECT_TRUE(ParseArrayEncoding(*SerializeArrayEncoding(node), "f").ok());
  for (int i = 0; i < 5; ++i) node = MakeFixedSizeList(1, node);
  EXPECT_TRUE(ParseArrayEncoding(*SerializeArrayEncoding(node), "f").status().IsIOError());
}

}  // namespace
}  // namespace pennon::wire
