#include "pennon/encoding/nested/slot_runs.h"

#include <arrow/array/array_base.h>
#include <arrow/array/concatenate.h>
#include <arrow/array/util.h>
#include <arrow/type.h>
#include <arrow/util/bit_util.h>

#include "pennon/error.h"

namespace pennon::encoding {

void SlotRuns::Multiply(int64_t dimension) {
  total_ *= dimension;
  for (SlotRun& run : runs_) {
    run.first *= dimension;
    run.length *= dimension;
  }
}

ListOffsets::ListOffsets(const arrow::ArrayData& list)
    : is_large_(list.type->id() == arrow::Type::LARGE_LIST) {
  if (is_large_) {
    large_ = list.GetValues<int64_t>(1);
  } else {
    small_ = list.GetValues<int32_t>(1);
  }
}

arrow::Status CheckOffsets(const arrow::ArrayData& list, const SlotRuns& slots) {
  if (slots.total() == 0) return arrow::Status::OK();
  if (list.child_data.size() != 1 || list.buffers.size() < 2 || list.buffers[1] == nullptr) {
    return InvalidInput("An Arrow list array to write has no items or offsets; give a valid array");
  }
  const ListOffsets offsets(list);
  const int64_t items = list.child_data[0]->length;
  for (const SlotRun& run : slots.runs()) {
    for (int64_t slot = run.first; slot < run.first + run.length; ++slot) {
      const ListExtent extent = offsets.Extent(slot);
      if (extent.first >= 0 && extent.length >= 0 && extent.first + extent.length <= items)
        continue;
      return InvalidInput(
          "An Arrow list array to write has offsets that descend or leave its items: items ", items,
          ", list ", slot, ", start ", extent.first, ", length ", extent.length);
    }
  }
  return arrow::Status::OK();
}

SlotRuns ListItems(const arrow::ArrayData& list, const SlotRuns& slots) {
  SlotRuns items;
  if (slots.total() == 0) return items;
  const ListOffsets offsets(list);
  const uint8_t* bits =
      list.GetNullCount() == 0 || list.buffers[0] == nullptr ? nullptr : list.buffers[0]->data();
  for (const SlotRun& run : slots.runs()) {
    for (int64_t slot = run.first; slot < run.first + run.length; ++slot) {
      if (bits != nullptr && !arrow::bit_util::GetBit(bits, list.offset + slot)) continue;
      const ListExtent extent = offsets.Extent(slot);
      items.Append(extent.first, extent.length);
    }
  }
  return items;
}

arrow::Result<std::shared_ptr<arrow::ArrayData>> GatherSlots(const arrow::ArrayData& array,
                                                             const SlotRuns& slots,
                                                             arrow::MemoryPool* pool) {
  const auto& runs = slots.runs();
  if (runs.empty()) return array.Slice(0, 0);
  if (runs.size() == 1) return array.Slice(runs[0].first, runs[0].length);
  arrow::ArrayVector pieces;
  pieces.reserve(runs.size());
  for (const SlotRun& run : runs)
    pieces.push_back(arrow::MakeArray(array.Slice(run.first, run.length)));
  ARROW_ASSIGN_OR_RAISE(const std::shared_ptr<arrow::Array> all, arrow::Concatenate(pieces, pool));
  return all->data();
}

}  // namespace pennon::encoding
