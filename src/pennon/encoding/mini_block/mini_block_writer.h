// Writes a mini-block page: values in chunks of a few KiB, each decoded as a unit.
//
//   chunk words         one a chunk: (chunk bytes / 8 - 1) << 4 | log2(values), 0 for the last; u16
//                       in 2.1, u32 in 2.2
//   chunks              [u16 level entries][u16 bytes of repetitions, if any][u16 bytes of
//                       definitions, if any][u16 or u32 bytes of each value buffer], then these
//                       buffers; each part starts at a multiple of 8
//   dictionary items    if the values are indexes
//   repetition index    with lists: two u64 a chunk, rows that end in it and entries behind the
//                       last end
//
// A chunk's levels end with the entry of its last value; the last chunk takes all that is left. The
// values come from chunk_encoder.h. Source: docs/format-notes.md, "MiniBlockLayout".
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include <arrow/result.h>

#include "pennon/encoding/dictionary/dictionary_encoder.h"
#include "pennon/encoding/mini_block/chunk_encoder.h"
#include "pennon/encoding/nested/page_nesting.h"
#include "pennon/encoding/page_encoder.h"

namespace pennon::encoding {

/// Gives the values of a page cut into chunks of at most `max_chunk_values`, a power of two of 2 or
/// more.
using ChunkSource = std::function<arrow::Result<EncodedChunks>(uint64_t max_chunk_values)>;

/// Encodes a page of at least one value for files of version 2.`minor`. Nothing, if no division
/// into chunks holds its values and levels: a chunk has at most 65,535 entries, 65,535 bytes of
/// either level, and 32 KiB in 2.1. With a `dictionary`, which may be null, the values are indexes
/// into its items.
arrow::Result<std::optional<EncodedPage>> EncodeMiniBlock(const PageNesting& nesting,
                                                          const ChunkSource& values,
                                                          const EncodedDictionary* dictionary,
                                                          int minor);

}  // namespace pennon::encoding
