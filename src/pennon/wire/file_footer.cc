#include "pennon/wire/file_footer.h"

#include <cstring>

#include "pennon/error.h"

namespace pennon::wire {

namespace {

template <typename T>
T Load(const uint8_t* at) {
  T value;
  std::memcpy(&value, at, sizeof(T));
  return value;
}

arrow::Result<uint16_t> MinorVersion(uint16_t major, uint16_t minor, std::string_view path) {
  if (major == 0 && minor == 3) return uint16_t{0};
  if (major == 2 && minor <= 2) return minor;
  if (major == 0 && minor < 3) {
    return Unsupported(
        path,
        "the file has the legacy format: rewrite the table with storage version 2.0 or later; "
        "found version ",
        major, ".", minor);
  }
  return Unsupported(
      path, "the file has a version that pennon does not read: expected 2.0, 2.1 or 2.2, found ",
      major, ".", minor);
}

}  // namespace

arrow::Result<FileFooter> ParseFileFooter(std::span<const uint8_t> bytes, uint64_t file_size,
                                          std::string_view path) {
  if (bytes.size() < kFooterBytes || file_size < kFooterBytes) {
    return Corrupt(path, "the file is too short for a footer: expected at least ", kFooterBytes,
                   " bytes, found ", file_size);
  }
  const uint8_t* at = bytes.data() + (bytes.size() - kFooterBytes);
  if (std::memcmp(at + 36, "LANC", 4) != 0) {
    return Corrupt(
        path,
        "the file does not end with the magic LANC: it is cut short or not a Lance data file");
  }
  ARROW_ASSIGN_OR_RAISE(const uint16_t minor,
                        MinorVersion(Load<uint16_t>(at + 32), Load<uint16_t>(at + 34), path));
  const FileFooter footer{.column_meta_start = Load<uint64_t>(at),
                          .cmo_start = Load<uint64_t>(at + 8),
                          .gbo_start = Load<uint64_t>(at + 16),
                          .num_global_buffers = Load<uint32_t>(at + 24),
                          .num_columns = Load<uint32_t>(at + 28),
                          .minor = minor};
  const uint64_t end = file_size - kFooterBytes;
  const uint64_t cmo_bytes = kTableEntryBytes * footer.num_columns;
  const uint64_t gbo_bytes = kTableEntryBytes * footer.num_global_buffers;
  if (footer.gbo_start > end || gbo_bytes > end - footer.gbo_start ||
      footer.cmo_start > footer.gbo_start || footer.gbo_start - footer.cmo_start != cmo_bytes ||
      footer.column_meta_start > footer.cmo_start) {
    return Corrupt(
        path, "the footer's offsets contradict each other or the file's size: column metadata at ",
        footer.column_meta_start, ", column table at ", footer.cmo_start, " with ",
        footer.num_columns, " entries, buffer table at ", footer.gbo_start, " with ",
        footer.num_global_buffers, " entries, file size ", file_size);
  }
  if (footer.num_global_buffers == 0)
    return Corrupt(path, "the file has no global buffer, so no file descriptor");
  return footer;
}

BufferLocation TableEntry(std::span<const uint8_t> table, size_t index) {
  const uint8_t* at = table.data() + index * kTableEntryBytes;
  return {Load<uint64_t>(at), Load<uint64_t>(at + 8)};
}

arrow::Status CheckColumnLocation(const FileFooter& footer, const BufferLocation& location,
                                  std::string_view path) {
  if (location.position < footer.column_meta_start || location.position > footer.cmo_start ||
      location.size > footer.cmo_start - location.position) {
    return Corrupt(path, "a column's metadata lies outside the metadata section: position ",
                   location.position, ", size ", location.size, ", section ",
                   footer.column_meta_start, " to ", footer.cmo_start);
  }
  return arrow::Status::OK();
}

arrow::Status CheckGlobalBuffers(const FileFooter& footer, std::span<const uint8_t> table,
                                 uint64_t file_size, std::string_view path) {
  for (size_t i = 0; i < footer.num_global_buffers; ++i) {
    const BufferLocation at = TableEntry(table, i);
    const uint64_t limit = i == 0 ? footer.column_meta_start : file_size;
    if (at.position > limit || at.size > limit - at.position) {
      return Corrupt(path, "a global buffer lies outside its part of the file: buffer ", i,
                     ", position ", at.position, ", size ", at.size, ", limit ", limit);
    }
    if (footer.minor > 0 && at.position % 64 != 0) {
      return Corrupt(path, "a global buffer does not start at a multiple of 64: buffer ", i,
                     ", position ", at.position);
    }
  }
  return arrow::Status::OK();
}

}  // namespace pennon::wire
