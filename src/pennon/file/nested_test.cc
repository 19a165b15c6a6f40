// Nested fields written and read back: whole, in ranges, with columns missing or wrong.
#include "pennon/file/nested.h"

#include <numeric>
#include <random>
#include <string>
#include <vector>

#include <arrow/array/array_base.h>
#include <arrow/array/array_nested.h>
#include <arrow/array/util.h>
#include <arrow/json/from_string.h>
#include <arrow/type.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "pennon/file/test_file.h"
#include "pennon/file/writer.h"
#include "pennon/schema/field_tree.h"

namespace pennon::file {
namespace {

using arrow::field;
using TypePtr = std::shared_ptr<arrow::DataType>;

/// Random values of any nested type of int32 and utf8 leaves, as JSON.
class Text {
 public:
  explicit Text(unsigned seed) : rng_(seed) {}

  std::string Rows(const arrow::DataType& type, int rows, int nulls) {
    std::string text = "[";
    for (int i = 0; i < rows; ++i) text += (i == 0 ? "" : ", ") + Value(type, nulls);
    return text + "]";
  }

 private:
  std::string Value(const arrow::DataType& type, int nulls) {
    if (static_cast<int>(rng_() % 100) < nulls) return "null";
    switch (type.id()) {
      case arrow::Type::STRUCT: {
        std::string text = "{";
        for (const auto& child : type.fields()) {
          text += (text.size() == 1 ? "\"" : ", \"") + child->name() +
                  "\": " + Value(*child->type(), nulls);
        }
        return text + "}";
      }
      case arrow::Type::LIST:
      case arrow::Type::LARGE_LIST:
        return Rows(*type.field(0)->type(), static_cast<int>(rng_() % 4), nulls);
      case arrow::Type::FIXED_SIZE_LIST:
        return Rows(*type.field(0)->type(),
                    static_cast<const arrow::FixedSizeListType&>(type).list_size(), nulls);
      case arrow::Type::MAP: {
        const auto& map = static_cast<const arrow::MapType&>(type);
        std::string text = "[";
        for (unsigned i = 0; i < rng_() % 3; ++i) {
          text += (text.size() == 1 ? "[" : ", [") + Value(*map.key_type(), 0) + ", " +
                  Value(*map.item_type(), nulls) + "]";
        }
        return text + "]";
      }
      case arrow::Type::STRING:
        return "\"" + std::string(rng_() % 5, static_cast<char>('a' + rng_() % 26)) + "\"";
      default:
        return std::to_string(rng_() % 100000);
    }
  }

