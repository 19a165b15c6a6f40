// The interface between the file reader and the decoders of the page layouts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <arrow/result.h>

#include "pennon/encoding/leaf_type.h"
#include "pennon/encoding/output.h"
#include "pennon/io/read_ranges.h"
#include "pennon/wire/page_layout.h"

namespace pennon::encoding {

/// `count` consecutive rows of a page, from `first`, that go to the output from slot `out`.
struct PageRows {
  uint64_t first = 0;
  uint64_t count = 0;
  uint64_t out = 0;
  bool operator==(const PageRows&) const = default;
};

/// Where a page buffer lies in the file; the reader has checked that it is inside.
struct PageBuffer {
  uint64_t offset = 0;
  uint64_t size = 0;
};

/// The files beside a data file that hold blobs of its columns. Thread-safe.
class SideFiles {
 public:
  virtual ~SideFiles() = default;
  /// Reads ranges of the side file `blob_id`, as io::ReadRanges does. Ranges that together are more
  /// than the file are a kCorrupt error.
  virtual arrow::Result<io::RangeBuffers> Read(uint32_t blob_id, std::span<io::RangeRead> reads,
                                               arrow::MemoryPool* pool) const = 0;
};

/// One page as the column metadata gives it. The views are good only while the decoder is made.
struct PageDescription {
  std::string_view path;      ///< file, for messages
  std::string_view column;    ///< name of the field, for messages
  std::string_view encoding;  ///< serialized ArrayEncoding (2.0) or PageLayout (2.1, 2.2)
  uint16_t minor = 2;         ///< 0, 1 or 2: the version of the file
  uint64_t length = 0;        ///< values in the page, > 0
  uint64_t file_size = 0;     ///< of the whole file: what lies outside of pages is inside it
  std::shared_ptr<const SideFiles> side_files;  ///< may be null
  /// Whether this is not a page of the file but the values of a nested one, whose levels are known:
  /// null values of variable size are empty.
  bool nulls_are_empty = false;
  std::vector<PageBuffer> buffers;
};

/// One read of some rows of a page, in steps: Next names bytes, the caller fetches them, until
/// nothing more is wanted; then Decode. Used by one thread; lives shorter than its decoder and
/// output.
class PageRead {
 public:
  virtual ~PageRead() = default;
  /// The reads whose `data` must be set, and stay good until Decode returns, before the next call;
  /// empty when Decode can be called. The span is good until the next call. At most two non-empty
  /// answers in a row (a directory of some kind, then values; blobs have a third), one wherever
  /// that is possible without reading much more.
  virtual arrow::Result<std::span<io::RangeRead>> Next() = 0;
  /// Writes the rows' values and validity to the output. Called once.
  virtual arrow::Status Decode() = 0;
};

/// The structure of some rows of a nested column's page, one entry for each (repetition,
/// definition) pair, as the file numbers levels (docs/format-notes.md, "Levels"). Rows come whole
/// and in order.
struct PageLevels {
  std::vector<uint16_t> repetition;  ///< empty if the page's layers have no list
  std::vector<uint16_t> definition;  ///< empty if every level is 0
  uint64_t entries = 0;
  uint64_t values = 0;  ///< entries that own a value of the leaf, null ones too
};

/// One read of some rows of a page of a nested column: Next as in PageRead, then ReadLevels, then
/// ReadValues.
class NestedPageRead {
 public:
  virtual ~NestedPageRead() = default;
  virtual arrow::Result<std::span<io::RangeRead>> Next() = 0;
  /// Decodes the levels of the rows, none above what the page's layers allow. Called once.
  virtual arrow::Result<PageLevels> ReadLevels() = 0;
  /// Writes the values that ReadLevels counted to the slots from `slot`; says nothing of which of
  /// them are null. Called once.
  virtual arrow::Status ReadValues(uint64_t slot, ColumnOutput* out) = 0;
};

/// Decodes one page. Immutable but for what it may remember of the page (chunk directory,
/// dictionary); thread-safe.
class PageDecoder {
 public:
  virtual ~PageDecoder() = default;
  /// Starts reading `rows`: not empty, ascending and disjoint, each with count > 0, inside the
  /// page's length; `out` has room for them. Both must outlive the read.
  virtual arrow::Result<std::unique_ptr<PageRead>> Start(std::span<const PageRows> rows,
                                                         ColumnOutput* out) const = 0;
  /// Where in the file the values from row `first` to the last lie, if they lie there as the values
  /// buffer of an array without nulls has them; else nothing.
  virtual std::optional<uint64_t> FlatOffset(uint64_t /*first*/) const { return std::nullopt; }
  /// The nesting of the page's values, innermost first; a page of a column at top level has one
  /// item layer.
  virtual std::span<const wire::LayerKind> layers() const { return {}; }
  /// Starts reading `rows` of a page of a nested column (2.1, 2.2), whose `out` means nothing. The
  /// rows must outlive the read.
  virtual arrow::Result<std::unique_ptr<NestedPageRead>> StartNested(
      std::span<const PageRows> rows) const;
  /// Bytes held in memory.
  virtual size_t MemoryBytes() const = 0;
};

}  // namespace pennon::encoding
