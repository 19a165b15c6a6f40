// What a data file says of one column: lance.file.v2.ColumnMetadata with its envelope (all 2.x
// versions).
//
//   ColumnMetadata { encoding, pages[] { buffer_offsets[], buffer_sizes[], length, encoding,
//   priority } } Encoding { direct { bytes of google.protobuf.Any { type_url "/full.message.Name",
//   value } } }
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include <arrow/result.h>

namespace pennon::wire {

/// A range of bytes of the file.
struct BufferLocation {
  uint64_t position = 0;
  uint64_t size = 0;
};

/// One page. The views point into the parsed bytes.
struct PageMetadata {
  uint64_t length = 0;        ///< values of the column in the page; may be 0
  std::string_view encoding;  ///< the message in the envelope
  std::vector<BufferLocation> buffers;
};

/// How the pages of a column make the column.
enum class ColumnEncodingKind {
  kValues,  ///< plainly
  kZoneIndex,
  kBlob,  ///< the pages locate values outside of them (2.0)
};

/// One column; pages in row order.
struct ColumnMetadata {
  ColumnEncodingKind encoding = ColumnEncodingKind::kValues;
  std::vector<PageMetadata> pages;
};

/// Parses untrusted `bytes` of a file at `path` that has `file_size` bytes; the result points into
/// `bytes`. Every page's envelope must hold the message `page_message` (full name). Checks that all
/// buffers lie inside the file and, if `aligned` (2.1 and later), start at a multiple of 64. A
/// defect is a kCorrupt error.
arrow::Result<ColumnMetadata> ParseColumnMetadata(std::string_view bytes,
                                                  std::string_view page_message, uint64_t file_size,
                                                  bool aligned, std::string_view path);

}  // namespace pennon::wire
