// Pages of nested columns, byte by byte: docs/format-notes.md, "Levels" and the page layouts.

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include <arrow/array/array_base.h>
#include <arrow/array/array_nested.h>
#include <arrow/array/util.h>
#include <arrow/compare.h>
#include <arrow/json/from_string.h>
#include <arrow/type.h>
#include <gtest/gtest.h>

#include "pennon/encoding/constant/constant.h"
#include "pennon/encoding/full_zip/full_zip.h"
#include "pennon/encoding/mini_block/mini_block.h"
#include "pennon/error.h"

namespace pennon::encoding {
namespace {

using wire::CompressionKind;
using wire::CompressiveEncoding;
using wire::LayerKind;
using Bytes = std::vector<uint8_t>;
using Levels = std::vector<uint16_t>;

constexpr LayerKind kItem = LayerKind::kNullableItem;
constexpr LayerKind kList = LayerKind::kNullAndEmptyList;

CompressiveEncoding Flat(uint64_t bits) { return {.kind = CompressionKind::kFlat, .bits = bits}; }

CompressiveEncoding Wrap(CompressionKind kind, std::vector<CompressiveEncoding> children,
                         uint64_t bits = 0) {
  CompressiveEncoding out{.kind = kind, .bits = bits};
  out.children = std::move(children);
  return out;
}

CompressiveEncoding Variable() { return Wrap(CompressionKind::kVariable, {Flat(32)}); }

template <typename T>
Bytes BytesOf(const std::vector<T>& values) {
  Bytes out(values.size() * sizeof(T));
  if (!out.empty()) std::memcpy(out.data(), values.data(), out.size());
  return out;
}

// A page in a file of its own, buffers at odd places.
struct TestPage {
  std::shared_ptr<arrow::DataType> type = arrow::int32();
  uint16_t minor = 1;
  uint64_t length = 0;
  std::vector<Bytes> buffers;

