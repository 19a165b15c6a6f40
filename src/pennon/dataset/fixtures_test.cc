// Every fixture table: scans of all kept versions and the queries of its case.json against the
// expected results.
//
// What pennon does not read yet is listed in testdata/not_yet_read.txt, one `case<TAB>what` a line.
// The list is exact: a new gap and a closed one both fail here.
#include <algorithm>
#include <map>
#include <set>

#include <arrow/array/array_nested.h>
#include <arrow/array/builder_primitive.h>
#include <arrow/compute/api_vector.h>
#include <arrow/datum.h>
#include <arrow/record_batch.h>
#include <arrow/table.h>
#include <gtest/gtest.h>

#include "pennon/dataset/fixture_case.h"
#include "pennon/pennon.h"

namespace pennon {
namespace {

using nlohmann::json;
using testing::FixturesDir;

bool IsUnsupported(const arrow::Status& status) {
  const ErrorDetail* detail = GetErrorDetail(status);
  return detail != nullptr && detail->kind() == ErrorKind::kUnsupported;
}

std::shared_ptr<arrow::Table> TakeRowsOf(const std::shared_ptr<arrow::Table>& table,
                                         const std::vector<int64_t>& rows) {
  arrow::Int64Builder builder;
  EXPECT_TRUE(builder.AppendValues(rows).ok());
  return arrow::compute::Take(arrow::Datum(table), arrow::Datum(builder.Finish().ValueOrDie()))
      .ValueOrDie()
      .table()
      ->CombineChunks()
      .ValueOrDie();
}

// A column of `table`, or a field inside structs by its path; null if there is none.
std::shared_ptr<arrow::ChunkedArray> ColumnAt(const arrow::Table& table, const std::string& path) {
  size_t dot = path.find('.');
  auto column = table.GetColumnByName(path.substr(0, dot));
  while (column != nullptr && dot != std::string::npos) {
    const size_t end = path.find('.', dot + 1);
    const std::string name = path.substr(dot + 1, end - dot - 1);
    const int index = static_cast<const arrow::StructType&>(*column->type()).GetFieldIndex(name);
    if (index < 0) return nullptr;
    arrow::ArrayVector chunks;
    for (const auto& chunk : column->chunks()) {
      chunks.push_back(
          static_cast<const arrow::StructArray&>(*chunk).GetFlattenedField(index).ValueOrDie());
    }
    const auto type = static_cast<const arrow::StructType&>(*column->type()).field(index)->type();
    column = std::make_shared<arrow::ChunkedArray>(std::move(chunks), type);
    dot = end;
  }
  return column;
}

class FixturesTest : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    folder_ = FixturesDir() / GetParam();
    case_ = testing::ReadCase(folder_);
    options_.context.store = std::make_shared<testing::FixtureStore>(FixturesDir().string());
    std::ifstream list(testing::SourceDir() / "testdata/not_yet_read.txt");
    for (std::string line; std::getline(list, line);) {
      size_t tab = line.find('\t');
      if (tab != std::string::npos && line.substr(0, tab) == GetParam())
        expected_gaps_.insert(line.substr(tab + 1));
    }
  }

  void TearDown() override {
    for (const auto& [gap, reason] : gaps_) {
      std::cout << "not yet read: " << GetParam() << "\t" << gap << "\t" << reason << "\n";
    }
    std::set<std::string> found;
    for (const auto& [gap, reason] : gaps_) found.insert(gap);
    EXPECT_EQ(found, expected_gaps_)
        << "what cannot be read differs from testdata/not_yet_read.txt";
  }

  void AddGap(const std::string& what, const arrow::Status& status) {
    gaps_.emplace(what, status.message());
  }

  std::optional<Dataset> OpenVersion(uint64_t version) {
    OpenOptions options = options_;
    options.version = version;
    auto opened = Dataset::Open((folder_ / "dataset.lance").string(), options);
    if (opened.ok()) return *opened;
    if (IsUnsupported(opened.status())) {
      AddGap("(open)", opened.status());
    } else {
      ADD_FAILURE() << opened.status().ToString();
    }
    return std::nullopt;
  }

