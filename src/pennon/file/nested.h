// Reads fields of nested types from files of versions 2.1 and 2.2: every leaf column below the
// field, and what their levels say of the structs and lists above them.
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
/// stands for a column that the file does not hold. A struct or list takes its nulls and offsets
/// from the first column below it that the file holds; columns that disagree on how many values
/// there are make a kCorrupt error.
///
/// The bytes of all columns are fetched together, in as many dependent rounds as one page needs, so
/// long as they are at most kBatchBytes (rounds.h); then in batches. Pages of columns with lists
/// are kept until the values of all can be counted.
arrow::Result<std::shared_ptr<arrow::ArrayData>> ReadNested(
    const Container& container, const Field& field,
    std::span<const std::shared_ptr<const Column>> columns, std::span<const RowRange> ranges,
    uint64_t out_length);

/// Rows of `field`: those of its columns, which must agree (else kCorrupt); 0 if the file holds
/// none of them.
arrow::Result<uint64_t> CountNestedRows(const Container& container, const Field& field,
                                        std::span<const std::shared_ptr<const Column>> columns);

}  // namespace pennon::file
