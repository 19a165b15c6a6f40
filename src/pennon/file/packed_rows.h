// Rows that hold several fields end to end, without padding: packed structs.
//
//   row   the values of the children, in the order of the schema; a fixed_size_list inline
//
// Source: docs/format-notes.md, "Struct" of 2.0.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include <arrow/array/data.h>
#include <arrow/memory_pool.h>
#include <arrow/result.h>

#include "pennon/schema.h"

namespace pennon::file {

/// Bytes that a row of the packed struct `field` takes. Children that are not of a fixed number of
/// bytes are a kUnsupported error.
arrow::Result<uint64_t> PackedRowBytes(const Field& field);

/// The children of `count` packed rows of `field` at `rows`: arrays of `count` values, none null.
arrow::Result<std::vector<std::shared_ptr<arrow::ArrayData>>> SplitPackedRows(
    const Field& field, const uint8_t* rows, uint64_t count, arrow::MemoryPool* pool);

}  // namespace pennon::file
