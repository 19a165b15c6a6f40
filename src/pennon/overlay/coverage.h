// Which rows of a fragment an overlay holds for a field (spec: Data Overlay Files, "Coverage and
// resolution").
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include <arrow/result.h>

#include "pennon/base/bitmap.h"
#include "pennon/schema.h"
#include "pennon/table/fragment.h"

namespace pennon::overlay {

/// Where one overlay of a fragment keeps one field.
struct Layer {
  size_t overlay = 0;   ///< index in Fragment::overlays
  size_t position = 0;  ///< index in data_file.fields: names the coverage
  int column = 0;       ///< column of the value file
};

/// The overlays of `fragment` that hold `field`, newest first: higher committed_version, then later
/// in the list. The unit is the atomic field: an overlay holds it if it lists the field or any leaf
/// below it, and the first such position gives coverage and column. Parses no bitmap. A field
/// without a column of its own, or listed twice in one overlay, is a kCorrupt error.
arrow::Result<std::vector<Layer>> LayersOf(const table::Fragment& fragment, const Field& field);

/// Parses the coverage of one layer; every offset must be below `physical_rows` (kCorrupt
/// otherwise).
arrow::Result<Bitmap> ParseCoverage(const table::Fragment& fragment, const Layer& layer,
                                    uint64_t physical_rows);

}  // namespace pennon::overlay
