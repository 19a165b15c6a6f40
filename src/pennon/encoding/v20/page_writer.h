// Writes the pages of file version 2.0, in the forms the reference writer gives plain values.
//
//   values             encoding                               buffers
//   fixed width        Nullable(Flat)                          validity if there are nulls, values
//   fixed_size_list    Nullable(FixedSizeList(Nullable(...)))  validity of each level, items
//   strings            Binary(indices, bytes)                  u64 ends (+ bytes + 1 if null),
//   bytes
//     hint zstd, lz4     the same                              bytes compressed
//     hint fsst          Fsst(Binary)                          bytes coded
//   100+ utf8 values,  Dictionary(u8 indexes, Binary)          indexes (0 = null), then the items
//   255- distinct
//   all null           Nullable, all null                      none
//
// Source: docs/format-notes.md, "2.0 encodings". Stateless, thread-safe.
#pragma once

#include <arrow/memory_pool.h>
#include <arrow/result.h>

#include "pennon/encoding/encoding_hints.h"
#include "pennon/encoding/leaf_values.h"
#include "pennon/encoding/page_encoder.h"
#include "pennon/wire/array_encoding.h"

namespace pennon::encoding {

/// Encodes `values` as a 2.0 page, as `hints` ask. Buffers may borrow from the values.
arrow::Result<EncodedPage> EncodeV20Page(const LeafValues& values, const EncodingHints& hints,
                                         arrow::MemoryPool* pool);
/// Adds the buffers of `values` to `page` and gives the node that describes them.
arrow::Result<wire::ArrayEncoding> V20Node(const LeafValues& values, EncodedPage* page,
                                           arrow::MemoryPool* pool);

}  // namespace pennon::encoding
