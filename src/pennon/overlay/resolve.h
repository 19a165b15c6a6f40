// Reads one column of a fragment as it stands: base values with the winning overlay values over
// them.
//
// A plan says what to read (pure logic); reading it opens only the files that give something, and
// asks each for exactly the rows that win. Base rows that are overlaid are skipped where they come
// in runs worth skipping.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include <arrow/array/data.h>
#include <arrow/memory_pool.h>
#include <arrow/result.h>

#include "pennon/file/reader.h"
#include "pennon/overlay/scatter.h"
#include "pennon/overlay/winners.h"
#include "pennon/schema.h"
#include "pennon/table/fragment.h"

namespace pennon::overlay {

/// Opens a data file of the fragment, from a cache or anew.
using FileOpener =
    std::function<arrow::Result<std::shared_ptr<const file::FileReader>>(const table::DataFile&)>;

/// What to read of a fragment, and how to get at its files: the values of one field that resolves
/// as one, or the NULL-ness of a struct above it. `base` is null if no base file holds it.
struct ColumnRequest {
  const Field* field = nullptr;  ///< the field whose values resolve as one
  /// The top-level field above `field`, cut down to the path to it (schema::Prune): every node from
  /// here to `field` has one child. `field` itself, or null, at the top level.
  const Field* root = nullptr;
  /// Not the values but whether the struct at this depth of the path is valid, as booleans without
  /// NULL; 0 is `root`. -1: the values.
  int validity_level = -1;
  const table::Fragment* fragment = nullptr;
  uint64_t physical_rows = 0;
  const table::DataFile* base = nullptr;
  FileOpener open;
  arrow::MemoryPool* pool = nullptr;

  const Field& top() const { return root != nullptr ? *root : *field; }
  const std::shared_ptr<arrow::DataType>& type() const;
};

/// Base values, and for each struct above the field (outermost first) whether it is valid, as
/// booleans.
struct BaseValues {
  std::shared_ptr<arrow::ArrayData> values;
  std::vector<std::shared_ptr<arrow::ArrayData>> validity;
};

/// What one overlay gives to the output: its winning cells [first_cell, first_cell + cells), and
/// their slots. Move-only: `slots` may point into `owned`.
struct SourcePlan {
  SourcePlan() = default;
  SourcePlan(SourcePlan&&) = default;
  SourcePlan& operator=(SourcePlan&&) = default;

  const WinnerSource* source = nullptr;
  uint64_t first_cell = 0;
  uint64_t cells = 0;
  SlotList slots;
  std::vector<uint32_t> owned;  ///< memory of slots.offsets when it does not lie in the winner map
};

/// What to read for `length` output slots.
struct ColumnPlan {
  uint64_t length = 0;
  std::vector<file::RowRange> base;
  std::vector<SourcePlan> sources;
  std::shared_ptr<const WinnerMap> winners;  ///< keeps what the sources point to
};

/// Plans the rows [first, end) of the fragment, in order. `winners` is the full map, or null
/// without overlays.
ColumnPlan PlanWindow(std::shared_ptr<const WinnerMap> winners, uint64_t first, uint64_t end);
/// Plans the ascending `rows`, slot i for rows[i]. `winners` concerns exactly these rows, or is
/// null.
ColumnPlan PlanRows(std::shared_ptr<const WinnerMap> winners, std::span<const uint32_t> rows);
/// Makes a plan read every base row, overlaid or not: for a field whose base also says which
/// structs above it are NULL.
void ReadAllOfBase(uint64_t first, ColumnPlan* window);
void ReadAllOfBase(std::span<const uint32_t> rows, ColumnPlan* plan);

/// Decoded winning cells of one source, from cell `first_cell` on.
struct SourceValues {
  uint64_t first_cell = 0;
  std::shared_ptr<arrow::ArrayData> values;
};

/// Reads winning cells [first_cell, first_cell + cells) of `source`. The value column must be as
/// long as the coverage (kCorrupt, naming file and field).
arrow::Result<SourceValues> ReadSource(const ColumnRequest& request, const WinnerSource& source,
                                       uint64_t first_cell, uint64_t cells);

/// Gives values that a caller has read before, for source i of the winner map; null = read them
/// now.
using LoadedSources = std::vector<SourceValues>;

/// Reads what `plan` says. `loaded`, if given, holds the values of every source of the winner map,
/// parallel to it.
arrow::Result<std::shared_ptr<arrow::ArrayData>> ReadColumn(const ColumnRequest& request,
                                                            const ColumnPlan& plan,
                                                            const LoadedSources* loaded = nullptr);

/// The two halves of it: what the base gives (NULL where `plan` reads nothing; no `validity`
/// without a base file), and the values of the sources put over it. `base` may be written into.
arrow::Result<BaseValues> ReadBase(const ColumnRequest& request, const ColumnPlan& plan);
arrow::Result<std::shared_ptr<arrow::ArrayData>> PutSources(const ColumnRequest& request,
                                                            const ColumnPlan& plan,
                                                            const LoadedSources* loaded,
                                                            std::shared_ptr<arrow::ArrayData> base);

/// Rows of overlaid cells worth skipping in a base column: enough to save a request's worth of
/// bytes.
uint64_t MinSkippableRows(const arrow::DataType& type);

/// Bytes of one decoded value, `variable_bytes` for types without a fixed width.
uint64_t ValueBytes(const arrow::DataType& type, uint64_t variable_bytes = 32);

}  // namespace pennon::overlay
