// Puts overlay values into columns that cannot be written into: lists, maps, dictionaries, and what
// holds them.
#pragma once

#include <memory>
#include <span>

#include <arrow/array/data.h>
#include <arrow/memory_pool.h>
#include <arrow/status.h>

#include "pennon/overlay/scatter.h"

namespace pennon::overlay {

/// Replaces `*column` by one that has the values of `pieces` in their slots, as ScatterPieces does
/// for other types. A dictionary column whose values no longer fit its indices, and a list column
/// whose items no longer fit its offsets, is a kUnsupported error.
arrow::Status TakePieces(std::span<const Piece> pieces, std::shared_ptr<arrow::ArrayData>* column,
                         arrow::MemoryPool* pool);

}  // namespace pennon::overlay
