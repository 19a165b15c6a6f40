// Deletion files, both kinds (format: table.md 4.3).
#pragma once

#include <arrow/result.h>

#include "pennon/base/bitmap.h"
#include "pennon/table/layout.h"

namespace pennon::table {

/// Reads the deleted offsets of `fragment` (empty without a deletion file). An offset beyond
/// physical_rows or a count unlike num_deleted_rows is a kCorrupt error.
arrow::Result<Bitmap> ReadDeletions(const TableLocation& table, const Manifest& manifest,
                                    const Fragment& fragment);

}  // namespace pennon::table