  arrow::Result<std::shared_ptr<const PageDecoder>> Open(const auto& layout, Bytes* file) const {
    ARROW_ASSIGN_OR_RAISE(const LeafType leaf, LeafType::Make(*type));
    PageDescription page{.path = "f", .column = "c", .minor = minor, .length = length};
    for (const Bytes& buffer : buffers) {
      file->insert(file->end(), 3, 0xEE);
      page.buffers.push_back({.offset = file->size(), .size = buffer.size()});
      file->insert(file->end(), buffer.begin(), buffer.end());
    }
    using Layout = std::decay_t<decltype(layout)>;
    if constexpr (std::is_same_v<Layout, wire::MiniBlockLayout>) {
      return MakeMiniBlockDecoder(page, layout, leaf);
    } else if constexpr (std::is_same_v<Layout, wire::FullZipLayout>) {
      return MakeFullZipDecoder(page, layout, leaf);
    } else {
      return MakeConstantDecoder(page, layout, leaf);
    }
  }
};

struct Outcome {
  PageLevels levels;
  std::shared_ptr<arrow::Array> values;
  int steps = 0;
};

// Reads rows [first, first + count) and the rows of each further pair, as one read.
using Rows = std::vector<std::pair<uint64_t, uint64_t>>;

arrow::Result<Outcome> Read(const TestPage& page, const auto& layout, const Rows& wanted) {
  Bytes file;
  ARROW_ASSIGN_OR_RAISE(const auto decoder, page.Open(layout, &file));
  std::vector<PageRows> rows;
  for (const auto& [first, count] : wanted) rows.push_back({.first = first, .count = count});
  Outcome outcome;
  // Twice, since decoders may remember.
  for (int round = 0; round < 2; ++round) {
    outcome = {};
    ARROW_ASSIGN_OR_RAISE(const auto read, decoder->StartNested(rows));
    std::vector<Bytes> held;  // bytes that are given for one round only
    while (true) {
      ARROW_ASSIGN_OR_RAISE(const std::span<io::RangeRead> reads, read->Next());
      if (reads.empty()) break;
      ++outcome.steps;
      for (io::RangeRead& range : reads) {
        if (range.offset + range.size > file.size()) return arrow::Status::IOError("outside");
        const auto at = file.begin() + static_cast<int64_t>(range.offset);
        held.emplace_back(at, at + static_cast<int64_t>(range.size));
        range.data = held.back().data();
      }
    }
    ARROW_ASSIGN_OR_RAISE(outcome.levels, read->ReadLevels());
    // One slot before the values and one behind them.
    const uint64_t slots = outcome.levels.values + 2;
    ARROW_ASSIGN_OR_RAISE(const LeafType leaf, LeafType::Make(*page.type));
    ARROW_ASSIGN_OR_RAISE(auto out, ColumnOutput::Make(leaf, slots, arrow::default_memory_pool()));
    out->ZeroSlots(0, slots);
    ARROW_RETURN_NOT_OK(read->ReadValues(1, out.get()));
    ARROW_ASSIGN_OR_RAISE(const auto data, out->Finish(page.type));
    outcome.values = arrow::MakeArray(data)->Slice(1, static_cast<int64_t>(slots) - 2);
  }
  return outcome;
}

void Expect(const arrow::Result<Outcome>& outcome, const Levels& rep, const Levels& def,
            uint64_t entries, const std::shared_ptr<arrow::DataType>& type,
            const std::string& json) {
  ASSERT_TRUE(outcome.ok()) << outcome.status().ToString();
  EXPECT_EQ(outcome->levels.repetition, rep);
  EXPECT_EQ(outcome->levels.definition, def);
  EXPECT_EQ(outcome->levels.entries, entries);
  const auto expected = *arrow::json::ArrayFromJSONString(type, json);
  EXPECT_EQ(outcome->levels.values, static_cast<uint64_t>(expected->length()));
  EXPECT_TRUE(outcome->values->Equals(*expected)) << outcome->values->ToString();
}

ErrorKind KindOf(const arrow::Status& status) {
  const ErrorDetail* const detail = GetErrorDetail(status);
  return detail == nullptr ? ErrorKind::kIo : detail->kind();
}

void ExpectCorrupt(const arrow::Result<Outcome>& outcome, std::string_view text) {
  ASSERT_FALSE(outcome.ok());
  EXPECT_EQ(KindOf(outcome.status()), ErrorKind::kCorrupt) << outcome.status().ToString();
  EXPECT_NE(outcome.status().ToString().find(text), std::string::npos)
      << outcome.status().ToString();
}

// ---- mini-block ----

// A chunk: header, then every buffer padded to 8 bytes.
Bytes Chunk(uint16_t levels, const std::vector<Bytes>& level_buffers,
            const std::vector<Bytes>& value_buffers, uint16_t minor) {
  Bytes out = BytesOf<uint16_t>({levels});
  const auto size = [&](const Bytes& buffer, size_t width) {
    const auto bytes = static_cast<uint32_t>(buffer.size());
    const auto* from = reinterpret_cast<const uint8_t*>(&bytes);
    out.insert(out.end(), from, from + width);
  };
  for (const Bytes& buffer : level_buffers) size(buffer, 2);
  for (const Bytes& buffer : value_buffers) size(buffer, minor >= 2 ? 4 : 2);
  const auto add = [&](const Bytes& buffer) {
    out.resize((out.size() + 7) / 8 * 8, 0xFE);
    out.insert(out.end(), buffer.begin(), buffer.end());
  };
  for (const Bytes& buffer : level_buffers) add(buffer);
  for (const Bytes& buffer : value_buffers) add(buffer);
  out.resize((out.size() + 7) / 8 * 8, 0xFE);
  return out;
}

// Puts chunks of 2^log values (the last one: the rest) and their words into a page.
void PutChunks(const std::vector<std::pair<Bytes, int>>& chunks, TestPage* page) {
  Bytes words, bytes;
  for (const auto& [chunk, log] : chunks) {
    const auto word =
        static_cast<uint32_t>((chunk.size() / 8 - 1) << 4 | static_cast<uint32_t>(log));
    const auto* from = reinterpret_cast<const uint8_t*>(&word);
    words.insert(words.end(), from, from + (page->minor >= 2 ? 4 : 2));
    bytes.insert(bytes.end(), chunk.begin(), chunk.end());
  }
  page->buffers = {words, bytes};
}

wire::MiniBlockLayout MiniBlock(std::vector<LayerKind> layers, uint64_t values, uint16_t minor) {
  wire::MiniBlockLayout layout;
  layout.layers = std::move(layers);
  layout.values = Flat(32);
  layout.num_buffers = 1;
  layout.num_items = values;
  layout.has_large_chunk = minor >= 2;
  for (const LayerKind layer : layout.layers) {
    if (wire::IsListLayer(layer)) {
      layout.repetition = Flat(16);
      layout.repetition_index_depth = 1;
    }
    if (wire::DefinitionLevels(layer) > 0) layout.definition = Flat(16);
  }
  return layout;
}

// [1,2]  []  null  [null,3] of list<int32>, 2.1, as the file has it.
TestPage ListExample() {
  TestPage page{.length = 4};
  page.buffers = {
      {0x60, 0x00},
      {0x06, 0, 0x0C, 0, 0x0C, 0, 0x10, 0,                                      // header
       1,    0, 0,    0, 1,    0, 1,    0, 1, 0, 0, 0, 0xFE, 0xFE, 0xFE, 0xFE,  // repetition
       0,    0, 0,    0, 3,    0, 2,    0, 1, 0, 0, 0, 0xFE, 0xFE, 0xFE, 0xFE,  // definition
       1,    0, 0,    0, 2,    0, 0,    0, 0, 0, 0, 0, 3,    0,    0,    0},    // values
      BytesOf<uint64_t>({4, 0}),
  };
  return page;
}

TEST(NestedMiniBlockTest, ReadsTheListExample) {
  const TestPage page = ListExample();
  const auto layout = MiniBlock({kItem, kList}, 4, 1);
  Expect(Read(page, layout, {{0, 4}}), {1, 0, 1, 1, 1, 0}, {0, 0, 3, 2, 1, 0}, 6, page.type,
         "[1, 2, 0, 3]");
  Expect(Read(page, layout, {{0, 1}}), {1, 0}, {}, 2, page.type, "[1, 2]");
  Expect(Read(page, layout, {{1, 1}}), {1}, {3}, 1, page.type, "[]");
  Expect(Read(page, layout, {{1, 1}, {3, 1}}), {1, 1, 0}, {3, 1, 0}, 3, page.type, "[0, 3]");
}

TEST(NestedMiniBlockTest, ReadsStructsWithoutLists) {
  // Child k of {[7,8],1} null {null,null} {[],4} {[null],5}: no repetition, an entry a row.
  TestPage page{.minor = 2, .length = 5};
  PutChunks(
      {{Chunk(5, {BytesOf<uint16_t>({0, 2, 1, 0, 0})}, {BytesOf<int32_t>({1, 0, 0, 4, 5})}, 2), 0}},
      &page);
  const auto layout = MiniBlock({kItem, kItem}, 5, 2);
  Expect(Read(page, layout, {{0, 5}}), {}, {0, 2, 1, 0, 0}, 5, page.type, "[1, 0, 0, 4, 5]");
  Expect(Read(page, layout, {{1, 2}, {4, 1}}), {}, {2, 1, 0}, 3, page.type, "[0, 0, 5]");
  Expect(Read(page, layout, {{3, 2}}), {}, {}, 2, page.type, "[4, 5]");
  auto outcome = Read(page, MiniBlock({kItem, LayerKind::kAllValidItem}, 5, 2), {{0, 5}});
  ExpectCorrupt(outcome, "definition, expected at most 1, found 2");
}

// list<list<int32>>, layers [1, 6, 6], rows [[1],[]] [] null [[2,3],null] and more, cut so that
// chunks start inside rows, hold nothing of a new row, and end with one.
//   row 4 = [[4,5,6,7],[8]] over three chunks, row 5 = [[9]]
struct Nested {
  TestPage page{.minor = 2, .length = 6};
  wire::MiniBlockLayout layout = MiniBlock({LayerKind::kAllValidItem, kList, kList}, 9, 2);
};

Nested MakeNested() {
  Nested out;
  const auto chunk = [](const Levels& rep, const Levels& def, const std::vector<int32_t>& values) {
    return Chunk(static_cast<uint16_t>(rep.size()), {BytesOf(rep), BytesOf(def)}, {BytesOf(values)},
                 2);
  };
  PutChunks({{chunk({2, 1, 2, 2, 2}, {0, 2, 4, 3, 0}, {1, 2}), 1},
             {chunk({0, 1, 2}, {0, 1, 0}, {3, 4}), 1},
             {chunk({0, 0}, {0, 0}, {5, 6}), 1},
             {chunk({0, 1, 2}, {0, 0, 0}, {7, 8, 9}), 0}},
            &out.page);
  // Row 3 goes on in chunk 1, row 4 in chunks 2 and 3.
  out.page.buffers.push_back(BytesOf<uint64_t>({3, 1, 1, 1, 0, 3, 2, 0}));
  return out;
}

TEST(NestedMiniBlockTest, FollowsRowsAcrossChunks) {
  const auto [page, layout] = MakeNested();
  const Levels rep = {2, 1, 2, 2, 2, 0, 1, 2, 0, 0, 0, 1, 2};
  const Levels def = {0, 2, 4, 3, 0, 0, 1, 0, 0, 0, 0, 0, 0};
  const std::vector<size_t> starts = {0, 2, 3, 4, 7, 12, 13};
  const std::vector<size_t> values = {0, 1, 1, 1, 3, 8, 9};
  for (size_t first = 0; first < 6; ++first) {
    for (size_t end = first + 1; end <= 6; ++end) {
      SCOPED_TRACE(std::to_string(first) + " to " + std::to_string(end));
      const Levels want_rep(rep.begin() + static_cast<int64_t>(starts[first]),
                            rep.begin() + static_cast<int64_t>(starts[end]));
      Levels want_def(def.begin() + static_cast<int64_t>(starts[first]),
                      def.begin() + static_cast<int64_t>(starts[end]));
      if (std::count(want_def.begin(), want_def.end(), 0) ==
          static_cast<int64_t>(want_def.size())) {
        want_def.clear();
      }
      std::string json = "[";
      for (size_t i = values[first]; i < values[end]; ++i)
        json += (i > values[first] ? "," : "") + std::to_string(i + 1);
      Expect(Read(page, layout, {{first, end - first}}), want_rep, want_def, want_rep.size(),
             page.type, json + "]");
    }
  }
  Expect(Read(page, layout, {{0, 1}, {3, 1}, {5, 1}}), {2, 1, 2, 0, 1, 2}, {0, 2, 0, 0, 1, 0}, 6,
         page.type, "[1, 2, 3, 9]");
}

TEST(NestedMiniBlockTest, ReadsEveryLevelEncoding) {
  // 20 rows of two items each, all valid but the last.
  Levels rep, def(40, 0);
  std::vector<int32_t> values;
  for (int i = 0; i < 40; ++i) {
    rep.push_back(i % 2 == 0 ? 1 : 0);
    values.push_back(i);
  }
  Bytes rle = BytesOf<uint64_t>({80});
  for (const uint8_t byte : BytesOf(rep)) rle.push_back(byte);
  rle.insert(rle.end(), 40, 1);
  const auto zero = Wrap(CompressionKind::kOutOfLineBitpacking, {Flat(0)}, 16);
  const auto runs = Wrap(CompressionKind::kRle, {Flat(16), Flat(8)});
  TestPage page{.minor = 2, .length = 20};
  auto layout = MiniBlock({kItem, kList}, 40, 2);
  layout.repetition = runs;
  layout.definition = zero;
  PutChunks({{Chunk(40, {rle, {}}, {BytesOf(values)}, 2), 0}}, &page);
  page.buffers.push_back(BytesOf<uint64_t>({20, 0}));
  Expect(Read(page, layout, {{1, 2}}), {1, 0, 1, 0}, {}, 4, page.type, "[2, 3, 4, 5]");

  // A word of width 1, then one unit whose first 64 words of 16 bits hold bit 0 of each value.
  Bytes packed = {1, 0};
  packed.resize(2 + 128, 0);
  packed[2 + 2 * 39] = 1;  // value 39 is row 0 of lane 39
  layout.definition = Wrap(CompressionKind::kInlineBitpacking, {}, 16);
  PutChunks({{Chunk(40, {rle, packed}, {BytesOf(values)}, 2), 0}}, &page);
  page.buffers.push_back(BytesOf<uint64_t>({20, 0}));
  Expect(Read(page, layout, {{18, 2}}), {1, 0, 1, 0}, {0, 0, 0, 1}, 4, page.type,
         "[36, 37, 38, 39]");
}

TEST(NestedMiniBlockTest, RefusesWrongPages) {
  const auto layout = MiniBlock({kItem, kList}, 4, 1);
  const auto with = [&](size_t buffer, size_t at, uint8_t byte) {
    TestPage page = ListExample();
    page.buffers[buffer][at] = byte;
    return Read(page, layout, {{0, 4}});
  };
  ExpectCorrupt(with(2, 0, 5), "more rows than the page");
  ExpectCorrupt(with(2, 0, 3), "does not add up");
  ExpectCorrupt(with(2, 8, 1), "one without end");
  ExpectCorrupt(with(2, 7, 0x80), "more rows than the page");
  ExpectCorrupt(with(1, 0, 7), "wrong size");
  ExpectCorrupt(with(1, 2, 0xFF), "longer than the chunk");
  ExpectCorrupt(with(1, 8, 2), "repetition, expected at most 1, found 2");
  ExpectCorrupt(with(1, 8, 0), "rows begin in a chunk");
  ExpectCorrupt(with(1, 24, 4), "definition, expected at most 3, found 4");
  ExpectCorrupt(with(1, 24, 2), "another number of values");
  TestPage page = ListExample();
  page.buffers[2] = BytesOf<uint64_t>({4, 0, 0, 0});
  ExpectCorrupt(Read(page, layout, {{0, 4}}), "repetition index has the wrong size");
  page.buffers.pop_back();
  ExpectCorrupt(Read(page, layout, {{0, 4}}), "wrong number of buffers");
  auto bare = layout;
  bare.repetition.reset();
  ExpectCorrupt(Read(page, bare, {{0, 4}}), "must have repetition levels");

  // Sums that wrap: 2^64 - 1 rows and then 5 more.
  Nested nested = MakeNested();
  nested.page.buffers[2] = BytesOf<uint64_t>({UINT64_MAX, 0, 5, 0, 1, 0, 1, 0});
  ExpectCorrupt(Read(nested.page, nested.layout, {{0, 6}}), "more rows than the page");
  // A row that goes on, though the next chunk starts with a new one.
  nested.page.buffers[2] = BytesOf<uint64_t>({3, 1, 1, 0, 1, 1, 1, 0});
  ExpectCorrupt(Read(nested.page, nested.layout, {{0, 6}}), "");
  // Row 4 is said to end nowhere.
  nested.page.buffers[2] = BytesOf<uint64_t>({3, 1, 0, 0, 1, 3, 2, 0});
  ExpectCorrupt(Read(nested.page, nested.layout, {{0, 6}}), "loses a row");
}

TEST(NestedMiniBlockTest, RefusesAFlatReadOfANestedPage) {
  Bytes file;
  const TestPage page = ListExample();
  const auto decoder = page.Open(MiniBlock({kItem, kList}, 4, 1), &file).ValueOrDie();
  EXPECT_EQ(std::vector(decoder->layers().begin(), decoder->layers().end()),
            (std::vector{kItem, kList}));
  const std::vector<PageRows> rows = {{.first = 0, .count = 4, .out = 0}};
  EXPECT_EQ(KindOf(decoder->Start(rows, nullptr).status()), ErrorKind::kCorrupt);
}

// ---- full-zip ----

wire::FullZipLayout FullZip(std::vector<LayerKind> layers, uint64_t bits_rep, uint64_t bits_def) {
  wire::FullZipLayout layout;
  layout.layers = std::move(layers);
  layout.bits_rep = bits_rep;
  layout.bits_def = bits_def;
  layout.bits = 32;
  layout.values = Flat(32);
  return layout;
}

// The list example as full-zip, with a one-byte control word.
TestPage ZippedList() {
  TestPage page{.minor = 2, .length = 4};
  page.buffers = {{4, 1, 0, 0, 0, 0, 2, 0, 0, 0, 7, 6, 5, 0, 0, 0, 0, 0, 3, 0, 0, 0},
                  {0x00, 0x0A, 0x0B, 0x0C, 0x16}};
  return page;
}

TEST(NestedFullZipTest, ReadsTheListExample) {
  const TestPage page = ZippedList();
  const auto layout = FullZip({kItem, kList}, 1, 2);
  const auto all = Read(page, layout, {{0, 4}});
  Expect(all, {1, 0, 1, 1, 1, 0}, {0, 0, 3, 2, 1, 0}, 6, page.type, "[1, 2, 0, 3]");
  EXPECT_EQ(all->steps, 1);
  const auto some = Read(page, layout, {{0, 2}, {3, 1}});
  Expect(some, {1, 0, 1, 1, 0}, {0, 0, 3, 1, 0}, 5, page.type, "[1, 2, 0, 3]");
  EXPECT_EQ(some->steps, 2);
  Expect(Read(page, layout, {{2, 1}}), {1}, {2}, 1, page.type, "[]");
}

TEST(NestedFullZipTest, ReadsWideControlWordsAndIndexes) {
  // Nine bits of levels: two bytes; an index of 8-byte words.
  TestPage page{.minor = 2, .length = 2};
  page.buffers = {{0x00, 0x01, 7, 0, 0, 0, 0x03, 0x01}, BytesOf<uint64_t>({0, 6, 8})};
  Expect(Read(page, FullZip({kItem, kList}, 1, 8), {{0, 2}}), {1, 1}, {0, 3}, 2, page.type, "[7]");
  Expect(Read(page, FullZip({kItem, kList}, 1, 8), {{1, 1}}), {1}, {3}, 1, page.type, "[]");
  // Seventeen bits: four bytes.
  page.buffers = {{0, 0, 1, 0, 7, 0, 0, 0, 3, 0, 1, 0}, BytesOf<uint32_t>({0, 8, 12})};
  Expect(Read(page, FullZip({kItem, kList}, 1, 16), {{0, 2}}), {1, 1}, {0, 3}, 2, page.type, "[7]");
}

TEST(NestedFullZipTest, ReadsStructsWithoutIndex) {
  TestPage page{.minor = 2, .length = 3};
  page.buffers = {{0, 1, 0, 0, 0, 2, 0, 0, 0, 0, 1, 9, 9, 9, 9}};
  const auto layout = FullZip({kItem, kItem}, 0, 2);
  Expect(Read(page, layout, {{0, 3}}), {}, {0, 2, 1}, 3, page.type,
         "[1, 0, " + std::to_string(0x09090909) + "]");
  const auto one = Read(page, layout, {{0, 1}});
  Expect(one, {}, {}, 1, page.type, "[1]");
  EXPECT_EQ(one->steps, 1);
  page.buffers[0].pop_back();
  ExpectCorrupt(Read(page, layout, {{0, 3}}), "wrong size");
}

TEST(NestedFullZipTest, ReadsStringsOfLists) {
  // ["ab", null]  []  [""]: nulls and empty lists store no length.
  TestPage page{.type = arrow::utf8(), .minor = 2, .length = 3};
  page.buffers = {{4, 2, 0, 0, 0, 'a', 'b', 1, 6, 4, 0, 0, 0, 0}, {0, 8, 9, 14}};
  auto layout = FullZip({kItem, LayerKind::kEmptyableList}, 1, 2);
  layout.is_variable = true;
  layout.values = Variable();
  Expect(Read(page, layout, {{0, 3}}), {1, 0, 1, 1}, {0, 1, 2, 0}, 4, page.type,
         R"(["ab", "", ""])");
  Expect(Read(page, layout, {{1, 2}}), {1, 1}, {2, 0}, 2, page.type, R"([""])");
  page.buffers[0][1] = 200;
  ExpectCorrupt(Read(page, layout, {{0, 3}}), "past the end");
}

TEST(NestedFullZipTest, OnlyNullPackedRowsHaveNoBytes) {
  TestPage page{
      .type = arrow::struct_({arrow::field("a", arrow::utf8()), arrow::field("b", arrow::int8())}),
      .minor = 2,
      .length = 2};
  // Control word, length and row; a null has its control word alone.
  page.buffers = {{0, 6, 0, 0, 0, 1, 0, 0, 0, 'x', 7, 1}, {0, 11, 12}};
  auto layout = FullZip({kItem, kItem}, 0, 2);
  layout.is_variable = true;
  layout.bits = 32;
  layout.values = Wrap(CompressionKind::kVariablePackedStruct, {Variable(), Flat(8)});
  layout.values.child_bits = {32, 8};
  layout.values.child_is_variable = {true, false};
  const auto read = Read(page, layout, {{0, 2}});
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(read->levels.definition, (Levels{0, 1}));
  EXPECT_EQ(static_cast<const arrow::StructArray&>(*read->values).field(0)->ToString(),
            "[\n  \"x\",\n  \"\"\n]");
  page.buffers = {{0, 0, 0, 0, 0, 1}, {0, 5, 6}};
  ExpectCorrupt(Read(page, layout, {{0, 2}}), "has no bytes");

  // The same at top level.
  layout.layers = {kItem};
  layout.bits_def = 1;
  layout.num_items = layout.num_visible_items = 2;
  Bytes file;
  const auto decoder = page.Open(layout, &file).ValueOrDie();
  const LeafType leaf = LeafType::Make(*page.type).ValueOrDie();
  auto out = ColumnOutput::Make(leaf, 2, arrow::default_memory_pool()).ValueOrDie();
  const PageRows rows{.first = 0, .count = 2, .out = 0};
  const auto flat = decoder->Start({&rows, 1}, out.get()).ValueOrDie();
  for (io::RangeRead& range : flat->Next().ValueOrDie()) range.data = file.data() + range.offset;
  ASSERT_TRUE(flat->Next().ValueOrDie().empty());
  EXPECT_EQ(GetErrorDetail(flat->Decode())->kind(), ErrorKind::kCorrupt);
}

TEST(NestedFullZipTest, ReadsListsWhoseInnerListsAreAllNull) {
  TestPage page{.type = arrow::fixed_size_list(arrow::fixed_size_list(arrow::int16(), 3), 2),
                .length = 3};
  // Control word and validity of the inner lists; of the items nothing is stored.
  page.buffers = {{0, 0, 2, 0, 0, 0}};
  auto layout = FullZip({kItem, kItem}, 0, 2);
  layout.bits = 8;
  layout.values = Wrap(CompressionKind::kFixedSizeList, {{.kind = CompressionKind::kConstant}});
  layout.values.items_per_value = 2;
  layout.values.has_validity = true;
  Expect(Read(page, layout, {{0, 3}}), {}, {0, 2, 0}, 3, page.type,
         "[[null, null], [null, null], [null, null]]");
}

TEST(NestedFullZipTest, RefusesWrongPages) {
  const auto layout = FullZip({kItem, kList}, 1, 2);
  const auto with = [&](size_t buffer, size_t at, uint8_t byte, const Rows& rows) {
    TestPage page = ZippedList();
    page.buffers[buffer][at] = byte;
    return Read(page, layout, rows);
  };
  ExpectCorrupt(with(1, 2, 0xFF, {{1, 1}}), "outside of their buffer");
  ExpectCorrupt(with(1, 2, 0x05, {{1, 1}}), "outside of their buffer");
  ExpectCorrupt(with(1, 2, 0x0C, {{1, 1}}), "expected 1, found 2");
  ExpectCorrupt(with(1, 1, 0x05, {{1, 1}}), "without its start");
  ExpectCorrupt(with(0, 0, 8, {{0, 4}}), "expected at most 1 and 3, found 2 and 0");
  ExpectCorrupt(with(0, 0, 0, {{0, 4}}), "without its start");
  ExpectCorrupt(Read(ZippedList(), FullZip({kItem, kList}, 0, 2), {{0, 4}}),
                "must have repetition levels");
}

// ---- constant ----

wire::ConstantLayout Constant(std::vector<LayerKind> layers) {
  wire::ConstantLayout layout;
  layout.layers = std::move(layers);
  return layout;
}

TEST(NestedConstantTest, ReadsNullsWithLevels) {
  // [null, null]  []  null  [null], raw levels.
  TestPage page{.minor = 1, .length = 4};
  page.buffers = {BytesOf<uint16_t>({1, 0, 1, 1, 1}), BytesOf<uint16_t>({1, 1, 3, 2, 1})};
  auto layout = Constant({kItem, kList});
  Expect(Read(page, layout, {{0, 4}}), {1, 0, 1, 1, 1}, {1, 1, 3, 2, 1}, 5, page.type, "[0, 0, 0]");
  Expect(Read(page, layout, {{1, 1}, {3, 1}}), {1, 1}, {3, 1}, 2, page.type, "[0]");

  // Only empty lists, in runs.
  page = {.minor = 2, .length = 300};
  layout = Constant({LayerKind::kAllValidItem, LayerKind::kEmptyableList});
  layout.repetition = layout.definition = Wrap(CompressionKind::kRle, {Flat(16), Flat(8)});
  layout.num_rep_values = layout.num_def_values = 300;
  const Bytes runs = {4, 0, 0, 0, 0, 0, 0, 0, 1, 0, 1, 0, 255, 45};
  page.buffers = {runs, runs};
  Expect(Read(page, layout, {{298, 2}}), {1, 1}, {1, 1}, 2, page.type, "[]");
  layout.num_rep_values = layout.num_def_values = uint64_t{1} << 60;
  ExpectCorrupt(Read(page, layout, {{298, 2}}), "not those of its rows");
  layout.num_rep_values = layout.num_def_values = 301;
  ExpectCorrupt(Read(page, layout, {{298, 2}}), "");
}

TEST(NestedConstantTest, ReadsScalars) {
  TestPage page{.minor = 2, .length = 3};
  auto layout = Constant({kItem, kItem});
  layout.inline_value = std::string("\x07\0\0\0", 4);
  Expect(Read(page, layout, {{0, 1}, {2, 1}}), {}, {}, 2, page.type, "[7, 7]");
  page.buffers = {{}, BytesOf<uint16_t>({0, 2, 1})};
  Expect(Read(page, layout, {{0, 2}}), {}, {0, 2}, 2, page.type, "[7, 7]");
  Expect(Read(page, layout, {{2, 1}}), {}, {1}, 1, page.type, "[7]");

  // "q" in lists: the scalar's own buffer, then levels.
  page = {.type = arrow::utf8(), .minor = 2, .length = 2};
  page.buffers = {{2, 0, 0, 0, 8, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 'q'},
                  BytesOf<uint16_t>({1, 0, 1}),
                  {}};
  layout = Constant({LayerKind::kAllValidItem, LayerKind::kAllValidList});
  Expect(Read(page, layout, {{0, 2}}), {1, 0, 1}, {}, 3, page.type, R"(["q", "q", "q"])");
  Expect(Read(page, layout, {{1, 1}}), {1}, {}, 1, page.type, R"(["q"])");
}

TEST(NestedConstantTest, RefusesWrongPages) {
  TestPage page{.minor = 2, .length = 2};
  const auto layout = Constant({kItem, kList});
  const auto with = [&](const Levels& rep, const Levels& def) {
    page.buffers = {BytesOf(rep), BytesOf(def)};
    return Read(page, layout, {{0, 2}});
  };
  ExpectCorrupt(with({1, 1}, {1, 0}), "levels of values");
  ExpectCorrupt(with({1, 1}, {1, 4}), "expected at most 3, found 4");
  ExpectCorrupt(with({1, 2}, {1, 1}), "expected at most 1, found 2");
  ExpectCorrupt(with({1, 0}, {1, 1}), "expected 2 rows, found 1");
  ExpectCorrupt(with({0, 1, 1}, {1, 1, 1}), "not those of its rows");
  ExpectCorrupt(with({1, 1}, {1}), "wrong number of levels");
  ExpectCorrupt(with({1}, {1}), "not those of its rows");
  page.buffers.clear();
  ExpectCorrupt(Read(page, layout, {{0, 2}}), "has no levels");
}

}  // namespace
}  // namespace pennon::encoding