  // Columns of the expected table that can be read, row columns included.
  std::vector<std::string> Readable(const Dataset& dataset, const arrow::Table& expected) {
    std::vector<std::string> names;
    for (const std::string& name : expected.ColumnNames()) {
      ScanOptions options;
      options.columns = {Projection(name)};
      auto read = dataset.ToTable(options);
      if (read.ok()) {
        names.push_back(name);
      } else if (IsUnsupported(read.status())) {
        AddGap(name, read.status());
      } else {
        ADD_FAILURE() << name << ": " << read.status().ToString();
      }
    }
    return names;
  }

  // Compares the columns `names` of both, in the rows' order.
  void Compare(const arrow::Table& got, const arrow::Table& expected,
               const std::vector<std::string>& names) {
    ASSERT_EQ(got.num_rows(), expected.num_rows());
    ASSERT_EQ(got.num_columns(), static_cast<int>(names.size()));
    arrow::EqualOptions nan_is_nan = arrow::EqualOptions::Defaults().nans_equal(true);
    for (size_t i = 0; i < names.size(); ++i) {
      auto column = got.column(static_cast<int>(i));
      ASSERT_EQ(got.schema()->field(static_cast<int>(i))->name(), names[i]);
      auto want = ColumnAt(expected, names[i]);
      ASSERT_NE(want, nullptr) << names[i];
      ASSERT_TRUE(column->type()->Equals(*want->type()))
          << names[i] << ": " << column->type()->ToString() << ", expected "
          << want->type()->ToString();
      ASSERT_TRUE(column->ValidateFull().ok())
          << names[i] << ": " << column->ValidateFull().ToString();
      ASSERT_TRUE(column->Equals(*want, nan_is_nan))
          << names[i] << "\ngot " << column->ToString() << "\nexpected " << want->ToString();
    }
  }

  static Columns ColumnsOf(const std::vector<std::string>& names) {
    return Columns(std::vector<Projection>(names.begin(), names.end()));
  }

  void CheckScans(const Dataset& dataset, const arrow::Table& expected,
                  const std::vector<std::string>& names) {
    ScanOptions options;
    options.columns = ColumnsOf(names);
    auto whole = dataset.ToTable(options);
    ASSERT_TRUE(whole.ok()) << whole.status().ToString();
    Compare(**whole, expected, names);
    options.batch_size = 7;
    options.use_threads = false;
    auto small = dataset.ToTable(options);
    ASSERT_TRUE(small.ok()) << small.status().ToString();
    Compare(**small, expected, names);
    int64_t rows = expected.num_rows();
    options.batch_size = 8192;
    options.offset = rows / 3;
    options.limit = rows / 2;
    auto part = dataset.ToTable(options);
    ASSERT_TRUE(part.ok()) << part.status().ToString();
    Compare(**part, *expected.Slice(rows / 3, rows / 2), names);
    // Backwards, with repeats: every row through a take.
    std::vector<int64_t> positions;
    for (int64_t i = rows - 1; i >= 0; i -= 1 + rows / 500) positions.push_back(i);
    if (rows > 0) positions.push_back(rows - 1);
    TakeOptions take;
    take.columns = ColumnsOf(names);
    auto taken = dataset.Take(positions, take);
    ASSERT_TRUE(taken.ok()) << taken.status().ToString();
    auto expected_shared = expected.Slice(0);
    Compare(**taken, *TakeRowsOf(expected_shared, positions), names);
  }

