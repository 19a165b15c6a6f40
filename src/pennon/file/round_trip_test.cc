// What FileWriter writes, FileReader reads: every leaf type, version, null share and several
// lengths and shapes.
#include <algorithm>
#include <cstring>
#include <map>
#include <random>
#include <string>
#include <vector>

#include <arrow/array/array_base.h>
#include <arrow/array/array_dict.h>
#include <arrow/array/array_nested.h>
#include <arrow/array/builder_binary.h>
#include <arrow/array/builder_primitive.h>
#include <arrow/array/util.h>
#include <arrow/buffer.h>
#include <arrow/json/from_string.h>
#include <arrow/memory_pool.h>
#include <arrow/type.h>
#include <arrow/util/bit_util.h>
#include <arrow/util/key_value_metadata.h>
#include <gtest/gtest.h>

#include "pennon/file/reader.h"
#include "pennon/file/writer.h"
#include "pennon/schema/field_tree.h"
#include "pennon/schema/logical_type.h"
#include "pennon/store.h"

namespace pennon::file {
namespace {

enum class Shape { kRandom, kSmall, kConstant, kLong, kRuns, kFew, kText };

// Makes arrays of any leaf type over random bytes; null slots keep garbage.
class Random {
 public:
  explicit Random(uint32_t seed) : engine_(seed) {}

  std::shared_ptr<arrow::Array> Make(const std::shared_ptr<arrow::DataType>& type, int64_t length,
                                     double null_share, Shape shape) {
    return arrow::MakeArray(MakeData(type, length, null_share, shape));
  }

 private:
  std::shared_ptr<arrow::ArrayData> MakeData(const std::shared_ptr<arrow::DataType>& type,
                                             int64_t length, double null_share, Shape shape) {
    if (type->id() == arrow::Type::NA)
      return arrow::ArrayData::Make(type, length, {nullptr}, length);
    std::vector<std::shared_ptr<arrow::Buffer>> buffers = {Validity(length, null_share)};
    if (type->id() == arrow::Type::FIXED_SIZE_LIST) {
      const auto& list = static_cast<const arrow::FixedSizeListType&>(*type);
      auto items = MakeData(list.value_type(), length * list.list_size(),
                            shape == Shape::kSmall ? null_share : 0, Shape::kRandom);
      return arrow::ArrayData::Make(type, length, buffers, {items});
    }
    const bool large =
        type->id() == arrow::Type::LARGE_STRING || type->id() == arrow::Type::LARGE_BINARY;
    if (large || type->id() == arrow::Type::STRING || type->id() == arrow::Type::BINARY) {
      large ? AddStrings<int64_t>(length, shape, &buffers)
            : AddStrings<int32_t>(length, shape, &buffers);
    } else {
      const int64_t bits = static_cast<const arrow::FixedWidthType&>(*type).bit_width();
      buffers.push_back(Bytes(bits == 1 ? (length + 7) / 8 : length * bits / 8,
                              std::max<int64_t>(1, bits / 8), shape));
    }
    return arrow::ArrayData::Make(type, length, buffers);
  }

  std::shared_ptr<arrow::Buffer> Validity(int64_t length, double null_share) {
    if (null_share == 0) return nullptr;
    std::vector<uint8_t> bits(static_cast<size_t>(length + 7) / 8);
    std::bernoulli_distribution valid(1 - null_share);
    for (int64_t i = 0; i < length; ++i) arrow::bit_util::SetBitTo(bits.data(), i, valid(engine_));
    return arrow::Buffer::FromVector(std::move(bits));
  }

  std::shared_ptr<arrow::Buffer> Bytes(int64_t size, int64_t width, Shape shape) {
    std::vector<uint8_t> bytes(static_cast<size_t>(size), shape == Shape::kConstant ? 5 : 0);
    if (shape == Shape::kRuns || shape == Shape::kFew) {
      // Whole values: equal neighbours, or one of a few.
      std::vector<uint8_t> pool(static_cast<size_t>(9 * width));
      FillRandom(0x3b3b3b3b, &pool);
      for (int64_t at = 0, i = 0; at < size; at += width, ++i) {
        const int64_t pick = shape == Shape::kRuns ? i / 60 % 9 : engine_() % 9;
        std::memcpy(bytes.data() + at, pool.data() + pick * width,
                    static_cast<size_t>(std::min(width, size - at)));
      }
    } else if (shape == Shape::kSmall) {
      for (int64_t i = 0; i < size; i += width) bytes[static_cast<size_t>(i)] = engine_() % 8;
    } else if (shape != Shape::kConstant) {
      // No exponent of all ones: NaN is not equal to itself.
      FillRandom(0x3b3b3b3b, &bytes);
    }
    return arrow::Buffer::FromVector(std::move(bytes));
  }

