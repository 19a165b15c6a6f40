#include "pennon/write/overlay_writer.h"

#include <arrow/array.h>
#include <arrow/json/from_string.h>
#include <arrow/type.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "pennon/commit/test_table.h"
#include "pennon/error.h"
#include "pennon/file/reader.h"
#include "pennon/read/snapshot.h"
#include "pennon/table/fragment_wire.h"

namespace pennon::write {
namespace {

std::shared_ptr<arrow::Array> Json(const std::shared_ptr<arrow::DataType>& type,
                                   const std::string& text) {
  return arrow::json::ArrayFromJSONString(type, text).ValueOrDie();
}

class OverlayWriterTest : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    schema_ =
        arrow::schema({arrow::field("id", arrow::int64(), false),
                       arrow::field("name", arrow::utf8()), arrow::field("age", arrow::int32()),
                       arrow::field("st", arrow::struct_({arrow::field("a", arrow::int32())}))});
    location_ = {MakeMemoryStore(), "/t.lance"};
    Create(GetParam());
  }

  void Create(const std::string& version) {
    location_.store = MakeMemoryStore();
    const std::string fragment = table::EncodeFragment(commit::TestFragment(0, 10, {0, 1, 2, 4}));
    auto made = commit::CreateTestTable(location_, *schema_, {fragment}, {.data_version = version});
    ASSERT_TRUE(made.ok()) << made.status();
    manifest_ = *made;
    Context context;
    context.store = location_.store;
    snapshot_ = read::OpenSnapshot("t", location_.root, {}, context).ValueOrDie();
  }

  auto Write(const std::vector<OverlayColumn>& columns, uint64_t fragment = 0) {
    return WriteOverlayFile(snapshot_, fragment, columns);
  }

  // The values of column `column` of the staged file.
  std::shared_ptr<arrow::Array> ReadBack(const StagedOverlay& staged, int column) {
    auto file = location_.store->Open(staged.path).ValueOrDie();
    EXPECT_EQ(file->size(), staged.overlay.data_file.size_bytes);
    auto reader = file::FileReader::Open(file, arrow::default_memory_pool()).ValueOrDie();
    const Field* field = manifest_->schema().FindId(staged.overlay.data_file.fields[column]);
    const uint64_t length = reader->ColumnLength(column).ValueOrDie();
    const file::RowRange all{0, length, 0};
    return arrow::MakeArray(reader->Read(*field, column, {&all, 1}, length).ValueOrDie());
  }

  std::shared_ptr<arrow::Schema> schema_;
  table::TableLocation location_;
  std::shared_ptr<const table::Manifest> manifest_;
  std::shared_ptr<const read::Snapshot> snapshot_;
};

std::vector<uint32_t> Offsets(const std::string& coverage) {
  return Bitmap::Parse(coverage).ValueOrDie().ToVector();
}

TEST_P(OverlayWriterTest, DenseWhenAllColumnsHaveTheSameOffsets) {
  // Columns and offsets in any order: the file has them in the schema's and ascending.
  auto staged = Write({{"age", {7, 1}, Json(arrow::int32(), "[70, null]")},
                       {"name", {1, 7}, Json(arrow::utf8(), R"(["b", "h"])")}})
                    .ValueOrDie();
  ASSERT_TRUE(staged.has_value());
  EXPECT_TRUE(staged->overlay.dense);
  ASSERT_EQ(staged->overlay.coverage.size(), 1u);
  EXPECT_EQ(Offsets(staged->overlay.coverage[0]), (std::vector<uint32_t>{1, 7}));
  EXPECT_EQ(staged->overlay.data_file.fields, (std::vector<int32_t>{1, 2}));
  EXPECT_EQ(staged->overlay.data_file.column_indices, (std::vector<int32_t>{0, 1}));
  EXPECT_EQ(staged->overlay.data_file.major_version, 2u);
  EXPECT_EQ(JoinParts("2.", staged->overlay.data_file.minor_version), GetParam());
  EXPECT_EQ(staged->cells, 4u);
  EXPECT_EQ(staged->covered.cardinality(), 2u);
  EXPECT_TRUE(ReadBack(*staged, 0)->Equals(*Json(arrow::utf8(), R"(["b", "h"])")));
  EXPECT_TRUE(ReadBack(*staged, 1)->Equals(*Json(arrow::int32(), "[null, 70]")));
}

