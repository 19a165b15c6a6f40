// The rows of one fragment, column by column: base values, winning overlay values over them.
//
// This is where overlays apply; deletions, filters and projections come after it (read/scan.cc,
// read/take.cc).
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <arrow/array/data.h>
#include <arrow/result.h>

#include "pennon/read/column.h"
#include "pennon/read/field_reader.h"
#include "pennon/read/result_cache.h"
#include "pennon/read/snapshot.h"
#include "pennon/table/fragment.h"

namespace pennon::read {

class FragmentReader;

/// One column of one fragment. Thread-safe.
class ColumnReader {
 public:
  /// Reads rows [first, end), deleted ones included. What overlays give is read once for all
  /// windows of the fragment while it is small.
  arrow::Result<std::shared_ptr<arrow::ArrayData>> ReadWindow(uint64_t first, uint64_t end);
  /// Reads the ascending `rows`: what only they need, and no overlay file that gives none of them.
  arrow::Result<std::shared_ptr<arrow::ArrayData>> ReadRows(std::span<const uint32_t> rows);
  /// A guess at the decoded bytes of a row. May read the column's metadata.
  arrow::Result<uint64_t> RowBytes();

 private:
  friend class FragmentReader;
  ColumnReader() = default;
  arrow::Result<std::shared_ptr<arrow::ArrayData>> Read(const RowChoice& rows);
  arrow::Result<std::shared_ptr<arrow::ArrayData>> ReadLineage(const RowChoice& rows) const;
  arrow::Status OpenLineage(const FragmentReader& fragment);

  std::shared_ptr<const Snapshot> snapshot_;
  Column column_;
  const table::Fragment* fragment_ = nullptr;
  uint64_t physical_rows_ = 0;
  std::unique_ptr<FieldReader> values_;  ///< of a field of the table
  Field lineage_field_;                  ///< of a spilled sequence
  std::unique_ptr<PartReader> spilled_;  ///< the same
  const table::LineageSequence* sequence_ = nullptr;
};

/// A fragment whose deletions are known. Immutable, thread-safe.
class FragmentReader {
 public:
  /// Reads the deletion file, if there is one, and nothing else. `snapshot` is kept.
  static arrow::Result<std::shared_ptr<const FragmentReader>> Open(
      std::shared_ptr<const Snapshot> snapshot, const table::Fragment& fragment);

  const table::Fragment& fragment() const { return *fragment_; }
  uint64_t physical_rows() const { return physical_rows_; }
  uint64_t live_rows() const {
    return physical_rows_ - (deletions_ ? deletions_->offsets.size() : 0);
  }
  /// Null if no row is deleted.
  const Deletions* deletions() const { return deletions_.get(); }
  /// The offset of the `position`-th live row, which must exist.
  uint64_t LiveOffset(uint64_t position) const {
    return deletions_ ? deletions_->LiveOffset(position) : position;
  }

  /// Finds where the fragment keeps `column`. Reads nothing.
  arrow::Result<std::shared_ptr<ColumnReader>> OpenColumn(const Column& column) const;

 private:
  FragmentReader() = default;
  std::shared_ptr<const Snapshot> snapshot_;
  const table::Fragment* fragment_ = nullptr;
  uint64_t physical_rows_ = 0;
  std::shared_ptr<const Deletions> deletions_;
};

/// Live rows of a fragment by the manifest's count, or by the deletion file where the manifest does
/// not say.
arrow::Result<uint64_t> CountLiveRows(const std::shared_ptr<const Snapshot>& snapshot,
                                      const table::Fragment& fragment);

}  // namespace pennon::read