  void FillRandom(uint32_t mask, std::vector<uint8_t>* bytes) {
    for (size_t i = 0; i < bytes->size(); i += 4) {
      const uint32_t word = engine_() & mask;
      std::memcpy(bytes->data() + i, &word, std::min<size_t>(4, bytes->size() - i));
    }
  }

  template <typename Offset>
  void AddStrings(int64_t length, Shape shape,
                  std::vector<std::shared_ptr<arrow::Buffer>>* buffers) {
    std::vector<Offset> offsets = {0};
    std::string words;
    for (int64_t i = 0; i < length; ++i) {
      if (shape == Shape::kText || shape == Shape::kFew || shape == Shape::kRuns) {
        const std::string value = shape == Shape::kText ? Sentence() : Word(i);
        words += value;
        offsets.push_back(static_cast<Offset>(words.size()));
        continue;
      }
      const uint32_t limit = shape == Shape::kLong ? 600 : 20;
      offsets.push_back(offsets.back() +
                        static_cast<Offset>(shape == Shape::kConstant ? 3 : engine_() % limit));
    }
    const int64_t size = offsets.back();
    buffers->push_back(arrow::Buffer::FromVector(std::move(offsets)));
    std::vector<uint8_t> text(static_cast<size_t>(size), 'c');
    if (!words.empty()) {
      std::copy(words.begin(), words.end(), text.begin());
    } else if (shape != Shape::kConstant) {
      FillRandom(0x7f7f7f7f, &text);
    }
    buffers->push_back(arrow::Buffer::FromVector(std::move(text)));
  }

  std::string Word(int64_t i) {
    static const std::vector<std::string> words = {"harbour",   "lantern", "",   "of",
                                                   "the quiet", "river",   "and"};
    return words[static_cast<size_t>(i) * 5 % words.size()];
  }
  std::string Sentence() {
    std::string out;
    for (uint32_t k = engine_() % 12; k > 0; --k) out += Word(engine_() % 7) + " ";
    return out;
  }

