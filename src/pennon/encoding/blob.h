// Blob columns of 2.1 and 2.2: pages say where the bytes lie.
//
//   v1   BlobLayout around a mini-block page of PackedStruct rows <position u64, size u64>:
//          size > 0                   `size` bytes at offset `position` of the file
//          size = 0, position = 0     an empty value
//          size = 0, position > 0     no value: repetition level = position & 0xFFFF, definition
//                                     level = position >> 16 & 0xFFFF
//   v2   a page of packed structs <kind u8, position u64, size u64, blob_id u32, blob_uri utf8>,
//        whose null rows are null values. Kind 0: `size` bytes at `position` of this file;
//        1 and 2: of the side file `blob_id`. Other kinds lie outside of the table.
//
// Both read as large_binary. Source: docs/format-notes.md, "Blobs". All input is untrusted.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include <arrow/result.h>

#include "pennon/encoding/page.h"
#include "pennon/wire/page_layout.h"

namespace pennon::encoding {

/// Which descriptors the pages of a blob column hold.
enum class BlobForm { kPositions, kDescriptors };

/// The values of the pages that hold descriptors of `form`.
LeafType DescriptorType(BlobForm form);

/// Makes the decoder of a blob column's page of `page`'s file, whose descriptors `descriptors`
/// gives, as values of DescriptorType(form). `layers` is the nesting of the blobs.
arrow::Result<std::shared_ptr<const PageDecoder>> MakeBlobDecoder(
    const PageDescription& page, std::shared_ptr<const PageDecoder> descriptors, BlobForm form,
    std::vector<wire::LayerKind> layers);

}  // namespace pennon::encoding
