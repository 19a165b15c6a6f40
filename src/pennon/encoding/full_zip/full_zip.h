// Full-zip pages (2.1, 2.2): one record a row, addressable row by row.
//
//   page buffer 0   records back to back: [control word][value]
//   page buffer 1   only if values vary in size: byte offset of each record and the end, (rows + 1)
//   words of
//                   1, 2, 4 or 8 bytes
//
//   control word    absent if the page stores no levels, else 1, 2 or 4 bytes: the definition level
//   fixed value     bits_per_value / 8 bytes, there for nulls too; booleans take one byte (0, 1)
//                     Flat: the value. FixedSizeList: for each list layer with validity its bits (1
//                     = valid), each layer starting a byte, then the items
//   variable value  nothing for a null; else its length (bits_per_offset / 8 bytes) and that many
//   bytes
//                     Variable: the value. Fsst: the value coded. General: each value compressed on
//                     its own
//
// Source: docs/format-notes.md, "FullZipLayout". Pages of nested columns: full_zip_nested.h.
#pragma once

#include <memory>

#include <arrow/result.h>

#include "pennon/encoding/page.h"
#include "pennon/wire/page_layout.h"

namespace pennon::encoding {

/// Makes the decoder of a full-zip page. Checks all that can be checked without reading the page.
arrow::Result<std::shared_ptr<const PageDecoder>> MakeFullZipDecoder(
    const PageDescription& page, const wire::FullZipLayout& layout, const LeafType& type);

/// The halves of MakeFullZipDecoder, by the kind of value.
arrow::Result<std::shared_ptr<const PageDecoder>> MakeFullZipFixedDecoder(
    const PageDescription& page, const wire::FullZipLayout& layout, const LeafType& type);
arrow::Result<std::shared_ptr<const PageDecoder>> MakeFullZipVariableDecoder(
    const PageDescription& page, const wire::FullZipLayout& layout, const LeafType& type);

}  // namespace pennon::encoding
