// Dataset's writes.
#include <utility>

#include "pennon/dataset.h"
#include "pennon/read/snapshot.h"
#include "pennon/write/overlay_commit.h"
#include "pennon/write/staging.h"
#include "pennon/write/update.h"

namespace pennon {

arrow::Result<Dataset::Committed> Dataset::Update(const UpdateOptions& options) const {
  ARROW_ASSIGN_OR_RAISE(write::WriteResult result, write::Update(snapshot_, options));
  return Committed{result.info, Dataset(std::move(result.snapshot))};
}

arrow::Result<Dataset::Committed> Dataset::WriteOverlay(
    uint64_t fragment_id, const std::vector<OverlayColumn>& columns) const {
  ARROW_ASSIGN_OR_RAISE(write::WriteResult result,
                        write::WriteOverlay(snapshot_, fragment_id, columns));
  return Committed{result.info, Dataset(std::move(result.snapshot))};
}

arrow::Result<std::optional<StagedOverlay>> Dataset::StageOverlay(
    uint64_t fragment_id, const std::vector<OverlayColumn>& columns) const {
  return write::Stage(snapshot_, fragment_id, columns);
}

arrow::Result<Dataset::Committed> Dataset::CommitOverlays(
    const std::vector<StagedOverlay>& staged) const {
  ARROW_ASSIGN_OR_RAISE(write::WriteResult result, write::CommitStaged(snapshot_, staged));
  return Committed{result.info, Dataset(std::move(result.snapshot))};
}

}  // namespace pennon
