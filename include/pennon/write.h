// Changing cells: what to ask of Dataset::Update and WriteOverlay.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <arrow/result.h>
#include <arrow/type_fwd.h>

#include "pennon/scan.h"

namespace pennon {

/// How an update is stored. kAuto and kOverlay write data overlay files; the others are not there
/// yet.
enum class UpdateStrategy { kAuto, kOverlay, kRewriteColumn, kMoveRows };

struct UpdateOptions {
  /// Column (or field inside structs by its path, such as `s.a`) and SQL of its new value, in terms
  /// of the row's current values. A struct's NULL-ness stays: fields are set where it is not NULL.
  std::vector<std::pair<std::string, std::string>> set;
  Filter where;
  UpdateStrategy strategy = UpdateStrategy::kAuto;
  bool dry_run = false;  ///< count and evaluate, write nothing
};

/// The new values of one column of an overlay.
struct OverlayColumn {
  std::string name;               ///< top-level column, or `s.a` for a field inside structs
  std::vector<uint32_t> offsets;  ///< physical row offsets in the fragment, any order, no repeats
  std::shared_ptr<arrow::Array> values;  ///< parallel to `offsets`; nulls override to NULL
};

/// An overlay whose value file is stored and durable, and that no version of the table names yet:
/// made by Dataset::StageOverlay, given to Dataset::CommitOverlays, perhaps in another process.
struct StagedOverlay {
  uint64_t fragment_id = 0;
  uint64_t read_version = 0;  ///< the version that it was planned on
  std::string path;           ///< of the value file, inside data/
  uint64_t size_bytes = 0;
  uint64_t cells = 0;
  std::string data_version;             ///< such as "2.1"
  std::vector<int32_t> fields;          ///< ids of the fields that own its columns
  std::vector<int32_t> column_indices;  ///< parallel to `fields`
  bool dense = true;
  std::vector<std::string> coverage;  ///< bitmap bytes: one if dense, else one for each of `fields`

  std::string ToJson() const;
  /// Reads what ToJson gave. kInvalidInput if it is something else.
  static arrow::Result<StagedOverlay> FromJson(std::string_view json);
};

/// What a commit did.
struct CommitInfo {
  uint64_t version = 0;        ///< the version it made; the version read if nothing changed
  uint64_t rows = 0;           ///< rows changed
  uint64_t cells = 0;          ///< cells changed
  uint64_t files = 0;          ///< value files written
  uint64_t bytes_written = 0;  ///< value files, transaction and manifest
  uint64_t attempts = 0;       ///< commit attempts, 1 without a race
};

}  // namespace pennon
