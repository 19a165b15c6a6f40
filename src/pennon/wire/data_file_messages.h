// Serialises what stands between the pages and the footer of a data file: the file descriptor and
// the column metadata (messages of packages lance.file and lance.file.v2).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "pennon/wire/field_message.h"

namespace pennon::wire {

/// A page as its column's metadata states it.
struct PageEntry {
  std::vector<uint64_t> buffer_offsets;  ///< bytes from the start of the file
  std::vector<uint64_t> buffer_sizes;    ///< parallel; without padding
  uint64_t length = 0;                   ///< values of the column in the page
  std::string encoding;                  ///< a serialised PageLayout, or ArrayEncoding in 2.0
  uint64_t priority = 0;                 ///< top-level row of the first value; 0 throughout in 2.0
};

/// What a column's pages hold.
enum class ColumnKind {
  kValues,
  kBlobPlaces,  ///< 2.0: position and size of values that lie outside the pages
};

/// Writes the ColumnMetadata of a column. `encoding_message` is the full name of the
/// message that the pages' `encoding` holds.
std::string WriteColumnMetadata(std::span<const PageEntry> pages,
                                const std::string& encoding_message,
                                ColumnKind kind = ColumnKind::kValues);

/// Writes a FileDescriptor: the file's fields in pre-order and the length of its longest column.
std::string WriteFileDescriptor(std::span<const FieldMessage> fields, uint64_t length);

}  // namespace pennon::wire
