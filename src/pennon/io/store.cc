// What stores need not write themselves.
#include "pennon/store.h"

#include <cstring>
#include <string>
#include <utility>
#include <vector>

namespace pennon {
namespace {

/// Bytes kept until they are put.
class KeptFile : public WritableFile {
 public:
  KeptFile(ObjectStore* store, std::string path) : store_(store), path_(std::move(path)) {}

  arrow::Status Append(std::string_view bytes) override {
    bytes_.append(bytes);
    return arrow::Status::OK();
  }
  arrow::Status Commit() override { return store_->Put(path_, bytes_); }

 private:
  ObjectStore* store_;
  std::string path_;
  std::string bytes_;
};

}  // namespace

arrow::Result<std::unique_ptr<WritableFile>> ObjectStore::Create(const std::string& path) {
  return std::make_unique<KeptFile>(this, path);
}

arrow::Status ReadableFile::ReadScattered(uint64_t offset,
                                          std::span<const std::span<uint8_t>> parts) const {
  size_t size = 0;
  for (const std::span<uint8_t>& part : parts) size += part.size();
  std::vector<uint8_t> bytes(size);
  ARROW_RETURN_NOT_OK(ReadAt(offset, bytes));
  const uint8_t* from = bytes.data();
  for (const std::span<uint8_t>& part : parts) {
    if (!part.empty()) std::memcpy(part.data(), from, part.size());
    from += part.size();
  }
  return arrow::Status::OK();
}

void ReadableFile::WillRead(std::span<const ByteRange> /*ranges*/) const {}

}  // namespace pennon