  std::mt19937 rng_;
};

std::shared_ptr<arrow::Array> Json(const TypePtr& type, const std::string& text) {
  return arrow::json::ArrayFromJSONString(type, text).ValueOrDie();
}

/// A file of some fields, opened.
struct OpenFile {
  Schema schema;
  std::shared_ptr<const FileReader> reader;
};

/// Writes `columns`, the arrays of each field in parts.
OpenFile Write(const std::vector<arrow::ArrayVector>& columns, FileVersion version) {
  arrow::FieldVector fields;
  for (size_t i = 0; i < columns.size(); ++i)
    fields.push_back(field("f" + std::to_string(i), columns[i][0]->type()));
  OpenFile file{.schema = schema::FromArrow(*arrow::schema(fields)).ValueOrDie()};
  auto writer = FileWriter::Make(file.schema.fields, version).ValueOrDie();
  for (size_t i = 0; i < columns.size(); ++i) {
    for (const auto& part : columns[i]) {
      const auto status = writer->Append(static_cast<int>(i), *part);
      EXPECT_TRUE(status.ok()) << status;
    }
  }
  auto bytes = writer->Finish().ValueOrDie().bytes;
  file.reader = FileReader::Open(std::make_shared<testing::BytesFile>(std::move(bytes)),
                                 arrow::default_memory_pool())
                    .ValueOrDie();
  return file;
}

std::vector<int> Columns(int first, size_t count) {
  std::vector<int> columns(count);
  std::iota(columns.begin(), columns.end(), first);
  return columns;
}

arrow::Result<std::shared_ptr<arrow::Array>> Read(const FileReader& reader, const Field& field,
                                                  const std::vector<int>& columns,
                                                  const std::vector<RowRange>& ranges,
                                                  uint64_t length) {
  ARROW_ASSIGN_OR_RAISE(auto data, reader.Read(field, columns, ranges, length));
  auto array = arrow::MakeArray(data);
  ARROW_RETURN_NOT_OK(array->ValidateFull());
  return array;
}

const TypePtr kPair = arrow::struct_({field("x", arrow::int32()), field("y", arrow::utf8())});
const TypePtr kDeep =
    arrow::struct_({field("l", arrow::large_list(arrow::list(arrow::int32()))), field("p", kPair)});

void ExpectSlices(const arrow::Array& read, const arrow::Array& all,
                  const std::vector<RowRange>& ranges) {
  for (const RowRange& range : ranges) {
    const auto count = static_cast<int64_t>(range.count);
    EXPECT_TRUE(read.Slice(static_cast<int64_t>(range.out), count)
                    ->Equals(all.Slice(static_cast<int64_t>(range.first), count)))
        << "rows " << range.first << " and " << range.count << " more";
  }
}

TEST(NestedTest, ReadsWhatIsWritten) {
  const std::vector<TypePtr> types = {
      kPair,
      kDeep,
      arrow::list(kPair),
      arrow::list(kDeep),
      arrow::map(arrow::utf8(), arrow::list(arrow::int32())),
      arrow::fixed_size_list(kPair, 3),
      arrow::struct_({field("f", arrow::fixed_size_list(kPair, 2)), field("x", arrow::int32())}),
  };
  for (const int minor : {1, 2}) {
    for (size_t t = 0; t < types.size() - (minor == 1 ? 3 : 0); ++t) {
      for (const int nulls : {0, 20}) {
        SCOPED_TRACE(types[t]->ToString() + " in 2." + std::to_string(minor) + ", nulls " +
                     std::to_string(nulls));
        Text text(static_cast<unsigned>(t) + 1);
        const auto all = Json(types[t], text.Rows(*types[t], 500, nulls));
        const auto file =
            Write({{all->Slice(0, 200), all->Slice(200)}}, {2, static_cast<uint16_t>(minor)});
        const Field& root = file.schema.fields[0];
        const auto columns = Columns(0, static_cast<size_t>(file.reader->num_columns()));
        EXPECT_EQ(file.reader->Rows(root, columns).ValueOrDie(), 500U);
        const std::vector<RowRange> parts = {{3, 1, 0}, {100, 150, 4}, {460, 40, 154}};
        for (const auto& ranges : {std::vector<RowRange>{{0, 500, 0}}, parts}) {
          const uint64_t length = ranges.size() == 1 ? 500 : 200;
          const auto read = Read(*file.reader, root, columns, ranges, length);
          ASSERT_TRUE(read.ok()) << read.status();
          ASSERT_EQ((*read)->length(), static_cast<int64_t>(length));
          ExpectSlices(**read, *all, ranges);
          // Slots that no range names are valid.
          if (length == 200) {
            EXPECT_TRUE((*read)->IsValid(2) && (*read)->IsValid(199));
          }
        }
        const auto none = Read(*file.reader, root, columns, {}, 0);
        ASSERT_TRUE(none.ok()) << none.status();
        EXPECT_EQ((*none)->length(), 0);
      }
    }
  }
}

TEST(NestedTest, MissingColumnsAreNull) {
  const auto type = arrow::list(kPair);
  const auto all = Json(type, R"([[{"x": 1, "y": "a"}, null, {"x": 2, "y": "b"}], null, []])");
  const auto file = Write({{all}}, {2, 2});
  const Field& root = file.schema.fields[0];
  const auto x = Read(*file.reader, root, {0, -1}, {{0, 3, 0}}, 3);
  ASSERT_TRUE(x.ok()) << x.status();
  EXPECT_TRUE(
      (*x)->Equals(Json(type, R"([[{"x": 1, "y": null}, null, {"x": 2, "y": null}], null, []])")));
  const auto y = Read(*file.reader, root, {-1, 1}, {{0, 3, 0}}, 3);
  ASSERT_TRUE(y.ok()) << y.status();
  EXPECT_TRUE((*y)->Equals(
      Json(type, R"([[{"x": null, "y": "a"}, null, {"x": null, "y": "b"}], null, []])")));
  const auto none = Read(*file.reader, root, {-1, -1}, {}, 4);
  ASSERT_TRUE(none.ok()) << none.status();
  EXPECT_TRUE((*none)->Equals(Json(type, "[null, null, null, null]")));
  EXPECT_EQ(file.reader->Rows(root, std::vector<int>{-1, -1}).ValueOrDie(), 0U);
}

TEST(NestedTest, ColumnsThatDisagreeAreCorrupt) {
  const auto type = arrow::list(kPair);
  const auto two =
      Json(type, R"([[{"x": 1, "y": "a"}, {"x": 7, "y": "e"}], [{"x": 2, "y": "b"}]])");
  const auto one = Json(type, R"([[{"x": 1, "y": "a"}], [{"x": 2, "y": "b"}]])");
  const auto longer =
      Json(kPair, R"([{"x": 1, "y": "a"}, {"x": 2, "y": "b"}, {"x": 3, "y": "c"}])");
  const auto file = Write({{two}, {one}, {longer}}, {2, 2});
  const auto expect_corrupt = [](const arrow::Status& status, const char* text) {
    ASSERT_NE(GetErrorDetail(status), nullptr) << status;
    EXPECT_EQ(GetErrorDetail(status)->kind(), ErrorKind::kCorrupt) << status;
    EXPECT_THAT(status.message(), ::testing::HasSubstr(text));
  };
  const Field& lists = file.schema.fields[0];
  expect_corrupt(Read(*file.reader, lists, {0, 3}, {{0, 2, 0}}, 2).status(),
                 "do not agree on its values");
  const Field& structs = file.schema.fields[2];
  expect_corrupt(file.reader->Rows(structs, std::vector<int>{4, 3}).status(),
                 "do not agree on its rows");
  // The column of a list where none is expected.
  expect_corrupt(Read(*file.reader, structs, {4, 3}, {{0, 2, 0}}, 2).status(),
                 "those of the column's type");
}

}  // namespace
}  // namespace pennon::file
