#include "pennon/io/local_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <system_error>

#include <arrow/buffer.h>

#include "pennon/error.h"

namespace pennon::io {

arrow::Status LocalIoError(const std::string& path, std::string_view action, int error) {
  ErrorKind kind = ErrorKind::kIo;
  if (error == ENOENT || error == ENOTDIR) kind = ErrorKind::kNotFound;
  if (error == EEXIST) kind = ErrorKind::kAlreadyExists;
  std::string hint;
  if (error == ENOSPC || error == EDQUOT)
    hint = " (free some space and try again; nothing was changed)";
  return MakeError(
      kind, {.path = path},
      JoinParts("Cannot ", action, ": ", std::generic_category().message(error), hint, ": ", path));
}

namespace {

constexpr size_t kCacheProbes = 4;   // of ranges that will be read, to see whether they are cached
constexpr size_t kMaxIoParts = 256;  // of a vectored read; Linux takes 1024

arrow::Status BeyondEnd(const std::string& path, uint64_t offset, uint64_t size, uint64_t file) {
  return Corrupt(path, "A read runs past the end of the file: offset ", offset, ", length ", size,
                 ", file size ", file, ": ", path);
}

arrow::Status Shorter(const std::string& path, uint64_t expected, uint64_t found) {
  return Corrupt(path, "The file is shorter than its recorded size: expected ", expected,
                 " bytes, found ", found, ": ", path);
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
      return BeyondEnd(path_, offset, size, size_);
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
      if (range.size == 0) continue;  // to the system that is all of the file
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
        return Shorter(path_, size_, offset);
      }
      if (errno != EINTR) return LocalIoError(path_, "read the file", errno);
    }
  }

  Descriptor fd_;
  std::string path_;
  uint64_t size_;
  std::shared_ptr<IoCounter> counter_;
};

/// The memory of a mapped file; unmaps it.
class Mapping : public arrow::Buffer {
 public:
  Mapping(const uint8_t* data, uint64_t size) : Buffer(data, static_cast<int64_t>(size)) {}
  ~Mapping() override { ::munmap(const_cast<uint8_t*>(data()), static_cast<size_t>(size())); }
};

class MappedFile : public ReadableFile {
 public:
  MappedFile(std::shared_ptr<arrow::Buffer> bytes, std::string path,
             std::shared_ptr<IoCounter> counter)
      : bytes_(std::move(bytes)), path_(std::move(path)), counter_(std::move(counter)) {}

  const std::string& path() const override { return path_; }
  uint64_t size() const override { return static_cast<uint64_t>(bytes_->size()); }

  arrow::Status ReadAt(uint64_t offset, std::span<uint8_t> out) const override {
    if (offset > size() || out.size() > size() - offset)
      return BeyondEnd(path_, offset, out.size(), size());
    if (counter_ != nullptr) counter_->Add(out.size());
    if (!out.empty()) std::memcpy(out.data(), bytes_->data() + offset, out.size());
    return arrow::Status::OK();
  }

  std::shared_ptr<arrow::Buffer> Mapped() const override { return bytes_; }

 private:
  std::shared_ptr<arrow::Buffer> bytes_;
  std::string path_;
  std::shared_ptr<IoCounter> counter_;
};

}  // namespace

std::shared_ptr<ReadableFile> MakeLocalFile(Descriptor fd, std::string path, uint64_t size,
                                            std::shared_ptr<IoCounter> counter) {
  return std::make_shared<LocalFile>(std::move(fd), std::move(path), size, std::move(counter));
}

arrow::Result<std::shared_ptr<ReadableFile>> MapLocalFile(const Descriptor& fd, std::string path,
                                                          uint64_t size, uint64_t found,
                                                          std::shared_ptr<IoCounter> counter) {
  if (found < size) return Shorter(path, size, found);
  // There is no mapping of nothing.
  auto bytes = std::make_shared<arrow::Buffer>(nullptr, 0);
  if (size > 0) {
    void* const at = ::mmap(nullptr, size, PROT_READ, MAP_SHARED, fd.get(), 0);
    if (at == MAP_FAILED) return LocalIoError(path, "map the file", errno);
    bytes = std::make_shared<Mapping>(static_cast<const uint8_t*>(at), size);
  }
  return std::make_shared<MappedFile>(std::move(bytes), std::move(path), std::move(counter));
}

}  // namespace pennon::io
