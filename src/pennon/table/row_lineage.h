// Row ids and row versions of tables with stable row ids (format: table.md 4.5, proto rowids).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <arrow/result.h>

#include "pennon/base/bitmap.h"
#include "pennon/table/fragment.h"

namespace pennon::table {

/// Decodes an inline RowIdSequence of exactly `physical_rows` ids, in offset order.
arrow::Result<std::vector<uint64_t>> DecodeRowIds(std::string_view bytes, uint64_t physical_rows);

/// Decodes an inline RowDatasetVersionSequence; missing rows read as version 1, extra ones are an
/// error.
arrow::Result<std::vector<uint64_t>> DecodeRowVersions(std::string_view bytes,
                                                       uint64_t physical_rows);

/// Encodes versions as runs of ranges.
std::string EncodeRowVersions(std::span<const uint64_t> versions);
/// Encodes ids as segments (range where consecutive, arrays otherwise).
std::string EncodeRowIds(std::span<const uint64_t> ids);

/// The sequence `bytes` (may be empty = all 1) with `version` at the offsets of `covered`.
arrow::Result<std::string> StampRowVersions(std::string_view bytes, uint64_t physical_rows,
                                            const Bitmap& covered, uint64_t version);

}  // namespace pennon::table
