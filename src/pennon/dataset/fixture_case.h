// The fixture tables for tests: where they lie, their expected results, and a store that finds
// their base paths (testdata/README.md).
#pragma once

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <arrow/io/file.h>
#include <arrow/ipc/reader.h>
#include <arrow/table.h>
#include <nlohmann/json.hpp>

#include "pennon/store.h"

namespace pennon::testing {

inline std::filesystem::path SourceDir() {
  const char* dir = std::getenv("PENNON_SOURCE_DIR");
  return dir != nullptr ? dir : ".";
}

/// The folder of the cases: PENNON_FIXTURES, or where `make test` unpacks them.
inline std::filesystem::path FixturesDir() {
  const char* dir = std::getenv("PENNON_FIXTURES");
  return dir != nullptr ? std::filesystem::path(dir) : SourceDir() / "build/fixtures";
}

/// Names of the cases below `folder`, sorted.
inline std::vector<std::string> CaseNames(const std::filesystem::path& folder) {
  std::vector<std::string> names;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    if (std::filesystem::exists(entry.path() / "case.json"))
      names.push_back(entry.path().filename());
  }
  std::sort(names.begin(), names.end());
  return names;
}

inline nlohmann::json ReadCase(const std::filesystem::path& folder) {
  std::ifstream in(folder / "case.json");
  return nlohmann::json::parse(in);
}

/// Reads an Arrow IPC file as one table with one chunk a column.
inline std::shared_ptr<arrow::Table> ReadArrowFile(const std::filesystem::path& path) {
  auto file = arrow::io::ReadableFile::Open(path.string()).ValueOrDie();
  auto reader = arrow::ipc::RecordBatchFileReader::Open(file).ValueOrDie();
  arrow::RecordBatchVector batches;
  for (int i = 0; i < reader->num_record_batches(); ++i) {
    batches.push_back(reader->ReadRecordBatch(i).ValueOrDie());
  }
  return arrow::Table::FromRecordBatches(reader->schema(), batches)
      .ValueOrDie()
      ->CombineChunks()
      .ValueOrDie();
}

/// The local store, with the prefix that stands for the fixtures' own folder mapped to it.
class FixtureStore : public ObjectStore {
 public:
  explicit FixtureStore(std::string folder)
      : folder_(std::move(folder)), local_(MakeLocalStore()) {}

  arrow::Result<std::shared_ptr<ReadableFile>> Open(const std::string& path,
                                                    std::optional<uint64_t> known_size,
                                                    std::shared_ptr<IoCounter> counter) override {
    return local_->Open(Map(path), known_size, std::move(counter));
  }
  arrow::Result<std::vector<std::string>> List(const std::string& path) override {
    return local_->List(Map(path));
  }
  arrow::Status Put(const std::string&, std::string_view) override { return ReadOnly(); }
  arrow::Status PutIfAbsent(const std::string&, std::string_view) override { return ReadOnly(); }
  arrow::Status Delete(const std::string&) override { return ReadOnly(); }

 private:
  static arrow::Status ReadOnly() { return arrow::Status::Invalid("fixtures are not written to"); }
  std::string Map(const std::string& path) const {
    constexpr std::string_view kPrefix = "/lance-fixtures";
    return path.starts_with(kPrefix) ? folder_ + path.substr(kPrefix.size()) : path;
  }
  std::string folder_;
  std::shared_ptr<ObjectStore> local_;
};

}  // namespace pennon::testing
