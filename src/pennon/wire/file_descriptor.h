// What a data file says of itself as a whole: lance.file.FileDescriptor, global buffer 0.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include <arrow/result.h>

#include "pennon/wire/field_message.h"

namespace pennon::wire {

struct FileDescriptor {
  std::vector<FieldMessage> fields;  ///< in pre-order
  uint64_t length = 0;               ///< of the longest column, as the writer states it
};

/// Parses untrusted bytes; a defect is a kCorrupt error at `path`.
arrow::Result<FileDescriptor> ParseFileDescriptor(std::string_view bytes, std::string_view path);

}  // namespace pennon::wire
