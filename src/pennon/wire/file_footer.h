// The end of a data file (all 2.x versions): footer and the two tables of buffer locations.
//
//   ... column metadata 0 .. C-1 | CMO table, C x 16 | GBO table, G x 16 | footer, 40
//   table entry   u64 position, u64 size
//   footer        u64 column_meta_start, u64 cmo_start, u64 gbo_start, u32 G, u32 C, u16 major, u16
//   minor, "LANC"
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include <arrow/result.h>

#include "pennon/wire/column_metadata.h"

namespace pennon::wire {

inline constexpr uint64_t kFooterBytes = 40;
inline constexpr uint64_t kTableEntryBytes = 16;

/// The footer, checked against the size of the file.
struct FileFooter {
  uint64_t column_meta_start = 0;
  uint64_t cmo_start = 0;  ///< table of the columns' metadata
  uint64_t gbo_start = 0;  ///< table of the global buffers
  uint32_t num_global_buffers = 0;
  uint32_t num_columns = 0;
  uint16_t minor = 0;  ///< 0, 1 or 2 of version 2.x; a footer that says 0.3 is 2.0
};

/// Parses the last kFooterBytes bytes of a file of `file_size` bytes. Both tables lie inside the
/// file when this returns. A version that is not 2.0, 2.1 or 2.2 is a kUnsupported error, any other
/// defect a kCorrupt one.
arrow::Result<FileFooter> ParseFileFooter(std::span<const uint8_t> bytes, uint64_t file_size,
                                          std::string_view path);

/// Entry `index` of a table, whose bytes the caller has.
BufferLocation TableEntry(std::span<const uint8_t> table, size_t index);

/// Checks an entry of the CMO table: the column's metadata must lie between column_meta_start and
/// cmo_start.
arrow::Status CheckColumnLocation(const FileFooter& footer, const BufferLocation& location,
                                  std::string_view path);

/// Checks the GBO table: entry 0, the file descriptor, must lie before the column metadata, all
/// others inside the file; from 2.1 on each starts at a multiple of 64.
arrow::Status CheckGlobalBuffers(const FileFooter& footer, std::span<const uint8_t> table,
                                 uint64_t file_size, std::string_view path);

}  // namespace pennon::wire
