// Writes the pages of packed structs of 2.1 and 2.2, row by row.
//
//   all children plain fixed width   PackedStruct in mini-block chunks: the children's values of
//                                    each row, back to back
//   otherwise (2.2)                  VariablePackedStruct in full-zip records: fixed children as
//                                    they are, others as [u32 or u64 length][bytes]
//
// Null rows are zero, or have no bytes; children cannot be null. Source: docs/format-notes.md,
// "PackedStruct" and "VariablePackedStruct". Stateless, thread-safe.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include <arrow/buffer.h>
#include <arrow/memory_pool.h>
#include <arrow/result.h>

#include "pennon/encoding/leaf_type.h"
#include "pennon/encoding/leaf_values.h"
#include "pennon/encoding/nested/shredding.h"
#include "pennon/encoding/page_encoder.h"

namespace pennon::encoding {

/// Encodes `rows` of a struct with `children`; nothing if they must be split. A child that is null
/// where its row is not is a kUnsupported error.
arrow::Result<std::optional<EncodedPage>> EncodePackedStructPage(
    const ShreddedRows& rows, const std::vector<LeafType>& children, const PageOptions& options,
    arrow::MemoryPool* pool);

/// The values of the children of `rows.values`, zero or empty in null rows; a null child is a
/// kUnsupported error. The rows are not all null.
arrow::Result<std::vector<LeafValues>> PackedChildren(const ShreddedRows& rows,
                                                      const std::vector<LeafType>& children,
                                                      arrow::MemoryPool* pool);

/// The rows of `children`, all of fixed width, row by row.
arrow::Result<std::shared_ptr<arrow::Buffer>> PackRows(const std::vector<LeafValues>& children,
                                                       arrow::MemoryPool* pool);

/// Encodes `data`: one value of `bits` (a multiple of 8) for each visible entry, as PackedStruct of
/// children of `child_bits`.
arrow::Result<std::optional<EncodedPage>> EncodePackedRows(const PageNesting& nesting,
                                                           std::shared_ptr<arrow::Buffer> data,
                                                           const std::vector<uint64_t>& child_bits,
                                                           int minor);

}  // namespace pennon::encoding
