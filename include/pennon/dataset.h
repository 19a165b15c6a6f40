// A Lance table at one version: start here. A Dataset is immutable and cheap to copy; each write gives the next
// one. All members may be called from several threads. Errors: pennon/error.h.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <arrow/result.h>
#include <arrow/type_fwd.h>

#include "pennon/context.h"
#include "pennon/scan.h"
#include "pennon/schema.h"
#include "pennon/write.h"

namespace pennon {

namespace read {
struct Snapshot;
}

struct OpenOptions {
  std::optional<uint64_t> version;  ///< default: the newest
  Context context;
};

/// One version in a table's history.
struct VersionInfo {
  uint64_t version = 0;
  int64_t timestamp_ns = 0;  ///< UTC, since the epoch
  std::map<std::string, std::string> metadata;
};

/// One data file of a fragment, base or overlay.
struct FileInfo {
  std::string path;  ///< name inside data/
  std::vector<int32_t> fields;
  std::vector<int32_t> column_indices;
  std::string version;       ///< "2.2"
  uint64_t size_bytes = 0;   ///< 0 = the manifest does not say
};

/// One fragment as the manifest lists it.
struct FragmentInfo {
  uint64_t id = 0;
  uint64_t physical_rows = 0;
  uint64_t deleted_rows = 0;
  std::vector<FileInfo> files;
  uint64_t overlays = 0;
};

/// One overlay file. `cells` counts covered (offset, field) pairs, `winning` those that no newer overlay shadows
/// and no deletion hides.
struct OverlayInfo {
  uint64_t fragment = 0;
  uint64_t position = 0;  ///< in the fragment's list, oldest first
  uint64_t committed_version = 0;
  bool dense = false;
  FileInfo file;
  struct FieldCoverage {
    int32_t field = 0;
    std::string name;  ///< dotted path; empty for a dropped column
    uint64_t cells = 0;
    uint64_t winning = 0;
  };
  std::vector<FieldCoverage> fields;
  uint64_t cells = 0;
  uint64_t winning = 0;
};

/// Where one cell's value comes from.
struct CellExplanation {
  struct Source {
    bool overlay = false;           ///< else a base file
    std::string path;               ///< name inside data/; empty: no file holds the field (NULL)
    std::optional<uint64_t> version;  ///< committed_version of an overlay
    std::optional<uint64_t> rank;   ///< row of the value inside its column
    int column = -1;                ///< column of the file
    std::shared_ptr<arrow::Scalar> value;
  };
  uint64_t row = 0;       ///< position among live rows
  uint64_t fragment = 0;
  uint64_t offset = 0;    ///< physical row offset in the fragment
  std::string column;
  int32_t field = 0;
  std::shared_ptr<arrow::Scalar> value;
  Source winner;
  std::vector<Source> shadowed;  ///< newest first; the base, if it has the field, last
};

/// What `pennon info` prints.
struct DatasetInfo {
  std::string uri;
  uint64_t version = 0;
  int64_t timestamp_ns = 0;
  std::string data_version;
  bool stable_row_ids = false;
  uint64_t rows = 0;
  uint64_t physical_rows = 0;
  uint64_t deleted_rows = 0;
  uint64_t fragments = 0;
  uint64_t data_files = 0;
  uint64_t data_bytes = 0;
  uint64_t overlays = 0;
  uint64_t overlay_bytes = 0;
  uint64_t manifest_bytes = 0;
  uint64_t reader_flags = 0;
  uint64_t writer_flags = 0;
  struct Index {
    std::string name;
    std::string type;
    std::vector<std::string> columns;
    uint64_t dataset_version = 0;
  };
  std::vector<Index> indexes;
};

class Dataset {
 public:
  /// Opens a table by path, file:// URI, or `path@version`. Missing: kNotFound; unknown reader flag: kUnsupported.
  static arrow::Result<Dataset> Open(const std::string& uri, const OpenOptions& options = {});

  const std::string& uri() const;
  uint64_t version() const;
  const Schema& schema() const;

  /// Streams rows: fragments in list order, rows by offset.
  arrow::Result<std::shared_ptr<arrow::RecordBatchReader>> Scan(const ScanOptions& options = {}) const;
  arrow::Result<std::shared_ptr<arrow::Table>> ToTable(const ScanOptions& options = {}) const;
  arrow::Result<int64_t> CountRows(const Filter& where = {}) const;

  /// Rows by position among live rows, in the order asked, repeats kept. Out of range: kInvalidInput.
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
  /// Explains the cell of `column` in the row at position `row` among live rows.
  arrow::Result<CellExplanation> ExplainCell(uint64_t row, const std::string& column) const;

  /// Versions of the table, oldest first.
  arrow::Result<std::vector<VersionInfo>> Versions() const;
  /// The same table at another version (the newest if none is given).
  arrow::Result<Dataset> Checkout(std::optional<uint64_t> version) const;

  struct Committed;
  /// Sets cells of the rows that match, by one overlay a fragment.
  arrow::Result<Committed> Update(const UpdateOptions& options) const;
  /// Writes one overlay file for `fragment_id` and commits it against the newest version.
  arrow::Result<Committed> WriteOverlay(uint64_t fragment_id, const std::vector<OverlayColumn>& columns) const;

  /// Bytes and requests read of data files through this handle and its copies since the last call.
  IoStats TakeIoStats() const;

 private:
  explicit Dataset(std::shared_ptr<const read::Snapshot> snapshot) : snapshot_(std::move(snapshot)) {}
  std::shared_ptr<const read::Snapshot> snapshot_;
};

/// A write's outcome: what it did, and the table at the new version.
struct Dataset::Committed {
  CommitInfo info;
  Dataset dataset;
};

}  // namespace pennon
