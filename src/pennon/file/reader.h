// Reads a Lance data file (container and page layouts: docs/format-notes.md), any of 2.0, 2.1, 2.2.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <arrow/array/data.h>
#include <arrow/memory_pool.h>
#include <arrow/result.h>
#include <arrow/type_fwd.h>

#include "pennon/schema.h"
#include "pennon/store.h"

namespace pennon::file {

/// `count` consecutive rows of a column, from `first`, that go to the output from slot `out`.
struct RowRange {
  uint64_t first = 0;
  uint64_t count = 0;
  uint64_t out = 0;
  bool operator==(const RowRange&) const = default;
};

/// The storage version a footer names: {2, 0}, {2, 1} or {2, 2} (a 2.0 file's footer says 0.3).
struct FileVersion {
  uint16_t major = 2;
  uint16_t minor = 2;
  bool operator==(const FileVersion&) const = default;
};

/// Opens another file of the same store by its path.
using FileOpener =
    std::function<arrow::Result<std::shared_ptr<ReadableFile>>(const std::string& path)>;

/// An open data file. Immutable but for its lazily filled metadata; thread-safe.
///
/// Opening reads the tail (footer, offset tables); a column's metadata is read and checked at its
/// first use and kept. Everything in the file is untrusted: a defect is a kCorrupt error, an
/// encoding or type that pennon does not read yet is a kUnsupported error naming the column and the
/// encoding.
class FileReader {
 public:
  virtual ~FileReader() = default;

  /// Opens `file`. Costs one request for a small file (the tail of 4 KiB holds all its metadata).
  /// `open_other` opens the files beside it that hold larger blobs; without it they are a
  /// kUnsupported error.
  static arrow::Result<std::shared_ptr<const FileReader>> Open(std::shared_ptr<ReadableFile> file,
                                                               arrow::MemoryPool* pool,
                                                               FileOpener open_other = nullptr);

  virtual FileVersion version() const = 0;
  virtual int num_columns() const = 0;
  /// Values in column `column`: the sum of its pages' lengths (columns may differ).
  virtual arrow::Result<uint64_t> ColumnLength(int column) const = 0;
  /// Rows of `field`, whose columns are given as for Read: values of its columns, divided by the
  /// sizes of the fixed-size lists of structs around them. Columns that disagree are a kCorrupt
  /// error; 0 if the file holds none of them.
  virtual arrow::Result<uint64_t> Rows(const Field& field, std::span<const int> columns) const = 0;
  /// Bytes that the pages of column `column` take in the file.
  virtual arrow::Result<uint64_t> ColumnBytes(int column) const = 0;

  /// Reads rows of the columns that hold `field` into an array
  /// of `out_length` slots. `ranges` are ascending and disjoint both in rows and in output slots.
  /// Slots that no range names are valid and zero (or empty), their content is not to be used; only
  /// bytes that the ranges need are read, to within the encoding's access unit and coalescing
  /// across small gaps. Buffers of the result that are mutable are not shared with anyone: the
  /// caller may write into them. (Others lie in a mapped file.)
  ///
  /// `columns` is parallel to ColumnOwners(field, version()); -1 stands for a column that the file
  /// does not hold, whose values are NULL. What is NULL above a column follows from the first that
  /// the file does hold; columns that disagree on the number of values are a kCorrupt error.
  virtual arrow::Result<std::shared_ptr<arrow::ArrayData>> Read(const Field& field,
                                                                std::span<const int> columns,
                                                                std::span<const RowRange> ranges,
                                                                uint64_t out_length) const = 0;
  /// The same for a field of one column.
  arrow::Result<std::shared_ptr<arrow::ArrayData>> Read(const Field& field, int column,
                                                        std::span<const RowRange> ranges,
                                                        uint64_t out_length) const {
    return Read(field, std::span(&column, 1), ranges, out_length);
  }

  /// Bytes of cached metadata, for cache accounting.
  virtual size_t MemoryBytes() const = 0;
};

}  // namespace pennon::file
