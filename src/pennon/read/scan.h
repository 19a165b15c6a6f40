// Scans: windows of rows, fragment after fragment, read ahead in parallel and given in order.
#pragma once

#include <cstdint>
#include <memory>

#include <arrow/result.h>
#include <arrow/type_fwd.h>

#include "pennon/read/snapshot.h"
#include "pennon/scan.h"

namespace pennon::read {

/// Streams rows: fragments in list order, rows by offset. The reader keeps `snapshot` alive;
/// dropping it stops the work.
arrow::Result<std::shared_ptr<arrow::RecordBatchReader>> Scan(
    std::shared_ptr<const Snapshot> snapshot, const ScanOptions& options);

/// Counts live rows; without a filter from the manifest alone where it says.
arrow::Result<int64_t> CountRows(const std::shared_ptr<const Snapshot>& snapshot,
                                 const Filter& where);

}  // namespace pennon::read
