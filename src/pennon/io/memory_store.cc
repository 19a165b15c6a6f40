// A store in memory: a sorted map from path to bytes. A folder exists as long as a file is below
// it.
#include <cstring>
#include <map>
#include <mutex>

#include "pennon/error.h"
#include "pennon/store.h"

namespace pennon {
namespace {

using Bytes = std::shared_ptr<const std::string>;

class MemoryFile : public ReadableFile {
 public:
  MemoryFile(std::string path, Bytes bytes, uint64_t size, std::shared_ptr<IoCounter> counter)
      : path_(std::move(path)),
        bytes_(std::move(bytes)),
        size_(size),
        counter_(std::move(counter)) {}

  const std::string& path() const override { return path_; }
  uint64_t size() const override { return size_; }

  arrow::Status ReadAt(uint64_t offset, std::span<uint8_t> out) const override {
    if (offset > size_ || out.size() > size_ - offset) {
      return Corrupt(path_, "A read runs past the end of the file: offset ", offset, ", length ",
                     out.size(), ", file size ", size_, ": ", path_);
    }
    if (counter_ != nullptr) counter_->Add(out.size());
    if (offset + out.size() > bytes_->size()) {
      return Corrupt(path_, "The file is shorter than its recorded size: expected ", size_,
                     " bytes, found ", bytes_->size(), ": ", path_);
    }
    if (!out.empty()) std::memcpy(out.data(), bytes_->data() + offset, out.size());
    return arrow::Status::OK();
  }

 private:
  std::string path_;
  Bytes bytes_;
  uint64_t size_;
  std::shared_ptr<IoCounter> counter_;
};

class MemoryStore : public ObjectStore {
 public:
  arrow::Result<std::shared_ptr<ReadableFile>> Open(const std::string& path,
                                                    std::optional<uint64_t> known_size,
                                                    std::shared_ptr<IoCounter> counter) override {
    std::lock_guard lock(mutex_);
    const auto it = files_.find(path);
    if (it == files_.end()) {
      if (IsFolder(path)) return FolderError(path);
      return NotFound(path, "Cannot open the file: no such file: ", path);
    }
    return std::make_shared<MemoryFile>(path, it->second, known_size.value_or(it->second->size()),
                                        std::move(counter));
  }

  arrow::Result<std::vector<std::string>> List(const std::string& folder) override {
    const std::string prefix = folder == "/" ? folder : folder + "/";
    std::lock_guard lock(mutex_);
    std::vector<std::string> names;
    bool exists = false;
    for (auto it = files_.lower_bound(prefix); it != files_.end() && it->first.starts_with(prefix);
         ++it) {
      exists = true;
      std::string name = it->first.substr(prefix.size());
      if (name.find('/') == std::string::npos) names.push_back(std::move(name));
    }
    if (!exists) return NotFound(folder, "Cannot list the folder: no such folder: ", folder);
    return names;
  }

  arrow::Status Put(const std::string& path, std::string_view bytes) override {
    auto copy = std::make_shared<const std::string>(bytes);
    std::lock_guard lock(mutex_);
    if (IsFolder(path)) return FolderError(path);
    files_[path] = std::move(copy);
    return arrow::Status::OK();
  }

  arrow::Status PutIfAbsent(const std::string& path, std::string_view bytes) override {
    auto copy = std::make_shared<const std::string>(bytes);
    std::lock_guard lock(mutex_);
    if (IsFolder(path)) return FolderError(path);
    if (!files_.try_emplace(path, std::move(copy)).second) {
      return MakeError(ErrorKind::kAlreadyExists, {.path = path},
                       JoinParts("Cannot create the file: it exists: ", path));
    }
    return arrow::Status::OK();
  }

  arrow::Status Delete(const std::string& path) override {
    std::lock_guard lock(mutex_);
    if (IsFolder(path)) return FolderError(path);
    files_.erase(path);
    return arrow::Status::OK();
  }

 private:
  bool IsFolder(const std::string& path) const {
    const std::string prefix = path + "/";
    const auto it = files_.lower_bound(prefix);
    return it != files_.end() && it->first.starts_with(prefix);
  }
  static arrow::Status FolderError(const std::string& path) {
    return MakeError(ErrorKind::kIo, {.path = path},
                     JoinParts("Expected a file or nothing at this path, found a folder: ", path));
  }

  std::mutex mutex_;
  std::map<std::string, Bytes> files_;
};

}  // namespace

std::shared_ptr<ObjectStore> MakeMemoryStore() { return std::make_shared<MemoryStore>(); }

}  // namespace pennon
