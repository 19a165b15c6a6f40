// Writes a mini-block page: chunks of 2^k values (the last chunk holds the rest), each
//
//   [u16 level entries][u16 bytes of def levels, if any][bytes of each value buffer: u16 in 2.1,
//   u32 in 2.2] then def levels and value buffers, each padded to 8 bytes
//
// and one word a chunk: (bytes / 8 - 1) << 4 | k, u16 in 2.1, u32 in 2.2; k = 0 in the last chunk.
// Source: docs/format-notes.md, "MiniBlockLayout".
#pragma once

#include <arrow/result.h>

#include "pennon/encoding/leaf_values.h"
#include "pennon/encoding/page_encoder.h"

namespace pennon::encoding {

/// Encodes `values` (not all null) for version 2.`minor` (1 or 2). In 2.1 a value so large that two
/// of them do not fit a chunk of 32 KiB is a kUnsupported error.
arrow::Result<EncodedPage> EncodeMiniBlock(const LeafValues& values, int minor);

}  // namespace pennon::encoding
