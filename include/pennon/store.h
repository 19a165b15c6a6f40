// Where bytes live: the interface to implement for a new store, and the stores pennon has.
// Stores and open files are thread-safe; a ReadableFile keeps what it needs alive.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <arrow/buffer.h>
#include <arrow/result.h>
#include <arrow/status.h>

#include "pennon/writable_file.h"

namespace pennon {

/// Bytes and requests read; a request is one call that reaches the store.
struct IoStats {
  uint64_t bytes = 0;
  uint64_t requests = 0;
};

/// Counts reads of the files it is given to. All members are atomic.
class IoCounter {
 public:
  void Add(uint64_t bytes) {
    bytes_.fetch_add(bytes, std::memory_order_relaxed);
    requests_.fetch_add(1, std::memory_order_relaxed);
  }
  IoStats Get() const { return {bytes_.load(), requests_.load()}; }
  /// Returns the figures and sets them to zero.
  IoStats Take() { return {bytes_.exchange(0), requests_.exchange(0)}; }

 private:
  std::atomic<uint64_t> bytes_{0};
  std::atomic<uint64_t> requests_{0};
};

/// `size` bytes of a file from `offset`.
struct ByteRange {
  uint64_t offset = 0;
  uint64_t size = 0;
};

/// A file open for reading. Immutable, thread-safe.
class ReadableFile {
 public:
  virtual ~ReadableFile() = default;
  /// The path as given to the store, for messages.
  virtual const std::string& path() const = 0;
  virtual uint64_t size() const = 0;
  /// Fills `out` from `offset`: one request. A range beyond size() is a kCorrupt error, no partial
  /// reads.
  virtual arrow::Status ReadAt(uint64_t offset, std::span<uint8_t> out) const = 0;
  /// Fills `parts` one after the other with what lies from `offset` on: one request, whatever the
  /// number of parts. Fails as ReadAt does. By default one ReadAt and a copy.
  virtual arrow::Status ReadScattered(uint64_t offset,
                                      std::span<const std::span<uint8_t>> parts) const;
  /// Says that `ranges`, ascending and inside the file, will be read next, so that a store may
  /// fetch them side by side. By default nothing.
  virtual void WillRead(std::span<const ByteRange> ranges) const;
  /// The size() bytes of the file in memory, if the store maps files, else null. They must not
  /// change while somebody holds the buffer.
  virtual std::shared_ptr<arrow::Buffer> Mapped() const { return nullptr; }
};

/// A place for a table's files. Paths are absolute in the store's own terms, with '/' between
/// parts.
class ObjectStore {
 public:
  virtual ~ObjectStore() = default;
  /// Opens a file; a missing one is a kNotFound error. `known_size`, if given, saves asking for the
  /// size (a file shorter than that fails on first read, or here if it is mapped). Reads are
  /// counted in `counter` unless it is null.
  virtual arrow::Result<std::shared_ptr<ReadableFile>> Open(
      const std::string& path, std::optional<uint64_t> known_size = {},
      std::shared_ptr<IoCounter> counter = nullptr) = 0;
  /// Names (not paths) of the files directly in `folder`, unsorted; a missing folder is a kNotFound
  /// error.
  virtual arrow::Result<std::vector<std::string>> List(const std::string& folder) = 0;
  /// Writes a whole file, replacing one that is there. When this returns OK the bytes are durable.
  virtual arrow::Status Put(const std::string& path, std::string_view bytes) = 0;
  /// Writes a whole file unless it exists; exactly one of any number of racing callers gets OK, the
  /// others a kAlreadyExists error. Durable when OK; never visible in part.
  virtual arrow::Status PutIfAbsent(const std::string& path, std::string_view bytes) = 0;
  /// Starts a file that is written piece by piece, for those too large for memory. By default its
  /// bytes are kept until Commit puts them.
  virtual arrow::Result<std::unique_ptr<WritableFile>> Create(const std::string& path);
  /// Removes a file; a missing one is no error.
  virtual arrow::Status Delete(const std::string& path) = 0;
};

struct LocalStoreOptions {
  /// Maps files that are opened instead of reading them: pages whose bytes are those of an Arrow
  /// array are handed out without a copy (and not counted). Only for tables whose files
  /// nobody cuts short meanwhile: touching a page that is gone ends the process (SIGBUS).
  bool map_files = false;
};

/// The local file system: POSIX calls with fsync and an atomic create-if-absent by link(2).
std::shared_ptr<ObjectStore> MakeLocalStore(const LocalStoreOptions& options = {});
/// A store in memory, for tests and small tables.
std::shared_ptr<ObjectStore> MakeMemoryStore();

}  // namespace pennon
