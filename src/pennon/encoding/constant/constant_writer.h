// Writes constant pages: no value but nulls (2.1, 2.2), or all non-null values equal (2.2).
//
//   all null      layers [nullable], no buffers; of nested columns two buffers: repetition and
//                 definition levels (an absent stream is empty), raw u16 or, in 2.2, compressed
//   scalar        inline in the description (fixed width up to 32 bytes; a boolean is one byte), or
//                 buffer 0: [u32 n][n x u32 size][n Arrow value buffers of the array of length 1]
//   with levels   two buffers more: raw u16 repetition and definition levels
// Source: docs/format-notes.md, "ConstantLayout".
#pragma once

#include <arrow/result.h>

#include "pennon/encoding/leaf_values.h"
#include "pennon/encoding/nested/page_nesting.h"
#include "pennon/encoding/page_encoder.h"

namespace pennon::encoding {

/// A page that has no value but nulls, or none at all.
arrow::Result<EncodedPage> EncodeAllNull(const PageNesting& nesting, int minor);

/// Whether all non-null values have the same bytes, in a type that has a scalar form (lists have
/// none).
bool IsConstant(const LeafValues& values);

/// Encodes values for which IsConstant holds; 2.2 only.
EncodedPage EncodeScalar(const PageNesting& nesting, const LeafValues& values);

}  // namespace pennon::encoding
