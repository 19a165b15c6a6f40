// The commit loop (format: table.md 6.5): the only way to a new version of a table.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <arrow/result.h>

#include "pennon/commit/operation.h"
#include "pennon/commit/retry.h"
#include "pennon/table/layout.h"

namespace pennon::commit {

/// What to commit, and on which version it was planned.
struct CommitRequest {
  table::TableLocation table;
  std::shared_ptr<const table::Manifest> read;
  std::shared_ptr<const Operation> operation;
  /// Absolute paths of files that were written, and are durable, for this operation alone. They are
  /// removed, as far as that works, when the commit failed for certain, and kept when its outcome
  /// is unknown.
  std::vector<std::string> new_files;
};

/// The version that a commit made.
struct CommitOutcome {
  std::shared_ptr<const table::Manifest> manifest;
  table::ManifestNaming naming = table::ManifestNaming::kV2;
  uint64_t attempts = 0;
  uint64_t bytes_written = 0;  ///< manifest and transaction of the attempt that won
};

/// Commits `request` on top of the newest version. Versions since `request.read` are checked for
/// conflicts; a lost race is tried again within `policy`.
///
/// Errors: kCommitConflict as Operation::CheckAgainst says, or when every attempt was lost;
/// kUnsupported for a table that must not be written over; kIo when the store fails. A kIo error
/// that speaks of an unknown outcome means that the version may have been made all the same.
arrow::Result<CommitOutcome> Commit(const CommitRequest& request, const RetryPolicy& policy = {});

}  // namespace pennon::commit
