// What every store must do, run over all of them.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <thread>

#include "pennon/error.h"
#include "pennon/io/fault_store.h"
#include "pennon/io/table_uri.h"
#include "pennon/store.h"

namespace pennon {
namespace {

ErrorKind KindOf(const arrow::Status& status) {
  const ErrorDetail* detail = GetErrorDetail(status);
  EXPECT_NE(detail, nullptr) << status.ToString();
  return detail == nullptr ? ErrorKind::kIo : detail->kind();
}

std::string ReadAll(ObjectStore& store, const std::string& path) {
  auto file = store.Open(path);
  if (!file.ok()) return file.status().ToString();
  std::string out((*file)->size(), '\0');
  auto status = (*file)->ReadAt(0, {reinterpret_cast<uint8_t*>(out.data()), out.size()});
  return status.ok() ? out : status.ToString();
}

struct StoreCase {
  const char* name;
  std::shared_ptr<ObjectStore> (*make)();
};

class StoreConformance : public ::testing::TestWithParam<StoreCase> {
 protected:
  void SetUp() override {
    std::string pattern = std::filesystem::temp_directory_path() / "pennon_storeXXXXXX";
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    root_ = pattern;
    store_ = GetParam().make();
  }
  void TearDown() override { std::filesystem::remove_all(root_); }

