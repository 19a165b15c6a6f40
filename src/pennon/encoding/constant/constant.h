// Constant pages: all values null (2.1, 2.2), or all valid values the same (2.2).
//
//   scalar    page buffers                        meaning
//   none      none                                every value null
//   none      [rep levels][def levels]            the same, for nested columns
//   none      [scalar]                            the scalar everywhere
//   none      [scalar][rep levels][def levels]    the scalar where the level is 0
//   inline    none, or [rep levels][def levels]   as the two above
//
//   levels          u16 each, absent if empty
//   inline scalar   the bytes of one value; a boolean takes one byte
//   scalar buffer   u32 n, n x u32 sizes, then n buffers: those of an Arrow array of length 1
//   without validity
//
// Source: docs/format-notes.md, "ConstantLayout".
#pragma once

#include <memory>

#include <arrow/result.h>

#include "pennon/encoding/page.h"
#include "pennon/wire/page_layout.h"

namespace pennon::encoding {

/// Makes the decoder of a constant page.
arrow::Result<std::shared_ptr<const PageDecoder>> MakeConstantDecoder(
    const PageDescription& page, const wire::ConstantLayout& layout, const LeafType& type);

}  // namespace pennon::encoding
