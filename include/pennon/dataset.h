// A Lance table at one version: start here. A Dataset is immutable and cheap to copy; each write
// gives the next one. All members may be called from several threads. Errors: pennon/error.h.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <arrow/result.h>
#include <arrow/type_fwd.h>

#include "pennon/context.h"
#include "pennon/info.h"
#include "pennon/scan.h"
#include "pennon/schema.h"
#include "pennon/write.h"

namespace pennon {

namespace read {
struct Snapshot;
}

struct OpenOptions {
  std::optional<uint64_t> version;  ///< default: the newest
  std::string tag;                  ///< opens the version that this tag names; empty: no tag
  Context context;
};

class Dataset {
 public:
  /// Opens a table by path, file:// URI, `path@version`, or `path@tag` if the table at `path` has
  /// that tag. Missing: kNotFound; unknown reader flag: kUnsupported.
  static arrow::Result<Dataset> Open(const std::string& uri, const OpenOptions& options = {});

  const std::string& uri() const;
  uint64_t version() const;
  const Schema& schema() const;

  /// Streams rows: fragments in list order, rows by offset.
  arrow::Result<std::shared_ptr<arrow::RecordBatchReader>> Scan(
      const ScanOptions& options = {}) const;
  arrow::Result<std::shared_ptr<arrow::Table>> ToTable(const ScanOptions& options = {}) const;
  arrow::Result<int64_t> CountRows(const Filter& where = {}) const;

  /// Rows by position among live rows, in the order asked, repeats kept. Out of range:
  /// kInvalidInput.
  arrow::Result<std::shared_ptr<arrow::Table>> Take(std::span<const int64_t> positions,
                                                    const TakeOptions& options = {}) const;
  arrow::Result<std::shared_ptr<arrow::Table>> Take(std::initializer_list<int64_t> positions,
                                                    const TakeOptions& options = {}) const;
  /// Rows by address; an address of no live row is kInvalidInput.
  arrow::Result<std::shared_ptr<arrow::Table>> TakeAddresses(std::span<const uint64_t> addresses,
                                                             const TakeOptions& options = {}) const;
  /// Rows by row id, in the order asked; ids that are gone give nothing.
  arrow::Result<std::shared_ptr<arrow::Table>> TakeRowIds(std::span<const uint64_t> ids,
                                                          const TakeOptions& options = {}) const;

  arrow::Result<DatasetInfo> Info() const;
  std::vector<FragmentInfo> Fragments() const;
  arrow::Result<std::vector<OverlayInfo>> Overlays() const;
  /// Explains the cell of `column` (a top-level one, or a field inside structs such as `s.a`) in
  /// the row at position `row` among live rows. The fields of a struct come from places of their
  /// own: ValueFields lists what can be asked for.
  arrow::Result<CellExplanation> ExplainCell(uint64_t row, const std::string& column) const;

  /// Versions of the table, oldest first.
  arrow::Result<std::vector<VersionInfo>> Versions() const;
  /// The same table at another version (the newest if none is given).
  arrow::Result<Dataset> Checkout(std::optional<uint64_t> version) const;

  struct Committed;
  /// Sets cells of the rows that match, by one overlay a fragment.
  arrow::Result<Committed> Update(const UpdateOptions& options) const;
  /// Writes one overlay file for `fragment_id` and commits it against the newest version.
  arrow::Result<Committed> WriteOverlay(uint64_t fragment_id,
                                        const std::vector<OverlayColumn>& columns) const;
  /// Writes one overlay file for `fragment_id` and leaves the commit for later; nullopt without any
  /// cell. A file that is never committed is garbage.
  arrow::Result<std::optional<StagedOverlay>> StageOverlay(
      uint64_t fragment_id, const std::vector<OverlayColumn>& columns) const;
  /// Commits staged overlays, of any fragments, as one version on top of the newest; later ones in
  /// the list win over earlier ones. When it fails, the files stay and may be committed again.
  arrow::Result<Committed> CommitOverlays(const std::vector<StagedOverlay>& staged) const;

  /// Bytes and requests read of data files through this handle and its copies since the last call.
  IoStats TakeIoStats() const;

 private:
  explicit Dataset(std::shared_ptr<const read::Snapshot> snapshot)
      : snapshot_(std::move(snapshot)) {}
  std::shared_ptr<const read::Snapshot> snapshot_;
};

/// A write's outcome: what it did, and the table at the new version.
struct Dataset::Committed {
  CommitInfo info;
  Dataset dataset;
};

}  // namespace pennon
