// What a manifest says of one fragment (format: table.md section 4 and 5). Plain values;
// string_views point into the manifest's bytes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pennon::table {

/// Field ids below zero in DataFile::fields.
inline constexpr int32_t kTombstoneField = -2;
inline constexpr int32_t kRowIdField = -3;
inline constexpr int32_t kCreatedAtField = -4;
inline constexpr int32_t kLastUpdatedAtField = -5;

/// A data file: base or overlay values.
struct DataFile {
  std::string path;                     ///< file name inside data/
  std::vector<int32_t> fields;          ///< field ids, tombstones included
  std::vector<int32_t> column_indices;  ///< parallel to `fields`; -1 = no column of its own
  uint32_t major_version = 0;
  uint32_t minor_version = 0;
  uint64_t size_bytes = 0;  ///< 0 = unknown
  std::optional<uint32_t> base_id;

  /// The file column that holds `field_id`, if this file has it.
  std::optional<int> ColumnOf(int32_t field_id) const;
  /// The storage version as a table names it, such as "2.1".
  std::string StorageVersion() const;
};

/// An overlay (spec: Data Overlay Files). Coverage bitmaps are still bytes.
struct OverlayFile {
  DataFile data_file;
  bool dense = false;
  std::vector<std::string_view>
      coverage;  ///< one for all fields if dense, else one for each of data_file.fields
  uint64_t committed_version = 0;

  /// Coverage bytes of the field at position `i` of data_file.fields.
  std::string_view CoverageAt(size_t i) const { return dense ? coverage[0] : coverage[i]; }
};

/// Reference to a deletion file.
struct DeletionFile {
  enum class Kind { kArrowArray = 0, kBitmap = 1 };
  Kind kind = Kind::kArrowArray;
  uint64_t read_version = 0;
  uint64_t id = 0;
  uint64_t num_deleted_rows = 0;  ///< 0 = unknown
  std::optional<uint32_t> base_id;
};

/// One of the three per-row sequences of a table with stable row ids (table.md 4.5).
struct LineageSequence {
  enum class Kind { kAbsent, kInline, kColumn };
  Kind kind = Kind::kAbsent;
  std::string_view bytes;  ///< the message, for kInline
};

/// A horizontal slice of the table.
struct Fragment {
  uint64_t id = 0;
  std::vector<DataFile> files;
  std::optional<DeletionFile> deletion_file;
  uint64_t physical_rows = 0;         ///< deleted rows included; < 2^32
  std::vector<OverlayFile> overlays;  ///< oldest first: by committed_version, then list position
  LineageSequence row_ids;
  LineageSequence created_at;
  LineageSequence last_updated_at;
  std::string_view bytes;  ///< the DataFragment message as the manifest has it

  uint64_t num_deleted_rows() const { return deletion_file ? deletion_file->num_deleted_rows : 0; }
};

}  // namespace pennon::table
