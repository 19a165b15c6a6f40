// Writes an overlay's value file (spec: Data Overlay Files, Physical layout; format: table.md 5.1
// and 5.2).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include <arrow/result.h>

#include "pennon/base/bitmap.h"
#include "pennon/table/layout.h"
#include "pennon/table/manifest_writer.h"
#include "pennon/write.h"

namespace pennon::write {

/// An overlay whose value file is stored and durable, not yet committed.
struct StagedOverlay {
  uint64_t fragment_id = 0;
  table::NewOverlay overlay;
  Bitmap covered;  ///< union over the columns
  uint64_t cells = 0;
  std::string path;  ///< absolute path of the value file
};

/// Checks `columns` and stores their cells as one value file for a fragment of `manifest`, in the
/// table's own storage version: dense when all columns have the same offsets, else sparse. Columns
/// without offsets are left out; without any cell nothing is written and the result is empty.
///
/// kInvalidInput: an unknown fragment or column, a column twice, offsets that repeat or lie beyond
/// the fragment, as many values as offsets missing or too many, values that CastLossless refuses.
/// kUnsupported: nested and blob columns, and tables whose storage version pennon does not write.
arrow::Result<std::optional<StagedOverlay>> WriteOverlayFile(
    const table::TableLocation& table, const table::Manifest& manifest, uint64_t fragment_id,
    std::span<const OverlayColumn> columns);

/// The column that an overlay can give values: a top-level column of one leaf. Errors as above.
arrow::Result<const Field*> FindOverlayField(const table::Manifest& manifest,
                                             const std::string& name);

}  // namespace pennon::write
