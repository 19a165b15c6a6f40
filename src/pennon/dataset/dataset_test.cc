// Dataset over tables made here, on a store in memory: what reads cost (counted), and how bad input
// is answered.
#include "pennon/dataset.h"

#include <numeric>
#include <random>

#include <arrow/array/builder_binary.h>
#include <arrow/array/builder_primitive.h>
#include <arrow/record_batch.h>
#include <arrow/scalar.h>
#include <arrow/table.h>
#include <arrow/type.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "pennon/commit/committer.h"
#include "pennon/commit/test_table.h"
#include "pennon/error.h"
#include "pennon/read/file_cache.h"
#include "pennon/read/result_cache.h"
#include "pennon/read/scan.h"
#include "pennon/read/snapshot.h"
#include "pennon/read/take.h"
#include "pennon/table/fragment_wire.h"

namespace pennon {
namespace {

using ::testing::HasSubstr;

constexpr char kRoot[] = "/users.lance";
constexpr uint32_t kRows = 20000;

std::shared_ptr<arrow::Array> Int32s(const std::vector<int32_t>& values) {
  arrow::Int32Builder builder;
  EXPECT_TRUE(builder.AppendValues(values).ok());
  return builder.Finish().ValueOrDie();
}

// Values that no encoding makes smaller, so that bytes read tell rows read.
std::vector<int32_t> Noise(uint32_t count, uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<int32_t> values(count);
  for (int32_t& value : values) value = static_cast<int32_t>(random());
  return values;
}

std::vector<uint32_t> Range(uint32_t first, uint32_t end, uint32_t step = 1) {
  std::vector<uint32_t> offsets;
  for (uint32_t i = first; i < end; i += step) offsets.push_back(i);
  return offsets;
}

class DatasetTest : public ::testing::Test {
 protected:
  // Two fragments with columns a and b of noise.
  void SetUp() override {
    location_ = {MakeMemoryStore(), kRoot};
    auto schema =
        arrow::schema({arrow::field("a", arrow::int32()), arrow::field("b", arrow::int32())});
    auto manifest = commit::CreateTestTable(location_, *schema, {}).ValueOrDie();
    std::vector<table::Fragment> fragments;
    for (uint32_t f = 0; f < 2; ++f) {
      a_.push_back(Noise(kRows, 10 + f));
      b_.push_back(Noise(kRows, 20 + f));
      fragments.push_back(
          commit::WriteTestFragment(location_, *manifest, {Int32s(a_[f]), Int32s(b_[f])})
              .ValueOrDie());
    }
    auto append = std::make_shared<commit::TestAppend>(std::move(fragments));
    ASSERT_TRUE(commit::Commit({location_, manifest, append, {}}).ok());
  }

  Dataset Open(std::optional<uint64_t> version = {}) {
    OpenOptions options;
    options.version = version;
    options.context.store = location_.store;
    return Dataset::Open(kRoot, options).ValueOrDie();
  }
  std::shared_ptr<const read::Snapshot> OpenSnapshot() {
    Context context;
    context.store = location_.store;
    return read::OpenSnapshot(kRoot, kRoot, {}, context).ValueOrDie();
  }

  // Overlays a at `offsets` of a fragment with new noise, in the table and in a_.
  void Overlay(uint32_t fragment, const std::vector<uint32_t>& offsets) {
    std::vector<int32_t> values = Noise(static_cast<uint32_t>(offsets.size()), ++seed_);
    auto done = Open().WriteOverlay(fragment, {{"a", offsets, Int32s(values)}});
    ASSERT_TRUE(done.ok()) << done.status().ToString();
    for (size_t i = 0; i < offsets.size(); ++i) a_[fragment][offsets[i]] = values[i];
  }

  static std::vector<int32_t> ValuesOf(const arrow::Table& table, int column = 0) {
    std::vector<int32_t> values;
    for (const auto& chunk : table.column(column)->chunks()) {
      const auto& array = static_cast<const arrow::Int32Array&>(*chunk);
      values.insert(values.end(), array.raw_values(), array.raw_values() + array.length());
    }
    return values;
  }

  std::vector<int32_t> AllA() const {
    std::vector<int32_t> all = a_[0];
    all.insert(all.end(), a_[1].begin(), a_[1].end());
    return all;
  }

  // Scans column a that often through a fresh handle; gives what the last scan cost. From the
  // second on, footers and what overlays give are at hand.
  IoStats ScanCost(const std::shared_ptr<const read::Snapshot>& snapshot, int times = 2) {
    for (int i = 0; i < times; ++i) {
      snapshot->counter->Take();
      auto reader = read::Scan(snapshot, {.columns = {"a"}}).ValueOrDie();
      auto table = reader->ToTable().ValueOrDie();
      EXPECT_EQ(ValuesOf(*table), AllA());
    }
    return snapshot->counter->Take();
  }

