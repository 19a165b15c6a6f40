// What a committed transaction touched, as far as conflict rules ask (format: table.md 6.3
// and 6.4).
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include <arrow/result.h>

#include "pennon/base/bitmap.h"
#include "pennon/commit/transaction.h"

namespace pennon::commit {

/// Cells that a transaction gave new values in place, row addresses kept.
struct ChangedCells {
  uint64_t fragment_id = 0;
  std::vector<int32_t> fields;
  std::optional<Bitmap> offsets;  ///< none = every row
};

/// The parts of one operation. What an operation does not have stays empty.
struct Footprint {
  OperationKind kind = OperationKind::kUnknown;
  std::vector<uint64_t> removed_fragments;  ///< Delete, Update, and the old fragments of Rewrite
  std::vector<uint64_t>
      updated_fragments;    ///< Delete, Update: fragments with a new deletion file or new columns
  bool moves_rows = false;  ///< Update: rows left `updated_fragments` for new ones
  bool preserves_nullability = true;  ///< Project, Merge
  std::vector<ChangedCells> cells;    ///< Update in place, DataReplacement, DataOverlay
};

/// Reads the footprint of `transaction`; `path` is for messages. Bytes that do not decode are a
/// kCorrupt error.
arrow::Result<Footprint> ReadFootprint(const Transaction& transaction, std::string_view path);

}  // namespace pennon::commit
