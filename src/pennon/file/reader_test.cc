// The reader's contract: which bytes are read in how many requests, what slots hold, which calls
// are errors. Values of every type and encoding: round_trip_test.cc and
// tests/interop/test_file_reader.py.
#include "pennon/file/reader.h"

#include <atomic>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include <arrow/array/array_binary.h>
#include <arrow/array/array_nested.h>
#include <arrow/array/array_primitive.h>
#include <arrow/array/builder_binary.h>
#include <arrow/array/builder_primitive.h>
#include <gtest/gtest.h>

#include "pennon/error.h"
#include "pennon/file/test_file.h"
#include "pennon/file/writer.h"

namespace pennon::file {
namespace {

using testing::BytesFile;

Field MakeField(const std::string& name, int id, std::shared_ptr<arrow::DataType> type,
                const std::string& logical) {
  Field field;
  field.name = name;
  field.id = id;
  field.logical_type = logical;
  field.type = std::move(type);
  return field;
}

Field IntField(const std::string& name = "n", int id = 0) {
  return MakeField(name, id, arrow::int32(), "int32");
}

/// 0, 7919, 2 * 7919, ... modulo 1,000,003: no runs, not constant.
std::shared_ptr<arrow::Array> Ints(int count, int null_every = 0) {
  arrow::Int32Builder builder;
  for (int64_t i = 0; i < count; ++i) {
    if (null_every > 0 && i % null_every == 1) {
      EXPECT_TRUE(builder.AppendNull().ok());
    } else {
      EXPECT_TRUE(builder.Append(static_cast<int32_t>(i * 7919 % 1000003)).ok());
    }
  }
  return builder.Finish().ValueOrDie();
}

std::string Write(const std::vector<Field>& fields,
                  const std::vector<std::shared_ptr<arrow::Array>>& columns,
                  FileVersion version = {2, 2}) {
  auto writer = FileWriter::Make(fields, version).ValueOrDie();
  for (size_t i = 0; i < columns.size(); ++i) {
    const auto status = writer->Append(static_cast<int>(i), *columns[i]);
    EXPECT_TRUE(status.ok()) << status.ToString();
  }
  return writer->Finish().ValueOrDie().bytes;
}

struct Opened {
  std::shared_ptr<BytesFile> file;
  std::shared_ptr<const FileReader> reader;
  IoStats Take() const { return file->counter.Take(); }
};

Opened Open(std::string bytes) {
  Opened out;
  out.file = std::make_shared<BytesFile>(std::move(bytes));
  out.reader = FileReader::Open(out.file, arrow::default_memory_pool()).ValueOrDie();
  return out;
}

ErrorKind KindOf(const arrow::Status& status) {
  const auto* const detail = GetErrorDetail(status);
  EXPECT_NE(detail, nullptr) << status.ToString();
  return detail != nullptr ? detail->kind() : ErrorKind::kIo;
}

TEST(FileReader, SmallFileCostsOneRequestInAll) {
  const Opened opened = Open(Write({IntField()}, {Ints(100)}));
  const std::vector<RowRange> all = {{0, 100, 0}};
  const auto data = opened.reader->Read(IntField(), 0, all, 100).ValueOrDie();
  EXPECT_TRUE(arrow::MakeArray(data)->Equals(Ints(100)));
  EXPECT_EQ(opened.Take().requests, 1U);
}

TEST(FileReader, ScanReadsAPageInOneRequestAndATakeOnlyItsChunk) {
  constexpr int kRows = 200000;
  const std::string bytes = Write({IntField()}, {Ints(kRows, 10)});
  const Opened scan = Open(bytes);
  scan.Take();
  const std::vector<RowRange> all = {{0, kRows, 0}};
  auto data = scan.reader->Read(IntField(), 0, all, kRows).ValueOrDie();
  EXPECT_TRUE(arrow::MakeArray(data)->Equals(Ints(kRows, 10)));
  EXPECT_EQ(scan.Take().requests, 1U);

  const Opened take = Open(bytes);
  take.Take();
  const std::vector<RowRange> one = {{100000, 1, 0}};
  data = take.reader->Read(IntField(), 0, one, 1).ValueOrDie();
  EXPECT_TRUE(arrow::MakeArray(data)->Equals(Ints(kRows, 10)->Slice(100000, 1)));
  IoStats stats = take.Take();
  EXPECT_LE(stats.requests, 2U);
  EXPECT_LT(stats.bytes, 16384U);
  // The directory is kept: only the chunk is read.
  const std::vector<RowRange> other = {{150000, 1, 0}};
  data = take.reader->Read(IntField(), 0, other, 1).ValueOrDie();
  EXPECT_TRUE(arrow::MakeArray(data)->Equals(Ints(kRows, 10)->Slice(150000, 1)));
  stats = take.Take();
  EXPECT_EQ(stats.requests, 1U);
  EXPECT_LT(stats.bytes, 8192U);
}

TEST(FileReader, WideVectorsAreReadStraightIntoTheResult) {
  constexpr int kRows = 300, kDimension = 128;
  arrow::FloatBuilder builder;
  for (int i = 0; i < kRows * kDimension; ++i)
    EXPECT_TRUE(builder.Append(static_cast<float>(i)).ok());
  const auto type = arrow::fixed_size_list(arrow::float32(), kDimension);
  const auto lists =
      std::make_shared<arrow::FixedSizeListArray>(type, kRows, builder.Finish().ValueOrDie());
  const Field field = MakeField("v", 0, type, "fixed_size_list:float:128");
  const Opened opened = Open(Write({field}, {lists}));
  opened.Take();
  const std::vector<RowRange> two = {{10, 5, 0}, {200, 1, 5}};
  const auto data = opened.reader->Read(field, 0, two, 6).ValueOrDie();
  const auto array = arrow::MakeArray(data);
  EXPECT_TRUE(array->Slice(0, 5)->Equals(lists->Slice(10, 5)));
  EXPECT_TRUE(array->Slice(5, 1)->Equals(lists->Slice(200, 1)));
  const IoStats stats = opened.Take();
  EXPECT_EQ(stats.requests, 2U);
  EXPECT_EQ(stats.bytes, 6U * kDimension * 4);
}

TEST(FileReader, OneOfManyColumnsReadsOnlyItsMetadata) {
  std::vector<Field> fields;
  std::vector<std::shared_ptr<arrow::Array>> columns;
  for (int i = 0; i < 2000; ++i) {
    fields.push_back(IntField("c" + std::to_string(i), i));
    columns.push_back(Ints(10 + i % 5));
  }
  const Opened opened = Open(Write(fields, columns));
  const std::vector<RowRange> all = {{0, 13, 0}};
  const auto data = opened.reader->Read(fields[3], 3, all, 13).ValueOrDie();
  EXPECT_TRUE(arrow::MakeArray(data)->Equals(Ints(13)));
  const IoStats stats = opened.Take();
  EXPECT_LE(stats.requests, 4U);   // tail, tables, metadata of the column, its page
  EXPECT_LT(stats.bytes, 40000U);  // 32,000 of them are the table of columns
}

TEST(FileReader, SlotsOutsideTheRangesAreValidAndZero) {
  const Opened opened = Open(Write({IntField()}, {Ints(50, 3)}));
  const std::vector<RowRange> ranges = {{1, 2, 3}, {10, 1, 8}};
  const auto data = opened.reader->Read(IntField(), 0, ranges, 12).ValueOrDie();
  const arrow::Int32Array array(data);
  const auto expected = Ints(50, 3);
  EXPECT_TRUE(array.Slice(3, 2)->Equals(expected->Slice(1, 2)));
  EXPECT_TRUE(array.Slice(8, 1)->Equals(expected->Slice(10, 1)));
  for (const int slot : {0, 1, 2, 5, 6, 7, 9, 10, 11}) {
    EXPECT_TRUE(array.IsValid(slot));
    EXPECT_EQ(array.Value(slot), 0);
  }
  EXPECT_EQ(data->null_count.load(), 2);
}

TEST(FileReader, StringsLeaveOtherSlotsEmpty) {
  arrow::StringBuilder builder;
  for (int i = 0; i < 40; ++i) EXPECT_TRUE(builder.Append("value " + std::to_string(i)).ok());
  const auto values = builder.Finish().ValueOrDie();
  const Field field = MakeField("s", 0, arrow::utf8(), "string");
  for (const uint16_t minor : {0, 1, 2}) {
    const Opened opened = Open(Write({field}, {values}, {2, minor}));
    const std::vector<RowRange> ranges = {{5, 2, 1}, {30, 1, 5}};
    const auto data = opened.reader->Read(field, 0, ranges, 7).ValueOrDie();
    const arrow::StringArray array(data);
    ASSERT_TRUE(array.ValidateFull().ok());
    const std::vector<std::string> expected = {"", "value 5", "value 6", "", "", "value 30", ""};
    for (int i = 0; i < 7; ++i)
      EXPECT_EQ(array.GetString(i), expected[static_cast<size_t>(i)]) << minor;
    EXPECT_EQ(data->null_count.load(), 0);
    EXPECT_EQ(data->buffers[0], nullptr);
  }
}

TEST(FileReader, NoRowsGiveAnArrayOfFreeSlots) {
  const Opened opened = Open(Write({IntField()}, {Ints(5)}));
  const auto data = opened.reader->Read(IntField(), 0, {}, 3).ValueOrDie();
  EXPECT_EQ(data->length, 3);
  EXPECT_EQ(data->null_count.load(), 0);
}

TEST(FileReader, ColumnsOfUnequalLengthAndColumnsWithoutRows) {
  const Opened opened =
      Open(Write({IntField("a", 0), IntField("b", 1), IntField("c", 2)}, {Ints(7), Ints(3)}));
  EXPECT_EQ(opened.reader->num_columns(), 3);
  EXPECT_EQ(opened.reader->ColumnLength(0).ValueOrDie(), 7U);
  EXPECT_EQ(opened.reader->ColumnLength(1).ValueOrDie(), 3U);
  EXPECT_EQ(opened.reader->ColumnLength(2).ValueOrDie(), 0U);
  EXPECT_EQ(opened.reader->ColumnBytes(2).ValueOrDie(), 0U);
}

TEST(FileReader, ThreadsShareAReader) {
  constexpr int kRows = 20000, kThreads = 4, kRounds = 60;
  const Field numbers = IntField("n", 0);
  const Field text = MakeField("s", 1, arrow::utf8(), "string");
  arrow::StringBuilder builder;
  for (int i = 0; i < kRows; ++i) EXPECT_TRUE(builder.Append(std::to_string(i % 700)).ok());
  const auto strings = builder.Finish().ValueOrDie();
  const auto ints = Ints(kRows, 10);
  for (const uint16_t minor : {0, 1, 2}) {
    const Opened opened = Open(Write({numbers, text}, {ints, strings}, {2, minor}));
    std::atomic<int> wrong{0};
    std::vector<std::thread> threads;
    for (int t = 0; t < kThreads; ++t) {
      threads.emplace_back([&, t] {
        for (int round = 0; round < kRounds; ++round) {
          const int column = (t + round) % 2;
          const uint64_t first = static_cast<uint64_t>(t * 4000 + round * 61);
          const RowRange range = {first, 200, 0};
          const auto data =
              opened.reader->Read(column == 0 ? numbers : text, column, {&range, 1}, 200);
          const auto& expected = column == 0 ? ints : strings;
          const bool same = data.ok() && arrow::MakeArray(*data)->Equals(
                                             expected->Slice(static_cast<int64_t>(first), 200));
          if (!same) ++wrong;
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(wrong, 0) << "minor " << minor;
  }
}

TEST(FileReader, RefusesRangesThatDoNotFit) {
  const Opened opened = Open(Write({IntField()}, {Ints(10)}));
  const std::vector<std::vector<RowRange>> bad = {{{5, 6, 0}},
                                                  {{11, 0, 0}},
                                                  {{0, 2, 9}},
                                                  {{3, 2, 0}, {1, 1, 5}},
                                                  {{0, 2, 3}, {5, 1, 4}},
                                                  {{0, ~uint64_t{0}, 0}}};
  for (const auto& ranges : bad) {
    EXPECT_EQ(KindOf(opened.reader->Read(IntField(), 0, ranges, 10).status()),
              ErrorKind::kInvalidInput);
  }
}

TEST(FileReader, ErrorsNameColumnAndFile) {
  const Opened opened = Open(Write({IntField("age")}, {Ints(10)}));
  const std::vector<RowRange> all = {{0, 10, 0}};
  // The page holds int32: another width is a contradiction.
  auto status =
      opened.reader->Read(MakeField("age", 0, arrow::int64(), "int64"), 0, all, 10).status();
  EXPECT_EQ(KindOf(status), ErrorKind::kCorrupt);
  EXPECT_NE(status.message().find("'age'"), std::string::npos) << status.ToString();
  EXPECT_EQ(GetErrorDetail(status)->place().path, "test.lance");

  status = opened.reader->Read(MakeField("age", 0, arrow::list(arrow::int32()), "list"), 0, all, 10)
               .status();
  EXPECT_EQ(KindOf(status), ErrorKind::kUnsupported);
  EXPECT_NE(status.message().find("'age'"), std::string::npos) << status.ToString();

  EXPECT_EQ(KindOf(opened.reader->Read(IntField("age"), 1, all, 10).status()), ErrorKind::kCorrupt);
  EXPECT_EQ(KindOf(opened.reader->ColumnLength(-1).status()), ErrorKind::kCorrupt);
}

TEST(FileReader, TextThatIsNotUtf8IsCorruptAndNamesColumnAndFile) {
  arrow::BinaryBuilder builder;
  for (const char* value : {"good", "caf\u00e9", "b\xff d", "a\xc3", "\xa9"})
    EXPECT_TRUE(builder.Append(value).ok());
  const auto bytes = builder.Finish().ValueOrDie();
  for (const uint16_t minor : {0, 1, 2}) {
    const Opened opened =
        Open(Write({MakeField("name", 4, arrow::binary(), "binary")}, {bytes}, {2, minor}));
    const Field text = MakeField("name", 4, arrow::utf8(), "string");
    // The good ones can be read; the last two are one character, cut.
    const std::vector<std::pair<RowRange, bool>> reads = {
        {{0, 2, 0}, true}, {{1, 2, 0}, false}, {{2, 1, 1}, false}, {{3, 2, 0}, false}};
    for (const auto& [range, good] : reads) {
      const auto status = opened.reader->Read(text, 0, {&range, 1}, 3).status();
      ASSERT_EQ(status.ok(), good) << status.ToString();
      if (good) continue;
      EXPECT_EQ(KindOf(status), ErrorKind::kCorrupt);
      EXPECT_NE(status.message().find("UTF-8"), std::string::npos) << status.ToString();
      EXPECT_NE(status.message().find("'name'"), std::string::npos) << status.ToString();
      EXPECT_EQ(GetErrorDetail(status)->place().path, "test.lance");
      EXPECT_EQ(GetErrorDetail(status)->place().field, 4);
    }
    const std::vector<RowRange> all = {{0, 5, 0}};
    const Field binary = MakeField("name", 4, arrow::binary(), "binary");
    EXPECT_TRUE(opened.reader->Read(binary, 0, all, 5).ok());
  }
}

TEST(FileReader, RefusesOtherVersionsByName) {
  std::string bytes = Write({IntField()}, {Ints(10)});
  bytes[bytes.size() - 6] = 3;
  const auto status =
      FileReader::Open(std::make_shared<BytesFile>(bytes), arrow::default_memory_pool()).status();
  EXPECT_EQ(KindOf(status), ErrorKind::kUnsupported);
  EXPECT_NE(status.message().find("2.3"), std::string::npos);
}

}  // namespace
}  // namespace pennon::file
