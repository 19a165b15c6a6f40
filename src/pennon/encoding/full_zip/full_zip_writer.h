// Writes a full-zip page: one record a level entry, back to back
//
//   [control word: repetition << bits_def | definition, in 0, 1, 2 or 4 bytes]
//   fixed width        [the value]                       null ones too
//   variable width     [u32 or u64 length][bytes]        nothing for nulls
//
// where entries that own no value are the control word alone. With lists, or variable width, an
// index follows: rows + 1 record positions in 1, 2, 4 or 8 bytes each. Fixed-width values without
// levels are the plain array, borrowed from the input. The values come from zip_encoder.h. Source:
// docs/format-notes.md, "FullZipLayout".
#pragma once

#include <arrow/memory_pool.h>
#include <arrow/result.h>

#include "pennon/encoding/full_zip/zip_encoder.h"
#include "pennon/encoding/nested/page_nesting.h"
#include "pennon/encoding/page_encoder.h"

namespace pennon::encoding {

/// Encodes a page of at least one value and less than 2^32 entries.
arrow::Result<EncodedPage> EncodeFullZip(const PageNesting& nesting, const EncodedRecords& records,
                                         arrow::MemoryPool* pool);

}  // namespace pennon::encoding
