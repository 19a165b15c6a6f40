// Writes the pages of file version 2.0, in the forms the reference writer gives plain values.
//
//   fixed width       Nullable(Flat)                         buffers: validity if there are nulls,
//   values fixed_size_list   Nullable(FixedSizeList(Nullable(...)))  buffers: validity of each
//   level that has nulls, items strings           Binary(indices, bytes)                 buffers:
//   u64 ends (+ bytes + 1 if null), bytes all null          Nullable, all null no buffers
//
// Source: docs/format-notes.md, "2.0 encodings". Stateless, thread-safe.
#pragma once

#include <arrow/memory_pool.h>
#include <arrow/result.h>

#include "pennon/encoding/leaf_values.h"
#include "pennon/encoding/page_encoder.h"
#include "pennon/wire/array_encoding.h"

namespace pennon::encoding {

/// Encodes `values` as a 2.0 page. Buffers may borrow from the values.
arrow::Result<EncodedPage> EncodeV20Page(const LeafValues& values, arrow::MemoryPool* pool);
/// Adds the buffers of `values` to `page` and gives the node that describes them.
arrow::Result<wire::ArrayEncoding> V20Node(const LeafValues& values, EncodedPage* page,
                                           arrow::MemoryPool* pool);

}  // namespace pennon::encoding
