// Changing cells: what to ask of Dataset::Update and WriteOverlay.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <arrow/type_fwd.h>

#include "pennon/scan.h"

namespace pennon {

/// How an update is stored. kAuto and kOverlay write data overlay files; the others are not there
/// yet.
enum class UpdateStrategy { kAuto, kOverlay, kRewriteColumn, kMoveRows };

struct UpdateOptions {
  /// Column name and SQL of its new value, in terms of the row's current values.
  std::vector<std::pair<std::string, std::string>> set;
  Filter where;
  UpdateStrategy strategy = UpdateStrategy::kAuto;
  bool dry_run = false;  ///< count and evaluate, write nothing
};

/// The new values of one column of an overlay.
struct OverlayColumn {
  std::string name;               ///< top-level column
  std::vector<uint32_t> offsets;  ///< physical row offsets in the fragment, any order, no repeats
  std::shared_ptr<arrow::Array> values;  ///< parallel to `offsets`; nulls override to NULL
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
