// Overlays written now and committed later, many in one version: workers write, one process
// commits.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include <arrow/result.h>

#include "pennon/commit/retry.h"
#include "pennon/read/snapshot.h"
#include "pennon/write.h"
#include "pennon/write/overlay_commit.h"

namespace pennon::write {

/// Writes an overlay file (Dataset::StageOverlay). Errors as WriteOverlayFile has them.
arrow::Result<std::optional<pennon::StagedOverlay>> Stage(
    const std::shared_ptr<const read::Snapshot>& snapshot, uint64_t fragment_id,
    std::span<const OverlayColumn> columns);

/// Commits staged overlays (Dataset::CommitOverlays). What changed since the oldest version that
/// one was planned on may be a kCommitConflict. kInvalidInput: a staged overlay that does not fit
/// the table, or the same file twice; kNotFound: its file is gone.
arrow::Result<WriteResult> CommitStaged(const std::shared_ptr<const read::Snapshot>& snapshot,
                                        std::span<const pennon::StagedOverlay> staged,
                                        const commit::RetryPolicy& policy = {});

}  // namespace pennon::write