  std::string root_;
  std::shared_ptr<ObjectStore> store_;
};

TEST_P(StoreConformance, PutThenRead) {
  const std::string path = root_ + "/a/b/c.bin";
  ASSERT_TRUE(store_->Put(path, "hello").ok());
  EXPECT_EQ(ReadAll(*store_, path), "hello");
  ASSERT_TRUE(store_->Put(path, "other bytes").ok());
  EXPECT_EQ(ReadAll(*store_, path), "other bytes");
  ASSERT_TRUE(store_->Put(root_ + "/a/empty", "").ok());
  EXPECT_EQ(ReadAll(*store_, root_ + "/a/empty"), "");
}

TEST_P(StoreConformance, ReadRangesAndCount) {
  const std::string path = root_ + "/f";
  ASSERT_TRUE(store_->Put(path, "0123456789").ok());
  auto counter = std::make_shared<IoCounter>();
  auto file = store_->Open(path, {}, counter);
  ASSERT_TRUE(file.ok());
  EXPECT_EQ((*file)->size(), 10u);
  EXPECT_EQ((*file)->path(), path);
  uint8_t out[4];
  ASSERT_TRUE((*file)->ReadAt(3, out).ok());
  EXPECT_EQ(std::string(out, out + 4), "3456");
  EXPECT_EQ(counter->Get().bytes, 4u);
  EXPECT_EQ(counter->Get().requests, 1u);
  EXPECT_EQ(KindOf((*file)->ReadAt(7, out)), ErrorKind::kCorrupt);
  EXPECT_EQ(KindOf((*file)->ReadAt(UINT64_MAX, out)), ErrorKind::kCorrupt);
  EXPECT_TRUE((*file)->ReadAt(10, {}).ok());
}

TEST_P(StoreConformance, ReadScattered) {
  const std::string path = root_ + "/f";
  std::string bytes;
  for (int i = 0; i < 5000; ++i) bytes.push_back(static_cast<char>(i * 7));
  ASSERT_TRUE(store_->Put(path, bytes).ok());
  auto counter = std::make_shared<IoCounter>();
  auto file = store_->Open(path, {}, counter);
  ASSERT_TRUE(file.ok());
  // More parts than one call of the system takes, an empty one among them.
  std::string out(4000, '\0');
  std::vector<std::span<uint8_t>> parts;
  for (size_t i = 0; i < 1000; ++i) {
    const size_t at = (i * 271) % 1000 * 4;
    parts.emplace_back(reinterpret_cast<uint8_t*>(out.data()) + at, 4);
    if (i % 500 == 0) parts.emplace_back();
  }
  ASSERT_TRUE((*file)->ReadScattered(990, parts).ok());
  for (size_t i = 0; i < 1000; ++i) {
    ASSERT_EQ(out.substr((i * 271) % 1000 * 4, 4), bytes.substr(990 + i * 4, 4)) << i;
  }
  EXPECT_EQ(counter->Get().bytes, 4000u);
  EXPECT_EQ(counter->Get().requests, 1u);
  EXPECT_EQ(KindOf((*file)->ReadScattered(1001, parts)), ErrorKind::kCorrupt);
  EXPECT_TRUE((*file)->ReadScattered(5000, {}).ok());
  // Neither counted nor of any effect on what is read.
  const std::vector<ByteRange> ranges = {{0, 10}, {4000, 1000}};
  (*file)->WillRead(ranges);
  (*file)->WillRead({});
  EXPECT_EQ(counter->Get().requests, 2u);
}

TEST_P(StoreConformance, CreateIsNothingBeforeCommit) {
  const std::string path = root_ + "/d/f.bin";
  {
    auto left = store_->Create(path);
    ASSERT_TRUE(left.ok()) << left.status();
    ASSERT_TRUE((*left)->Append("never seen").ok());
  }
  EXPECT_EQ(KindOf(store_->Open(path).status()), ErrorKind::kNotFound);
  auto file = store_->Create(path);
  ASSERT_TRUE(file.ok()) << file.status();
  std::string expected;
  for (int i = 0; i < 1000; ++i) {
    const std::string piece(static_cast<size_t>(i % 97), static_cast<char>(i));
    ASSERT_TRUE((*file)->Append(piece).ok());
    expected += piece;
  }
  EXPECT_EQ(KindOf(store_->Open(path).status()), ErrorKind::kNotFound);
  ASSERT_TRUE((*file)->Commit().ok());
  file->reset();
  EXPECT_EQ(ReadAll(*store_, path), expected);
  auto again = store_->Create(path);
  ASSERT_TRUE((*again)->Append("other").ok());
  ASSERT_TRUE((*again)->Commit().ok());
  again->reset();
  EXPECT_EQ(ReadAll(*store_, path), "other");
  EXPECT_EQ(store_->List(root_ + "/d")->size(), 1u);  // and no temporary file stays
}

TEST_P(StoreConformance, FileShorterThanKnownSize) {
  const std::string path = root_ + "/f";
  ASSERT_TRUE(store_->Put(path, "0123456789").ok());
  auto file = store_->Open(path, 20);
  ASSERT_TRUE(file.ok());
  EXPECT_EQ((*file)->size(), 20u);
  uint8_t out[4];
  EXPECT_TRUE((*file)->ReadAt(6, out).ok());
  EXPECT_EQ(KindOf((*file)->ReadAt(8, out)), ErrorKind::kCorrupt);
}

TEST_P(StoreConformance, AnOpenFileKeepsItsBytes) {
  const std::string path = root_ + "/f";
  ASSERT_TRUE(store_->Put(path, "old").ok());
  auto file = store_->Open(path);
  ASSERT_TRUE(file.ok());
  ASSERT_TRUE(store_->Put(path, "new").ok());
  ASSERT_TRUE(store_->Delete(path).ok());
  uint8_t out[3];
  ASSERT_TRUE((*file)->ReadAt(0, out).ok());
  EXPECT_EQ(std::string(out, out + 3), "old");
}

TEST_P(StoreConformance, MissingFileAndFolder) {
  EXPECT_EQ(KindOf(store_->Open(root_ + "/none").status()), ErrorKind::kNotFound);
  EXPECT_EQ(KindOf(store_->List(root_ + "/none").status()), ErrorKind::kNotFound);
  EXPECT_TRUE(store_->Delete(root_ + "/none").ok());
  EXPECT_NE(store_->Open(root_ + "/none").status().message().find(root_ + "/none"),
            std::string::npos);
}

TEST_P(StoreConformance, ListGivesFilesOnly) {
  ASSERT_TRUE(store_->Put(root_ + "/d/x", "1").ok());
  ASSERT_TRUE(store_->Put(root_ + "/d/y", "2").ok());
  ASSERT_TRUE(store_->Put(root_ + "/d/sub/z", "3").ok());
  auto names = store_->List(root_ + "/d");
  ASSERT_TRUE(names.ok());
  std::sort(names->begin(), names->end());
  EXPECT_EQ(*names, (std::vector<std::string>{"x", "y"}));
}

TEST_P(StoreConformance, FolderInPlaceOfFile) {
  ASSERT_TRUE(store_->Put(root_ + "/d/x", "1").ok());
  const std::string folder = root_ + "/d";
  for (const arrow::Status& status : {store_->Open(folder).status(), store_->Put(folder, "1"),
                                      store_->PutIfAbsent(folder, "1"), store_->Delete(folder)}) {
    EXPECT_EQ(KindOf(status), ErrorKind::kIo);
    EXPECT_NE(status.message().find("found a folder"), std::string::npos) << status.ToString();
  }
  EXPECT_EQ(*store_->List(folder), std::vector<std::string>{"x"});
}

TEST_P(StoreConformance, PutIfAbsentLosesWithoutTrace) {
  const std::string path = root_ + "/v/1.manifest";
  ASSERT_TRUE(store_->PutIfAbsent(path, "first").ok());
  EXPECT_EQ(KindOf(store_->PutIfAbsent(path, "second")), ErrorKind::kAlreadyExists);
  EXPECT_EQ(ReadAll(*store_, path), "first");
  EXPECT_EQ(*store_->List(root_ + "/v"), std::vector<std::string>{"1.manifest"});
}

TEST_P(StoreConformance, RacingCreatorsHaveOneWinner) {
  constexpr int kThreads = 8;
  for (int round = 0; round < 20; ++round) {
    const std::string path = root_ + "/v/" + std::to_string(round);
    std::atomic<int> won{0}, lost{0}, winner{-1};
    std::vector<std::thread> threads;
    for (int t = 0; t < kThreads; ++t) {
      threads.emplace_back([&, t] {
        const arrow::Status status = store_->PutIfAbsent(path, "by " + std::to_string(t));
        if (status.ok()) {
          ++won;
          winner = t;
        } else if (KindOf(status) == ErrorKind::kAlreadyExists) {
          ++lost;
        }
      });
    }
    for (auto& thread : threads) thread.join();
    ASSERT_EQ(won, 1);
    ASSERT_EQ(lost, kThreads - 1);
    ASSERT_EQ(ReadAll(*store_, path), "by " + std::to_string(winner.load()));
  }
  EXPECT_EQ(store_->List(root_ + "/v")->size(), 20u);  // and no temporary file stays
}

INSTANTIATE_TEST_SUITE_P(Stores, StoreConformance,
                         ::testing::Values(StoreCase{"local", [] { return MakeLocalStore(); }},
                                           StoreCase{"memory", &MakeMemoryStore},
                                           StoreCase{"fault",
                                                     []() -> std::shared_ptr<ObjectStore> {
                                                       return std::make_shared<io::FaultStore>(
                                                           MakeMemoryStore());
                                                     }}),
                         [](const auto& info) { return info.param.name; });

TEST(LocalStore, MapsFiles) {
  std::string root = std::filesystem::temp_directory_path() / "pennon_mapXXXXXX";
  ASSERT_NE(::mkdtemp(root.data()), nullptr);
  const auto store = MakeLocalStore({.map_files = true});
  ASSERT_TRUE(store->Put(root + "/f", "0123456789").ok());
  ASSERT_TRUE(store->Put(root + "/empty", "").ok());
  std::shared_ptr<arrow::Buffer> mapped;
  {
    auto file = store->Open(root + "/f", 8);
    ASSERT_TRUE(file.ok()) << file.status();
    EXPECT_EQ((*file)->size(), 8u);
    uint8_t out[4];
    ASSERT_TRUE((*file)->ReadAt(4, out).ok());
    EXPECT_EQ(std::string(out, out + 4), "4567");
    EXPECT_EQ(KindOf((*file)->ReadAt(5, out)), ErrorKind::kCorrupt);
    mapped = (*file)->Mapped();
  }
  // It lives on without the file, even when that is gone.
  ASSERT_TRUE(store->Delete(root + "/f").ok());
  ASSERT_NE(mapped, nullptr);
  EXPECT_EQ(mapped->ToString(), "01234567");
  EXPECT_FALSE(mapped->is_mutable());
  EXPECT_EQ(KindOf(store->Open(root + "/empty", 1).status()), ErrorKind::kCorrupt);
  EXPECT_EQ(store->Open(root + "/empty").ValueOrDie()->size(), 0u);
  EXPECT_EQ(KindOf(store->Open(root + "/none").status()), ErrorKind::kNotFound);
  EXPECT_EQ(MakeLocalStore()->Open(root + "/empty").ValueOrDie()->Mapped(), nullptr);
  std::filesystem::remove_all(root);
}

TEST(LocalStore, RefusesAPipeWithoutHanging) {
  std::string root = std::filesystem::temp_directory_path() / "pennon_pipeXXXXXX";
  ASSERT_NE(::mkdtemp(root.data()), nullptr);
  ASSERT_EQ(::mkfifo((root + "/pipe").c_str(), 0600), 0);
  EXPECT_EQ(KindOf(MakeLocalStore()->Open(root + "/pipe").status()), ErrorKind::kIo);
  EXPECT_TRUE(MakeLocalStore()->List(root)->empty());
  std::filesystem::remove_all(root);
}

TEST(FaultStore, FailsTheChosenCall) {
  io::FaultStore store(MakeMemoryStore());
  store.FailCall(2, io::FaultStore::Fault::kBefore);
  EXPECT_TRUE(store.Put("/a", "1").ok());
  EXPECT_EQ(KindOf(store.Put("/b", "2")), ErrorKind::kIo);
  EXPECT_EQ(KindOf(store.Open("/b").status()), ErrorKind::kNotFound);
  store.FailCall(1, io::FaultStore::Fault::kAfter);
  EXPECT_EQ(KindOf(store.PutIfAbsent("/c", "3")), ErrorKind::kIo);
  EXPECT_EQ(ReadAll(store, "/c"), "3");
  store.FailCall(1, io::FaultStore::Fault::kCrash);
  EXPECT_EQ(KindOf(store.Put("/d", "4")), ErrorKind::kIo);
  EXPECT_EQ(KindOf(store.List("/").status()), ErrorKind::kIo);
  store.Heal();
  EXPECT_EQ(store.List("/")->size(), 2u);
}

TEST(TableUri, ResolvesPathsAndFileUris) {
  const std::string here = std::filesystem::current_path().string();
  EXPECT_EQ(*io::ResolveTableUri("/a/b/"), "/a/b");
  EXPECT_EQ(*io::ResolveTableUri("/a//b/../c/."), "/a/c");
  EXPECT_EQ(*io::ResolveTableUri("t.lance"), here + "/t.lance");
  EXPECT_EQ(*io::ResolveTableUri("file:///a/b%20c"), "/a/b c");
  EXPECT_EQ(*io::ResolveTableUri("file://localhost/a"), "/a");
  EXPECT_EQ(*io::ResolveTableUri("/a%20b"), "/a%20b");
  EXPECT_EQ(*io::ResolveTableUri("/"), "/");
  EXPECT_EQ(KindOf(io::ResolveTableUri("s3://bucket/t").status()), ErrorKind::kUnsupported);
  EXPECT_EQ(KindOf(io::ResolveTableUri("file://a").status()), ErrorKind::kInvalidInput);
  EXPECT_EQ(KindOf(io::ResolveTableUri("").status()), ErrorKind::kInvalidInput);
}

}  // namespace
}  // namespace pennon
