// Takes: rows by position, address or row id, in the order asked.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <arrow/result.h>
#include <arrow/type_fwd.h>

#include "pennon/read/snapshot.h"
#include "pennon/scan.h"

namespace pennon::read {

/// A row's place in storage.
struct RowPlace {
  size_t fragment = 0;  ///< index in Manifest::fragments()
  uint32_t offset = 0;
};

/// The rows at positions among live rows. Out of range: kInvalidInput.
arrow::Result<std::vector<RowPlace>> FindPositions(const std::shared_ptr<const Snapshot>& snapshot,
                                                   std::span<const int64_t> positions);
/// The rows at addresses (fragment id << 32 | offset). An address of no live row is kInvalidInput,
/// or is left out if `skip_missing`.
arrow::Result<std::vector<RowPlace>> FindAddresses(const std::shared_ptr<const Snapshot>& snapshot,
                                                   std::span<const uint64_t> addresses,
                                                   bool skip_missing);
/// The rows with row ids; ids that are gone are left out.
arrow::Result<std::vector<RowPlace>> FindRowIds(const std::shared_ptr<const Snapshot>& snapshot,
                                                std::span<const uint64_t> ids);

/// Reads rows that live, in the order given, repeats kept. Each row is fetched once; of overlays,
/// only those that give a value to one of them are opened.
arrow::Result<std::shared_ptr<arrow::Table>> TakeRows(
    const std::shared_ptr<const Snapshot>& snapshot, std::span<const RowPlace> rows,
    const TakeOptions& options);

}  // namespace pennon::read
