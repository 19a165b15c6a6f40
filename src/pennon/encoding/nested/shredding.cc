#include "pennon/encoding/nested/shredding.h"

#include <algorithm>
#include <utility>

#include <arrow/type.h>
#include <arrow/util/bit_util.h>

#include "pennon/encoding/nested/slot_runs.h"
#include "pennon/error.h"

namespace pennon::encoding {
namespace {

using wire::LayerKind;

// Levels while the rows are walked: every layer owns all that its kind can have.
struct Levels {
  uint16_t null = 0;
  uint16_t empty = 0;  // lists only
};

bool IsList(const NestingLayer& layer) { return layer.kind == NestingKind::kList; }

// Validity bits of `array`, or null if it has no null.
const uint8_t* NullBits(const arrow::ArrayData& array) {
  if (array.buffers.empty() || array.buffers[0] == nullptr) return nullptr;
  return array.GetNullCount() == 0 ? nullptr : array.buffers[0]->data();
}

// Walks the layers from the outside in. Entries are alive while they stand for a slot of the layer
// reached: those with a level of at most `alive_`.
class Shredder {
 public:
  Shredder(const Nesting& nesting, int64_t rows)
      : nesting_(nesting), definition_(static_cast<size_t>(rows)), slots_(0, rows) {
    uint16_t next = 0;
    levels_.resize(nesting.size());
    for (size_t i = nesting.size(); i-- > 0;) {
      levels_[i].null = ++next;
      if (IsList(nesting[i])) {
        levels_[i].empty = ++next;
        ++lists_;
      }
    }
    alive_ = next;
    seen_.resize(size_t{next} + 1);
    if (lists_ > 0) repetition_.resize(static_cast<size_t>(rows));
  }

  arrow::Result<ShreddedRows> Run(const arrow::ArrayData& array, bool declare_all,
                                  arrow::MemoryPool* pool) {
    ShreddedRows out;
    PageNesting& page = out.nesting;
    page.rows = static_cast<uint64_t>(array.length);
    page.slots = page.rows;
    page.max_repetition = lists_;
    const arrow::ArrayData* at = &array;
    for (size_t i = 0; i < nesting_.size(); ++i) {
      const NestingLayer& layer = nesting_[i];
      if (IsList(layer)) {
        ARROW_RETURN_NOT_OK(CheckOffsets(*at, slots_));
        PassList(*at, levels_[i]);
      } else {
        MarkNulls(*at, levels_[i]);
      }
      if (!layer.nullable && seen_[levels_[i].null]) {
        return InvalidInput("Values to write have nulls, but their field is not nullable, column: ",
                            layer.column);
      }
      if (layer.child < 0) break;
      if (layer.kind == NestingKind::kFixedSizeList) page.slots *= PassFixedSizeList(*at);
      if (at->type->id() == arrow::Type::STRUCT) slots_.Shift(at->offset);
      at = at->child_data[static_cast<size_t>(layer.child)].get();
    }
    ARROW_ASSIGN_OR_RAISE(out.values, GatherSlots(*at, slots_, pool));
    NumberLevels(declare_all, &page);
    ARROW_RETURN_NOT_OK(TakeValidity(&out, pool));
    page.entries = definition_.size();
    if (page.max_definition > 0) page.definition = std::move(definition_);
    page.repetition = std::move(repetition_);
    return out;
  }

 private:
  bool IsAlive(size_t entry) const { return definition_[entry] <= alive_; }

  void MarkNulls(const arrow::ArrayData& array, Levels levels) {
    const uint8_t* bits = NullBits(array);
    const bool all_null = array.type->id() == arrow::Type::NA;
    if ((bits == nullptr && !all_null) || slots_.total() == 0) return;
    SlotCursor cursor(slots_);
    bool seen = false;
    for (size_t e = 0; e < definition_.size(); ++e) {
      if (!IsAlive(e)) continue;
      const int64_t slot = cursor.Next();
      if (definition_[e] != 0) continue;
      if (!all_null && arrow::bit_util::GetBit(bits, array.offset + slot)) continue;
      definition_[e] = levels.null;
      seen = true;
    }
    seen_[levels.null] = seen_[levels.null] || seen;
  }

  // Replaces every list that has items by one entry an item.
  void PassList(const arrow::ArrayData& array, Levels levels) {
    const uint16_t starts = static_cast<uint16_t>(lists_ - lists_passed_++);
    const uint8_t* bits = NullBits(array);
    const int64_t total = CountEntries(array, bits);
    std::vector<uint16_t> repetition(static_cast<size_t>(total));
    std::vector<uint16_t> definition(static_cast<size_t>(total));
    SlotRuns items;
    if (slots_.total() > 0) {
      const ListOffsets offsets(array);
      SlotCursor cursor(slots_);
      size_t to = 0;
      for (size_t e = 0; e < definition_.size(); ++e, ++to) {
        repetition[to] = repetition_[e];
        definition[to] = definition_[e];
        if (!IsAlive(e)) continue;
        const int64_t slot = cursor.Next();
        if (repetition[to] == 0) repetition[to] = starts;
        if (definition[to] != 0) continue;
        const bool null = bits != nullptr && !arrow::bit_util::GetBit(bits, array.offset + slot);
        const ListExtent extent = offsets.Extent(slot);
        if (null || extent.length == 0) {
          definition[to] = null ? levels.null : levels.empty;
          seen_[definition[to]] = true;
          continue;
        }
        items.Append(extent.first, extent.length);
        to += static_cast<size_t>(extent.length) - 1;
      }
    } else {
      repetition = repetition_;
      definition = definition_;
    }
    repetition_ = std::move(repetition);
    definition_ = std::move(definition);
    slots_ = std::move(items);
    alive_ = static_cast<uint16_t>(levels.null - 1);
  }

