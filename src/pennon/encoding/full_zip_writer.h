// Writes a full-zip page: one record a value, back to back
//
//   [1 byte: 1 = null, 0 = valid; only if the page has nulls]
//   fixed width        [the value]                       null records too
//   variable width     [u32 or u64 length][bytes]        nothing for nulls
//
// and for variable width an index of rows + 1 record positions in 1, 2, 4 or 8 bytes each. Without
// nulls fixed-width values are the plain array, borrowed from the input. The values come from
// zip_encoder.h. Source: docs/format-notes.md, "FullZipLayout".
#pragma once

#include <arrow/memory_pool.h>
#include <arrow/result.h>

#include "pennon/encoding/encoding_hints.h"
#include "pennon/encoding/leaf_values.h"
#include "pennon/encoding/page_encoder.h"

namespace pennon::encoding {

/// Encodes `values` (not all null, items of whole bytes).
arrow::Result<EncodedPage> EncodeFullZip(const LeafValues& values, const PageOptions& options,
                                         arrow::MemoryPool* pool);

}  // namespace pennon::encoding
