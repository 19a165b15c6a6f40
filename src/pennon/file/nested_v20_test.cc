// Nested fields of 2.0 files, from pages made by hand: what their offsets mean, which pages meet
// which, and what is refused. Files of the reference library:
// tests/interop/test_nested_v20.py.
#include "pennon/file/nested_v20.h"

#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include <arrow/array/array_base.h>
#include <arrow/array/array_dict.h>
#include <arrow/array/array_nested.h>
#include <arrow/array/util.h>
#include <arrow/buffer.h>
#include <arrow/json/from_string.h>
#include <arrow/memory_pool.h>
#include <arrow/type.h>
#include <arrow/util/key_value_metadata.h>
#include <gtest/gtest.h>

#include "pennon/error.h"
#include "pennon/file/column_owners.h"
#include "pennon/file/container_writer.h"
#include "pennon/file/test_file.h"
#include "pennon/schema/field_tree.h"
#include "pennon/wire/array_encoding.h"

namespace pennon::file {
namespace {

using encoding::EncodedPage;
using wire::ArrayEncoding;
using wire::ArrayEncodingKind;
using wire::MakeBinary;
using wire::MakeFlat;
using wire::MakeNoNulls;
using wire::MakeSomeNulls;

template <typename T>
std::shared_ptr<arrow::Buffer> Raw(std::vector<T> values) {
  return arrow::Buffer::FromVector(std::move(values));
}
std::shared_ptr<arrow::Buffer> Ends(std::vector<uint64_t> values) { return Raw(std::move(values)); }
std::shared_ptr<arrow::Buffer> Text(const std::string& text) {
  return arrow::Buffer::FromString(text);
}

EncodedPage MakePage(const ArrayEncoding& root, uint64_t length,
                     std::vector<std::shared_ptr<arrow::Buffer>> buffers) {
  EncodedPage page;
  page.encoding = *wire::SerializeArrayEncoding(root);
  page.length = length;
  page.buffers = std::move(buffers);
  return page;
}

EncodedPage ListPage(uint64_t num_items, std::vector<uint64_t> ends) {
  const uint64_t length = ends.size();
  return MakePage({.kind = ArrayEncodingKind::kList,
                   .null_adjustment = num_items + 1,
                   .num_items = num_items,
                   .children = {MakeNoNulls(MakeFlat(64, 0))}},
                  length, {Ends(std::move(ends))});
}
EncodedPage HeaderPage(uint64_t length) {
  return MakePage({.kind = ArrayEncodingKind::kSimpleStruct}, length, {});
}
// The numbers from `first` on.
EncodedPage IntPage(uint64_t length, int32_t first = 0) {
  std::vector<int32_t> values(length);
  std::iota(values.begin(), values.end(), first);
  return MakePage(MakeNoNulls(MakeFlat(32, 0)), length, {Raw(std::move(values))});
}

using Columns = std::vector<std::vector<EncodedPage>>;

class File {
 public:
  File(const std::shared_ptr<arrow::Field>& field, const Columns& columns) {
    schema_ = *schema::FromArrow(*arrow::schema({field}));
    ContainerWriter writer(columns.size(), {2, 0});
    for (size_t i = 0; i < columns.size(); ++i) {
      for (const EncodedPage& page : columns[i]) writer.AddPage(i, page, 0);
    }
    EXPECT_TRUE(writer.Finish(schema_.fields, 0).ok());
    const std::string bytes = writer.TakeBytes();
    reader_ =
        FileReader::Open(std::make_shared<testing::BytesFile>(bytes), arrow::default_memory_pool())
            .ValueOrDie();
    numbers_.resize(columns.size());
    std::iota(numbers_.begin(), numbers_.end(), 0);
  }
  File(const std::shared_ptr<arrow::DataType>& type, const Columns& columns)
      : File(arrow::field("c", type), columns) {}

  void Without(size_t column) { numbers_[column] = -1; }

  arrow::Result<std::shared_ptr<arrow::Array>> Read(const std::vector<RowRange>& ranges,
                                                    uint64_t length) const {
    ARROW_ASSIGN_OR_RAISE(const auto data,
                          reader_->Read(schema_.fields[0], numbers_, ranges, length));
    const auto array = arrow::MakeArray(data);
    ARROW_RETURN_NOT_OK(array->ValidateFull());
    return array;
  }
  const std::shared_ptr<arrow::DataType>& type() const { return schema_.fields[0].type; }

