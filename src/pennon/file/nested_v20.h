// Reads fields of 2.0 files whose values are more than one flat column of them.
//
//   struct         a header column, which says nothing but its length; then the children's columns
//   list           an offsets column; then the item field's columns, whose rows are items
//   packed struct  one column of whole rows
//   blob           one column of (position u64, size u64); (1, 0) is null
//
// Source: docs/format-notes.md, "2.0 encodings".
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

/// Reads rows of `field` as FileReader::Read does. `columns` is parallel to ColumnOwners; null
/// stands for a column that the file does not hold.
arrow::Result<std::shared_ptr<arrow::ArrayData>> ReadV20(
    const Container& container, const Field& field,
    std::span<const std::shared_ptr<const Column>> columns, std::span<const RowRange> ranges,
    uint64_t out_length);

}  // namespace pennon::file
