// The local file system, by POSIX calls. Arrow's own local file system neither syncs nor creates
// exclusively, and a commit needs both: bytes are durable before a manifest names them, and one
// racing commit wins.
//
// A write goes to `.tmp<16 hex digits>` in the target's folder, is synced, and gets its name by
// rename(2) (replace) or link(2) (create if absent); then the folder is synced. Left-over temporary
// files are never read.
#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <random>

#include "pennon/error.h"
#include "pennon/store.h"

namespace pennon {
namespace {

constexpr size_t kCacheProbes = 4;   // of ranges that will be read, to see whether they are cached
constexpr size_t kMaxIoParts = 256;  // of a vectored read; Linux takes 1024
constexpr size_t kMaxIoBytes = size_t{1} << 30;  // Linux moves at most 2^31 - 4096 bytes a call

std::string ErrorText(int error) { return std::generic_category().message(error); }

arrow::Status IoError(const std::string& path, std::string_view action, int error) {
  ErrorKind kind = ErrorKind::kIo;
  if (error == ENOENT || error == ENOTDIR) kind = ErrorKind::kNotFound;
  if (error == EEXIST) kind = ErrorKind::kAlreadyExists;
  std::string hint;
  if (error == ENOSPC || error == EDQUOT)
    hint = " (free some space and try again; nothing was changed)";
  return MakeError(kind, {.path = path},
                   JoinParts("Cannot ", action, ": ", ErrorText(error), hint, ": ", path));
}

/// Closes a descriptor at the end of its scope.
class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Descriptor& operator=(Descriptor&&) = delete;

  int get() const { return fd_; }
  /// Closes now; 0 or the error number, which for a written file may be the first news of a failed
  /// write.
  int Close() {
    const int fd = std::exchange(fd_, -1);
    return ::close(fd) == 0 || errno == EINTR ? 0 : errno;
  }