  void CheckQuery(const Dataset& dataset, const json& query,
                  const std::shared_ptr<arrow::Table>& expected,
                  const std::vector<std::string>& readable) {
    std::string kind = query["kind"];
    std::vector<std::string> names;
    if (query.contains("columns") && !query["columns"].is_null()) {
      for (const std::string name : query["columns"]) {
        const std::string top = name.substr(0, name.find('.'));
        if (std::find(readable.begin(), readable.end(), top) != readable.end()) {
          names.push_back(name);
        }
      }
    } else {
      for (const std::string& name : readable) {
        if (!name.starts_with("_row")) names.push_back(name);
      }
    }
    std::vector<int64_t> rows;
    arrow::Result<std::shared_ptr<arrow::Table>> got;
    if (kind == "take") {
      rows = query["positions"].get<std::vector<int64_t>>();
      got = dataset.Take(rows, {.columns = ColumnsOf(names)});
    } else if (kind == "take_row_ids") {
      rows = query["rows"].get<std::vector<int64_t>>();
      got = dataset.TakeRowIds(query["row_ids"].get<std::vector<uint64_t>>(),
                               {.columns = ColumnsOf(names)});
    } else {
      ScanOptions options;
      options.columns = ColumnsOf(names);
      if (kind == "filter") {
        options.where = query["filter"].get<std::string>();
        rows = query["rows"].get<std::vector<int64_t>>();
        // pennon gives rows in scan order always.
        std::sort(rows.begin(), rows.end());
      } else {
        for (int64_t i = 0; i < expected->num_rows(); ++i) rows.push_back(i);
      }
      got = dataset.ToTable(options);
      if (kind == "filter" && got.ok()) {
        auto count = dataset.CountRows(options.where);
        ASSERT_TRUE(count.ok()) << count.status().ToString();
        EXPECT_EQ(*count, static_cast<int64_t>(rows.size()));
      }
    }
    if (!got.ok() && IsUnsupported(got.status())) {
      AddGap(kind == "filter" ? "filter " + query["filter"].get<std::string>() : kind,
             got.status());
      return;
    }
    ASSERT_TRUE(got.ok()) << got.status().ToString();
    Compare(**got, *TakeRowsOf(expected, rows), names);
  }

  std::filesystem::path folder_;
  json case_;
  OpenOptions options_;
  std::set<std::string> expected_gaps_;
  std::map<std::string, std::string> gaps_;
};

TEST_P(FixturesTest, ScansAndQueriesGiveTheExpectedRows) {
  std::map<uint64_t, std::shared_ptr<arrow::Table>> expected;
  std::map<uint64_t, std::vector<std::string>> readable;
  std::map<uint64_t, Dataset> datasets;
  for (const json& version : case_["versions"]) {
    uint64_t number = version["version"];
    SCOPED_TRACE("version " + std::to_string(number));
    auto dataset = OpenVersion(number);
    if (!dataset) continue;
    EXPECT_EQ(dataset->version(), number);
    auto count = dataset->CountRows();
    ASSERT_TRUE(count.ok()) << count.status().ToString();
    EXPECT_EQ(*count, version["rows"].get<int64_t>());
    if (!version.contains("expected")) continue;
    expected[number] = testing::ReadArrowFile(folder_ / version["expected"].get<std::string>());
    readable[number] = Readable(*dataset, *expected[number]);
    datasets.emplace(number, *dataset);
    CheckScans(*dataset, *expected[number], readable[number]);
  }
  for (const json& query : case_.value("queries", json::array())) {
    if (query["kind"] == "nearest") continue;
    uint64_t number = query["version"];
    if (!datasets.contains(number)) continue;
    SCOPED_TRACE(query.dump());
    CheckQuery(datasets.at(number), query, expected[number], readable[number]);
  }
}

INSTANTIATE_TEST_SUITE_P(Cases, FixturesTest,
                         ::testing::ValuesIn(testing::CaseNames(FixturesDir())),
                         [](const auto& info) { return info.param; });

TEST(Fixtures, AreThere) {
  EXPECT_GE(testing::CaseNames(FixturesDir()).size(), 150u)
      << "no fixtures in " << FixturesDir() << ": run scripts/unpack_fixtures.py";
}

}  // namespace
}  // namespace pennon
