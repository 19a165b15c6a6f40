// Which source gives each cell of a field: the one place where precedence is decided
// (spec: Data Overlay Files, "Coverage and resolution"). Pure logic, no I/O.
//
//   for layer in newest first:  win = want & coverage(layer);  want -= win;   base gets what
//   remains
//
// The full map of a (fragment, field) asks for every row; a take asks for its rows alone. Both are
// one call.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include <arrow/result.h>

#include "pennon/base/bitmap.h"
#include "pennon/overlay/coverage.h"

namespace pennon::overlay {

/// `count` consecutive offsets from `first`; the value of the first is at rank `rank` of the
/// overlay's column, and it is the `cell`-th winning cell of its source.
struct WinnerRun {
  uint32_t first = 0;
  uint32_t count = 0;
  uint32_t rank = 0;
  uint32_t cell = 0;
  bool operator==(const WinnerRun&) const = default;
};

/// The cells that one overlay gives, in ascending offset order. Cell i lies at offset(i) and
/// rank(i).
///
/// Two forms: runs where the cells are mostly consecutive, else plain offsets. Ranks are kept only
/// if the source loses some of its coverage; otherwise cell i has rank i.
struct WinnerSource {
  Layer layer;
  uint64_t cells = 0;
  uint64_t covered = 0;           ///< cells of the whole coverage: the length of the value column
  std::vector<WinnerRun> runs;    ///< the run form, if not empty
  std::vector<uint32_t> offsets;  ///< the plain form
  std::vector<uint32_t> ranks;    ///< plain form: parallel to `offsets`, or empty

  bool by_runs() const { return !runs.empty(); }
  size_t MemoryBytes() const;
  /// All offsets, whatever the form.
  std::vector<uint32_t> AllOffsets() const;
};

/// Who gives each wanted row: disjoint sources, newest first, without those that win nothing; the
/// base gives every wanted row that no source has.
struct WinnerMap {
  std::vector<WinnerSource> sources;
  /// Union of the sources; not kept in a full map, where `owner` says it.
  Bitmap overlaid;
  /// In a full map, for each row of the fragment: 1 + its source, 0 for the base.
  std::vector<uint16_t> owner;
  /// Runs of overlaid rows of at least the asked length: rows that a base read can skip.
  std::vector<BitmapRun> skippable;
  uint64_t cells = 0;  ///< overlaid rows

  size_t MemoryBytes() const;
};

/// Gives the coverage of a layer, from bytes or from a cache.
using CoverageProvider = std::function<arrow::Result<std::shared_ptr<const Bitmap>>(const Layer&)>;

/// Decides the rows of `want` among `layers` (newest first, as LayersOf gives them). Coverages are
/// asked for one by one and no longer once every wanted row has its winner. Runs of fewer than
/// `min_skip` overlaid rows are left out of `skippable`.
arrow::Result<WinnerMap> FindWinners(Bitmap want, std::span<const Layer> layers,
                                     const CoverageProvider& coverage, uint64_t min_skip = 1);

/// The full map: the same for all rows [0, rows). A coverage must not reach beyond them.
arrow::Result<WinnerMap> FindAllWinners(uint64_t rows, std::span<const Layer> layers,
                                        const CoverageProvider& coverage, uint64_t min_skip = 1);

/// The same for a few rows, ascending: each coverage is asked for them alone.
arrow::Result<WinnerMap> FindWinners(std::vector<uint32_t> want, std::span<const Layer> layers,
                                     const CoverageProvider& coverage);

/// The part of `full` that concerns the ascending `rows`, as FindWinners would give it for them.
WinnerMap RestrictWinners(const WinnerMap& full, std::span<const uint32_t> rows);

}  // namespace pennon::overlay
