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
#include <utility>
#include <vector>

#include <arrow/status.h>

#include "pennon/encoding/page_encoder.h"
#include "pennon/file/reader.h"
#include "pennon/schema.h"
#include "pennon/wire/data_file_messages.h"
#include "pennon/writable_file.h"

namespace pennon::file {

/// A file under construction: in memory, or given on piece by piece.
class ContainerWriter {
 public:
  /// Bytes go to `out`, which must outlive this, or are kept if it is null.
  ContainerWriter(size_t num_columns, FileVersion version, WritableFile* out = nullptr)
      : version_(version), columns_(num_columns), kinds_(num_columns), out_(out) {}

  /// Places the buffers of `page`, the next of column `column`, whose first value is row
  /// `first_row`.
  void AddPage(size_t column, const encoding::EncodedPage& page, uint64_t first_row);

  /// Places bytes that no page lists, and gives where they are.
  uint64_t AddBytes(std::span<const uint8_t> bytes);
  /// Says that the pages of `column` hold the places of blobs (2.0).
  void SetBlobPlaces(size_t column) { kinds_[column] = wire::ColumnKind::kBlobPlaces; }

  /// The first error of the output; what is added after it is lost.
  const arrow::Status& status() const { return status_; }

  /// Writes all that follows the pages. `fields` are described, `length` is that of the longest
  /// column. Called once.
  arrow::Status Finish(std::span<const Field> fields, uint64_t length);

  /// Bytes of the file so far.
  uint64_t size() const { return given_ + bytes_.size(); }
  /// The file, if it is kept. Called once, after Finish.
  std::string TakeBytes() { return std::move(bytes_); }

 private:
  FileVersion version_;
  void Reserve(size_t bytes);
  void GiveOn();
  uint64_t Place(const uint8_t* data, size_t size);

  std::vector<std::vector<wire::PageEntry>> columns_;
  std::vector<wire::ColumnKind> kinds_;
  WritableFile* out_;
  arrow::Status status_;
  uint64_t given_ = 0;  ///< bytes that are gone to `out_`
  std::string bytes_;   ///< those after
};

}  // namespace pennon::file
