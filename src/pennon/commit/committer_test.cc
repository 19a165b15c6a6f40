#include "pennon/commit/committer.h"

#include <set>
#include <thread>

#include <arrow/type.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <protozero/pbf_writer.hpp>

#include "pennon/commit/ops/data_overlay.h"
#include "pennon/commit/test_table.h"
#include "pennon/error.h"
#include "pennon/io/fault_store.h"
#include "pennon/table/fragment_wire.h"
#include "pennon/table/row_lineage.h"

namespace pennon::commit {
namespace {

using table::Manifest;

const char kRoot[] = "/t.lance";

std::shared_ptr<arrow::Schema> TwoColumns() {
  return arrow::schema({arrow::field("id", arrow::int64()), arrow::field("v", arrow::int32())});
}

std::vector<std::string> Fragments(int count, uint64_t rows) {
  std::vector<std::string> fragments;
  for (int i = 0; i < count; ++i)
    fragments.push_back(table::EncodeFragment(TestFragment(i, rows, {0, 1})));
  return fragments;
}

// An overlay of field 1 whose value file does not exist: the loop never looks at it.
OverlayGroup Overlay(uint64_t fragment, std::vector<uint32_t> offsets,
                     const std::string& name = "o.lance") {
  OverlayGroup group;
  group.fragment_id = fragment;
  group.covered = Bitmap::Of(offsets);
  table::NewOverlay overlay;
  overlay.data_file = {.path = name,
                       .fields = {1},
                       .column_indices = {0},
                       .major_version = 2,
                       .minor_version = 1,
                       .size_bytes = 100,
                       .base_id = {}};
  overlay.coverage = {group.covered.Serialize()};
  group.overlays = {overlay};
  return group;
}

RetryPolicy Fast() {
  RetryPolicy policy;
  policy.sleep = [](std::chrono::nanoseconds) {};
  return policy;
}

class CommitterTest : public ::testing::Test {
 protected:
  void Create(int fragments = 2, const TestTableOptions& options = {}) {
    store_ = MakeMemoryStore();
    location_ = {store_, kRoot};
    auto created = CreateTestTable(location_, *TwoColumns(), Fragments(fragments, 10), options);
    ASSERT_TRUE(created.ok()) << created.status();
    first_ = *created;
  }

  arrow::Result<CommitOutcome> CommitOp(std::shared_ptr<const Operation> op,
                                        std::shared_ptr<const Manifest> read = {},
                                        const std::vector<std::string>& files = {}) {
    return Commit({location_, read ? read : Newest(), std::move(op), files}, Fast());
  }

  arrow::Result<CommitOutcome> CommitOverlay(OverlayGroup group,
                                             std::shared_ptr<const Manifest> read = {}) {
    return CommitOp(std::make_shared<DataOverlay>(std::vector<OverlayGroup>{std::move(group)}),
                    std::move(read));
  }

  std::shared_ptr<const Manifest> Newest() {
    return table::OpenManifest({store_, kRoot}, {}).ValueOrDie();
  }

  std::vector<std::string> Transactions() {
    auto names = store_->List(std::string(kRoot) + "/_transactions");
    return names.ok() ? *names : std::vector<std::string>{};
  }

