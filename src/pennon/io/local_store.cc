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
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <optional>
#include <random>

#include "pennon/error.h"
#include "pennon/io/local_file.h"
#include "pennon/store.h"

namespace pennon {
namespace {

using io::Descriptor;

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

/// Makes the entries of `folder` durable.
arrow::Status SyncFolder(const std::string& folder) {
  Descriptor fd(OpenRetrying(folder.c_str(), O_RDONLY | O_DIRECTORY));
  if (fd.get() < 0) return io::LocalIoError(folder, "open the folder to sync it", errno);
  // Some file systems cannot sync a folder and say EINVAL; there is nothing more to do on them.
  if (::fsync(fd.get()) != 0 && errno != EINVAL)
    return io::LocalIoError(folder, "sync the folder", errno);
  return arrow::Status::OK();
}

/// Creates `folder` and what is missing above it, each durable in its parent.
arrow::Status CreateFolders(const std::string& folder) {
  std::vector<std::string> missing;
  std::string at = folder;
  struct stat info;
  while (::stat(at.c_str(), &info) != 0) {
    if (errno != ENOENT) return io::LocalIoError(at, "look at the folder", errno);
    missing.push_back(at);
    std::string parent = ParentOf(at);
    if (parent == at) break;
    at = std::move(parent);
  }
  for (auto it = missing.rbegin(); it != missing.rend(); ++it) {
    if (::mkdir(it->c_str(), 0777) != 0 && errno != EEXIST)
      return io::LocalIoError(*it, "create the folder", errno);
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
    const size_t want = std::min(bytes.size() - done, io::kMaxIoBytes);
    const ssize_t put = ::write(fd, bytes.data() + done, want);
    if (put < 0) {
      if (errno == EINTR) continue;
      return io::LocalIoError(path, "write the file", errno);
    }
    done += static_cast<size_t>(put);
  }
  return arrow::Status::OK();
}

/// A temporary file beside the one that it becomes; removed at the end of its scope unless it was
/// renamed away.
class TemporaryFile {
 public:
  ~TemporaryFile() {
    if (!name_.empty()) ::unlink(name_.c_str());
  }
  const std::string& name() const { return name_; }
  void Renamed() { name_.clear(); }

  arrow::Status Open(const std::string& path) {
    path_ = path;
    const std::string folder = ParentOf(path);
    for (int attempt = 0; attempt < 100; ++attempt) {
      const std::string name = TemporaryName(folder);
      const int fd = OpenRetrying(name.c_str(), O_WRONLY | O_CREAT | O_EXCL, 0666);
      if (fd >= 0) {
        name_ = name;
        file_.emplace(fd);
        return arrow::Status::OK();
      }
      if (errno == ENOENT) {
        ARROW_RETURN_NOT_OK(CreateFolders(folder));
      } else if (errno != EEXIST) {
        return io::LocalIoError(path, "create a temporary file beside", errno);
      }
    }
    return io::LocalIoError(path, "create a temporary file beside", EBUSY);
  }

  arrow::Status Append(std::string_view bytes) { return WriteAll(file_->get(), path_, bytes); }

  /// Makes the bytes durable; nothing is appended after that.
  arrow::Status Finish() {
    if (::fsync(file_->get()) != 0) return io::LocalIoError(path_, "sync the file", errno);
    if (const int error = file_->Close(); error != 0)
      return io::LocalIoError(path_, "close the file", error);
    return arrow::Status::OK();
  }

  /// All of these at once.
  arrow::Status Write(const std::string& path, std::string_view bytes) {
    ARROW_RETURN_NOT_OK(Open(path));
    ARROW_RETURN_NOT_OK(Append(bytes));
    return Finish();
  }

