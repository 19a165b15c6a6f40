#include "pennon/file/writer.h"

#include <cctype>
#include <string>
#include <vector>

#include <arrow/array/builder_binary.h>
#include <arrow/array/builder_nested.h>
#include <arrow/array/builder_primitive.h>
#include <arrow/array/util.h>
#include <arrow/type.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "pennon/error.h"
#include "pennon/file/column_owners.h"
#include "pennon/schema/field_tree.h"
#include "pennon/schema/logical_type.h"

namespace pennon::file {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Field MakeField(std::string name, std::shared_ptr<arrow::DataType> type, int32_t id = 0) {
  Field field;
  field.name = std::move(name);
  field.id = id;
  field.logical_type = schema::LogicalTypeOf(*type);
  field.type = std::move(type);
  return field;
}

std::shared_ptr<arrow::Array> Ints(const std::vector<int32_t>& values,
                                   const std::vector<bool>& valid) {
  arrow::Int32Builder builder;
  EXPECT_TRUE(builder.AppendValues(values, valid).ok());
  return builder.Finish().ValueOrDie();
}

std::string WriteOne(std::shared_ptr<arrow::Array> values, FileVersion version) {
  auto writer = FileWriter::Make({MakeField("c", values->type())}, version).ValueOrDie();
  EXPECT_TRUE(writer->Append(0, *values).ok());
  return writer->Finish().ValueOrDie().bytes;
}

// Bytes from hexadecimal digits; "xx*n" repeats a byte; other characters separate.
std::string Hex(const std::string& text) {
  std::string out;
  for (size_t i = 0; i + 1 < text.size();) {
    if (!std::isxdigit(static_cast<unsigned char>(text[i]))) {
      ++i;
      continue;
    }
    const char byte = static_cast<char>(std::stoi(text.substr(i, 2), nullptr, 16));
    i += 2;
    size_t count = 1;
    if (i < text.size() && text[i] == '*') {
      size_t digits = 0;
      count = std::stoul(text.substr(i + 1), &digits);
      i += 1 + digits;
    }
    out.append(count, byte);
  }
  return out;
}

// Text with its length before it, as protobuf has strings.
std::string Text(const std::string& text) { return static_cast<char>(text.size()) + text; }

TEST(FileWriterTest, WholeFileOf20IsByteExact) {
  const std::string expected =
      Hex("03 48*63  01 00 00 00 02 00 00 00 00 00 00 00 48*52") +
      // Descriptor.
      Hex("0a 1b 0a 19 12 01 63 20 ff*9 01 2a") + Text("int32") + Hex("30 01 38 01 10 03") +
      // Column metadata: encoding, then one page.
      Hex("0a 29 12 27 0a 25 0a") + Text("/lance.encodings.ColumnEncoding") + Hex("12 02 0a 00") +
      Hex("12 48 0a 02 00 40 12 02 01 0c 18 03 22 3c 12 3a 0a 38 0a") +
      Text("/lance.encodings.ArrayEncoding") +
      Hex("12 16 12 14 12 12 0a 06 0a 04 08 01 12 00 12 08 0a 06 08 20 12 02 08 01") +
      // Tables and footer.
      Hex("9f 00*7 75 00*7  80 00*7 1f 00*7") +
      Hex("9f 00*7 14 01 00*6 24 01 00*6 01 00 00 00 01 00 00 00 00 00 03 00") + "LANC";
  ASSERT_EQ(expected.size(), 348u);
  EXPECT_EQ(WriteOne(Ints({1, 2, 0}, {true, true, false}), {2, 0}), expected);
}

// The chunks of a mini-block page with one column: what stands from byte 64 on.
std::string SecondBuffer(const std::string& file, size_t size) { return file.substr(64, size); }

TEST(FileWriterTest, MiniBlockOfFewIntsIsFlat) {
  const std::string file =
      WriteOne(Ints({1, 0, 3, -4, 5}, {true, false, true, true, true}), {2, 1});
  EXPECT_EQ(file.substr(0, 64), Hex("50 00 48*62"));
  EXPECT_EQ(SecondBuffer(file, 48),
            Hex("05 00 0a 00 14 00 00 00"
                "00 00 01 00 00 00 00 00 00 00 00*6 "
                "01 00 00 00 00 00 00 00 03 00 00 00 fc ff ff ff 05 00 00 00 00*4"));
  const std::string file22 =
      WriteOne(Ints({1, 0, 3, -4, 5}, {true, false, true, true, true}), {2, 2});
  EXPECT_EQ(file22.substr(0, 64), Hex("50 00 00 00 48*60"));
  EXPECT_EQ(SecondBuffer(file22, 8), Hex("05 00 0a 00 14 00 00 00"));
}

TEST(FileWriterTest, MiniBlockOfStrings) {
  arrow::StringBuilder builder;
  ASSERT_TRUE(builder.AppendValues({"ab", "", "", "xyz"}).ok());
  auto all = builder.Finish().ValueOrDie();
  auto data = all->data()->Copy();
  data->buffers[0] = *arrow::AllocateBuffer(1);
  data->buffers[0]->mutable_data()[0] = 0b1101;
  data->null_count = arrow::kUnknownNullCount;
  const std::string file = WriteOne(arrow::MakeArray(data), {2, 1});
  EXPECT_EQ(
      SecondBuffer(file, 48),
      Hex("04 00 08 00 1c 00 00 00  00 00 01 00 00 00 00 00"
          "14 00 00 00 16 00 00 00 16 00 00 00 16 00 00 00 19 00 00 00 61 62 78 79 7a 48*3  00*4"));
}

TEST(FileWriterTest, NullsUnderListsTakeNoItemValidity) {
  auto items = std::make_shared<arrow::FloatBuilder>();
  arrow::FixedSizeListBuilder builder(arrow::default_memory_pool(), items, 2);
  ASSERT_TRUE(builder.Append().ok());
  ASSERT_TRUE(items->AppendValues({1, 2}).ok());
  ASSERT_TRUE(builder.AppendNull().ok());
  ASSERT_TRUE(builder.Append().ok());
  ASSERT_TRUE(items->Append(3).ok());
  ASSERT_TRUE(items->AppendNull().ok());
  const std::string file = WriteOne(builder.Finish().ValueOrDie(), {2, 1});
  // Levels 0 1 0; items valid but the last; the null row is valid and zero inside.
  EXPECT_EQ(SecondBuffer(file, 16 + 8 + 8), Hex("03 00 06 00 01 00 18 00  00 00 01 00 00 00 00 00"
                                                "1f 00*7 00 00 80 3f 00 00 00 40"));
}

TEST(FileWriterTest, LongStringsAreZipped) {
  arrow::StringBuilder builder;
  ASSERT_TRUE(builder.AppendNull().ok());
  ASSERT_TRUE(builder.Append(std::string(256, 'x')).ok());
  ASSERT_TRUE(builder.Append("").ok());
  const std::string file = WriteOne(builder.Finish().ValueOrDie(), {2, 2});
  EXPECT_EQ(file.substr(0, 320), Hex("01  00 00 01 00 00 78*256  00 00 00 00 00 48*53"));
  EXPECT_EQ(file.substr(320, 8), Hex("00 00 01 00 06 01 0b 01"));  // u16 positions 0 1 262 267
}

TEST(FileWriterTest, VectorsWithoutNullsAreThePlainArray) {
  auto items = std::make_shared<arrow::FloatBuilder>();
  arrow::FixedSizeListBuilder builder(arrow::default_memory_pool(), items, 64);
  for (int row = 0; row < 3; ++row) {
    ASSERT_TRUE(builder.Append().ok());
    for (int i = 0; i < 64; ++i) ASSERT_TRUE(items->Append(static_cast<float>(row * 64 + i)).ok());
  }
  auto values = builder.Finish().ValueOrDie();
  const std::string file = WriteOne(values->Slice(1, 2), {2, 2});
  const float* floats = reinterpret_cast<const float*>(file.data());
  for (int i = 0; i < 128; ++i) EXPECT_EQ(floats[i], static_cast<float>(64 + i));
}

TEST(FileWriterTest, EqualValuesTakeNoPageBuffers) {
  const std::string scalar = WriteOne(Ints({7, 7, 7, 7}, {true, true, true, true}), {2, 2});
  EXPECT_LT(scalar.size(), 256u);
  const std::string nulls = WriteOne(Ints({0, 0}, {false, false}), {2, 1});
  EXPECT_LT(nulls.size(), 256u);
}

TEST(FileWriterTest, NamesFieldsAndColumns) {
  auto writer = FileWriter::Make(
                    {MakeField("a", arrow::int32(), 4), MakeField("b", arrow::utf8(), 9)}, {2, 2})
                    .ValueOrDie();
  ASSERT_TRUE(writer->Append(0, *Ints({1, 2}, {true, true})).ok());
  const WrittenFile file = writer->Finish().ValueOrDie();
  EXPECT_THAT(file.fields, ElementsAre(4, 9));
  EXPECT_THAT(file.column_indices, ElementsAre(0, 1));
  EXPECT_EQ(file.version, (FileVersion{2, 2}));
  EXPECT_EQ(file.bytes.substr(file.bytes.size() - 16),
            Hex("01 00 00 00 02 00 00 00 02 00 02 00") + "LANC");
}

TEST(FileWriterTest, NamesTheOwnersOfNestedColumns) {
  const auto point = arrow::struct_(
      {arrow::field("x", arrow::int32()), arrow::field("l", arrow::list(arrow::utf8()))});
  const auto schema = schema::FromArrow(
      *arrow::schema({arrow::field("a", arrow::int8()), arrow::field("p", point)}), 3);
  // Ids: a 3, p 4, x 5, l 6, item 7.
  auto later = FileWriter::Make(schema->fields, {2, 1}).ValueOrDie();
  EXPECT_THAT(later->Finish()->fields, ElementsAre(3, 5, 7));
  auto first = FileWriter::Make(schema->fields, {2, 0}).ValueOrDie();
  const WrittenFile file = first->Finish().ValueOrDie();
  EXPECT_THAT(file.fields, ElementsAre(3, 4, 5, 6, 7));
  EXPECT_THAT(file.column_indices, ElementsAre(0, 1, 2, 3, 4));
  std::vector<int32_t> owners = ColumnOwners(schema->fields[1], {2, 0});
  EXPECT_THAT(owners, ElementsAre(4, 5, 6, 7));
}

// Keeps the pieces that a writer gives on.
class Pieces final : public WritableFile {
 public:
  arrow::Status Append(std::string_view bytes) override {
    pieces_.emplace_back(bytes);
    return pieces_.size() < fail_at ? arrow::Status::OK() : arrow::Status::IOError("disk is full");
  }
  arrow::Status Commit() override { return arrow::Status::IOError("not for the writer to call"); }
  const std::vector<std::string>& pieces() const { return pieces_; }

