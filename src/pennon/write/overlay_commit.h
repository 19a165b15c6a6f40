// From staged overlays to the next version: what Update and WriteOverlay share.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <arrow/result.h>

#include "pennon/commit/retry.h"
#include "pennon/read/snapshot.h"
#include "pennon/write.h"
#include "pennon/write/overlay_writer.h"

namespace pennon::write {

/// What a write did, and the version that stands now: the one read if nothing changed.
struct WriteResult {
  CommitInfo info;
  std::shared_ptr<const read::Snapshot> snapshot;
};

/// Value files that are stored but not committed: removes them when it goes out of scope before
/// Release.
class StagedFiles {
 public:
  explicit StagedFiles(table::TableLocation table) : table_(std::move(table)) {}
  ~StagedFiles();
  StagedFiles(const StagedFiles&) = delete;
  StagedFiles& operator=(const StagedFiles&) = delete;

  void Add(StagedOverlay overlay) { overlays_.push_back(std::move(overlay)); }
  const std::vector<StagedOverlay>& overlays() const { return overlays_; }
  /// Hands the files over: whoever calls it sees to them from now on.
  std::vector<StagedOverlay> Release() { return std::move(overlays_); }

 private:
  table::TableLocation table_;
  std::vector<StagedOverlay> overlays_;
};

/// Commits all of `staged` as one version on top of the newest. `read_fields`: see
/// commit::OverlayFootprint. Files of a commit that failed for certain are removed unless
/// `keep_files`.
arrow::Result<WriteResult> CommitOverlays(const std::shared_ptr<const read::Snapshot>& snapshot,
                                          StagedFiles& staged, std::vector<int32_t> read_fields,
                                          const commit::RetryPolicy& policy = {},
                                          bool keep_files = false);

/// Writes one overlay file for a fragment and commits it (Dataset::WriteOverlay). Offsets are
/// physical: a concurrent change that moved the covered rows is a kCommitConflict, never planned
/// anew.
arrow::Result<WriteResult> WriteOverlay(const std::shared_ptr<const read::Snapshot>& snapshot,
                                        uint64_t fragment_id,
                                        std::span<const OverlayColumn> columns,
                                        const commit::RetryPolicy& policy = {});

}  // namespace pennon::write
