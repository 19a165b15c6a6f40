#include "pennon/write/update.h"

#include <thread>

#include <arrow/api.h>
#include <arrow/compute/initialize.h>
#include <arrow/json/from_string.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "pennon/commit/committer.h"
#include "pennon/commit/test_table.h"
#include "pennon/error.h"
#include "pennon/io/fault_store.h"
#include "pennon/read/scan.h"

namespace pennon::write {
namespace {

std::shared_ptr<arrow::Array> Json(const std::shared_ptr<arrow::DataType>& type,
                                   const std::string& text) {
  return arrow::json::ArrayFromJSONString(type, text).ValueOrDie();
}

class UpdateTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(arrow::compute::Initialize().ok());
    Create();
  }

  // Two fragments: ids 0 to 3 and 4 to 6.
  void Create() {
    location_ = {MakeMemoryStore(), "/t.lance"};
    const auto schema =
        arrow::schema({arrow::field("id", arrow::int64(), false), arrow::field("v", arrow::int32()),
                       arrow::field("name", arrow::utf8()), arrow::field("day", arrow::date32())});
    const auto first = commit::CreateTestTable(location_, *schema, {}).ValueOrDie();
    const auto day = Json(arrow::int32(), "[1, 2, 3, 4]")->View(arrow::date32()).ValueOrDie();
    auto a = commit::WriteTestFragment(
        location_, *first,
        {Json(arrow::int64(), "[0, 1, 2, 3]"), Json(arrow::int32(), "[10, null, 12, 13]"),
         Json(arrow::utf8(), R"(["a", "b", null, "d"])"), day});
    auto b = commit::WriteTestFragment(
        location_, *first,
        {Json(arrow::int64(), "[4, 5, 6]"), Json(arrow::int32(), "[14, 15, 16]"),
         Json(arrow::utf8(), R"(["e", "f", "g"])"), day->Slice(0, 3)});
    ASSERT_TRUE(a.ok() && b.ok()) << a.status() << b.status();
    Commit(std::make_shared<commit::TestAppend>(std::vector{*a, *b}));
    opened_ = Newest();
  }

  void Commit(std::shared_ptr<const commit::Operation> operation) {
    const auto manifest = table::OpenManifest(location_, {}).ValueOrDie();
    const auto outcome = commit::Commit({location_, manifest, std::move(operation), {}});
    ASSERT_TRUE(outcome.ok()) << outcome.status();
  }

  std::shared_ptr<const read::Snapshot> Newest() {
    Context context;
    context.store = location_.store;
    return read::OpenSnapshot("t", location_.root, {}, context).ValueOrDie();
  }

  std::string Column(const std::shared_ptr<const read::Snapshot>& snapshot,
                     const std::string& name) {
    auto reader = read::Scan(snapshot, {.columns = {name.c_str()}}).ValueOrDie();
    const auto table = reader->ToTable().ValueOrDie();
    return arrow::Concatenate(table->column(0)->chunks()).ValueOrDie()->ToString();
  }

  void ExpectColumn(const std::string& name, const std::shared_ptr<arrow::DataType>& type,
                    const std::string& json) {
    EXPECT_EQ(Column(Newest(), name), Json(type, json)->ToString());
  }

  size_t DataFiles() { return location_.store->List("/t.lance/data").ValueOrDie().size(); }

  table::TableLocation location_;
  std::shared_ptr<const read::Snapshot> opened_;
};

TEST_F(UpdateTest, WritesOneOverlayAFragmentInOneCommit) {
  auto result = Update(
      opened_, {.set = {{"v", "v + 1"}, {"name", "upper(name)"}}, .where = "id IN (1, 3, 6)"});
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(result->info.version, 3u);
  EXPECT_EQ(result->info.rows, 3u);
  EXPECT_EQ(result->info.cells, 6u);
  EXPECT_EQ(result->info.files, 2u);
  EXPECT_EQ(result->info.attempts, 1u);
  EXPECT_GT(result->info.bytes_written, 0u);
  ExpectColumn("v", arrow::int32(), "[10, null, 12, 14, 14, 15, 17]");
  ExpectColumn("name", arrow::utf8(), R"(["a", "B", null, "D", "e", "f", "G"])");
  EXPECT_EQ(Column(result->snapshot, "v"), Column(Newest(), "v"));
  for (const table::Fragment& fragment : result->snapshot->manifest->fragments()) {
    ASSERT_EQ(fragment.overlays.size(), 1u);
    EXPECT_TRUE(fragment.overlays[0].dense);
    EXPECT_EQ(fragment.overlays[0].committed_version, 3u);
  }
}

