// Writes constant pages: all values null (2.1, 2.2), or all non-null values equal (2.2).
//
//   all null          layers [nullable], no buffers
//   scalar            inline in the description (fixed width up to 32 bytes; a boolean is one
//   byte), or buffer 0:
//                     [u32 n][n x u32 size][n Arrow value buffers of the array of length 1]
//   with nulls        two buffers more: repetition levels (empty) and raw u16 definition levels
// Source: docs/format-notes.md, "ConstantLayout".
#pragma once

#include <cstdint>

#include "pennon/encoding/leaf_values.h"
#include "pennon/encoding/page_encoder.h"

namespace pennon::encoding {

/// A page of `length` nulls.
EncodedPage EncodeAllNull(uint64_t length);

/// Whether all non-null values have the same bytes, in a type that has a scalar form (lists have
/// none).
bool IsConstant(const LeafValues& values);

/// Encodes values for which IsConstant holds; 2.2 only.
EncodedPage EncodeScalar(const LeafValues& values);

}  // namespace pennon::encoding