  // Entries behind a list layer.
  int64_t CountEntries(const arrow::ArrayData& array, const uint8_t* bits) const {
    int64_t total = static_cast<int64_t>(definition_.size());
    if (slots_.total() == 0) return total;
    const ListOffsets offsets(array);
    SlotCursor cursor(slots_);
    for (size_t e = 0; e < definition_.size(); ++e) {
      if (!IsAlive(e)) continue;
      const int64_t slot = cursor.Next();
      if (definition_[e] != 0) continue;
      if (bits != nullptr && !arrow::bit_util::GetBit(bits, array.offset + slot)) continue;
      total += std::max<int64_t>(1, offsets.Extent(slot).length) - 1;
    }
    return total;
  }

  // Repeats every entry that is alive once for each child.
  uint64_t PassFixedSizeList(const arrow::ArrayData& array) {
    const int64_t dimension = static_cast<const arrow::FixedSizeListType&>(*array.type).list_size();
    std::vector<uint16_t> repetition, definition;
    for (size_t e = 0; e < definition_.size(); ++e) {
      const size_t times = IsAlive(e) ? static_cast<size_t>(dimension) : 1;
      definition.insert(definition.end(), times, definition_[e]);
      if (lists_ > 0) repetition.insert(repetition.end(), times, repetition_[e]);
    }
    definition_ = std::move(definition);
    repetition_ = std::move(repetition);
    slots_.Shift(array.offset);
    slots_.Multiply(dimension);
    return static_cast<uint64_t>(dimension);
  }

  // Decides what the layers state, and gives the levels their final numbers.
  void NumberLevels(bool declare_all, PageNesting* out) {
    std::vector<uint16_t> number(seen_.size());
    uint16_t next = 0;
    bool below_lists = true;
    for (size_t i = nesting_.size(); i-- > 0;) {
      const NestingLayer& layer = nesting_[i];
      const bool null = declare_all ? layer.nullable : seen_[levels_[i].null];
      if (null) number[levels_[i].null] = ++next;
      if (!IsList(layer)) {
        out->layers.push_back(null ? LayerKind::kNullableItem : LayerKind::kAllValidItem);
        if (below_lists) out->max_visible = next;
        continue;
      }
      below_lists = false;
      const bool empty = declare_all || seen_[levels_[i].empty];
      if (empty) number[levels_[i].empty] = ++next;
      out->layers.push_back(null && empty ? LayerKind::kNullAndEmptyList
                            : null        ? LayerKind::kNullableList
                            : empty       ? LayerKind::kEmptyableList
                                          : LayerKind::kAllValidList);
    }
    out->max_definition = next;
    if (next + size_t{1} == number.size()) return;  // all numbers stay
    for (uint16_t& level : definition_) level = number[level];
  }

  // Collects which of the values are null.
  arrow::Status TakeValidity(ShreddedRows* out, arrow::MemoryPool* pool) const {
    const uint16_t max_visible = out->nesting.max_visible;
    if (max_visible == 0) return arrow::Status::OK();
    ARROW_ASSIGN_OR_RAISE(out->validity, arrow::AllocateEmptyBitmap(out->values->length, pool));
    uint8_t* bits = out->validity->mutable_data();
    int64_t slot = 0;
    uint64_t valid = 0;
    for (uint16_t level : definition_) {
      if (level > max_visible) continue;
      if (level == 0) {
        arrow::bit_util::SetBit(bits, slot);
        ++valid;
      }
      ++slot;
    }
    out->null_count = static_cast<uint64_t>(slot) - valid;
    if (out->null_count == 0) out->validity = nullptr;
    return arrow::Status::OK();
  }

  const Nesting& nesting_;
  std::vector<Levels> levels_;  // parallel to nesting_
  std::vector<bool> seen_;      // by level
  std::vector<uint16_t> repetition_;
  std::vector<uint16_t> definition_;
  SlotRuns slots_;  // of the entries that are alive, in the array reached
  uint16_t alive_ = 0;
  uint16_t lists_ = 0;
  uint16_t lists_passed_ = 0;
};

}  // namespace

bool HasItemAboveList(const Nesting& nesting) {
  bool item = false;
  for (const NestingLayer& layer : nesting) {
    if (IsList(layer) && item) return true;
    item |= layer.kind == NestingKind::kItem;
  }
  return false;
}

arrow::Result<ShreddedRows> Shred(const arrow::ArrayData& array, const Nesting& nesting,
                                  bool declare_all, arrow::MemoryPool* pool) {
  return Shredder(nesting, array.length).Run(array, declare_all, pool);
}

}  // namespace pennon::encoding