TEST_F(UpdateTest, ExpressionsSeeResolvedValuesAndOldOnes) {
  auto first = Update(opened_, {.set = {{"v", "v * 2"}}, .where = "id = 0"});
  ASSERT_TRUE(first.ok()) << first.status();
  // Both sides of a swap are of the version read.
  auto second =
      Update(first->snapshot, {.set = {{"v", "CAST(id AS int) + v"}}, .where = "v = 20 OR v = 13"});
  ASSERT_TRUE(second.ok()) << second.status();
  ExpectColumn("v", arrow::int32(), "[20, null, 12, 16, 14, 15, 16]");
}

TEST_F(UpdateTest, ConstantsTakeTheColumnsType) {
  auto result = Update(opened_, {.set = {{"v", "NULL"}, {"name", "'x'"}, {"day", "'1970-01-11'"}},
                                 .where = "id < 2"});
  ASSERT_TRUE(result.ok()) << result.status();
  ExpectColumn("v", arrow::int32(), "[null, null, 12, 13, 14, 15, 16]");
  ExpectColumn("name", arrow::utf8(), R"(["x", "x", null, "d", "e", "f", "g"])");
  EXPECT_THAT(Column(Newest(), "day"), testing::HasSubstr("1970-01-11"));
}

TEST_F(UpdateTest, WithoutAWhereEveryLiveRowChanges) {
  Commit(
      std::make_shared<commit::TestDelete>(std::map<uint64_t, Bitmap>{{0, Bitmap::OfRange(1, 3)}}));
  auto result = Update(Newest(), {.set = {{"v", "0"}}});
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(result->info.rows, 5u);
  ExpectColumn("v", arrow::int32(), "[0, 0, 0, 0, 0]");
  const table::OverlayFile& overlay = result->snapshot->manifest->fragments()[0].overlays[0];
  EXPECT_EQ(Bitmap::Parse(overlay.coverage[0]).ValueOrDie().ToVector(),
            (std::vector<uint32_t>{0, 3}));
}

TEST_F(UpdateTest, NothingToDoMakesNoVersion) {
  const size_t files = DataFiles();
  auto none = Update(opened_, {.set = {{"v", "1"}}, .where = "id = 99"});
  ASSERT_TRUE(none.ok()) << none.status();
  EXPECT_EQ(none->info.version, 2u);
  EXPECT_EQ(none->info.rows, 0u);
  auto dry = Update(opened_, {.set = {{"v", "1"}}, .where = "id > 2", .dry_run = true});
  ASSERT_TRUE(dry.ok()) << dry.status();
  EXPECT_EQ(dry->info.version, 2u);
  EXPECT_EQ(dry->info.rows, 4u);
  EXPECT_EQ(Newest()->manifest->version(), 2u);
  EXPECT_EQ(DataFiles(), files);
}

TEST_F(UpdateTest, BadInputIsExplainedAndChangesNothing) {
  const size_t files = DataFiles();
  struct Misuse {
    UpdateOptions options;
    ErrorKind kind;
    std::string message;
  };
  const std::vector<Misuse> cases = {
      {{.set = {}}, ErrorKind::kInvalidInput, "no column"},
      {{.set = {{"vv", "1"}}}, ErrorKind::kInvalidInput, "vv"},
      {{.set = {{"v", "1"}, {"v", "2"}}}, ErrorKind::kInvalidInput, "twice"},
      {{.set = {{"_rowid", "1"}}}, ErrorKind::kInvalidInput, "_rowid"},
      {{.set = {{"v", "'text'"}}}, ErrorKind::kInvalidInput, "v"},
      {{.set = {{"v", "3000000000"}}}, ErrorKind::kInvalidInput, "v"},
      {{.set = {{"v", "v + 2147483647"}}}, ErrorKind::kInvalidInput, ""},
      {{.set = {{"id", "NULL"}}}, ErrorKind::kInvalidInput, "id"},
      {{.set = {{"v", "v +"}}}, ErrorKind::kInvalidInput, ""},
      {{.set = {{"v", "w + 1"}}}, ErrorKind::kInvalidInput, "w"},
      {{.set = {{"v", "1"}}, .where = "v ="}, ErrorKind::kInvalidInput, ""},
      {{.set = {{"v", "1"}}, .strategy = UpdateStrategy::kMoveRows},
       ErrorKind::kUnsupported,
       "move-rows"},
      {{.set = {{"v", "1"}}, .strategy = UpdateStrategy::kRewriteColumn},
       ErrorKind::kUnsupported,
       "rewrite-column"},
  };
  for (const Misuse& misuse : cases) {
    auto result = Update(opened_, misuse.options);
    ASSERT_FALSE(result.ok()) << misuse.message;
    ASSERT_NE(GetErrorDetail(result.status()), nullptr) << result.status();
    EXPECT_EQ(GetErrorDetail(result.status())->kind(), misuse.kind) << result.status();
    EXPECT_THAT(result.status().message(), testing::HasSubstr(misuse.message));
  }
  EXPECT_EQ(Newest()->manifest->version(), 2u);
  EXPECT_EQ(DataFiles(), files);
}