 private:
  Schema schema_;
  std::shared_ptr<const FileReader> reader_;
  std::vector<int> numbers_;
};

// All rows, every run of rows, and every pair of rows with a slot left free, against `json`.
void ExpectValues(const File& file, const std::string& json) {
  const auto expected = arrow::json::ArrayFromJSONString(file.type(), json).ValueOrDie();
  const auto n = static_cast<uint64_t>(expected->length());
  for (uint64_t a = 0; a < n; ++a) {
    for (uint64_t b = a; b < n; ++b) {
      const uint64_t count = b - a + 1;
      const auto run = file.Read({{.first = a, .count = count, .out = 0}}, count);
      ASSERT_TRUE(run.ok()) << run.status();
      EXPECT_TRUE(
          (*run)->Equals(*expected->Slice(static_cast<int64_t>(a), static_cast<int64_t>(count))))
          << (*run)->ToString();
      if (a == b) continue;
      const auto two = file.Read({{a, 1, 1}, {b, 1, 3}}, 5);
      ASSERT_TRUE(two.ok()) << two.status();
      EXPECT_TRUE((*two)->Slice(1, 1)->Equals(*expected->Slice(static_cast<int64_t>(a), 1)));
      EXPECT_TRUE((*two)->Slice(3, 1)->Equals(*expected->Slice(static_cast<int64_t>(b), 1)));
      for (const int64_t free : {0, 2, 4}) EXPECT_TRUE((*two)->IsValid(free));
    }
  }
}

void ExpectError(const File& file, uint64_t rows, ErrorKind kind) {
  const auto all = file.Read({{.first = 0, .count = rows, .out = 0}}, rows);
  ASSERT_FALSE(all.ok());
  const ErrorDetail* detail = GetErrorDetail(all.status());
  ASSERT_NE(detail, nullptr) << all.status();
  EXPECT_EQ(detail->kind(), kind) << all.status();
  EXPECT_TRUE(detail->place().field.has_value()) << all.status();
}
void ExpectCorrupt(const File& file, uint64_t rows) {
  ExpectError(file, rows, ErrorKind::kCorrupt);
}

const auto kInts = arrow::list(arrow::int32());

TEST(NestedV20, ListsEndWhereTheirOffsetsSay) {
  for (const auto& type : {kInts, arrow::large_list(arrow::int32())}) {
    ExpectValues({type, {{ListPage(5, {2, 8, 2, 5})}, {IntPage(5)}}},
                 "[[0, 1], null, [], [2, 3, 4]]");
  }
  ExpectValues({kInts, {{ListPage(0, {1, 0, 1})}, {}}}, "[null, [], null]");
}

TEST(NestedV20, NullListsMayOwnItems) {
  ExpectValues({kInts, {{ListPage(6, {1, 10, 4, 12, 6})}, {IntPage(6)}}},
               "[[0], null, [3], null, [5]]");
}

TEST(NestedV20, PagesOfOffsetsAndOfItemsAreCutApart) {
  ExpectValues({kInts,
                {{ListPage(2, {2}), ListPage(0, {}), ListPage(4, {1, 6, 4})},
                 {IntPage(1), IntPage(3, 1), IntPage(2, 4)}}},
               "[[0, 1], [2], null, [3, 4, 5]]");
}

TEST(NestedV20, ListsOfListsAndOfStructs) {
  const auto lists = arrow::list(kInts);
  ExpectValues({lists,
                {{ListPage(2, {2}), ListPage(3, {1, 5, 3})},
                 {ListPage(3, {1, 3}), ListPage(4, {6, 1, 4})},
                 {IntPage(7)}}},
               "[[[0], [1, 2]], [null], null, [[], [4, 5, 6]]]");
  const auto pairs = arrow::struct_({arrow::field("a", arrow::int32()), arrow::field("l", kInts)});
  ExpectValues({arrow::list(pairs),
                {{ListPage(3, {1, 5, 3})},
                 {HeaderPage(3)},
                 {IntPage(3)},
                 {ListPage(3, {1, 5, 3})},
                 {IntPage(3, 7)}}},
               R"([[{"a": 0, "l": [7]}], null, [{"a": 1, "l": null}, {"a": 2, "l": [8, 9]}]])");
}

TEST(NestedV20, StructsOfStructsAreAlwaysValid) {
  const auto inner = arrow::struct_({arrow::field("x", arrow::int32())});
  const auto type = arrow::struct_({arrow::field("s", inner), arrow::field("l", kInts)});
  File file(type, {{HeaderPage(2)},
                   {HeaderPage(2)},
                   {MakePage(MakeSomeNulls(MakeFlat(1, 0), MakeFlat(32, 1)), 2,
                             {Raw(std::vector<uint8_t>{1}), Raw(std::vector<int32_t>{4, 5})})},
                   {ListPage(1, {0, 1})},
                   {IntPage(1)}});
  ExpectValues(file, R"([{"s": {"x": 4}, "l": []}, {"s": {"x": null}, "l": [0]}])");
  // Columns that are elsewhere: theirs are null, the struct stays.
  file.Without(3);
  file.Without(4);
  ExpectValues(file, R"([{"s": {"x": 4}, "l": null}, {"s": {"x": null}, "l": null}])");
}

TEST(NestedV20, StructsMayHaveNoChildren) {
  ExpectValues({arrow::struct_({}), {{HeaderPage(2)}}}, "[{}, {}]");
  ExpectValues({arrow::list(arrow::struct_({})), {{ListPage(2, {2, 5})}, {HeaderPage(2)}}},
               "[[{}, {}], null]");
}

TEST(NestedV20, PackedStructsAreSplit) {
  const auto pair = arrow::struct_({arrow::field("a", arrow::uint16()),
                                    arrow::field("v", arrow::fixed_size_list(arrow::uint8(), 2))});
  const auto field = arrow::field("c", pair, true, arrow::key_value_metadata({{"packed", "true"}}));
  EncodedPage page;
  page.encoding = std::string("\x4a\x02\x12\x00", 4);  // PackedStruct { buffer { } }
  page.length = 3;
  page.buffers = {Raw(std::vector<uint8_t>{1, 0, 2, 3, 4, 1, 5, 6, 7, 0, 8, 9})};
  ExpectValues({field, {{page}}}, R"([{"a": 1, "v": [2, 3]}, {"a": 260, "v": [5, 6]},
                                      {"a": 7, "v": [8, 9]}])");
  ++page.length;
  ExpectCorrupt({field, {{page}}}, 4);
  ExpectCorrupt({field, {{IntPage(4)}}}, 4);
}

EncodedPage DictionaryPage(std::vector<int8_t> indices, uint64_t num_items, ArrayEncoding items,
                           std::vector<std::shared_ptr<arrow::Buffer>> buffers) {
  const uint64_t length = indices.size();
  buffers.insert(buffers.begin(), Raw(std::move(indices)));
  return MakePage({.kind = ArrayEncodingKind::kDictionary,
                   .num_items = num_items,
                   .children = {MakeNoNulls(MakeFlat(8, 0)), std::move(items)}},
                  length, std::move(buffers));
}

TEST(NestedV20, DictionariesOfPagesBecomeOne) {
  const auto strings = [](uint64_t adjustment) {
    return MakeBinary(MakeNoNulls(MakeFlat(64, 1)), MakeFlat(8, 2), adjustment);
  };
  const auto type = arrow::dictionary(arrow::int8(), arrow::utf8());
  const File file(type,
                  {{DictionaryPage({0, 1, 2, 0}, 3, strings(3), {Ends({1, 2, 5}), Text("xy")}),
                    DictionaryPage({1, 0}, 2, strings(3), {Ends({1, 2}), Text("zx")})}});
  const auto all = file.Read({{0, 6, 0}}, 6);
  ASSERT_TRUE(all.ok()) << all.status();
  const auto& array = static_cast<const arrow::DictionaryArray&>(**all);
  EXPECT_TRUE(array.type()->Equals(type));
  EXPECT_TRUE(array.dictionary()->Equals(
      *arrow::json::ArrayFromJSONString(arrow::utf8(), R"(["x", "y", "z"])").ValueOrDie()));
  EXPECT_TRUE(array.indices()->Equals(
      *arrow::json::ArrayFromJSONString(arrow::int8(), "[0, 1, null, 0, 0, 2]").ValueOrDie()));
  // Fixed-width items, some null.
  const auto ints = MakeSomeNulls(MakeFlat(1, 1), MakeFlat(64, 2));
  const File numbers(
      arrow::dictionary(arrow::uint8(), arrow::int64()),
      {{DictionaryPage({1, 0, 2}, 3, ints,
                       {Raw(std::vector<uint8_t>{5}), Raw(std::vector<int64_t>{70, 0, 90})})}});
  const auto some = numbers.Read({{0, 2, 0}, {2, 1, 2}}, 3);
  ASSERT_TRUE(some.ok()) << some.status();
  const auto& read = static_cast<const arrow::DictionaryArray&>(**some);
  EXPECT_TRUE(read.dictionary()->Equals(
      *arrow::json::ArrayFromJSONString(arrow::int64(), "[70, 90]").ValueOrDie()));
  EXPECT_TRUE(read.indices()->Equals(
      *arrow::json::ArrayFromJSONString(arrow::uint8(), "[null, 0, 1]").ValueOrDie()));
  ExpectCorrupt({type, {{DictionaryPage({2}, 2, strings(3), {Ends({1, 2}), Text("zx")})}}}, 1);
  ExpectCorrupt({type, {{DictionaryPage({-1}, 2, strings(3), {Ends({1, 2}), Text("zx")})}}}, 1);
  ExpectCorrupt({arrow::dictionary(arrow::uint8(), arrow::int64()),
                 {{DictionaryPage({0}, uint64_t{1} << 60, wire::MakeAllNulls(), {})}}},
                1);
}

TEST(NestedV20, RefusesOffsetsThatCannotBe) {
  ExpectCorrupt({kInts, {{ListPage(5, {2, 1})}, {IntPage(5)}}}, 2);        // decreasing
  ExpectCorrupt({kInts, {{ListPage(5, {2, 7})}, {IntPage(5)}}}, 2);        // null, decreasing
  ExpectCorrupt({kInts, {{ListPage(2, {2, 6})}, {IntPage(9)}}}, 2);        // beyond num_items
  ExpectCorrupt({kInts, {{ListPage(5, {UINT64_MAX})}, {IntPage(5)}}}, 1);  // far beyond
  ExpectCorrupt({kInts, {{ListPage(6, {2, 6})}, {IntPage(5)}}}, 2);        // items are missing
  ExpectCorrupt({kInts, {{ListPage(5, {5})}, {}}}, 1);                     // all of them
  ExpectCorrupt({kInts, {{ListPage(UINT64_MAX - 1, {5})}, {IntPage(5)}}}, 1);
  ExpectCorrupt({kInts, {{ListPage(UINT64_MAX - 3, {5}), ListPage(5, {5})}, {IntPage(5)}}}, 1);
  EncodedPage unadjusted = MakePage({.kind = ArrayEncodingKind::kList,
                                     .null_adjustment = 5,
                                     .num_items = 5,
                                     .children = {MakeFlat(64, 0)}},
                                    1, {Ends({5})});
  ExpectCorrupt({kInts, {{unadjusted}, {IntPage(5)}}}, 1);
  EncodedPage short_page = ListPage(5, {2, 5});
  ++short_page.length;
  ExpectCorrupt({kInts, {{short_page}, {IntPage(5)}}}, 3);
  ExpectError({kInts, {{IntPage(5)}, {IntPage(5)}}}, 5, ErrorKind::kUnsupported);
}

TEST(NestedV20, RefusesStructsWhoseColumnsDisagree) {
  const auto type = arrow::struct_({arrow::field("a", arrow::int32())});
  ExpectCorrupt({type, {{HeaderPage(3)}, {IntPage(2)}}}, 2);
  ExpectCorrupt({type, {{IntPage(3)}, {IntPage(3)}}}, 3);
  const File file(type, {{HeaderPage(3)}, {IntPage(3)}});
  EXPECT_TRUE(file.Read({{2, 2, 0}}, 2).status().IsInvalid());
  EXPECT_TRUE(file.Read({{0, 2, 0}}, 1).status().IsInvalid());
}

// A file of every kind, each byte of it changed in three ways: values or an error of pennon's own,
// within a bound of memory.
TEST(NestedV20, EveryByteChangedGivesValuesOrAnError) {
  const auto pair = arrow::struct_(
      {arrow::field("a", arrow::int32()), arrow::field("l", arrow::large_list(arrow::int32())),
       arrow::field("d", arrow::dictionary(arrow::int8(), arrow::utf8()))});
  const auto strings = MakeBinary(MakeNoNulls(MakeFlat(64, 1)), MakeFlat(8, 2), 3);
  const auto schema = *schema::FromArrow(*arrow::schema({arrow::field("c", arrow::list(pair))}));
  ContainerWriter writer(6, {2, 0});
  const Columns columns = {{ListPage(3, {1, 5, 3})},
                           {HeaderPage(3)},
                           {IntPage(3)},
                           {ListPage(2, {1, 4}), ListPage(2, {2})},
                           {IntPage(1), IntPage(3, 7)},
                           {DictionaryPage({0, 1, 2}, 3, strings, {Ends({1, 2, 5}), Text("xy")})}};
  for (size_t i = 0; i < columns.size(); ++i) {
    for (const EncodedPage& page : columns[i]) writer.AddPage(i, page, 0);
  }
  ASSERT_TRUE(writer.Finish(schema.fields, 3).ok());
  const std::string bytes = writer.TakeBytes();
  const SelfSchema fields{.schema = schema, .first_columns = {0}};
  int errors = 0;
  for (size_t at = 0; at < bytes.size(); ++at) {
    for (const unsigned mask : {0x01U, 0x80U, 0xffU}) {
      std::string broken = bytes;
      broken[at] = static_cast<char>(static_cast<unsigned char>(broken[at]) ^ mask);
      arrow::CappedMemoryPool pool(arrow::default_memory_pool(), 64 << 20);
      const arrow::Status status = testing::ReadAll(broken, fields, 1 << 16, &pool);
      EXPECT_FALSE(status.IsOutOfMemory()) << status;
      EXPECT_TRUE(status.ok() || GetErrorDetail(status) != nullptr) << status;
      errors += status.ok() ? 0 : 1;
    }
  }
  EXPECT_GT(errors, 1000);
  EXPECT_TRUE(testing::ReadAll(bytes, fields, 3, arrow::default_memory_pool()).ok());
}

}  // namespace
}  // namespace pennon::file
