// Full-zip pages of nested columns: the same records as in full_zip.h, one a level entry.
//
//   control word    1, 2 or 4 bytes: repetition << bits_def | definition; absent if both are 0 bits
//   value           absent for entries that own none (null and empty lists)
//   page buffer 1   only if values vary in size or there are lists: byte offset of each row's first
//                   record and the end, (rows + 1) words of 1, 2, 4 or 8 bytes
//
// Source: docs/format-notes.md, "FullZipLayout". All input is untrusted.
#pragma once

#include <memory>

#include <arrow/result.h>

#include "pennon/encoding/page.h"
#include "pennon/wire/page_layout.h"

namespace pennon::encoding {

/// Makes the decoder of a full-zip page of a nested column.
arrow::Result<std::shared_ptr<const PageDecoder>> MakeFullZipNestedDecoder(
    const PageDescription& page, const wire::FullZipLayout& layout, const LeafType& type);

}  // namespace pennon::encoding
