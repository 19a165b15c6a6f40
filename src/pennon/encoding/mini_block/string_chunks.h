// Strings in mini-block form: Variable, Fsst(Variable) or General(Variable), in chunks of about 4
// KiB of offsets and coded bytes, at most 2048 values.
//
//   hint zstd, lz4       General, unless it does not make the page smaller
//   hint fsst            Fsst
//   hint none            Variable
//   no hint              Fsst if a sample says that it saves enough, else Variable
//
// Source: docs/format-notes.md, "Compressive encodings". Stateless, thread-safe.
#pragma once

#include <cstdint>

#include <arrow/memory_pool.h>
#include <arrow/result.h>

#include "pennon/encoding/encoding_hints.h"
#include "pennon/encoding/leaf_values.h"
#include "pennon/encoding/mini_block/chunk_encoder.h"

namespace pennon::encoding {

/// Encodes `values` of kind kVariable in chunks of at most `max_chunk_values`.
arrow::Result<EncodedChunks> EncodeStringChunks(const LeafValues& values,
                                                const PageOptions& options,
                                                uint64_t max_chunk_values, arrow::MemoryPool* pool);

}  // namespace pennon::encoding
