// Writes a Lance data file of version 2.0, 2.1 or 2.2 (container: docs/format-notes.md).
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <arrow/array/data.h>
#include <arrow/result.h>
#include <arrow/type_fwd.h>

#include "pennon/file/reader.h"
#include "pennon/schema.h"
#include "pennon/writable_file.h"

namespace pennon::file {

/// A finished file, and what the manifest must say of it.
struct WrittenFile {
  std::string bytes;  ///< empty if they went to a WritableFile
  uint64_t size = 0;  ///< bytes of the file
  FileVersion version;
  std::vector<int32_t> fields;          ///< field ids that own a column, in column order
  std::vector<int32_t> column_indices;  ///< parallel to `fields`: 0, 1, 2, ...
};

/// Collects columns, one top-level field at a time, and encodes them. Columns may differ in length,
/// as the value columns of a sparse overlay do. Not thread-safe.
class FileWriter {
 public:
  virtual ~FileWriter() = default;

  /// Pages go to `out` as they fill, so that about 16 MiB of values of each column wait; without
  /// it the file is kept in memory. `out` must outlive the writer, and is not committed by it.
  ///
  /// Starts a file that holds `fields` (with their table ids) at `version`. A type the writer does
  /// not know, or that the version cannot hold, is a kUnsupported error naming the column.
  static arrow::Result<std::unique_ptr<FileWriter>> Make(std::vector<Field> fields,
                                                         FileVersion version,
                                                         WritableFile* out = nullptr);

  /// Appends `values` to the field at position `index` of those given to Make; the type must be the
  /// field's.
  virtual arrow::Status Append(int index, const arrow::Array& values) = 0;

  /// Encodes all and gives the file. A field never appended to becomes a column of length 0.
  virtual arrow::Result<WrittenFile> Finish() = 0;
};

}  // namespace pennon::file
