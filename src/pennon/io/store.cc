// What stores need not write themselves.
#include "pennon/store.h"

#include <cstring>
#include <vector>

namespace pennon {

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
