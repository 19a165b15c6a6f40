// Files of the local file system: read by pread(2), or mapped.
#pragma once

#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include <arrow/result.h>

#include "pennon/store.h"

namespace pennon::io {

/// Bytes that one call moves at most; Linux takes 2^31 - 4096.
inline constexpr size_t kMaxIoBytes = size_t{1} << 30;

/// "Cannot <action>: ..." with the kind and the hint that follow from the error number.
arrow::Status LocalIoError(const std::string& path, std::string_view action, int error);

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

/// A file that is read by pread(2). `size` is what its length is taken for; reads are counted in
/// `counter` unless it is null.
std::shared_ptr<ReadableFile> MakeLocalFile(Descriptor fd, std::string path, uint64_t size,
                                            std::shared_ptr<IoCounter> counter);

/// A file mapped into memory, of which the first `size` bytes count; it has `found`, which must not
/// be less. ReadAt copies and is counted; what is only looked at is not.
arrow::Result<std::shared_ptr<ReadableFile>> MapLocalFile(const Descriptor& fd, std::string path,
                                                          uint64_t size, uint64_t found,
                                                          std::shared_ptr<IoCounter> counter);

}  // namespace pennon::io