  table::TableLocation location_;
  std::vector<std::vector<int32_t>> a_;
  std::vector<std::vector<int32_t>> b_;
  uint32_t seed_ = 100;
};

TEST_F(DatasetTest, ScanOfOneColumnReadsThatColumn) {
  IoStats cost = ScanCost(OpenSnapshot());
  EXPECT_GE(cost.bytes, 2 * kRows * 4u);
  EXPECT_LT(cost.bytes, 2 * kRows * 4u * 11 / 10);
  EXPECT_EQ(cost.requests, 2u);
}

TEST_F(DatasetTest, ScanReadsEachOverlayFileOnce) {
  const IoStats bare = ScanCost(OpenSnapshot());
  const IoStats bare_first = ScanCost(OpenSnapshot(), 1);
  for (uint32_t i = 0; i < 8; ++i) Overlay(i % 2, Range(i, kRows, 10));
  // The tail of each file and its values.
  const IoStats first = ScanCost(OpenSnapshot(), 1);
  EXPECT_EQ(first.requests, bare_first.requests + 8 * 2);
  EXPECT_LT(first.bytes, bare_first.bytes + 8 * (kRows / 10 * 4 + 2000 + 4096));
  // What little the overlays give is kept.
  const IoStats again = ScanCost(OpenSnapshot());
  EXPECT_EQ(again.requests, bare.requests);
  EXPECT_EQ(again.bytes, bare.bytes);
}

TEST_F(DatasetTest, NothingComesAfterAnError) {
  auto snapshot = OpenSnapshot();
  const std::string gone = snapshot->manifest->fragments()[0].files[0].path;
  ASSERT_TRUE(location_.store->Delete(std::string(kRoot) + "/data/" + gone).ok());
  for (const bool threads : {false, true}) {
    auto reader = read::Scan(snapshot, {.columns = {"a"}, .use_threads = threads}).ValueOrDie();
    std::shared_ptr<arrow::RecordBatch> batch;
    for (int i = 0; i < 3; ++i) {
      // The second fragment is whole, but its rows are not those that come next.
      EXPECT_EQ(GetErrorDetail(reader->ReadNext(&batch))->kind(), ErrorKind::kNotFound);
      EXPECT_EQ(batch, nullptr);
    }
  }
}

TEST_F(DatasetTest, ALosingValueIsNeverRead) {
  Overlay(0, Range(0, 4000, 2));
  Overlay(0, Range(0, 4000, 2));
  auto snapshot = OpenSnapshot();
  auto table = read::Scan(snapshot, {.columns = {"a"}}).ValueOrDie()->ToTable().ValueOrDie();
  EXPECT_EQ(ValuesOf(*table), AllA());
  EXPECT_EQ(snapshot->files->opened(), 3u) << "two base files and the newer overlay";
}

TEST_F(DatasetTest, ABaseColumnThatIsAllOverlaidIsNotRead) {
  Overlay(0, Range(0, kRows));
  auto snapshot = OpenSnapshot();
  IoStats cost = ScanCost(snapshot);
  EXPECT_EQ(snapshot->files->opened(), 2u) << "one base file, one overlay";
  EXPECT_LT(cost.bytes, 2 * kRows * 4u * 11 / 10);
}

TEST_F(DatasetTest, OverlaidPartsOfTheBaseAreNotRead) {
  IoStats bare = ScanCost(OpenSnapshot());
  Overlay(0, Range(2000, 18000));
  auto snapshot = OpenSnapshot();
  IoStats cost = ScanCost(snapshot);
  // 16,000 values come from the overlay instead of the base; what is left of the base is 4,000
  // values and the rest of two access units.
  EXPECT_LT(cost.bytes, bare.bytes + bare.bytes / 10);
}

TEST_F(DatasetTest, OpeningAndForeignColumnsParseNoCoverage) {
  for (uint32_t i = 0; i < 4; ++i) Overlay(0, Range(i, 1000, 10));
  auto snapshot = OpenSnapshot();
  EXPECT_EQ(snapshot->results->counters().bitmaps_parsed, 0u);
  auto table =
      read::Scan(snapshot, {.columns = {"b", "_rowaddr"}}).ValueOrDie()->ToTable().ValueOrDie();
  EXPECT_EQ(table->num_rows(), 2 * kRows);
  EXPECT_EQ(snapshot->results->counters().bitmaps_parsed, 0u);
  EXPECT_EQ(read::CountRows(snapshot, {}).ValueOrDie(), 2 * kRows);
  EXPECT_EQ(snapshot->results->counters().bitmaps_parsed, 0u);
  ASSERT_TRUE(read::Scan(snapshot, {.columns = {"a"}}).ValueOrDie()->ToTable().ok());
  EXPECT_EQ(snapshot->results->counters().bitmaps_parsed, 4u);
  EXPECT_EQ(snapshot->results->counters().winner_maps_built, 1u);
  ASSERT_TRUE(read::Scan(snapshot, {.columns = {"a"}}).ValueOrDie()->ToTable().ok());
  EXPECT_EQ(snapshot->results->counters().bitmaps_parsed, 4u) << "winner maps are kept";
}

TEST_F(DatasetTest, TakeOpensOnlyOverlaysThatGiveARow) {
  for (uint32_t i = 0; i < 4; ++i) Overlay(0, Range(i, 1000, 10));
  auto take = [&](std::vector<int64_t> rows, uint64_t files) {
    auto snapshot = OpenSnapshot();
    auto places = read::FindPositions(snapshot, rows).ValueOrDie();
    auto table = read::TakeRows(snapshot, places, {.columns = {"a"}}).ValueOrDie();
    std::vector<int32_t> expected;
    for (int64_t row : rows) expected.push_back(AllA()[static_cast<size_t>(row)]);
    EXPECT_EQ(ValuesOf(*table), expected);
    EXPECT_EQ(snapshot->files->opened(), files);
    return snapshot->counter->Take();
  };
  IoStats untouched = take({5, 7, 5, 1999, 20001}, 2);
  EXPECT_LT(untouched.bytes, 100000u);
  take({2, 12, 992}, 1);
  take({13, 5, 13, 23000}, 3);
}

TEST_F(DatasetTest, LimitReadsNoMoreFragmentsThanItNeeds) {
  auto snapshot = OpenSnapshot();
  auto table = read::Scan(snapshot, {.columns = {"a"}, .limit = 10, .offset = 3})
                   .ValueOrDie()
                   ->ToTable()
                   .ValueOrDie();
  EXPECT_EQ(ValuesOf(*table), std::vector<int32_t>(a_[0].begin() + 3, a_[0].begin() + 13));
  EXPECT_EQ(snapshot->files->opened(), 1u);
  EXPECT_LT(snapshot->counter->Take().bytes, 40000u);
  snapshot = OpenSnapshot();
  table = read::Scan(snapshot, {.columns = {"a"}, .limit = 2, .offset = kRows + 1})
              .ValueOrDie()
              ->ToTable()
              .ValueOrDie();
  EXPECT_EQ(ValuesOf(*table), std::vector<int32_t>(a_[1].begin() + 1, a_[1].begin() + 3));
  EXPECT_EQ(snapshot->files->opened(), 1u) << "fragments before the offset are not opened";
}

TEST_F(DatasetTest, FilterSeesOverlaidValues) {
  Overlay(1, {7, 9});
  Dataset dataset = Open();
  std::string value = std::to_string(a_[1][9]);
  auto table =
      dataset.ToTable({.columns = {"b", "a"}, .where = "a = " + value, .with_row_address = true})
          .ValueOrDie();
  ASSERT_EQ(table->num_rows(), 1);
  EXPECT_EQ(ValuesOf(*table, 0)[0], b_[1][9]);
  EXPECT_EQ(ValuesOf(*table, 1)[0], a_[1][9]);
  EXPECT_EQ(table->column(2)->GetScalar(0).ValueOrDie()->ToString(),
            std::to_string((uint64_t{1} << 32) + 9));
  EXPECT_EQ(dataset.CountRows("a = " + value).ValueOrDie(), 1);
  EXPECT_EQ(Open(2).CountRows("a = " + value).ValueOrDie(), 0) << "the version before the overlay";
}

TEST_F(DatasetTest, SelectiveFilterReadsFewBytesOfOtherColumns) {
  Dataset dataset = Open();
  ASSERT_TRUE(dataset.ToTable().ok());
  dataset.TakeIoStats();
  auto table = dataset.ToTable({.columns = {"b"}, .where = "a = " + std::to_string(a_[0][777])})
                   .ValueOrDie();
  EXPECT_EQ(ValuesOf(*table), std::vector<int32_t>{b_[0][777]});
  EXPECT_LT(dataset.TakeIoStats().bytes, 2 * kRows * 4u * 13 / 10)
      << "all of a, one access unit of b";
}

TEST_F(DatasetTest, DroppingAScanEarlyIsSafe) {
  Dataset dataset = Open();
  for (int i = 0; i < 20; ++i) {
    auto reader = dataset.Scan({.batch_size = 100}).ValueOrDie();
    std::shared_ptr<arrow::RecordBatch> batch;
    if (i % 2 == 0) {
      ASSERT_TRUE(reader->ReadNext(&batch).ok());
      EXPECT_EQ(batch->num_rows(), 100);
    }
  }
}

TEST_F(DatasetTest, ExplainNamesWinnerAndWhatItShadows) {
  int32_t base = a_[0][42];
  Overlay(0, {40, 42});
  int32_t first = a_[0][42];
  Overlay(0, {1, 2, 42, 50});
  Dataset dataset = Open();
  auto cell = dataset.ExplainCell(42, "a").ValueOrDie();
  EXPECT_TRUE(cell.winner.overlay);
  EXPECT_EQ(cell.winner.version, 4u);
  EXPECT_EQ(cell.winner.rank, 2u);
  EXPECT_EQ(cell.value->ToString(), std::to_string(a_[0][42]));
  ASSERT_EQ(cell.shadowed.size(), 2u);
  EXPECT_EQ(cell.shadowed[0].version, 3u);
  EXPECT_EQ(cell.shadowed[0].value->ToString(), std::to_string(first));
  EXPECT_FALSE(cell.shadowed[1].overlay);
  EXPECT_EQ(cell.shadowed[1].value->ToString(), std::to_string(base));
  EXPECT_FALSE(dataset.ExplainCell(42, "b").ValueOrDie().winner.overlay);
}

TEST_F(DatasetTest, OverlaysTellWhatStillWins) {
  Overlay(0, {1, 2, 3, 4});
  Overlay(0, {3, 4, 5});
  auto list = Open().Overlays().ValueOrDie();
  ASSERT_EQ(list.size(), 2u);
  EXPECT_EQ(list[0].cells, 4u);
  EXPECT_EQ(list[0].winning, 2u);
  EXPECT_EQ(list[1].winning, 3u);
  EXPECT_EQ(list[1].committed_version, 4u);
  EXPECT_EQ(list[1].fields[0].name, "a");
  auto info = Open().Info().ValueOrDie();
  EXPECT_EQ(info.overlays, 2u);
  EXPECT_EQ(info.rows, 2 * kRows);
  EXPECT_EQ(Open().Versions().ValueOrDie().size(), 4u);
}

TEST_F(DatasetTest, VersionInTheUri) {
  Overlay(0, {1});
  OpenOptions options;
  options.context.store = location_.store;
  EXPECT_EQ(Dataset::Open(std::string(kRoot) + "@2", options).ValueOrDie().version(), 2u);
  EXPECT_EQ(Dataset::Open(std::string(kRoot) + "@2", options)
                .ValueOrDie()
                .Checkout({})
                .ValueOrDie()
                .version(),
            3u);
  EXPECT_FALSE(Dataset::Open(std::string(kRoot) + "@99", options).ok());
}

TEST_F(DatasetTest, TagInTheUri) {
  Overlay(0, {1});
  const std::string root = kRoot;
  auto put = [&](const std::string& path, const std::string& json) {
    ASSERT_TRUE(location_.store->Put(path + ".json", json).ok());
  };
  put(root + "/_refs/tags/before", R"({"branch": null, "version": 2})");
  put(root + "/_refs/tags/gone", R"({"branch": null, "version": 99})");
  put(root + "/_refs/tags/aside", R"({"branch": "side", "version": 2})");
  put(root + "/_refs/tags/3", R"({"branch": null, "version": 1})");
  OpenOptions options;
  options.context.store = location_.store;
  auto open = [&](const std::string& uri) { return Dataset::Open(uri, options); };
  EXPECT_EQ(open(root + "@before").ValueOrDie().version(), 2u);
  EXPECT_EQ(open(root + "@before").ValueOrDie().uri(), root);
  EXPECT_EQ(open(root + "@3").ValueOrDie().version(), 3u);  // a number is a version
  EXPECT_EQ(GetErrorDetail(open(root + "@gone").status())->kind(), ErrorKind::kNotFound);
  EXPECT_EQ(GetErrorDetail(open(root + "@aside").status())->kind(), ErrorKind::kUnsupported);
  const arrow::Status none = open(root + "@after").status();
  EXPECT_EQ(GetErrorDetail(none)->kind(), ErrorKind::kNotFound);
  EXPECT_THAT(none.message(), HasSubstr("no tag `after`"));

  options.tag = "before";
  EXPECT_EQ(open(root).ValueOrDie().version(), 2u);
  EXPECT_EQ(open(root + "@2").ValueOrDie().version(), 2u);
  EXPECT_THAT(open(root + "@1").status().message(), HasSubstr("two versions"));
  options.version = 3;
  EXPECT_THAT(open(root).status().message(), HasSubstr("two versions"));
  options.version = {};
  options.tag = "3";
  EXPECT_EQ(open(root).ValueOrDie().version(), 1u);
  options.tag = "after";
  EXPECT_THAT(open(root).status().message(), HasSubstr("has the tag `after`"));
  EXPECT_EQ(GetErrorDetail(open("/nothere").status())->place().path, "/nothere");
}

TEST_F(DatasetTest, APathMayHoldAnAt) {
  // A folder named like a tagged table is a table of its own.
  const std::string root = "/a@b.lance";
  const std::string name = "/_versions/" + table::FormatManifestName(1, table::ManifestNaming::kV2);
  auto file = location_.store->Open(kRoot + name).ValueOrDie();
  std::string bytes(file->size(), '\0');
  ASSERT_TRUE(file->ReadAt(0, {reinterpret_cast<uint8_t*>(bytes.data()), bytes.size()}).ok());
  ASSERT_TRUE(location_.store->Put(root + name, bytes).ok());
  OpenOptions options;
  options.context.store = location_.store;
  EXPECT_TRUE(Dataset::Open(root, options).ok());
  EXPECT_TRUE(Dataset::Open(root + "@1", options).ok());
  EXPECT_FALSE(Dataset::Open("/a", options).ok());
}

TEST_F(DatasetTest, BadInputIsExplained) {
  Dataset dataset = Open();
  arrow::Status status = dataset.ToTable({.columns = {"aa"}}).status();
  EXPECT_THAT(status.message(), HasSubstr("no such column: `aa`"));
  EXPECT_THAT(status.message(), HasSubstr("did you mean `a`?"));
  EXPECT_THAT(dataset.Take({3, 2 * kRows}).status().message(), HasSubstr("out of range: 40000"));
  EXPECT_THAT(dataset.Take({-1}).status().message(), HasSubstr("out of range: -1"));
  EXPECT_FALSE(dataset.ToTable({.batch_size = 0}).ok());
  EXPECT_FALSE(dataset.ToTable({.limit = -1}).ok());
  EXPECT_FALSE(dataset.ToTable({.fragments = {7}}).ok());
  EXPECT_FALSE(dataset.ToTable({.where = "a"}).ok());
  std::vector<uint64_t> addresses = {5, uint64_t{9} << 32};
  EXPECT_THAT(dataset.TakeAddresses(addresses).status().message(),
              HasSubstr("no live row at this address"));
  EXPECT_EQ(dataset.TakeRowIds(addresses).ValueOrDie()->num_rows(), 1);
}

// A manifest's word alone must not cost memory: here it says that a small file has 4e9 rows.
TEST_F(DatasetTest, ClaimedRowsThatNoFileHoldsCostNoMemory) {
  const auto snapshot = OpenSnapshot();
  table::Fragment fragment = snapshot->manifest->fragments()[1];
  fragment.physical_rows = 4000000000;
  table::ManifestEdit edit;
  edit.replaced_fragments[1] = table::EncodeFragment(fragment);
  auto lie = std::make_shared<commit::TestOperation>(commit::OperationKind::kMerge, "", edit);
  ASSERT_TRUE(commit::Commit({location_, snapshot->manifest, lie, {}}).ok());
  auto overlaid = Open().WriteOverlay(1, {{"a", {1, 2}, Int32s({1, 2})}});
  ASSERT_TRUE(overlaid.ok()) << overlaid.status();

  arrow::CappedMemoryPool pool(arrow::default_memory_pool(), int64_t{64} << 20);
  OpenOptions options;
  options.context.store = location_.store;
  options.context.pool = &pool;
  options.context.scan_bytes = 16 << 20;
  const Dataset dataset = Dataset::Open(kRoot, options).ValueOrDie();
  for (const arrow::Status& status :
       {dataset.ToTable().status(), dataset.ToTable({.where = "a = 1"}).status(),
        dataset.Take({0, 3000000000}).status()}) {
    ASSERT_NE(GetErrorDetail(status), nullptr) << status;
    EXPECT_EQ(GetErrorDetail(status)->kind(), ErrorKind::kCorrupt) << status;
    EXPECT_THAT(status.message(), HasSubstr("has 20000 values, expected 4000000000"));
  }
}

}  // namespace
}  // namespace pennon
