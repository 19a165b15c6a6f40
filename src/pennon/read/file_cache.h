// Open data files by path, shared by every version of a table that a program holds. Thread-safe.
#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>

#include <arrow/memory_pool.h>
#include <arrow/result.h>

#include "pennon/file/reader.h"
#include "pennon/store.h"
#include "pennon/table/layout.h"
#include "pennon/table/manifest.h"

namespace pennon::read {

/// Keeps readers (footers, column metadata, a file handle each) up to a number of files and bytes;
/// the one used least lately goes first. Two threads that ask for the same file open it once.
/// Failures are not kept.
class FileCache {
 public:
  FileCache(uint64_t max_bytes, size_t max_files, std::shared_ptr<IoCounter> counter)
      : max_bytes_(max_bytes), max_files_(max_files), counter_(std::move(counter)) {}

  /// Opens `file` of the table. A file of version 0.1 or 2.3 and later is a kUnsupported error.
  arrow::Result<std::shared_ptr<const file::FileReader>> Open(const table::TableLocation& table,
                                                              const table::Manifest& manifest,
                                                              const table::DataFile& file,
                                                              arrow::MemoryPool* pool);

  /// Files opened so far, for tests and tuning.
  uint64_t opened() const;

 private:
  struct Entry {
    std::mutex mutex;
    std::shared_ptr<const file::FileReader> reader;
  };
  using Order = std::list<std::pair<std::string, std::shared_ptr<Entry>>>;

  std::shared_ptr<Entry> Find(const std::string& key);
  void Trim();

  const uint64_t max_bytes_;
  const size_t max_files_;
  const std::shared_ptr<IoCounter> counter_;
  mutable std::mutex mutex_;
  Order order_;
  std::unordered_map<std::string, Order::iterator> index_;
  uint64_t opened_ = 0;
};

}  // namespace pennon::read
