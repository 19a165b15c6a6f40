// Where cells come from: one cell in full, and what every overlay still gives.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <arrow/result.h>

#include "pennon/info.h"
#include "pennon/read/snapshot.h"

namespace pennon::read {

/// Explains the cell of `column`, a top-level column or a field inside structs by its path, in the
/// row at position `row` among live rows. A struct itself, whose fields come from places of their
/// own, is a kInvalidInput error.
arrow::Result<CellExplanation> ExplainCell(const std::shared_ptr<const Snapshot>& snapshot,
                                           uint64_t row, const std::string& column);

/// Every overlay of the version, fragment after fragment, oldest first. Parses every coverage.
arrow::Result<std::vector<OverlayInfo>> ListOverlays(
    const std::shared_ptr<const Snapshot>& snapshot);

/// A data file as the public structs show it.
FileInfo DescribeFile(const table::DataFile& file);

}  // namespace pennon::read
