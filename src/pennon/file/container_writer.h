// Lays out a data file:
//
//   page buffers          each padded with 'H' to a multiple of 64
//   file descriptor       global buffer 0
//   column metadata       one message a column, back to back
//   column table          position and size of each, u64
//   global buffer table   position and size of the descriptor, u64
//   footer                40 bytes: the positions of the three parts above, counts, version, "LANC"
//
// Source: docs/format-notes.md, "Container". Not thread-safe.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "pennon/encoding/page_encoder.h"
#include "pennon/file/reader.h"
#include "pennon/schema.h"
#include "pennon/wire/data_file_messages.h"

namespace pennon::file {

/// A file under construction, in memory.
class ContainerWriter {
 public:
  ContainerWriter(size_t num_columns, FileVersion version)
      : version_(version), columns_(num_columns) {}

  /// Places the buffers of `page`, the next of column `column`, whose first value is row
  /// `first_row`.
  void AddPage(size_t column, const encoding::EncodedPage& page, uint64_t first_row);

  /// Writes all that follows the pages and gives the file. `fields` are described, `length` is that
  /// of the longest column. Called once.
  std::string Finish(std::span<const Field> fields, uint64_t length);

 private:
  FileVersion version_;
  std::vector<std::vector<wire::PageEntry>> columns_;
  std::string bytes_;
};

}  // namespace pennon::file
