// Writes an overlay's value file (spec: Data Overlay Files, Physical layout; format: table.md 5.1
// and 5.2).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include <arrow/result.h>

#include "pennon/base/bitmap.h"
#include "pennon/read/snapshot.h"
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

/// A field that an overlay can give values: `field`, at or below the top-level `top`.
struct OverlayTarget {
  const Field* top = nullptr;
  const Field* field = nullptr;
};

/// Checks `columns` and stores their cells as one value file for a fragment of `snapshot`, in the
/// table's own storage version: dense when all columns have the same offsets, else sparse. Columns
/// without offsets are left out; without any cell nothing is written and the result is empty.
/// Fields of one struct go into one column tree, so they must have the same offsets; the struct's
/// NULL-ness is read and stays (struct_cells.h).
///
/// kInvalidInput: an unknown fragment or column, a column twice, offsets that repeat or lie beyond
/// the fragment, as many values as offsets missing or too many, values that CastLossless refuses, a
/// change of a struct's NULL-ness. kUnsupported: blob columns, types and storage versions that
/// pennon does not write.
arrow::Result<std::optional<StagedOverlay>> WriteOverlayFile(
    const std::shared_ptr<const read::Snapshot>& snapshot, uint64_t fragment_id,
    std::span<const OverlayColumn> columns);

/// The field called `name` (a top-level column, or a field inside structs by its path) that an
/// overlay can give values. Errors as above.
arrow::Result<OverlayTarget> FindOverlayField(const table::Manifest& manifest,
                                              const std::string& name);

}  // namespace pennon::write