TEST_P(OverlayWriterTest, SparseWhenOffsetsDiffer) {
  auto staged = Write({{"name", {2, 3}, Json(arrow::utf8(), R"(["Caroline", "David"])")},
                       {"age", {1}, Json(arrow::int64(), "[26]")},
                       {"id", {}, Json(arrow::int64(), "[]")}})
                    .ValueOrDie();
  ASSERT_TRUE(staged.has_value());
  EXPECT_FALSE(staged->overlay.dense);
  EXPECT_EQ(staged->overlay.data_file.fields, (std::vector<int32_t>{1, 2}));
  ASSERT_EQ(staged->overlay.coverage.size(), 2u);
  EXPECT_EQ(Offsets(staged->overlay.coverage[0]), (std::vector<uint32_t>{2, 3}));
  EXPECT_EQ(Offsets(staged->overlay.coverage[1]), (std::vector<uint32_t>{1}));
  EXPECT_EQ(staged->covered.ToVector(), (std::vector<uint32_t>{1, 2, 3}));
  EXPECT_EQ(ReadBack(*staged, 0)->length(), 2);
  EXPECT_EQ(ReadBack(*staged, 1)->length(), 1);
  EXPECT_TRUE(ReadBack(*staged, 1)->Equals(*Json(arrow::int32(), "[26]")));
}

TEST_P(OverlayWriterTest, NoCellsNoFile) {
  EXPECT_FALSE(Write({}).ValueOrDie().has_value());
  EXPECT_FALSE(Write({{"age", {}, Json(arrow::int32(), "[]")}}).ValueOrDie().has_value());
  EXPECT_FALSE(location_.store->List("/t.lance/data").ok());
}

TEST_P(OverlayWriterTest, EachMisuseHasItsOwnError) {
  const auto one = Json(arrow::int32(), "[1]");
  struct Misuse {
    std::vector<OverlayColumn> columns;
    ErrorKind kind;
    std::string message;
    uint64_t fragment = 0;
  };
  const std::vector<Misuse> cases = {
      {{{"agee", {0}, one}}, ErrorKind::kInvalidInput, "id, name, age, st"},
      {{{"_rowid", {0}, one}}, ErrorKind::kInvalidInput, "System columns"},
      {{{"age", {10}, one}}, ErrorKind::kInvalidInput, "rows 0 to 9"},
      {{{"age", {4, 4}, Json(arrow::int32(), "[1, 2]")}}, ErrorKind::kInvalidInput, "offset 4"},
      {{{"age", {4, 2, 4}, Json(arrow::int32(), "[1, 2, 3]")}},
       ErrorKind::kInvalidInput,
       "offset 4"},
      {{{"age", {4, 5}, one}}, ErrorKind::kInvalidInput, "2 offsets and 1 values"},
      {{{"age", {4}, nullptr}}, ErrorKind::kInvalidInput, "no values"},
      {{{"age", {4}, one}, {"age", {5}, one}}, ErrorKind::kInvalidInput, "twice"},
      {{{"name", {4}, one}}, ErrorKind::kInvalidInput, "column name is string, given int32"},
      {{{"id", {4}, Json(arrow::int64(), "[null]")}}, ErrorKind::kInvalidInput, "not nullable"},
      {{{"age", {4}, one}}, ErrorKind::kInvalidInput, "fragment 7", 7},
      {{{"st.b", {4}, one}}, ErrorKind::kInvalidInput, "`st` has no field `b`"},
      {{{"age.b", {4}, one}}, ErrorKind::kInvalidInput, "only a struct"},
      {{{"st", {4}, one}}, ErrorKind::kInvalidInput, "wrong type"},
      {{{"st.a", {4}, Json(arrow::utf8(), R"(["x"])")}}, ErrorKind::kInvalidInput, "wrong type"},
  };
  for (const Misuse& misuse : cases) {
    auto staged = Write(misuse.columns, misuse.fragment);
    ASSERT_FALSE(staged.ok()) << misuse.message;
    ASSERT_NE(GetErrorDetail(staged.status()), nullptr) << staged.status();
    EXPECT_EQ(GetErrorDetail(staged.status())->kind(), misuse.kind) << staged.status();
    EXPECT_THAT(staged.status().message(), testing::HasSubstr(misuse.message));
  }
  EXPECT_FALSE(location_.store->List("/t.lance/data").ok());  // nothing was stored
}

TEST_P(OverlayWriterTest, RefusesStorageVersionsThatItDoesNotWrite) {
  Create("2.3");
  auto staged = Write({{"age", {4}, Json(arrow::int32(), "[1]")}});
  ASSERT_FALSE(staged.ok());
  EXPECT_EQ(GetErrorDetail(staged.status())->kind(), ErrorKind::kUnsupported);
  EXPECT_THAT(staged.status().message(), testing::HasSubstr("2.3"));
}

INSTANTIATE_TEST_SUITE_P(Versions, OverlayWriterTest, ::testing::Values("2.0", "2.1", "2.2"));

}  // namespace
}  // namespace pennon::write
