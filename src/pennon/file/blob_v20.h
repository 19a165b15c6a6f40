// Blobs of 2.0 files: values that lie in the file outside of the pages.
//
//   row    position u64, size u64, as a packed struct
//   value  bytes [position, position + size) of the file; (0, 0) is empty, (1, 0) null
//
// Source: docs/format-notes.md, "Blob column (2.0)".
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include <arrow/array/data.h>
#include <arrow/result.h>

#include "pennon/file/column.h"
#include "pennon/file/container.h"
#include "pennon/file/reader.h"
#include "pennon/schema.h"

namespace pennon::file {

/// Reads the bytes of the blobs of `field`, of type large_binary, as FileReader::Read does.
arrow::Result<std::shared_ptr<arrow::ArrayData>> ReadBlobs(const Container& container,
                                                           const Column& column, const Field& field,
                                                           std::span<const RowRange> ranges,
                                                           uint64_t out_length);

}  // namespace pennon::file