  std::shared_ptr<ObjectStore> store_;
  table::TableLocation location_;
  std::shared_ptr<const Manifest> first_;
};

void ExpectConflict(const arrow::Status& status, bool retry_helps) {
  const ErrorDetail* detail = GetErrorDetail(status);
  ASSERT_NE(detail, nullptr) << status;
  EXPECT_EQ(detail->kind(), ErrorKind::kCommitConflict) << status;
  EXPECT_EQ(detail->retry_helps(), retry_helps) << status;
}

TEST_F(CommitterTest, MakesTheNextVersion) {
  Create();
  auto outcome = CommitOverlay(Overlay(1, {2, 5}));
  ASSERT_TRUE(outcome.ok()) << outcome.status();
  EXPECT_EQ(outcome->attempts, 1u);
  const auto newest = Newest();
  EXPECT_EQ(newest->version(), 2u);
  EXPECT_EQ(outcome->manifest->version(), 2u);
  EXPECT_EQ(newest->reader_flags(), table::kOverlaysFlag);
  EXPECT_EQ(newest->writer_flags(), table::kOverlaysFlag);
  ASSERT_EQ(newest->FindFragment(1)->overlays.size(), 1u);
  EXPECT_EQ(newest->FindFragment(1)->overlays[0].committed_version, 2u);
  EXPECT_TRUE(newest->FindFragment(0)->overlays.empty());
  EXPECT_GT(newest->timestamp_ns(), first_->timestamp_ns());

  // The transaction, inline and as a file, says version 0 for the overlay.
  const Transaction recorded = ReadTransaction(location_, *newest).ValueOrDie();
  EXPECT_EQ(recorded.kind, OperationKind::kDataOverlay);
  EXPECT_EQ(recorded.read_version, 1u);
  EXPECT_EQ(newest->transaction_file(), TransactionFileName(recorded));
  EXPECT_THAT(Transactions(), testing::ElementsAre(newest->transaction_file()));
  EXPECT_EQ(recorded.operation, DataOverlay({Overlay(1, {2, 5})}).EncodeMessage());
  const auto hint = store_->Open(std::string(kRoot) + "/_versions/latest_version_hint.json");
  ASSERT_TRUE(hint.ok());
  EXPECT_EQ((*hint)->size(), std::string("{\"version\":2}").size());
}

TEST_F(CommitterTest, KeepsTheNamingOfManifests) {
  Create(1, {.naming = table::ManifestNaming::kV1});
  ASSERT_TRUE(CommitOverlay(Overlay(0, {1})).ok());
  EXPECT_TRUE(store_->Open(std::string(kRoot) + "/_versions/2.manifest").ok());
}

TEST_F(CommitterTest, RebasesOverOverlayAppendAndDelete) {
  Create();
  ASSERT_TRUE(CommitOverlay(Overlay(0, {1, 2}, "a.lance")).ok());
  ASSERT_TRUE(CommitOp(std::make_shared<TestAppend>(std::vector{TestFragment(0, 4, {0, 1})})).ok());
  ASSERT_TRUE(
      CommitOp(std::make_shared<TestDelete>(std::map<uint64_t, Bitmap>{{0, Bitmap::OfRange(2, 4)}}))
          .ok());

  auto outcome = CommitOverlay(Overlay(0, {2, 3}, "b.lance"), first_);
  ASSERT_TRUE(outcome.ok()) << outcome.status();
  EXPECT_EQ(outcome->manifest->version(), 5u);
  const table::Fragment* fragment = outcome->manifest->FindFragment(0);
  ASSERT_EQ(fragment->overlays.size(), 2u);
  EXPECT_EQ(fragment->overlays[0].committed_version, 2u);
  EXPECT_EQ(fragment->overlays[1].committed_version, 5u);
  EXPECT_EQ(fragment->num_deleted_rows(), 2u);
  EXPECT_EQ(outcome->manifest->fragments().size(), 3u);
  const Transaction recorded = ReadTransaction(location_, *outcome->manifest).ValueOrDie();
  EXPECT_EQ(recorded.read_version, 4u);  // the version it was rebased on
}

TEST_F(CommitterTest, RefusesWhenTheFragmentIsGone) {
  Create();
  const std::string data = std::string(kRoot) + "/data/o.lance";
  ASSERT_TRUE(CommitOp(std::make_shared<TestOperation>(
                           OperationKind::kRewrite,
                           [] {
                             std::string group, op;
                             protozero::pbf_writer(group).add_message(
                                 1, table::EncodeFragment(TestFragment(1, 10, {0, 1})));
                             protozero::pbf_writer(op).add_message(3, group);
                             return op;
                           }(),
                           table::ManifestEdit{.removed_fragments = {1}}))
                  .ok());
  ASSERT_TRUE(store_->Put(data, "values").ok());

  auto op = std::make_shared<DataOverlay>(std::vector{Overlay(1, {2})});
  auto outcome = CommitOp(op, first_, {data});
  ASSERT_FALSE(outcome.ok());
  ExpectConflict(outcome.status(), true);
  EXPECT_THAT(outcome.status().message(), testing::HasSubstr("Rewrite"));
  EXPECT_EQ(Newest()->version(), 2u);
  EXPECT_FALSE(store_->Open(data).ok());  // nobody can need it any more
  EXPECT_EQ(Transactions().size(), 1u);

  EXPECT_TRUE(CommitOverlay(Overlay(0, {2}), first_).ok());  // the other fragment still holds
}

TEST_F(CommitterTest, CoveredRowsThatMovedAreAConflict) {
  for (const bool covered : {false, true}) {
    Create();
    // An update of pylance: rows 4 and 5 leave fragment 0 for a new fragment.
    std::string message;
    protozero::pbf_writer writer(message);
    writer.add_message(2, table::EncodeFragment(TestFragment(0, 10, {0, 1})));
    writer.add_message(3, table::EncodeFragment(TestFragment(2, 2, {0, 1})));
    const TestDelete moved({{0, Bitmap::OfRange(4, 6)}});
    auto edit = moved.Apply(location_, *first_, 2).ValueOrDie();
    edit.new_fragments = {table::EncodeFragment(TestFragment(2, 2, {0, 1}))};
    edit.max_fragment_id = 2;
    ASSERT_TRUE(
        CommitOp(std::make_shared<TestOperation>(OperationKind::kUpdate, message, edit)).ok());
    // Row 1 was deleted by someone else: no reason to refuse.
    ASSERT_TRUE(CommitOp(std::make_shared<TestDelete>(
                             std::map<uint64_t, Bitmap>{{0, Bitmap::OfRange(1, 2)}}))
                    .ok());

    auto outcome = CommitOverlay(
        Overlay(0, covered ? std::vector<uint32_t>{1, 5} : std::vector<uint32_t>{1, 6}), first_);
    EXPECT_EQ(outcome.ok(), !covered) << outcome.status();
    if (covered) ExpectConflict(outcome.status(), true);
  }
}

TEST_F(CommitterTest, OverwriteAndUnknownOperationsAreFinal) {
  for (const OperationKind kind : {OperationKind::kOverwrite, static_cast<OperationKind>(150)}) {
    Create();
    ASSERT_TRUE(CommitOp(std::make_shared<TestOperation>(kind, "")).ok());
    auto outcome = CommitOverlay(Overlay(0, {1}), first_);
    ASSERT_FALSE(outcome.ok());
    ExpectConflict(outcome.status(), false);
  }
}

TEST_F(CommitterTest, VersionInBetweenThatIsGoneIsNamed) {
  Create();
  ASSERT_TRUE(CommitOverlay(Overlay(0, {1})).ok());
  ASSERT_TRUE(CommitOverlay(Overlay(0, {2})).ok());
  ASSERT_TRUE(store_
                  ->Delete(std::string(kRoot) + "/_versions/" +
                           table::FormatManifestName(2, table::ManifestNaming::kV2))
                  .ok());
  auto outcome = CommitOverlay(Overlay(0, {3}), first_);
  ASSERT_FALSE(outcome.ok());
  ExpectConflict(outcome.status(), true);
  EXPECT_THAT(outcome.status().message(), testing::HasSubstr("version 2"));
}

TEST_F(CommitterTest, StampsRowsOfTablesWithRowIds) {
  store_ = MakeMemoryStore();
  location_ = {store_, kRoot};
  first_ = CreateTestTable(location_, *TwoColumns(), {}, {.stable_row_ids = true}).ValueOrDie();
  ASSERT_TRUE(CommitOp(std::make_shared<TestAppend>(std::vector{TestFragment(0, 5, {0, 1})})).ok());
  ASSERT_TRUE(CommitOverlay(Overlay(0, {1, 3})).ok());
  ASSERT_TRUE(CommitOverlay(Overlay(0, {3})).ok());
  const auto newest = Newest();
  const table::Fragment& fragment = newest->fragments()[0];
  const auto versions = [&fragment](const table::LineageSequence& sequence) {
    return table::DecodeRowVersions(sequence.bytes, fragment.physical_rows).ValueOrDie();
  };
  EXPECT_EQ(versions(fragment.last_updated_at), (std::vector<uint64_t>{2, 3, 2, 4, 2}));
  EXPECT_EQ(versions(fragment.created_at), (std::vector<uint64_t>{2, 2, 2, 2, 2}));
}

TEST_F(CommitterTest, RefusesAnOffsetBeyondTheFragment) {
  Create();
  auto outcome = CommitOverlay(Overlay(0, {10}));
  ASSERT_FALSE(outcome.ok());
  EXPECT_EQ(GetErrorDetail(outcome.status())->kind(), ErrorKind::kInvalidInput);
  EXPECT_EQ(Newest()->version(), 1u);
}

TEST_F(CommitterTest, RacingWritersAllCommit) {
  Create(4);
  constexpr int kThreads = 6;
  constexpr int kCommits = 8;
  std::vector<std::thread> threads;
  std::vector<arrow::Status> failures(kThreads);
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([this, t, &failures] {
      for (int i = 0; i < kCommits; ++i) {
        RetryPolicy policy;
        policy.max_attempts = 1000;
        auto op = std::make_shared<DataOverlay>(std::vector{
            Overlay(t % 4, {static_cast<uint32_t>(i)}, JoinParts(t, "-", i, ".lance"))});
        auto outcome = Commit({location_, first_, op, {}}, policy);
        if (!outcome.ok()) failures[t] = outcome.status();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const arrow::Status& failure : failures) EXPECT_TRUE(failure.ok()) << failure;

  const auto newest = Newest();
  EXPECT_EQ(newest->version(), 1u + kThreads * kCommits);
  std::set<uint64_t> versions;
  std::set<std::string> names;
  for (const table::Fragment& fragment : newest->fragments()) {
    for (const table::OverlayFile& overlay : fragment.overlays) {
      versions.insert(overlay.committed_version);
      names.insert(overlay.data_file.path);
      // The version that introduced it: the one below does not have it.
      const auto before =
          table::OpenManifest(location_, overlay.committed_version - 1).ValueOrDie();
      for (const table::OverlayFile& older : before->FindFragment(fragment.id)->overlays) {
        EXPECT_NE(older.data_file.path, overlay.data_file.path);
      }
    }
  }
  EXPECT_EQ(versions.size(), size_t{kThreads * kCommits});
  EXPECT_EQ(names.size(), size_t{kThreads * kCommits});
  EXPECT_EQ(Transactions().size(), size_t{kThreads * kCommits});  // losers removed theirs
}

// Every call of the store fails once, in each way; the table must always open at the old or the new
// version, and a commit that reported success must be there.
TEST_F(CommitterTest, SurvivesAFailureOfAnyCall) {
  using Fault = io::FaultStore::Fault;
  for (const Fault fault : {Fault::kBefore, Fault::kAfter, Fault::kCrash}) {
    bool failed = true;
    for (uint64_t call = 1; failed && call < 200; ++call) {
      Create();
      ASSERT_TRUE(
          CommitOverlay(Overlay(0, {1}, "a.lance")).ok());  // so that the commit has to catch up
      auto faulty = std::make_shared<io::FaultStore>(store_);
      location_.store = faulty;
      faulty->FailCall(call, fault);
      auto outcome = CommitOverlay(Overlay(0, {2}, "b.lance"), first_);
      failed = faulty->calls() >= call;
      const auto newest = Newest();
      const size_t overlays = newest->FindFragment(0)->overlays.size();
      EXPECT_EQ(newest->version(), overlays + 1);
      if (outcome.ok()) {
        EXPECT_EQ(newest->version(), 3u) << "call " << call;
        EXPECT_EQ(outcome->manifest->version(), 3u);
      } else if (fault == Fault::kBefore) {
        EXPECT_EQ(newest->version(), 2u) << "call " << call;
      }
      EXPECT_TRUE(failed || outcome.ok()) << outcome.status();
      // And it goes on from there.
      location_.store = store_;
      EXPECT_TRUE(CommitOverlay(Overlay(1, {3}, "c.lance"), first_).ok());
    }
    EXPECT_FALSE(failed);
  }
}

}  // namespace
}  // namespace pennon::commit
