#include "pennon/read/file_cache.h"

#include <utility>

#include "pennon/error.h"

namespace pennon::read {
namespace {

// Files opened between two looks at the cache's size.
constexpr uint64_t kTrimInterval = 16;

arrow::Status CheckVersion(const table::DataFile& file) {
  bool known = file.major_version == 2 ? file.minor_version <= 2
                                       : file.major_version == 0 && file.minor_version == 3;
  if (known) return arrow::Status::OK();
  return Unsupported(file.path,
                     "data file version is not supported (2.0, 2.1 and 2.2 are): version ",
                     file.major_version, ".", file.minor_version, ", file ", file.path);
}

}  // namespace

std::shared_ptr<FileCache::Entry> FileCache::Find(const std::string& key) {
  std::lock_guard<std::mutex> lock(mutex_);
  auto found = index_.find(key);
  if (found != index_.end()) {
    order_.splice(order_.begin(), order_, found->second);
    return found->second->second;
  }
  order_.emplace_front(key, std::make_shared<Entry>());
  index_[key] = order_.begin();
  return order_.front().second;
}

void FileCache::Trim() {
  std::lock_guard<std::mutex> lock(mutex_);
  // Adding up the sizes visits every entry: not at each of a thousand opens.
  if (++opened_ % kTrimInterval != 0 && order_.size() <= max_files_) return;
  uint64_t bytes = 0;
  size_t files = 0;
  for (auto at = order_.begin(); at != order_.end();) {
    Entry& entry = *at->second;
    // An entry whose lock is taken is being opened right now: it stays.
    std::unique_lock<std::mutex> entry_lock(entry.mutex, std::try_to_lock);
    if (entry_lock.owns_lock() && entry.reader != nullptr) bytes += entry.reader->MemoryBytes();
    ++files;
    bool over = files > max_files_ || (bytes > max_bytes_ && files > 1);
    if (over && entry_lock.owns_lock()) {
      entry_lock.unlock();
      index_.erase(at->first);
      at = order_.erase(at);
      --files;
    } else {
      ++at;
    }
  }
}

arrow::Result<std::shared_ptr<const file::FileReader>> FileCache::Open(
    const table::TableLocation& table, const table::Manifest& manifest, const table::DataFile& file,
    arrow::MemoryPool* pool) {
  ARROW_RETURN_NOT_OK(CheckVersion(file));
  ARROW_ASSIGN_OR_RAISE(std::string path, table::DataFilePath(table, manifest, file));
  std::string key = path + "#" + std::to_string(file.size_bytes);
  std::shared_ptr<Entry> entry = Find(key);
  std::shared_ptr<const file::FileReader> reader;
  {
    std::lock_guard<std::mutex> lock(entry->mutex);
    if (entry->reader != nullptr) return entry->reader;
    std::optional<uint64_t> size;
    if (file.size_bytes != 0) size = file.size_bytes;
    ARROW_ASSIGN_OR_RAISE(std::shared_ptr<ReadableFile> opened,
                          table.store->Open(path, size, counter_));
    const auto open_other = [store = table.store, counter = counter_](const std::string& other) {
      return store->Open(other, {}, counter);
    };
    ARROW_ASSIGN_OR_RAISE(entry->reader,
                          file::FileReader::Open(std::move(opened), pool, open_other));
    reader = entry->reader;
  }
  Trim();
  return reader;
}

uint64_t FileCache::opened() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return opened_;
}

}  // namespace pennon::read
