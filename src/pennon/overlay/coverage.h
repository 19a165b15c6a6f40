// Which rows of a fragment an overlay holds for a field (spec: Data Overlay Files, "Coverage and
// resolution").
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include <arrow/result.h>

#include "pennon/base/bitmap.h"
#include "pennon/file/reader.h"
#include "pennon/schema.h"
#include "pennon/table/fragment.h"

namespace pennon::overlay {

/// The storage version that a manifest gives for `file`.
file::FileVersion VersionOf(const table::DataFile& file);

/// Where one overlay of a fragment keeps one field.
struct Layer {
  size_t overlay = 0;   ///< index in Fragment::overlays
  size_t position = 0;  ///< index in data_file.fields: names the coverage
  int column = 0;       ///< column of the value file
};

/// The overlays of `fragment` that hold `field`, newest first: higher committed_version, then later
/// in the list. Parses no bitmap unless it must compare two.
///
/// What resolves as one value (a leaf, a list, a map, a packed struct, a blob) is held by an
/// overlay that lists any field owning a column for it; the first such position gives the coverage,
/// and all of them must cover the same rows. Of a plain struct, whose fields resolve one by one, an
/// overlay decides the NULL-ness if it lists every column below it under one coverage: those are
/// its layers.
///
/// kCorrupt: a listed owner without a column, a field listed twice in one overlay, one value with
/// two coverages.
arrow::Result<std::vector<Layer>> LayersOf(const table::Fragment& fragment, const Field& field);

/// Whether `part`, the plain struct `field` or what a projection leaves of it, resolves as one
/// value in `fragment`: each overlay holds all of `field` under one coverage or nothing of `part`.
arrow::Result<bool> ResolvesWhole(const table::Fragment& fragment, const Field& field,
                                  const Field& part);

/// Parses the coverage of one layer; every offset must be below `physical_rows` (kCorrupt
/// otherwise).
arrow::Result<Bitmap> ParseCoverage(const table::Fragment& fragment, const Layer& layer,
                                    uint64_t physical_rows);

}  // namespace pennon::overlay
