#include "pennon/write/overlay_commit.h"

#include <optional>
#include <utility>

#include "pennon/commit/committer.h"
#include "pennon/commit/ops/data_overlay.h"

namespace pennon::write {
StagedFiles::~StagedFiles() {
  for (const StagedOverlay& overlay : overlays_) (void)table_.store->Delete(overlay.path);
}

arrow::Result<WriteResult> CommitOverlays(const std::shared_ptr<const read::Snapshot>& snapshot,
                                          StagedFiles& staged, std::vector<int32_t> read_fields,
                                          const commit::RetryPolicy& policy, bool keep_files) {
  WriteResult result;
  commit::CommitRequest request;
  request.table = snapshot->location;
  request.read = snapshot->manifest;
  std::vector<commit::OverlayGroup> groups;
  for (StagedOverlay& overlay : staged.Release()) {
    result.info.rows += overlay.covered.cardinality();
    result.info.cells += overlay.cells;
    result.info.files += 1;
    result.info.bytes_written += overlay.overlay.data_file.size_bytes;
    if (!keep_files) request.new_files.push_back(overlay.path);
    commit::OverlayGroup group;
    group.fragment_id = overlay.fragment_id;
    group.covered = std::move(overlay.covered);
    group.overlays.push_back(std::move(overlay.overlay));
    groups.push_back(std::move(group));
  }
  request.operation =
      std::make_shared<commit::DataOverlay>(std::move(groups), std::move(read_fields));
  ARROW_ASSIGN_OR_RAISE(const commit::CommitOutcome outcome, commit::Commit(request, policy));
  result.info.version = outcome.manifest->version();
  result.info.bytes_written += outcome.bytes_written;
  result.info.attempts = outcome.attempts;
  result.snapshot = read::WithManifest(*snapshot, outcome.manifest);
  return result;
}

arrow::Result<WriteResult> WriteOverlay(const std::shared_ptr<const read::Snapshot>& snapshot,
                                        uint64_t fragment_id,
                                        std::span<const OverlayColumn> columns,
                                        const commit::RetryPolicy& policy) {
  ARROW_RETURN_NOT_OK(table::CheckWritable(*snapshot->manifest));
  StagedFiles staged(snapshot->location);
  ARROW_ASSIGN_OR_RAISE(std::optional<StagedOverlay> overlay,
                        WriteOverlayFile(snapshot, fragment_id, columns));
  if (!overlay) {
    WriteResult unchanged;
    unchanged.info.version = snapshot->manifest->version();
    unchanged.snapshot = snapshot;
    return unchanged;
  }
  staged.Add(std::move(*overlay));
  return CommitOverlays(snapshot, staged, {}, policy);
}

}  // namespace pennon::write
