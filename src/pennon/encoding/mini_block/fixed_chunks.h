// Values of fixed width in mini-block form, in the encoding that is smallest:
//
//   values                          encoding                  chunk
//   few long runs                   Rle                       up to 4096 values, 8 KiB of runs
//   small numbers                   InlineBitpacking          1024 values
//   lists, odd widths, the rest     Flat, FixedSizeList       up to 4096 values, 8 KiB
//   hint zstd or lz4, low entropy   General(ByteStreamSplit)  512 or 1024 values
//
// A hint zstd or lz4 wraps the others in General too, if that makes the page smaller; none means
// Flat. Source: docs/format-notes.md, "Compressive encodings". Stateless, thread-safe.
#pragma once

#include <cstdint>

#include <arrow/memory_pool.h>
#include <arrow/result.h>

#include "pennon/encoding/encoding_hints.h"
#include "pennon/encoding/leaf_values.h"
#include "pennon/encoding/mini_block/chunk_encoder.h"

namespace pennon::encoding {

/// Encodes `values` of kind kFixed in chunks of at most `max_chunk_values`.
arrow::Result<EncodedChunks> EncodeFixedChunks(const LeafValues& values, const EncodingHints& hints,
                                               uint64_t max_chunk_values, arrow::MemoryPool* pool);

/// Bytes that EncodeFixedChunks is to take without hints, nearly.
uint64_t FixedChunkBytes(const LeafValues& values);

}  // namespace pennon::encoding
