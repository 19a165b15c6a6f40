// Mini-block pages (2.1, 2.2): chunks of some KiB that are decoded as units.
//
//   page buffer 0   chunk words: chunk_directory.h
//   page buffer 1   chunks
//   page buffer 2   dictionary items, if the page has a dictionary: dictionary_items.h
//   last            repetition index, if the page has lists: repetition_index.h
//
//   chunk   u16 number of levels (0 if the page stores none)
//           u16 bytes of repetition levels, if the page stores them
//           u16 bytes of definition levels, if the page stores them
//           bytes of each value buffer, u16 (2.1) or u32 (2.2)
//           padding to 8, then each of these buffers followed by padding to 8
//
// Source: docs/format-notes.md, "MiniBlockLayout".
#pragma once

#include <memory>

#include <arrow/result.h>

#include "pennon/encoding/page.h"
#include "pennon/wire/page_layout.h"

namespace pennon::encoding {

/// Makes the decoder of a mini-block page. Checks all that can be checked without reading the page.
arrow::Result<std::shared_ptr<const PageDecoder>> MakeMiniBlockDecoder(
    const PageDescription& page, const wire::MiniBlockLayout& layout, const LeafType& type);

}  // namespace pennon::encoding
