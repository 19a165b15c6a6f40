// Facts about a table that its manifest tells: versions, fragments, overlays, where a cell comes
// from. Plain values.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <arrow/type_fwd.h>

#include "pennon/schema.h"

namespace pennon {

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
  std::string version;      ///< "2.2"
  uint64_t size_bytes = 0;  ///< 0 = the manifest does not say
};

/// One fragment as the manifest lists it.
struct FragmentInfo {
  uint64_t id = 0;
  uint64_t physical_rows = 0;
  uint64_t deleted_rows = 0;
  std::vector<FileInfo> files;
  uint64_t overlays = 0;
};

/// One overlay file. `cells` counts covered (offset, field) pairs, `winning` those that no newer
/// overlay shadows and no deletion hides.
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
    bool overlay = false;             ///< else a base file
    std::string path;                 ///< name inside data/; empty: no file holds the field (NULL)
    std::optional<uint64_t> version;  ///< committed_version of an overlay
    std::optional<uint64_t> rank;     ///< row of the value inside its column
    int column = -1;                  ///< column of the file
    std::shared_ptr<arrow::Scalar> value;
  };
  uint64_t row = 0;  ///< position among live rows
  uint64_t fragment = 0;
  uint64_t offset = 0;  ///< physical row offset in the fragment
  std::string column;
  int32_t field = 0;
  std::shared_ptr<arrow::Scalar> value;
  Source winner;
  std::vector<Source> shadowed;  ///< newest first; the base, if it has the field, last
};

/// A field whose values resolve as one (a leaf, a list, a map, a packed struct, a blob), and its
/// path from the top level: `s.a`, in backquotes the names below the top that need them.
struct ValueField {
  const Field* field;
  std::string path;
};

/// The fields at or below `field`, through plain structs, whose values resolve as one: what
/// overlays replace and Dataset::ExplainCell explains.
std::vector<ValueField> ValueFields(const Field& field);

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

}  // namespace pennon
