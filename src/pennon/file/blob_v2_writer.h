// Writes blob columns of version 2.2 (extension lance.blob.v2): the bytes of each value into the
// file, outside the pages, and a packed struct a row that says where they are:
//
//   kind u8 (0: in this file), position u64, size u64, blob_id u32, blob_uri utf8
//
// Source: docs/format-notes.md, "Blobs". Stateless.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <vector>

#include <arrow/memory_pool.h>
#include <arrow/result.h>

#include "pennon/encoding/nested/shredding.h"
#include "pennon/encoding/page_encoder.h"
#include "pennon/schema.h"

namespace pennon::file {

/// Whether `field` is a struct of the extension lance.blob.v2.
bool IsBlobV2(const Field& field);

/// Places bytes in the file and gives their position.
using PlaceBytes = std::function<uint64_t(std::span<const uint8_t>)>;

/// Encodes `rows` of structs with a child `data` (large_binary). Values given by their `uri`, or
/// not at all in a row that is not null, are a kUnsupported error. Nothing, if the rows must be
/// split.
arrow::Result<std::optional<encoding::EncodedPage>> EncodeBlobV2Page(
    const encoding::ShreddedRows& rows, const PlaceBytes& place,
    const encoding::PageOptions& options, arrow::MemoryPool* pool);

/// How a file describes `fields`: blob columns as the structs that they are stored as, whose
/// children stand behind them without ids.
std::vector<Field> DescribeBlobs(const std::vector<Field>& fields);

}  // namespace pennon::file
