// One Dataset used by many threads at once, while another writes: every answer is that of its
// version. `make tsan` watches what they share: open files, decoders, winner maps, bitmaps.
#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <arrow/array/builder_binary.h>
#include <arrow/array/builder_nested.h>
#include <arrow/array/builder_primitive.h>
#include <arrow/record_batch.h>
#include <arrow/table.h>
#include <arrow/type.h>
#include <gtest/gtest.h>

#include "pennon/commit/committer.h"
#include "pennon/commit/test_table.h"
#include "pennon/dataset.h"

namespace pennon {
namespace {

constexpr char kRoot[] = "/shared.lance";
constexpr int kFragments = 3;
constexpr int kRows = 6000;  // of a fragment
constexpr int kThreads = 6;
constexpr int kRounds = 6;

// Column `id` counts all rows, `v` is a multiple of it, `s` and `l` follow from it.
std::vector<std::shared_ptr<arrow::Array>> MakeColumns(int64_t first) {
  arrow::Int64Builder id;
  arrow::Int32Builder v;
  arrow::StringBuilder s;
  auto items = std::make_shared<arrow::Int32Builder>();
  arrow::ListBuilder l(arrow::default_memory_pool(), items);
  for (int64_t i = first; i < first + kRows; ++i) {
    EXPECT_TRUE(id.Append(i).ok());
    EXPECT_TRUE(v.Append(static_cast<int32_t>(i * 3)).ok());
    EXPECT_TRUE((i % 11 == 0 ? s.AppendNull() : s.Append("row " + std::to_string(i))).ok());
    EXPECT_TRUE(l.Append().ok());
    for (int64_t k = 0; k < i % 3; ++k) EXPECT_TRUE(items->Append(static_cast<int32_t>(k)).ok());
  }
  return {*id.Finish(), *v.Finish(), *s.Finish(), *l.Finish()};
}

class Threads : public ::testing::TestWithParam<uint64_t> {
 protected:
  void SetUp() override {
    location_ = {MakeMemoryStore(), kRoot};
    const auto schema = arrow::schema(
        {arrow::field("id", arrow::int64()), arrow::field("v", arrow::int32()),
         arrow::field("s", arrow::utf8()), arrow::field("l", arrow::list(arrow::int32()))});
    auto manifest = commit::CreateTestTable(location_, *schema, {}).ValueOrDie();
    std::vector<table::Fragment> fragments;
    for (int f = 0; f < kFragments; ++f) {
      fragments.push_back(
          commit::WriteTestFragment(location_, *manifest, MakeColumns(f * kRows)).ValueOrDie());
    }
    auto append = std::make_shared<commit::TestAppend>(std::move(fragments));
    ASSERT_TRUE(commit::Commit({location_, manifest, append, {}}).ok());
    for (const char* where : {"id % 5 = 0", "id > 9000 AND id % 2 = 0", "id < 100"})
      ASSERT_TRUE(Open().Update({.set = {{"v", "v + 1"}}, .where = where}).ok());
    ASSERT_TRUE(Open().Update({.set = {{"s", "'new'"}}, .where = "id % 7 = 3"}).ok());
  }

  Dataset Open() const {
    OpenOptions options;
    options.context.store = location_.store;
    options.context.cache_bytes = GetParam();
    options.context.scan_bytes = 1 << 20;  // several windows at a time
    return Dataset::Open(kRoot, options).ValueOrDie();
  }

  table::TableLocation location_;
};

// What the threads must be told, read by one of them.
struct Answers {
  std::shared_ptr<arrow::Table> all, some, taken;
  int64_t count = 0;

  bool operator==(const Answers& other) const {
    return all->Equals(*other.all) && some->Equals(*other.some) && taken->Equals(*other.taken) &&
           count == other.count;
  }
};

arrow::Result<Answers> Ask(const Dataset& dataset, bool use_threads) {
  Answers answers;
  ScanOptions scan{.batch_size = 1000, .use_threads = use_threads};
  ARROW_ASSIGN_OR_RAISE(answers.all, dataset.ToTable(scan));
  scan.where = "v % 4 = 1 AND s IS NOT NULL";
  ARROW_ASSIGN_OR_RAISE(answers.some, dataset.ToTable(scan));
  ARROW_ASSIGN_OR_RAISE(answers.taken, dataset.Take({17000, 5, 6001, 5, 95, 12003}));
  ARROW_ASSIGN_OR_RAISE(answers.count, dataset.CountRows("s = 'new'"));
  ARROW_RETURN_NOT_OK(dataset.Overlays().status());
  ARROW_RETURN_NOT_OK(dataset.ExplainCell(95, "v").status());
  return answers;
}

TEST_P(Threads, GetTheAnswersThatOneGets) {
  const Answers expected = Ask(Open(), /*use_threads=*/false).ValueOrDie();
  ASSERT_EQ(expected.all->num_rows(), kFragments * kRows);
  ASSERT_GT(expected.some->num_rows(), 0);
  const Dataset shared = Open();
  std::atomic<int> wrong = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (int round = 0; round < kRounds; ++round) {
        // A scan that is given up while its windows run.
        const auto dropped = shared.Scan({.batch_size = 500});
        if (!dropped.ok() || !(*dropped)->Next().ok()) ++wrong;
        const auto got = Ask(shared, (t + round) % 2 == 0);
        if (!got.ok() || !(*got == expected)) ++wrong;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

TEST_P(Threads, SeeOneVersionWhileOthersAreWritten) {
  const Dataset shared = Open();
  const Answers expected = Ask(Open(), /*use_threads=*/false).ValueOrDie();
  std::atomic<int> wrong = 0;
  std::thread writer([&] {
    for (int i = 0; i < kRounds; ++i) {
      if (!shared.Update({.set = {{"v", "id"}}, .where = "id % 3 = " + std::to_string(i % 3)}).ok())
        ++wrong;
    }
  });
  std::vector<std::thread> readers;
  for (int t = 0; t < 2; ++t) {
    readers.emplace_back([&] {
      for (int round = 0; round < kRounds; ++round) {
        const auto got = Ask(shared, /*use_threads=*/true);
        if (!got.ok() || !(*got == expected)) ++wrong;
        const auto newest = shared.Checkout({});
        if (!newest.ok() || newest->CountRows().ValueOr(-1) != kFragments * kRows) ++wrong;
      }
    });
  }
  writer.join();
  for (std::thread& thread : readers) thread.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(Open().CountRows("v = id").ValueOrDie(), kFragments * kRows);
}

// Caches that hold all, and some that hold next to nothing, so that all is dropped again and again.
INSTANTIATE_TEST_SUITE_P(Caches, Threads, ::testing::Values(uint64_t{64} << 20, uint64_t{20000}));

}  // namespace
}  // namespace pennon