 private:
  std::string path_;
  std::string name_;
  std::optional<Descriptor> file_;
};

/// The error for a path that a folder has.
arrow::Status IsFolder(const std::string& path) {
  return MakeError(ErrorKind::kIo, {.path = path},
                   JoinParts("Expected a file or nothing at this path, found a folder: ", path));
}

/// Gives a finished temporary file the name `path`, replacing a file that has it.
arrow::Status Replace(TemporaryFile& file, const std::string& path) {
  if (::rename(file.name().c_str(), path.c_str()) != 0) {
    const int error = errno;
    if (error == EISDIR || error == ENOTEMPTY || error == EEXIST) return IsFolder(path);
    return io::LocalIoError(path, "rename the temporary file to", error);
  }
  file.Renamed();
  return SyncFolder(ParentOf(path));
}

class LocalWritableFile : public WritableFile {
 public:
  static arrow::Result<std::unique_ptr<WritableFile>> Make(const std::string& path) {
    auto out = std::make_unique<LocalWritableFile>();
    out->path_ = path;
    ARROW_RETURN_NOT_OK(out->file_.Open(path));
    return out;
  }
  arrow::Status Append(std::string_view bytes) override { return file_.Append(bytes); }
  arrow::Status Commit() override {
    ARROW_RETURN_NOT_OK(file_.Finish());
    return Replace(file_, path_);
  }

 private:
  std::string path_;
  TemporaryFile file_;
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
  explicit LocalStore(const LocalStoreOptions& options) : options_(options) {}

  arrow::Result<std::shared_ptr<ReadableFile>> Open(const std::string& path,
                                                    std::optional<uint64_t> known_size,
                                                    std::shared_ptr<IoCounter> counter) override {
    // O_NONBLOCK: a named pipe in the table's folder must not hang the reader.
    Descriptor fd(OpenRetrying(path.c_str(), O_RDONLY | O_NONBLOCK));
    if (fd.get() < 0) return io::LocalIoError(path, "open the file", errno);
    struct stat info;
    if (::fstat(fd.get(), &info) != 0) return io::LocalIoError(path, "look at the file", errno);
    if (!S_ISREG(info.st_mode)) {
      return MakeError(
          ErrorKind::kIo, {.path = path},
          JoinParts("Expected a file, found ",
                    S_ISDIR(info.st_mode) ? "a folder" : "something else", ": ", path));
    }
    const auto found = static_cast<uint64_t>(info.st_size);
    const uint64_t size = known_size.value_or(found);
    if (options_.map_files) return io::MapLocalFile(fd, path, size, found, std::move(counter));
    return io::MakeLocalFile(std::move(fd), path, size, std::move(counter));
  }

  arrow::Result<std::vector<std::string>> List(const std::string& folder) override {
    std::unique_ptr<DIR, int (*)(DIR*)> stream(::opendir(folder.c_str()), &::closedir);
    if (stream == nullptr) return io::LocalIoError(folder, "list the folder", errno);
    std::vector<std::string> names;
    while (true) {
      errno = 0;
      const dirent* entry = ::readdir(stream.get());
      if (entry == nullptr) {
        if (errno != 0) return io::LocalIoError(folder, "list the folder", errno);
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
    return Replace(file, path);
  }

  arrow::Result<std::unique_ptr<WritableFile>> Create(const std::string& path) override {
    return LocalWritableFile::Make(path);
  }

  arrow::Status PutIfAbsent(const std::string& path, std::string_view bytes) override {
    TemporaryFile file;
    ARROW_RETURN_NOT_OK(file.Write(path, bytes));
    if (const int error = CreateExclusively(file, path); error != 0) {
      if (error == EEXIST) {
        struct stat info;
        if (::stat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode)) return IsFolder(path);
      }
      return io::LocalIoError(path, "create the file", error);
    }
    return SyncFolder(ParentOf(path));
  }

  arrow::Status Delete(const std::string& path) override {
    if (::unlink(path.c_str()) == 0) return SyncFolder(ParentOf(path));
    if (errno == ENOENT || errno == ENOTDIR) return arrow::Status::OK();
    if (errno == EISDIR) return IsFolder(path);
    return io::LocalIoError(path, "remove the file", errno);
  }

 private:
  const LocalStoreOptions options_;
};

}  // namespace

std::shared_ptr<ObjectStore> MakeLocalStore(const LocalStoreOptions& options) {
  return std::make_shared<LocalStore>(options);
}

}  // namespace pennon