TEST_F(UpdateTest, IsPlannedAnewWhenItsInputsChanged) {
  auto other = Update(opened_, {.set = {{"v", "v + 100"}}, .where = "id = 3"});
  ASSERT_TRUE(other.ok()) << other.status();
  auto ours =
      Update(opened_, {.set = {{"v", "v + 1"}}, .where = "id IN (2, 3)"});  // planned before that
  ASSERT_TRUE(ours.ok()) << ours.status();
  EXPECT_EQ(ours->info.attempts, 2u);
  EXPECT_EQ(ours->info.version, 4u);
  ExpectColumn("v", arrow::int32(), "[10, null, 13, 114, 14, 15, 16]");
  EXPECT_EQ(DataFiles(), 2u + 1u + 1u);  // the value file of the plan that lost is gone
}

TEST_F(UpdateTest, IsRebasedWhenItsInputsAreAsTheyWere) {
  auto other = Update(opened_, {.set = {{"v", "v + 100"}}, .where = "id = 3"});
  ASSERT_TRUE(other.ok()) << other.status();
  auto ours = Update(opened_, {.set = {{"v", "v + 1"}}, .where = "id = 2"});
  ASSERT_TRUE(ours.ok()) << ours.status();
  EXPECT_EQ(ours->info.attempts, 1u);
  ExpectColumn("v", arrow::int32(), "[10, null, 13, 113, 14, 15, 16]");
}

TEST_F(UpdateTest, IsPlannedAnewWhenItsFragmentIsGone) {
  Commit(
      std::make_shared<commit::TestDelete>(std::map<uint64_t, Bitmap>{{0, Bitmap::OfRange(0, 4)}}));
  auto ours = Update(opened_, {.set = {{"v", "1"}}, .where = "id > 2"});
  ASSERT_TRUE(ours.ok()) << ours.status();
  EXPECT_EQ(ours->info.rows, 3u);
  ExpectColumn("v", arrow::int32(), "[1, 1, 1]");
}

TEST_F(UpdateTest, ConcurrentIncrementsAllCount) {
  constexpr int kThreads = 4;
  constexpr int kRounds = 5;
  std::vector<std::thread> threads;
  std::vector<arrow::Status> failures(kThreads);
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([this, t, &failures] {
      for (int i = 0; i < kRounds; ++i) {
        auto result = Update(Newest(), {.set = {{"v", "v + 1"}}, .where = "id = 5"});
        if (!result.ok()) failures[t] = result.status();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const arrow::Status& failure : failures) EXPECT_TRUE(failure.ok()) << failure;
  ExpectColumn("v", arrow::int32(), "[10, null, 12, 13, 14, 35, 16]");
  EXPECT_EQ(Newest()->manifest->version(), 2u + kThreads * kRounds);
}

// Every call of the store fails once, in each way: the table opens at the old or the new version
// with that version's values, and what was reported as done is there.
TEST_F(UpdateTest, SurvivesAFailureOfAnyCall) {
  using Fault = io::FaultStore::Fault;
  for (const Fault fault : {Fault::kBefore, Fault::kAfter, Fault::kCrash}) {
    bool failed = true;
    for (uint64_t call = 1; failed && call < 300; ++call) {
      Create();
      const auto inner = location_.store;
      auto faulty = std::make_shared<io::FaultStore>(inner);
      Context context;
      context.store = faulty;
      faulty->FailCall(call, fault);
      const auto snapshot = read::OpenSnapshot("t", location_.root, {}, context);
      const auto result = snapshot.ok()
                              ? Update(*snapshot, {.set = {{"v", "v + 1"}}, .where = "id >= 3"})
                              : arrow::Result<WriteResult>(snapshot.status());
      failed = faulty->calls() >= call;
      const uint64_t version = Newest()->manifest->version();
      EXPECT_TRUE(version == 3 || (version == 2 && !result.ok()))
          << "call " << call << ": " << result.status();
      ExpectColumn(
          "v", arrow::int32(),
          version == 3 ? "[10, null, 12, 14, 15, 16, 17]" : "[10, null, 12, 13, 14, 15, 16]");
    }
    EXPECT_FALSE(failed);
  }
}

}  // namespace
}  // namespace pennon::write
