// Writes a mini-block page: chunks of 2^k values (the last chunk holds the rest), each
//
//   [u16 level entries][u16 bytes of def levels, if any][bytes of each value buffer: u16 in 2.1,
//   u32 in 2.2] then def levels and value buffers, each padded to 8 bytes
//
// and one word a chunk: (bytes / 8 - 1) << 4 | k, u16 in 2.1, u32 in 2.2; k = 0 in the last chunk.
// The values come from chunk_encoder.h, a dictionary from dictionary_encoder.h. Source:
// docs/format-notes.md, "MiniBlockLayout".
#pragma once

#include <arrow/memory_pool.h>
#include <arrow/result.h>

#include "pennon/encoding/dictionary_encoder.h"
#include "pennon/encoding/encoding_hints.h"
#include "pennon/encoding/leaf_values.h"
#include "pennon/encoding/page_encoder.h"

namespace pennon::encoding {

/// Encodes `values` (not all null) for version 2.1 or 2.2. In 2.1 a value so large that two of them
/// do not fit a chunk of 32 KiB is a kUnsupported error. With a `dictionary`, which may be null,
/// the values are indexes.
arrow::Result<EncodedPage> EncodeMiniBlock(const LeafValues& values,
                                           const EncodedDictionary* dictionary,
                                           const PageOptions& options, arrow::MemoryPool* pool);

}  // namespace pennon::encoding