 private:
  int fd_;
};

int OpenRetrying(const char* path, int flags, mode_t mode = 0) {
  int fd;
  do {
    fd = ::open(path, flags | O_CLOEXEC, mode);
  } while (fd < 0 && errno == EINTR);
  return fd;
}

std::string ParentOf(const std::string& path) {
  const size_t slash = path.find_last_of('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

class LocalFile : public ReadableFile {
 public:
  LocalFile(Descriptor fd, std::string path, uint64_t size, std::shared_ptr<IoCounter> counter)
      : fd_(std::move(fd)), path_(std::move(path)), size_(size), counter_(std::move(counter)) {}

  const std::string& path() const override { return path_; }
  uint64_t size() const override { return size_; }

  arrow::Status ReadAt(uint64_t offset, std::span<uint8_t> out) const override {
    return ReadScattered(offset, {&out, 1});
  }

  arrow::Status ReadScattered(uint64_t offset,
                              std::span<const std::span<uint8_t>> parts) const override {
    uint64_t size = 0;
    for (const std::span<uint8_t>& part : parts) size += part.size();
    if (offset > size_ || size > size_ - offset) {
      return Corrupt(path_, "A read runs past the end of the file: offset ", offset, ", length ",
                     size, ", file size ", size_, ": ", path_);
    }
    if (counter_ != nullptr) counter_->Add(size);
    // What is left of the part at the front.
    size_t done = 0;
    while (!parts.empty()) {
      if (done == parts.front().size()) {
        parts = parts.subspan(1);
        done = 0;
        continue;
      }
      ARROW_ASSIGN_OR_RAISE(size_t got, ReadSome(offset, parts, done));
      offset += got;
      while (got > 0) {
        const size_t step = std::min(got, parts.front().size() - done);
        got -= step;
        done += step;
        if (got == 0) break;
        parts = parts.subspan(1);
        done = 0;
      }
    }
    return arrow::Status::OK();
  }

  /// Ranges that the page cache has not are asked for all at once; the kernel then reads them side
  /// by side. Whether it has them is seen from some.
  void WillRead(std::span<const ByteRange> ranges) const override {
    if (ranges.empty()) return;
    bool cached = true;
    for (size_t i = 0; i < kCacheProbes && cached; ++i)
      cached = IsCached(ranges[(ranges.size() - 1) * i / (kCacheProbes - 1)].offset);
    if (cached) return;
    for (const ByteRange& range : ranges) {
      ::posix_fadvise(fd_.get(), static_cast<off_t>(range.offset), static_cast<off_t>(range.size),
                      POSIX_FADV_WILLNEED);
    }
  }

 private:
  /// Whether a read at `offset` would not wait, as far as the file system can say.
  bool IsCached(uint64_t offset) const {
    uint8_t byte;
    const iovec place{&byte, 1};
    return ::preadv2(fd_.get(), &place, 1, static_cast<off_t>(offset), RWF_NOWAIT) >= 0 ||
           errno != EAGAIN;
  }

  /// One call for as many of `parts` as it takes, the first from byte `skip` on; how much it read,
  /// at least one byte.
  arrow::Result<size_t> ReadSome(uint64_t offset, std::span<const std::span<uint8_t>> parts,
                                 size_t skip) const {
    std::array<iovec, kMaxIoParts> places;
    int count = 0;
    size_t want = 0;
    for (const std::span<uint8_t>& part : parts.first(std::min(parts.size(), kMaxIoParts))) {
      if (want == kMaxIoBytes) break;
      const size_t size = std::min(part.size() - skip, kMaxIoBytes - want);
      places[static_cast<size_t>(count++)] = {part.data() + skip, size};
      want += size;
      skip = 0;
    }
    while (true) {
      const ssize_t got = ::preadv(fd_.get(), places.data(), count, static_cast<off_t>(offset));
      if (got > 0) return static_cast<size_t>(got);
      if (got == 0) {
        return Corrupt(path_, "The file is shorter than its recorded size: expected ", size_,
                       " bytes, found ", offset, ": ", path_);
      }
      if (errno != EINTR) return IoError(path_, "read the file", errno);
    }
  }

  Descriptor fd_;
  std::string path_;
  uint64_t size_;
  std::shared_ptr<IoCounter> counter_;
};

/// Makes the entries of `folder` durable.
arrow::Status SyncFolder(const std::string& folder) {
  Descriptor fd(OpenRetrying(folder.c_str(), O_RDONLY | O_DIRECTORY));
  if (fd.get() < 0) return IoError(folder, "open the folder to sync it", errno);
  // Some file systems cannot sync a folder and say EINVAL; there is nothing more to do on them.
  if (::fsync(fd.get()) != 0 && errno != EINVAL) return IoError(folder, "sync the folder", errno);
  return arrow::Status::OK();
}

/// Creates `folder` and what is missing above it, each durable in its parent.
arrow::Status CreateFolders(const std::string& folder) {
  std::vector<std::string> missing;
  std::string at = folder;
  struct stat info;
  while (::stat(at.c_str(), &info) != 0) {
    if (errno != ENOENT) return IoError(at, "look at the folder", errno);
    missing.push_back(at);
    std::string parent = ParentOf(at);
    if (parent == at) break;
    at = std::move(parent);
  }
  for (auto it = missing.rbegin(); it != missing.rend(); ++it) {
    if (::mkdir(it->c_str(), 0777) != 0 && errno != EEXIST)
      return IoError(*it, "create the folder", errno);
    ARROW_RETURN_NOT_OK(SyncFolder(ParentOf(*it)));
  }
  return arrow::Status::OK();
}

std::string TemporaryName(const std::string& folder) {
  std::random_device random;
  const uint64_t bits = (uint64_t{random()} << 32) | random();
  char name[24];
  std::snprintf(name, sizeof(name), "/.tmp%016llx", static_cast<unsigned long long>(bits));
  return (folder == "/" ? "" : folder) + name;
}

arrow::Status WriteAll(int fd, const std::string& path, std::string_view bytes) {
  size_t done = 0;
  while (done < bytes.size()) {
    const size_t want = std::min(bytes.size() - done, kMaxIoBytes);
    const ssize_t put = ::write(fd, bytes.data() + done, want);
    if (put < 0) {
      if (errno == EINTR) continue;
      return IoError(path, "write the file", errno);
    }
    done += static_cast<size_t>(put);
  }
  return arrow::Status::OK();
}

/// A synced temporary file beside `path`; removed at the end of its scope unless it was renamed
/// away.
class TemporaryFile {
 public:
  ~TemporaryFile() {
    if (!name_.empty()) ::unlink(name_.c_str());
  }
  const std::string& name() const { return name_; }
  void Renamed() { name_.clear(); }

  arrow::Status Write(const std::string& path, std::string_view bytes) {
    const std::string folder = ParentOf(path);
    int fd = -1;
    for (int attempt = 0; attempt < 100; ++attempt) {
      const std::string name = TemporaryName(folder);
      fd = OpenRetrying(name.c_str(), O_WRONLY | O_CREAT | O_EXCL, 0666);
      if (fd >= 0) {
        name_ = name;
        break;
      }
      if (errno == ENOENT) {
        ARROW_RETURN_NOT_OK(CreateFolders(folder));
      } else if (errno != EEXIST) {
        return IoError(path, "create a temporary file beside", errno);
      }
    }
    if (fd < 0) return IoError(path, "create a temporary file beside", EBUSY);
    Descriptor file(fd);
    ARROW_RETURN_NOT_OK(WriteAll(file.get(), path, bytes));
    if (::fsync(file.get()) != 0) return IoError(path, "sync the file", errno);
    if (const int error = file.Close(); error != 0) return IoError(path, "close the file", error);
    return arrow::Status::OK();
  }

 private:
  std::string name_;
};

/// Names the temporary file `path` unless that exists; 0 or the error number.
int CreateExclusively(TemporaryFile& file, const std::string& path) {
  if (::link(file.name().c_str(), path.c_str()) == 0) return 0;
  const int error = errno;
  // A file system without hard links (exFAT, some network mounts) may still know the exclusive
  // rename.
  if (error != EPERM && error != EOPNOTSUPP && error != ENOSYS && error != EMLINK) return error;
  if (::renameat2(AT_FDCWD, file.name().c_str(), AT_FDCWD, path.c_str(), RENAME_NOREPLACE) != 0) {
    return errno == EEXIST ? EEXIST : error;
  }
  file.Renamed();
  return 0;
}

class LocalStore : public ObjectStore {
 public:
  arrow::Result<std::shared_ptr<ReadableFile>> Open(const std::string& path,
                                                    std::optional<uint64_t> known_size,
                                                    std::shared_ptr<IoCounter> counter) override {
    // O_NONBLOCK: a named pipe in the table's folder must not hang the reader.
    Descriptor fd(OpenRetrying(path.c_str(), O_RDONLY | O_NONBLOCK));
    if (fd.get() < 0) return IoError(path, "open the file", errno);
    struct stat info;
    if (::fstat(fd.get(), &info) != 0) return IoError(path, "look at the file", errno);
    if (!S_ISREG(info.st_mode)) {
      return MakeError(
          ErrorKind::kIo, {.path = path},
          JoinParts("Expected a file, found ",
                    S_ISDIR(info.st_mode) ? "a folder" : "something else", ": ", path));
    }
    return std::make_shared<LocalFile>(std::move(fd), path,
                                       known_size.value_or(static_cast<uint64_t>(info.st_size)),
                                       std::move(counter));
  }

  arrow::Result<std::vector<std::string>> List(const std::string& folder) override {
    std::unique_ptr<DIR, int (*)(DIR*)> stream(::opendir(folder.c_str()), &::closedir);
    if (stream == nullptr) return IoError(folder, "list the folder", errno);
    std::vector<std::string> names;
    while (true) {
      errno = 0;
      const dirent* entry = ::readdir(stream.get());
      if (entry == nullptr) {
        if (errno != 0) return IoError(folder, "list the folder", errno);
        return names;
      }
      if (entry->d_type == DT_UNKNOWN || entry->d_type == DT_LNK) {
        struct stat info;
        if (::fstatat(::dirfd(stream.get()), entry->d_name, &info, 0) != 0 ||
            !S_ISREG(info.st_mode))
          continue;
      } else if (entry->d_type != DT_REG) {
        continue;
      }
      names.emplace_back(entry->d_name);
    }
  }

  arrow::Status Put(const std::string& path, std::string_view bytes) override {
    TemporaryFile file;
    ARROW_RETURN_NOT_OK(file.Write(path, bytes));
    if (::rename(file.name().c_str(), path.c_str()) != 0) {
      const int error = errno;
      if (error == EISDIR || error == ENOTEMPTY || error == EEXIST) return IsFolder(path);
      return IoError(path, "rename the temporary file to", error);
    }
    file.Renamed();
    return SyncFolder(ParentOf(path));
  }

  arrow::Status PutIfAbsent(const std::string& path, std::string_view bytes) override {
    TemporaryFile file;
    ARROW_RETURN_NOT_OK(file.Write(path, bytes));
    if (const int error = CreateExclusively(file, path); error != 0) {
      if (error == EEXIST) {
        struct stat info;
        if (::stat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode)) return IsFolder(path);
      }
      return IoError(path, "create the file", error);
    }
    return SyncFolder(ParentOf(path));
  }

  arrow::Status Delete(const std::string& path) override {
    if (::unlink(path.c_str()) == 0) return SyncFolder(ParentOf(path));
    if (errno == ENOENT || errno == ENOTDIR) return arrow::Status::OK();
    if (errno == EISDIR) return IsFolder(path);
    return IoError(path, "remove the file", errno);
  }

 private:
  static arrow::Status IsFolder(const std::string& path) {
    return MakeError(ErrorKind::kIo, {.path = path},
                     JoinParts("Expected a file or nothing at this path, found a folder: ", path));
  }
};

}  // namespace

std::shared_ptr<ObjectStore> MakeLocalStore() { return std::make_shared<LocalStore>(); }

}  // namespace pennon
