// UPDATE by overlays: the rows that match, their new values, one overlay file a fragment, one
// commit.
#pragma once

#include <memory>

#include <arrow/result.h>

#include "pennon/commit/retry.h"
#include "pennon/read/snapshot.h"
#include "pennon/write.h"
#include "pennon/write/overlay_commit.h"

namespace pennon::write {

/// Sets cells of the rows that match (Dataset::Update). When a concurrent commit moved the rows,
/// removed their fragment, or changed values that this update was computed from, all of it is done
/// anew on the newest version, for at most 30 s. Without a matching row, and in a dry run, nothing
/// is written.
///
/// kInvalidInput: nothing to set, an unknown column or one set twice, an expression that does not
/// parse or whose value the column cannot hold. kUnsupported: another strategy than overlays, and
/// columns that cannot be overlaid. Memory: the new cells of one fragment beyond what the scan
/// holds.
arrow::Result<WriteResult> Update(std::shared_ptr<const read::Snapshot> snapshot,
                                  const UpdateOptions& options,
                                  const commit::RetryPolicy& policy = {});

}  // namespace pennon::write