  size_t fail_at = 1000;

 private:
  std::vector<std::string> pieces_;
};

TEST(FileWriterTest, PagesAreGivenOnAsTheyFill) {
  arrow::Int64Builder builder;
  for (int64_t i = 0; i < (4 << 20); ++i) ASSERT_TRUE(builder.Append(i * i * 977).ok());
  const auto values = builder.Finish().ValueOrDie();
  for (uint16_t minor : {0, 2}) {
    Pieces pieces;
    const std::vector<Field> fields = {MakeField("c", values->type())};
    auto writer = FileWriter::Make(fields, {2, minor}, &pieces).ValueOrDie();
    auto in_memory = FileWriter::Make(fields, {2, minor}).ValueOrDie();
    for (int64_t at = 0; at < values->length(); at += 1 << 19) {
      ASSERT_TRUE(writer->Append(0, *values->Slice(at, 1 << 19)).ok());
      ASSERT_TRUE(in_memory->Append(0, *values->Slice(at, 1 << 19)).ok());
      // 16 MiB at most wait for their page.
      EXPECT_GE(pieces.pieces().size(), static_cast<size_t>(at >> 21));
    }
    const WrittenFile written = writer->Finish().ValueOrDie();
    std::string joined;
    for (const std::string& piece : pieces.pieces()) joined += piece;
    EXPECT_EQ(written.bytes, "");
    EXPECT_EQ(written.size, joined.size());
    EXPECT_TRUE(joined == in_memory->Finish().ValueOrDie().bytes);
  }
}

TEST(FileWriterTest, AnOutputThatFailsIsAnError) {
  Pieces pieces;
  pieces.fail_at = 1;
  auto writer = FileWriter::Make({MakeField("c", arrow::int32())}, {2, 2}, &pieces).ValueOrDie();
  ASSERT_TRUE(writer->Append(0, *Ints({1, 2, 3}, {true, true, true})).ok());
  EXPECT_THAT(writer->Finish().status().message(), HasSubstr("disk is full"));
}

TEST(FileWriterTest, RefusesWhatItCannotWrite) {
  const auto map = schema::FromArrow(
      *arrow::schema({arrow::field("m", arrow::map(arrow::utf8(), arrow::int32()))}));
  const auto made = FileWriter::Make(map->fields, {2, 1});
  ASSERT_FALSE(made.ok());
  EXPECT_EQ(GetErrorDetail(made.status())->kind(), ErrorKind::kUnsupported);
  EXPECT_THAT(made.status().message(), HasSubstr("Maps need storage version 2.2, column: m"));
  const auto lost = FileWriter::Make(
      {MakeField("st", arrow::struct_({arrow::field("x", arrow::int32())}))}, {2, 2});
  EXPECT_THAT(lost.status().message(), HasSubstr("not the children of its type, column: st"));
  EXPECT_FALSE(FileWriter::Make({MakeField("a", arrow::int32())}, {2, 3}).ok());

  Field strict = MakeField("a", arrow::int32());
  strict.nullable = false;
  auto writer = FileWriter::Make({strict}, {2, 2}).ValueOrDie();
  EXPECT_THAT(writer->Append(0, *Ints({1}, {false})).message(), HasSubstr("not nullable"));
  EXPECT_THAT(writer->Append(1, *Ints({1}, {true})).message(), HasSubstr("no field"));
  EXPECT_THAT(writer->Append(0, *arrow::MakeArrayOfNull(arrow::int64(), 1).ValueOrDie()).message(),
              HasSubstr("expected int32, found int64"));
}

}  // namespace
}  // namespace pennon::file