  std::mt19937 engine_;
};

std::vector<std::shared_ptr<arrow::DataType>> Types() {
  return {arrow::boolean(),
          arrow::int8(),
          arrow::uint16(),
          arrow::int32(),
          arrow::uint64(),
          arrow::float16(),
          arrow::float32(),
          arrow::float64(),
          arrow::date32(),
          arrow::timestamp(arrow::TimeUnit::MICRO, "UTC"),
          arrow::decimal128(38, 2),
          arrow::decimal256(76, 2),
          arrow::fixed_size_binary(5),
          arrow::fixed_size_binary(300),
          arrow::utf8(),
          arrow::binary(),
          arrow::large_utf8(),
          arrow::null(),
          arrow::fixed_size_list(arrow::float32(), 4),
          arrow::fixed_size_list(arrow::float32(), 100),
          arrow::fixed_size_list(arrow::boolean(), 13),
          arrow::fixed_size_list(arrow::fixed_size_list(arrow::int16(), 3), 2),
          arrow::fixed_size_list(arrow::fixed_size_list(arrow::int32(), 9), 10)};
}

using Hints = std::map<std::string, std::string>;

Field MakeField(const std::shared_ptr<arrow::DataType>& type, int32_t id, const Hints& hints) {
  Field field;
  for (const auto& [name, value] : hints) field.metadata["lance-encoding:" + name] = value;
  field.name = "c" + std::to_string(id);
  field.id = id;
  field.logical_type = schema::LogicalTypeOf(*type);
  field.type = type;
  return field;
}

struct Case {
  uint16_t minor;
  double null_share;
  Shape shape;
  Hints hints = {};
};

class RoundTripTest : public ::testing::TestWithParam<Case> {};

// Reads column `column` and compares with `expected`: once whole, once a few ranges.
void ExpectColumn(const FileReader& reader, const Field& field, int column,
                  const arrow::Array& expected) {
  const uint64_t length = static_cast<uint64_t>(expected.length());
  ASSERT_EQ(*reader.ColumnLength(column), length);
  const RowRange whole{0, length, 0};
  auto read = reader.Read(field, column, std::span(&whole, 1), length);
  ASSERT_TRUE(read.ok()) << read.status().ToString() << " " << field.type->ToString();
  auto got = arrow::MakeArray(*read);
  ASSERT_TRUE(got->Validate().ok()) << got->Validate().ToString();
  EXPECT_TRUE(got->Equals(expected)) << field.type->ToString() << " length " << length;
  if (length < 900) return;
  const std::vector<RowRange> ranges = {{1, 2, 0}, {77, 301, 2}, {length - 1, 1, 303}};
  read = reader.Read(field, column, ranges, 304);
  ASSERT_TRUE(read.ok()) << read.status().ToString() << " " << field.type->ToString();
  got = arrow::MakeArray(*read);
  for (const RowRange& range : ranges) {
    EXPECT_TRUE(got->RangeEquals(expected, static_cast<int64_t>(range.out),
                                 static_cast<int64_t>(range.out + range.count),
                                 static_cast<int64_t>(range.first)))
        << field.type->ToString() << " rows from " << range.first;
  }
}

TEST_P(RoundTripTest, EveryTypeReadsBack) {
  const Case& param = GetParam();
  Random random(7);
  auto store = MakeMemoryStore();
  for (int64_t length : {1, 2, 900, 1025, 5000}) {
    std::vector<Field> fields;
    std::vector<std::shared_ptr<arrow::Array>> columns;
    for (const auto& type : Types()) {
      fields.push_back(MakeField(type, static_cast<int32_t>(fields.size()), param.hints));
      columns.push_back(
          random.Make(type, length + 4, param.null_share, param.shape)->Slice(3, length));
    }
    auto writer = FileWriter::Make(fields, {2, param.minor}).ValueOrDie();
    for (size_t i = 0; i < columns.size(); ++i) {
      const int64_t half = length / 2;
      ASSERT_TRUE(writer->Append(static_cast<int>(i), *columns[i]->Slice(0, half)).ok());
      ASSERT_TRUE(writer->Append(static_cast<int>(i), *columns[i]->Slice(half)).ok());
    }
    const WrittenFile written = writer->Finish().ValueOrDie();
    ASSERT_TRUE(store->Put("/f.lance", written.bytes).ok());
    auto opened =
        FileReader::Open(store->Open("/f.lance").ValueOrDie(), arrow::default_memory_pool());
    ASSERT_TRUE(opened.ok()) << opened.status().ToString();
    EXPECT_EQ((*opened)->version(), written.version);
    for (size_t i = 0; i < columns.size(); ++i) {
      ExpectColumn(**opened, fields[i], static_cast<int>(i), *columns[i]);
    }
  }
}

std::vector<Case> Cases() {
  std::vector<Case> cases;
  for (uint16_t minor : {0, 1, 2}) {
    for (double share : {0.0, 0.3, 1.0}) {
      for (Shape shape : {Shape::kRandom, Shape::kSmall, Shape::kConstant, Shape::kLong,
                          Shape::kRuns, Shape::kFew, Shape::kText}) {
        cases.push_back({minor, share, shape});
      }
    }
  }
  return cases;
}

INSTANTIATE_TEST_SUITE_P(All, RoundTripTest, ::testing::ValuesIn(Cases()));

std::vector<Case> HintedCases() {
  const std::vector<Hints> all = {
      {{"compression", "zstd"}},
      {{"compression", "lz4"}},
      {{"compression", "fsst"}},
      {{"compression", "none"}},
      {{"compression", "zstd"}, {"bss", "on"}, {"compression-level", "7"}},
      {{"compression", "lz4"}, {"structural-encoding", "fullzip"}},
      {{"minichunk-size", "64"}, {"structural-encoding", "miniblock"}},
      {{"minichunk-size", "1000000"}, {"dict-values-compression", "zstd"}}};
  std::vector<Case> cases;
  for (uint16_t minor : {0, 1, 2}) {
    for (const Hints& hints : all) {
      for (Shape shape : {Shape::kSmall, Shape::kRuns, Shape::kText, Shape::kLong}) {
        cases.push_back({minor, shape == Shape::kSmall ? 0.0 : 0.3, shape, hints});
      }
    }
  }
  return cases;
}

INSTANTIATE_TEST_SUITE_P(Hinted, RoundTripTest, ::testing::ValuesIn(HintedCases()));

// Writes `json` as a column and reads it whole and from row 1 on.
void ExpectReadsBack(const std::shared_ptr<arrow::Field>& column, const std::string& json,
                     uint16_t minor) {
  const auto fields = schema::FromArrow(*arrow::schema({column})).ValueOrDie().fields;
  const auto values = *arrow::json::ArrayFromJSONString(column->type(), json);
  auto writer = FileWriter::Make(fields, {2, minor}).ValueOrDie();
  const arrow::Status appended = writer->Append(0, *values);
  ASSERT_TRUE(appended.ok()) << appended.ToString();
  auto store = MakeMemoryStore();
  const WrittenFile written = writer->Finish().ValueOrDie();
  ASSERT_TRUE(store->Put("/f.lance", written.bytes).ok());
  const auto reader =
      FileReader::Open(store->Open("/f.lance").ValueOrDie(), arrow::default_memory_pool())
          .ValueOrDie();
  const auto length = static_cast<uint64_t>(values->length());
  for (uint64_t first : {0, 1}) {
    const RowRange range{first, length - first, 0};
    auto read =
        reader->Read(fields[0], written.column_indices, std::span(&range, 1), length - first);
    ASSERT_TRUE(read.ok()) << read.status().ToString();
    const auto got = arrow::MakeArray(*read);
    EXPECT_TRUE(got->Equals(values->Slice(static_cast<int64_t>(first)))) << got->ToString();
  }
}

TEST(NestedRoundTripTest, StructsWithoutFieldsStandBelowOthers) {
  const auto empty = arrow::struct_(arrow::FieldVector{});
  const auto both = arrow::struct_({arrow::field("e", empty), arrow::field("x", arrow::int32())});
  for (uint16_t minor : {1, 2}) {
    ExpectReadsBack(arrow::field("c", arrow::struct_({arrow::field("e", empty)})),
                    R"([{"e": {}}, {"e": {}}, {"e": {}}])", minor);
    ExpectReadsBack(arrow::field("c", arrow::struct_({arrow::field("s", both)})),
                    R"([{"s": {"e": {}, "x": 1}}, {"s": {"e": {}, "x": null}}])", minor);
  }
}

TEST(NestedRoundTripTest, NullPackedStructsWithStringsStandBelowOthers) {
  const auto packed = arrow::field(
      "p", arrow::struct_({arrow::field("a", arrow::utf8()), arrow::field("b", arrow::int8())}),
      true, arrow::key_value_metadata({"packed"}, {"true"}));
  const std::string row = R"({"a": "text", "b": 1})";
  ExpectReadsBack(arrow::field("c", arrow::struct_({packed})),
                  R"([{"p": )" + row + R"(}, {"p": null}, null, {"p": )" + row + "}]", 2);
  ExpectReadsBack(arrow::field("c", arrow::list(packed)),
                  "[[" + row + ", null], [], null, [null], [" + row + "]]", 2);
}

TEST(NestedRoundTripTest, ListsHoldNoPackedStruct) {
  const auto packed = arrow::field("p", arrow::struct_({arrow::field("a", arrow::int32())}), true,
                                   arrow::key_value_metadata({"packed"}, {"true"}));
  for (uint16_t minor : {0, 1, 2})
    ExpectReadsBack(arrow::field("c", arrow::list(packed)), "[[], null, []]", minor);
}

// Bytes of the file of a column.
size_t FileBytes(const arrow::Array& values, uint16_t minor) {
  auto writer = FileWriter::Make({MakeField(values.type(), 0, {})}, {2, minor}).ValueOrDie();
  EXPECT_TRUE(writer->Append(0, values).ok());
  return writer->Finish().ValueOrDie().bytes.size();
}

TEST(NestedRoundTripTest, ListsWithoutAnyItemAreSmall) {
  const auto pair = arrow::fixed_size_list(arrow::int16(), 2);
  const auto pairs = arrow::fixed_size_list(pair, 2);
  const auto bits = arrow::fixed_size_list(arrow::boolean(), 3);
  for (uint16_t minor : {0, 1, 2}) {
    ExpectReadsBack(arrow::field("c", pair), "[[null, null], null, [null, null]]", minor);
    ExpectReadsBack(arrow::field("c", bits), "[[null, null, null], null]", minor);
    ExpectReadsBack(arrow::field("c", pairs), "[[null, null], null, [null, null]]", minor);
    ExpectReadsBack(arrow::field("c", pairs), "[[null, [null, null]], null, [[null, null], null]]",
                    minor);
    ExpectReadsBack(arrow::field("c", pairs), "[[null, [null, 1]], [null, null]]", minor);
    const auto items = arrow::MakeArrayOfNull(arrow::int64(), 4000).ValueOrDie();
    const auto lists = arrow::FixedSizeListArray::FromArrays(items, 4).ValueOrDie();
    EXPECT_LT(FileBytes(*lists, minor), 2000u);
  }
}

TEST(NestedRoundTripTest, ItemsOfDictionariesAreCompressed) {
  arrow::StringBuilder builder;
  arrow::Int16Builder indexes;
  for (int16_t i = 0; i < 3000; ++i) {
    ASSERT_TRUE(builder.Append("a somewhat long item, number " + std::to_string(i)).ok());
    ASSERT_TRUE(indexes.Append(i).ok());
  }
  const auto items = builder.Finish().ValueOrDie();
  const arrow::DictionaryArray array(arrow::dictionary(arrow::int16(), arrow::utf8()),
                                     indexes.Finish().ValueOrDie(), items);
  EXPECT_GT(FileBytes(array, 1), 100'000u);
  EXPECT_LT(FileBytes(array, 2), 50'000u);
}

}  // namespace
}  // namespace pennon::file
