#include "pennon/encoding/v20/page.h"

#include <cstring>
#include <random>
#include <string>
#include <vector>

#include <arrow/array/array_base.h>
#include <arrow/array/concatenate.h>
#include <arrow/array/util.h>
#include <arrow/compare.h>
#include <arrow/json/from_string.h>
#include <arrow/pretty_print.h>
#include <arrow/type.h>
#include <gtest/gtest.h>

#include "pennon/encoding/kernels/bitpacking.h"
#include "pennon/encoding/kernels/fsst.h"
#include "pennon/encoding/kernels/general.h"
#include "pennon/encoding/v20/page_writer.h"
#include "pennon/error.h"

namespace pennon::encoding {
namespace {

using wire::ArrayEncoding;
using wire::ArrayEncodingKind;
using wire::MakeAllNulls;
using wire::MakeBinary;
using wire::MakeFixedSizeList;
using wire::MakeFlat;
using wire::MakeNoNulls;
using wire::MakeSomeNulls;
using Bytes = std::vector<uint8_t>;

// A page in a file of its own, buffers at odd places.
struct TestPage {
  std::string encoding;
  uint64_t length = 0;
  std::vector<PageBuffer> buffers;
  Bytes file;

  TestPage(const ArrayEncoding& root, uint64_t length, const std::vector<Bytes>& parts)
      : encoding(*wire::SerializeArrayEncoding(root)), length(length) {
    for (const Bytes& part : parts) Add(part.data(), part.size());
  }
  explicit TestPage(const EncodedPage& page) : encoding(page.encoding), length(page.length) {
    for (const auto& buffer : page.buffers)
      Add(buffer->data(), static_cast<size_t>(buffer->size()));
  }
  void Add(const uint8_t* data, size_t size) {
    file.insert(file.end(), 3, 0xEE);
    buffers.push_back({.offset = file.size(), .size = size});
    file.insert(file.end(), data, data + size);
  }
};

// What a read gave, and what it cost.
struct Outcome {
  std::shared_ptr<arrow::Array> values;
  uint64_t bytes = 0;
  int steps = 0;
};

arrow::Result<Outcome> Read(const TestPage& page, const std::shared_ptr<arrow::DataType>& type,
                            const std::vector<PageRows>& rows, uint64_t slots) {
  ARROW_ASSIGN_OR_RAISE(LeafType leaf, LeafType::Make(*type));
  PageDescription description{.path = "f",
                              .column = "c",
                              .encoding = page.encoding,
                              .minor = 0,
                              .length = page.length,
                              .buffers = page.buffers};
  ARROW_ASSIGN_OR_RAISE(auto decoder, MakeV20Decoder(description, leaf));
  Outcome outcome;
  // Twice, since decoders may remember.
  for (int round = 0; round < 2; ++round) {
    outcome = {};
    ARROW_ASSIGN_OR_RAISE(auto out, ColumnOutput::Make(leaf, slots, arrow::default_memory_pool()));
    out->ZeroSlots(0, slots);
    ARROW_ASSIGN_OR_RAISE(auto read, decoder->Start(rows, out.get()));
    std::vector<std::unique_ptr<Bytes>> held;
    for (;;) {
      ARROW_ASSIGN_OR_RAISE(std::span<io::RangeRead> reads, read->Next());
      if (reads.empty()) break;
      ++outcome.steps;
      for (io::RangeRead& r : reads) {
        if (r.offset > page.file.size() || r.size > page.file.size() - r.offset) {
          return arrow::Status::UnknownError("decoder asked for bytes outside the file");
        }
        outcome.bytes += r.size;
        // A copy of exactly the bytes asked for, so that a sanitizer sees reads beyond them.
        held.push_back(
            std::make_unique<Bytes>(page.file.begin() + static_cast<ptrdiff_t>(r.offset),
                                    page.file.begin() + static_cast<ptrdiff_t>(r.offset + r.size)));
        if (r.into != nullptr && r.size != 0) std::memcpy(r.into, held.back()->data(), r.size);
        r.data = r.into != nullptr ? r.into : held.back()->data();
      }
    }
    ARROW_RETURN_NOT_OK(read->Decode());
    ARROW_ASSIGN_OR_RAISE(auto data, out->Finish(type));
    outcome.values = arrow::MakeArray(data);
    ARROW_RETURN_NOT_OK(outcome.values->ValidateFull());
  }
  return outcome;
}

std::shared_ptr<arrow::Array> Json(const std::shared_ptr<arrow::DataType>& type,
                                   const std::string& json) {
  return arrow::json::ArrayFromJSONString(type, json).ValueOrDie();
}

// Reads all rows of `page`, and then each pair of rows alone, and compares with `json`.
void ExpectValues(const TestPage& page, const std::shared_ptr<arrow::DataType>& type,
                  const std::string& json) {
  const auto expected = Json(type, json);
  auto all = Read(page, type, {{.first = 0, .count = page.length, .out = 0}}, page.length);
  ASSERT_TRUE(all.ok()) << all.status();
  EXPECT_TRUE(all->values->Equals(*expected)) << all->values->ToString();
  for (uint64_t a = 0; a < page.length; ++a) {
    for (uint64_t b = a + 1; b < page.length; ++b) {
      auto two = Read(page, type,
                      {{.first = a, .count = 1, .out = 1}, {.first = b, .count = 1, .out = 2}}, 3);
      ASSERT_TRUE(two.ok()) << two.status();
      EXPECT_TRUE(two->values->Slice(1, 1)->Equals(*expected->Slice(static_cast<int64_t>(a), 1)));
      EXPECT_TRUE(two->values->Slice(2, 1)->Equals(*expected->Slice(static_cast<int64_t>(b), 1)));
    }
  }
}

void ExpectCorrupt(const TestPage& page, const std::shared_ptr<arrow::DataType>& type) {
  auto all = Read(page, type, {{.first = 0, .count = page.length, .out = 0}}, page.length);
  ASSERT_FALSE(all.ok());
  const ErrorDetail* detail = GetErrorDetail(all.status());
  ASSERT_NE(detail, nullptr) << all.status();
  EXPECT_EQ(detail->kind(), ErrorKind::kCorrupt) << all.status();
}

template <typename T>
Bytes Raw(const std::vector<T>& values) {
  Bytes bytes(values.size() * sizeof(T));
  if (!bytes.empty()) std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}
Bytes U64(const std::vector<uint64_t>& values) { return Raw(values); }
Bytes Text(const std::string& text) { return {text.begin(), text.end()}; }
Bytes I32(int32_t n) {
  std::vector<int32_t> values;
  for (int32_t i = 0; i < n; ++i) values.push_back(i);
  return Raw(values);
}

// The pages that the Python reference of the format crafts.
TEST(V20PageTest, ReadsFlatPages) {
  const auto i32 = arrow::int32();
  ExpectValues({MakeNoNulls(MakeFlat(32, 0)), 5, {I32(5)}}, i32, "[0, 1, 2, 3, 4]");
  ExpectValues({MakeFlat(32, 0), 5, {I32(5)}}, i32, "[0, 1, 2, 3, 4]");
  ExpectValues({MakeSomeNulls(MakeFlat(1, 1), MakeFlat(32, 0)), 5, {I32(5), {0x1d}}}, i32,
               "[0, null, 2, 3, 4]");
  ExpectValues({MakeAllNulls(), 3, {}}, i32, "[null, null, null]");
  ExpectValues({MakeAllNulls(), 3, {}}, arrow::null(), "[null, null, null]");
  ExpectValues({MakeSomeNulls(MakeFlat(1, 0), MakeFlat(1, 1)), 4, {{0x0d}, {0x09}}},
               arrow::boolean(), "[true, null, false, true]");
  ExpectValues({MakeNoNulls(MakeFlat(40, 0)), 2, {Text("abcdefghij")}}, arrow::fixed_size_binary(5),
               R"(["abcde", "fghij"])");
}

TEST(V20PageTest, ReadsCompressedFlatPages) {
  const Bytes raw = I32(1000);
  for (const char* name : {"zstd", "lz4", "none"}) {
    ArrayEncoding flat = MakeFlat(32, 0);
    flat.scheme = name;
    Bytes packed;
    ASSERT_TRUE(Compress(*GeneralSchemeOf(std::string_view(name)), raw, 0, &packed).ok());
    const TestPage page(MakeNoNulls(flat), 1000, {packed});
    auto some = Read(page, arrow::int32(),
                     {{.first = 7, .count = 2, .out = 0}, {.first = 998, .count = 2, .out = 2}}, 4);
    ASSERT_TRUE(some.ok()) << some.status();
    EXPECT_TRUE(some->values->Equals(*Json(arrow::int32(), "[7, 8, 998, 999]")));
  }
  ArrayEncoding flat = MakeFlat(32, 0);
  flat.scheme = "zstd";
  Bytes packed;
  ASSERT_TRUE(Compress(GeneralScheme::kZstd, std::span(raw).first(3996), 0, &packed).ok());
  ExpectCorrupt({MakeNoNulls(flat), 1000, {packed}}, arrow::int32());
}

TEST(V20PageTest, ReadsBitpackedPages) {
  const auto packed = [](ArrayEncodingKind kind, uint64_t from, uint64_t to, bool is_signed) {
    return ArrayEncoding{.kind = kind, .bits = to, .packed_bits = from, .is_signed = is_signed};
  };
  ExpectValues(
      {MakeNoNulls(packed(ArrayEncodingKind::kBitpacked, 7, 8, false)), 3, {{0x80, 0x83, 0x03}}},
      arrow::uint8(), "[0, 7, 14]");
  ExpectValues(
      {packed(ArrayEncodingKind::kBitpacked, 9, 16, true), 4, {{0x01, 0xfc, 0xff, 0x03, 0x08}}},
      arrow::int16(), "[1, -2, 255, -256]");
  std::vector<uint32_t> values(2048);
  for (uint32_t i = 0; i < 1500; ++i) values[i] = i * 37 % 128;
  Bytes units(2 * PackedUnitBytes(7));
  Pack1024<uint32_t>(values.data(), 7, units.data());
  Pack1024<uint32_t>(values.data() + 1024, 7, units.data() + PackedUnitBytes(7));
  const TestPage page(MakeNoNulls(packed(ArrayEncodingKind::kBitpackedForNonNeg, 7, 32, false)),
                      1500, {units});
  auto some = Read(page, arrow::int32(),
                   {{.first = 3, .count = 1, .out = 0}, {.first = 1022, .count = 4, .out = 1}}, 5);
  ASSERT_TRUE(some.ok()) << some.status();
  EXPECT_TRUE(some->values->Equals(*Json(arrow::int32(), "[111, 54, 91, 0, 37]")));
  auto last = Read(page, arrow::int32(), {{.first = 1499, .count = 1, .out = 0}}, 1);
  EXPECT_EQ(last->bytes, PackedUnitBytes(7));
}

TEST(V20PageTest, ReadsFixedSizeLists) {
  const auto pairs = arrow::fixed_size_list(arrow::int16(), 2);
  const Bytes items = Raw(std::vector<int16_t>{1, 2, 0, 0, 3, 0});
  const auto tree = MakeSomeNulls(
      MakeFlat(1, 0), MakeFixedSizeList(2, MakeSomeNulls(MakeFlat(1, 1), MakeFlat(16, 2))));
  ExpectValues({tree, 3, {{0x05}, {0x13}, items}}, pairs, "[[1, 2], null, [3, null]]");
  ExpectValues({MakeFixedSizeList(2, MakeFlat(16, 0)), 3, {items}}, pairs,
               "[[1, 2], [0, 0], [3, 0]]");
  ExpectValues({MakeNoNulls(MakeFixedSizeList(2, MakeAllNulls())), 2, {}}, pairs,
               "[[null, null], [null, null]]");
  ExpectValues({MakeNoNulls(MakeFixedSizeList(3, MakeNoNulls(MakeFlat(1, 0)))), 3, {{0x6d, 0x01}}},
               arrow::fixed_size_list(arrow::boolean(), 3),
               "[[true, false, true], [true, false, true], [true, false, true]]");
  const auto nested = arrow::fixed_size_list(arrow::fixed_size_list(arrow::int8(), 2), 2);
  const auto deep = MakeNoNulls(MakeFixedSizeList(
      2, MakeSomeNulls(MakeFlat(1, 0),
                       MakeFixedSizeList(2, MakeSomeNulls(MakeFlat(1, 1), MakeFlat(8, 2))))));
  ExpectValues({deep, 2, {{0x0b}, {0xed}, {1, 0, 3, 4, 5, 6, 7, 8}}}, nested,
               "[[[1, null], [3, 4]], [null, [7, 8]]]");
}

TEST(V20PageTest, ReadsStrings) {
  const auto tree = MakeBinary(MakeNoNulls(MakeFlat(64, 0)), MakeFlat(8, 1), 6);
  for (const auto& type : {arrow::utf8(), arrow::large_utf8()}) {
    ExpectValues({tree, 4, {U64({2, 8, 2, 5}), Text("abcde")}}, type, R"(["ab", null, "", "cde"])");
  }
  ExpectValues({MakeBinary(MakeFlat(64, 0), MakeFlat(8, 1), 1), 2, {U64({1, 1}), {}}},
               arrow::binary(), "[null, null]");
  ExpectValues({MakeSomeNulls(MakeFlat(1, 0), MakeBinary(MakeFlat(64, 1), MakeFlat(8, 2), 6)),
                3,
                {{0x05}, U64({2, 2, 5}), Text("abcde")}},
               arrow::utf8(), R"(["ab", null, "cde"])");
  ExpectValues({MakeAllNulls(), 3, {}}, arrow::utf8(), "[null, null, null]");
  const ArrayEncoding fixed{
      .kind = ArrayEncodingKind::kFixedSizeBinary, .byte_width = 2, .children = {MakeFlat(8, 1)}};
  ExpectValues({MakeSomeNulls(MakeFlat(1, 0), fixed), 3, {{0x05}, Text("abxxcd")}}, arrow::utf8(),
               R"(["ab", null, "cd"])");
}

TEST(V20PageTest, ReadsCompressedStrings) {
  for (const char* name : {"zstd", "lz4"}) {
    ArrayEncoding bytes = MakeFlat(8, 1);
    bytes.scheme = name;
    Bytes packed;
    ASSERT_TRUE(
        Compress(*GeneralSchemeOf(std::string_view(name)), Text("aaaabb"), 0, &packed).ok());
    const TestPage page(MakeBinary(MakeFlat(64, 0), bytes, 7), 3, {U64({4, 11, 6}), packed});
    ExpectValues(page, arrow::utf8(), R"(["aaaa", null, "bb"])");
    ExpectCorrupt({MakeBinary(MakeFlat(64, 0), bytes, 6), 2, {U64({4, 5}), packed}}, arrow::utf8());
  }
}

Bytes HelloTable() {
  Bytes table(FsstTable::kBytes);
  table[0] = 2;
  table[3] = 1;
  std::memcpy(table.data() + 4, "TSSF", 4);
  std::memcpy(table.data() + 8, "hello\0\0\0 w", 10);
  table[24] = 5;
  table[25] = 2;
  return table;
}

TEST(V20PageTest, ReadsFsstStrings) {
  const Bytes table = HelloTable();
  const ArrayEncoding fsst{
      .kind = ArrayEncodingKind::kFsst,
      .symbol_table = std::string(table.begin(), table.end()),
      .children = {MakeBinary(MakeNoNulls(MakeFlat(64, 0)), MakeFlat(8, 1), 7)}};
  const Bytes coded = {0, 1, 255, 'o', 255, '!'};
  ExpectValues({fsst, 3, {U64({4, 11, 6}), coded}}, arrow::utf8(), R"(["hello wo", null, "!"])");
  ExpectValues({fsst, 3, {U64({4, 11, 6}), coded}}, arrow::large_binary(),
               R"(["hello wo", null, "!"])");
  ExpectCorrupt({fsst, 2, {U64({3, 6}), coded}}, arrow::utf8());  // an escape cut in two
  ExpectCorrupt({fsst, 2, {U64({4, 6}), {0, 7, 255, 'o', 255, '!'}}}, arrow::utf8());
  // Many values: more than one decoding step.
  std::vector<uint64_t> ends;
  Bytes many;
  for (uint64_t i = 0; i < 3000; ++i) {
    many.insert(many.end(), i % 3, 0);
    ends.push_back(many.size());
  }
  ArrayEncoding large = fsst;
  large.children[0].null_adjustment = many.size() + 1;
  const TestPage page(large, 3000, {U64(ends), many});
  auto all = Read(page, arrow::utf8(), {{.first = 0, .count = 3000, .out = 0}}, 3000);
  ASSERT_TRUE(all.ok()) << all.status();
  EXPECT_TRUE(all->values->Slice(2996, 4)->Equals(
      *Json(arrow::utf8(), R"(["hellohello", "", "hello", "hellohello"])")));
}

ArrayEncoding Dictionary(uint64_t num_items, uint64_t adjustment) {
  return {.kind = ArrayEncodingKind::kDictionary,
          .num_items = num_items,
          .children = {MakeNoNulls(MakeFlat(8, 0)),
                       MakeBinary(MakeNoNulls(MakeFlat(64, 1)), MakeFlat(8, 2), adjustment)}};
}

TEST(V20PageTest, ReadsDictionariesOfStrings) {
  ExpectValues({Dictionary(2, 4), 4, {{2, 0, 1, 2}, U64({1, 3}), Text("abb")}}, arrow::utf8(),
               R"(["bb", null, "a", "bb"])");
  ExpectValues({Dictionary(1, 1), 2, {{0, 1}, U64({1}), {}}}, arrow::utf8(), "[null, null]");
  ExpectCorrupt({Dictionary(2, 4), 1, {{3}, U64({1, 3}), Text("abb")}}, arrow::utf8());
  ExpectCorrupt({Dictionary(2, 4), 1, {{1}, U64({2, 1}), Text("abb")}}, arrow::utf8());
  ExpectCorrupt({Dictionary(2, 5), 1, {{1}, U64({1, 4}), Text("abb")}}, arrow::utf8());
  ExpectCorrupt({Dictionary(uint64_t{1} << 60, 4), 1, {{1}, U64({1, 3}), Text("abb")}},
                arrow::utf8());
  const TestPage page(Dictionary(2, 4), 4, {{2, 0, 1, 2}, U64({1, 3}), Text("abb")});
  EXPECT_TRUE(Read(page, arrow::binary(), {{.first = 0, .count = 4, .out = 0}}, 4)
                  .status()
                  .IsNotImplemented());
}

TEST(V20PageTest, ReadsOnlyTheBytesOfItsRows) {
  const TestPage page(MakeSomeNulls(MakeFlat(1, 0), MakeFlat(32, 1)), 1000,
                      {Bytes(125, 0xFF), I32(1000)});
  auto one = Read(page, arrow::int32(), {{.first = 500, .count = 3, .out = 0}}, 3);
  ASSERT_TRUE(one.ok());
  EXPECT_EQ(one->bytes, 1u + 12u);
  EXPECT_EQ(one->steps, 1);

  Bytes text(100000, 'x');
  std::vector<uint64_t> ends;
  for (uint64_t i = 0; i < 1000; ++i) ends.push_back((i + 1) * 100);
  const TestPage strings(MakeBinary(MakeFlat(64, 0), MakeFlat(8, 1), 100001), 1000,
                         {U64(ends), text});
  auto few = Read(strings, arrow::utf8(),
                  {{.first = 0, .count = 2, .out = 0}, {.first = 500, .count = 1, .out = 2}}, 3);
  ASSERT_TRUE(few.ok());
  EXPECT_EQ(few->bytes, 2 * 8u + 2 * 8u + 300u);
  EXPECT_EQ(few->steps, 2);
  auto all = Read(strings, arrow::utf8(), {{.first = 0, .count = 1000, .out = 0}}, 1000);
  EXPECT_EQ(all->bytes, 108000u);
  EXPECT_EQ(all->steps, 1);
}

TEST(V20PageTest, RefusesBuffersThatCannotHoldTheirValues) {
  ExpectCorrupt({MakeNoNulls(MakeFlat(32, 0)), 6, {I32(5)}}, arrow::int32());
  ExpectCorrupt({MakeSomeNulls(MakeFlat(1, 1), MakeFlat(32, 0)), 9, {I32(9), {0xFF}}},
                arrow::int32());
  ExpectCorrupt({MakeNoNulls(MakeFlat(64, 0)), 2, {I32(5)}},
                arrow::int32());  // another width than the type
  ExpectCorrupt({MakeNoNulls(MakeFlat(32, 1)), 5, {I32(5)}}, arrow::int32());  // no such buffer
  ExpectCorrupt({MakeFixedSizeList(3, MakeFlat(32, 0)), 1, {I32(5)}},
                arrow::fixed_size_list(arrow::int32(), 2));
  const auto tree = MakeBinary(MakeFlat(64, 0), MakeFlat(8, 1), 6);
  ExpectCorrupt({tree, 3, {U64({2, 1, 5}), Text("abcde")}}, arrow::utf8());
  ExpectCorrupt({tree, 2, {U64({2, 11}), Text("abcd")}}, arrow::utf8());
  ExpectCorrupt({tree, 2, {U64({2, UINT64_MAX}), Text("abcde")}}, arrow::utf8());
  ExpectCorrupt({tree, 3, {U64({2, 3}), Text("abcde")}}, arrow::utf8());
  ExpectCorrupt({MakeBinary(MakeFlat(64, 0), MakeFlat(8, 1), 0), 1, {U64({2}), Text("abcde")}},
                arrow::utf8());
  ExpectCorrupt({MakeFlat(8, 0), 1, {{1}}}, arrow::null());
}

TEST(V20PageTest, RefusesImpossibleCounts) {
  PageDescription page{.path = "f", .column = "c", .minor = 0, .length = UINT64_MAX};
  const std::string flat = *wire::SerializeArrayEncoding(MakeFlat(32, 0));
  const std::string list = *wire::SerializeArrayEncoding(MakeFixedSizeList(2, MakeFlat(32, 0)));
  page.buffers = {{.offset = 0, .size = 100}};
  page.encoding = flat;
  EXPECT_TRUE(MakeV20Decoder(page, *LeafType::Make(*arrow::int32())).status().IsIOError());
  page.encoding = list;
  EXPECT_TRUE(MakeV20Decoder(page, *LeafType::Make(*arrow::fixed_size_list(arrow::int32(), 2)))
                  .status()
                  .IsIOError());
}

TEST(V20PageTest, NamesWhatItDoesNotRead) {
  PageDescription page{.path = "f", .column = "c", .minor = 0, .length = 1};
  const std::string list = *wire::SerializeArrayEncoding(
      {.kind = ArrayEncodingKind::kList, .null_adjustment = 1, .children = {MakeFlat(64, 0)}});
  page.encoding = list;
  const auto status = MakeV20Decoder(page, *LeafType::Make(*arrow::int32())).status();
  EXPECT_TRUE(status.IsNotImplemented());
  EXPECT_NE(status.message().find("List"), std::string::npos) << status;
  ArrayEncoding column = MakeFlat(32, 0);
  column.buffer.collection = 1;
  const std::string outside = *wire::SerializeArrayEncoding(column);
  page.encoding = outside;
  EXPECT_TRUE(MakeV20Decoder(page, *LeafType::Make(*arrow::int32())).status().IsNotImplemented());
}

// What the writer writes comes back, whole and in random runs, from sliced arrays too.
class RoundTripTest
    : public testing::TestWithParam<std::pair<std::shared_ptr<arrow::DataType>, std::string>> {};

TEST_P(RoundTripTest, AnyRowsOfWrittenPagesComeBack) {
  const auto& [type, json] = GetParam();
  const auto piece = Json(type, json);
  const auto values = arrow::Concatenate({piece, piece, piece}).ValueOrDie()->Slice(1);
  const LeafType leaf = *LeafType::Make(*type);
  auto taken = LeafValues::Make(leaf, *values->data(), arrow::default_memory_pool());
  ASSERT_TRUE(taken.ok()) << taken.status();
  auto encoded = EncodeV20Page(*taken, {}, arrow::default_memory_pool());
  ASSERT_TRUE(encoded.ok()) << encoded.status();
  const TestPage page(*encoded);
  const auto n = static_cast<uint64_t>(values->length());
  std::mt19937 random(7);
  for (int round = 0; round < 50; ++round) {
    std::vector<PageRows> rows;
    uint64_t slot = round % 3;
    for (uint64_t at = 0; at < n;) {
      const uint64_t first = round == 0 ? 0 : at + random() % 3;
      if (first >= n) break;
      const uint64_t count = round == 0 ? n : 1 + random() % (n - first);
      rows.push_back({.first = first, .count = count, .out = slot});
      slot += count + random() % 2;
      at = first + count;
    }
    if (rows.empty()) continue;
    auto some = Read(page, type, rows, slot);
    ASSERT_TRUE(some.ok()) << some.status();
    for (const PageRows& r : rows) {
      EXPECT_TRUE(some->values->Slice(static_cast<int64_t>(r.out), static_cast<int64_t>(r.count))
                      ->Equals(*values->Slice(static_cast<int64_t>(r.first),
                                              static_cast<int64_t>(r.count))));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    Types, RoundTripTest,
    testing::Values(
        std::pair(arrow::int32(), "[1, null, 3, 4, null]"),
        std::pair(arrow::int64(), "[1, 2, 3, 4, 5]"),
        std::pair(arrow::boolean(), "[true, null, false, true, true, false, null]"),
        std::pair(arrow::float64(), "[null, null]"), std::pair(arrow::null(), "[null, null]"),
        std::pair(arrow::decimal128(10, 2), R"(["1.25", null, "-3.50"])"),
        std::pair(arrow::fixed_size_binary(3), R"(["abc", "def", null])"),
        std::pair(arrow::fixed_size_list(arrow::int16(), 2), "[[1, 2], null, [3, null]]"),
        std::pair(arrow::fixed_size_list(arrow::boolean(), 3), "[[true, null, false], null]"),
        std::pair(arrow::fixed_size_list(arrow::fixed_size_list(arrow::int8(), 2), 2),
                  "[[[1, 2], null], null, [[null, 4], [5, 6]]]"),
        std::pair(arrow::utf8(), R"(["ab", null, "", "cde"])"),
        std::pair(arrow::large_utf8(), R"(["ab", "x", "", "cde"])"),
        std::pair(arrow::binary(), R"([null, null])"), std::pair(arrow::utf8(), R"(["", ""])")));

}  // namespace
}  // namespace pennon::encoding
