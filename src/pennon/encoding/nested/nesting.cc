#include "pennon/encoding/nested/nesting.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

#include "pennon/error.h"

namespace pennon::encoding {

namespace {

/// A level that no page has.
constexpr uint16_t kNoLevel = 0xffff;

uint16_t MaxOf(const std::vector<uint16_t>& levels) {
  uint16_t max = 0;
  for (const uint16_t level : levels) max = std::max(max, level);
  return max;
}

/// Eight bytes that are 0 or 1 as the bits of one byte, the first byte lowest.
uint8_t PackEight(const uint8_t* flags) {
  uint64_t word;
  std::memcpy(&word, flags, 8);
  return static_cast<uint8_t>((word * 0x0102040810204080ULL) >> 56);
}

/// Writes bit i of `bits` = whether levels[i] is at most `base`, or `empty`. Returns the set bits.
uint64_t PackValidity(const uint16_t* levels, uint64_t count, uint16_t base, uint16_t empty,
                      uint8_t* bits) {
  constexpr uint64_t kBlock = 64;
  uint8_t flags[kBlock];
  uint64_t valid = 0;
  for (uint64_t i = 0; i < count; i += kBlock) {
    const uint64_t n = std::min(kBlock, count - i);
    if (n < kBlock) std::memset(flags, 0, kBlock);
    uint64_t sum = 0;
    for (uint64_t j = 0; j < n; ++j) {
      flags[j] = levels[i + j] <= base || levels[i + j] == empty ? 1 : 0;
      sum += flags[j];
    }
    valid += sum;
    for (uint64_t j = 0; j < n; j += 8) bits[(i + j) / 8] = PackEight(flags + j);
  }
  return valid;
}

/// What WalkList needs and finds.
struct ListWalk {
  uint16_t* repetition;
  uint16_t* definition;  ///< used with kDefined
  uint16_t* kept;        ///< used with kHidden: levels of the lists
  uint64_t entries;      ///< out: those left, that start a list of this layer or one further out
  uint64_t lists = 0;    ///< out
  uint64_t items;        ///< items before the page; out: after it
  uint64_t wrong = 0;    ///< out: entries that continue a list which is not there
};

/// Goes once over the entries of a page: writes the offsets of the lists (one more than there are
/// lists), and keeps the entries that start a list, their repetition reduced by one. kDefined:
/// there are definition levels; kHidden: some are above `outer`, of entries that are no list here.
template <typename Offset, bool kDefined, bool kHidden>
void WalkList(uint16_t base, uint16_t outer, Offset* offsets, ListWalk* walk) {
  uint16_t* const rep = walk->repetition;
  uint16_t* const def = walk->definition;
  uint64_t kept = 0, lists = 0, wrong = 0, items = walk->items;
  for (uint64_t i = 0; i < walk->entries; ++i) {
    const uint16_t r = rep[i];
    const uint16_t d = kDefined ? def[i] : 0;
    const uint64_t starts = r != 0 ? 1 : 0;
    const uint64_t has_item = !kDefined || d <= base ? 1 : 0;
    offsets[lists] = static_cast<Offset>(items);
    if constexpr (kHidden) walk->kept[lists] = d;
    lists += kHidden ? starts & (d <= outer ? 1 : 0) : starts;
    items += has_item;
    wrong += (starts | has_item) ^ 1;
    rep[kept] = static_cast<uint16_t>(r - 1);
    if constexpr (kDefined) def[kept] = d;
    kept += starts;
  }
  offsets[lists] = static_cast<Offset>(items);
  walk->entries = kept;
  walk->lists = lists;
  walk->items = items;
  walk->wrong = wrong;
}

template <typename Offset>
void WalkListOf(bool defined, bool hidden, uint16_t base, uint16_t outer, Offset* offsets,
                ListWalk* walk) {
  if (!defined) return WalkList<Offset, false, false>(base, outer, offsets, walk);
  if (!hidden) return WalkList<Offset, true, false>(base, outer, offsets, walk);
  WalkList<Offset, true, true>(base, outer, offsets, walk);
}

/// The levels of the item layers from `layer` up to the next list layer.
uint16_t ItemLevels(std::span<const wire::LayerKind> kinds, size_t layer) {
  int levels = 0;
  for (; layer < kinds.size() && !wire::IsListLayer(kinds[layer]); ++layer)
    levels += wire::DefinitionLevels(kinds[layer]);
  return static_cast<uint16_t>(levels);
}

}  // namespace

NestingReader::NestingReader(std::vector<PathLayer> layers, size_t wanted, arrow::MemoryPool* pool)
    : layers_(std::move(layers)) {
  outputs_.reserve(wanted);
  for (size_t i = 0; i < wanted; ++i) outputs_.emplace_back(pool);
}

arrow::Result<NestingReader> NestingReader::Make(std::vector<PathLayer> layers, size_t wanted,
                                                 arrow::MemoryPool* pool) {
  NestingReader out(std::move(layers), wanted, pool);
  bool below_list = false;
  for (size_t i = out.layers_.size(); i-- > 0;) {
    const PathLayer& layer = out.layers_[i];
    if (layer.is_list) {
      ++out.lists_;
      below_list = true;
    }
    if (layer.dimension > 1 && below_list)
      return Unsupported("", "fixed-size lists of structs inside lists are not supported");
    if (__builtin_mul_overflow(out.slots_per_row_, layer.dimension, &out.slots_per_row_) ||
        out.slots_per_row_ > uint64_t{1} << 40) {
      return Unsupported("", "fixed-size lists of that many structs are not supported");
    }
  }
  for (size_t i = 0; i < wanted; ++i) {
    if (!out.layers_[i].is_list) continue;
    const int64_t zero = 0;
    ARROW_RETURN_NOT_OK(out.outputs_[i].offsets.Append(&zero, out.layers_[i].offset_bits / 8));
  }
  return out;
}

arrow::Status NestingReader::CheckLevels(const PageLevels& levels,
                                         std::span<const wire::LayerKind> kinds,
                                         uint64_t slots) const {
  int max_definition = 0;
  bool fits = kinds.size() == layers_.size();
  for (size_t i = 0; fits && i < kinds.size(); ++i) {
    fits = wire::IsListLayer(kinds[i]) == layers_[i].is_list;
    max_definition += wire::DefinitionLevels(kinds[i]);
  }
  if (!fits) {
    return Corrupt("", "the layers of a page are not those of the column's type: expected layers ",
                   layers_.size(), ", lists ", lists_, "; found layers ", kinds.size());
  }
  if (slots % slots_per_row_ != 0) {
    return Corrupt("", "a page does not hold whole fixed-size lists: expected a multiple of ",
                   slots_per_row_, ", found slots ", slots);
  }
  const uint64_t entries = levels.entries;
  if ((!levels.definition.empty() && levels.definition.size() != entries) ||
      levels.repetition.size() != (lists_ > 0 ? entries : 0)) {
    return Corrupt("", "a page has a wrong number of levels: expected ", entries, ", found ",
                   levels.repetition.size(), " and ", levels.definition.size());
  }
  if (MaxOf(levels.definition) > max_definition || MaxOf(levels.repetition) > lists_) {
    return Corrupt("", "a page has levels above the highest: expected at most ", lists_, " and ",
                   max_definition, ", found ", MaxOf(levels.repetition), " and ",
                   MaxOf(levels.definition));
  }
  uint64_t starts = entries;
  if (lists_ > 0) {
    starts = 0;
    for (const uint16_t level : levels.repetition) starts += level == lists_ ? 1 : 0;
    if (entries > 0 && levels.repetition[0] != lists_) {
      return Corrupt("", "the levels of a page do not start with a row: expected ", lists_,
                     ", found ", levels.repetition[0]);
    }
  }
  if (starts != slots) {
    return Corrupt("", "the levels of a page do not describe its rows: expected ", slots,
                   ", found ", starts);
  }
  return arrow::Status::OK();
}

arrow::Status NestingReader::AppendValidity(Output* out, Slots slots, uint16_t base,
                                            uint16_t empty) {
  const auto count = static_cast<int64_t>(slots.count);
  uint64_t valid = slots.count;
  if (slots.definition != nullptr) {
    packed_.resize(slots.count / 8 + 1);
    valid = PackValidity(slots.definition, slots.count, base, empty, packed_.data());
  }
  if (valid < slots.count) {
    const auto missing = static_cast<int64_t>(out->length) - out->validity.length();
    ARROW_RETURN_NOT_OK(out->validity.Append(missing, true));
    ARROW_RETURN_NOT_OK(out->validity.Reserve(count));
    out->validity.UnsafeAppend(packed_.data(), 0, count);
  }
  out->length += slots.count;
  return arrow::Status::OK();
}

NestingReader::Slots NestingReader::KeepVisible(const PageLevels& levels, uint16_t top) {
  if (levels.definition.empty()) return {nullptr, levels.entries};
  if (lists_ == 0 || MaxOf(levels.definition) <= top) {
    return {levels.definition.data(), levels.entries};
  }
  kept_.resize(levels.entries + 1);
  uint64_t kept = 0;
  for (const uint16_t level : levels.definition) {
    kept_[kept] = level;
    kept += level <= top ? 1 : 0;
  }
  return {kept_.data(), kept};
}

NestingReader::Slots NestingReader::KeepEvery(Slots slots, uint64_t step) {
  const uint64_t count = slots.count / step;
  if (slots.definition == nullptr) return {nullptr, count};
  std::vector<uint16_t> kept(count);
  for (uint64_t i = 0; i < count; ++i) kept[i] = slots.definition[i * step];
  kept_ = std::move(kept);
  return {kept_.data(), count};
}

arrow::Result<NestingReader::Slots> NestingReader::AppendList(size_t layer, const ListLevels& list,
                                                              PageLevels* levels) {
  Output& out = outputs_[layer];
  const bool defined = !levels->definition.empty();
  bool hidden = false;
  if (defined) {
    // Entries that went away at a layer inside do not count.
    const auto end = levels->definition.begin() + static_cast<std::ptrdiff_t>(levels->entries);
    hidden = std::any_of(levels->definition.begin(), end,
                         [&](uint16_t level) { return level > list.outer; });
  }
  if (hidden) kept_.resize(levels->entries + 1);
  ListWalk walk{.repetition = levels->repetition.data(),
                .definition = levels->definition.data(),
                .kept = kept_.data(),
                .entries = levels->entries,
                .items = out.items};
  const int width = layers_[layer].offset_bits / 8;
  int64_t starts = 0;
  for (uint64_t i = 0; i < levels->entries; ++i) starts += levels->repetition[i] != 0 ? 1 : 0;
  // The last offset there is the first of the page.
  ARROW_RETURN_NOT_OK(out.offsets.Reserve(starts * width));
  uint8_t* const at = out.offsets.mutable_data() + out.length * static_cast<uint64_t>(width);
  if (width == 4) {
    WalkListOf(defined, hidden, list.base, list.outer, reinterpret_cast<uint32_t*>(at), &walk);
  } else {
    WalkListOf(defined, hidden, list.base, list.outer, reinterpret_cast<uint64_t*>(at), &walk);
  }
  if (walk.wrong > 0) {
    return Corrupt("", "the levels of a page continue lists that are null or empty: entries ",
                   walk.wrong);
  }
  if (width == 4 && walk.items > static_cast<uint64_t>(std::numeric_limits<int32_t>::max())) {
    return InvalidInput(
        "the lists have more items than 32-bit offsets can count: read fewer rows at once; ",
        walk.items, " items");
  }
  out.offsets.UnsafeAdvance(static_cast<int64_t>(walk.lists) * width);
  out.items = walk.items;
  levels->entries = walk.entries;
  const uint16_t* const kept = hidden ? kept_.data() : levels->definition.data();
  const Slots slots{defined ? kept : nullptr, walk.lists};
  ARROW_RETURN_NOT_OK(AppendValidity(&out, slots, list.base, list.empty));
  return slots;
}

arrow::Status NestingReader::AppendPage(PageLevels levels, std::span<const wire::LayerKind> kinds,
                                        uint64_t slots_of_page) {
  ARROW_RETURN_NOT_OK(CheckLevels(levels, kinds, slots_of_page));
  // The layers come in groups: item layers that have the same slots, then the list around them.
  Slots slots = KeepVisible(levels, ItemLevels(kinds, 0));
  if (slots.count != levels.values) {
    return Corrupt("", "a page has a wrong number of values: expected ", slots.count, ", found ",
                   levels.values);
  }
  uint16_t base = 0;
  for (size_t i = 0; i < outputs_.size(); ++i) {
    const auto own = static_cast<uint16_t>(wire::DefinitionLevels(kinds[i]));
    if (layers_[i].is_list) {
      const bool can_be_empty = kinds[i] == wire::LayerKind::kEmptyableList ||
                                kinds[i] == wire::LayerKind::kNullAndEmptyList;
      const auto top = static_cast<uint16_t>(base + own);
      const ListLevels list{.base = base,
                            .empty = can_be_empty ? top : kNoLevel,
                            .outer = static_cast<uint16_t>(top + ItemLevels(kinds, i + 1))};
      ARROW_ASSIGN_OR_RAISE(slots, AppendList(i, list, &levels));
    } else {
      if (layers_[i].dimension > 1) slots = KeepEvery(slots, layers_[i].dimension);
      const auto valid = static_cast<uint16_t>(layers_[i].never_null ? base + own : base);
      ARROW_RETURN_NOT_OK(AppendValidity(&outputs_[i], slots, valid, kNoLevel));
    }
    base = static_cast<uint16_t>(base + own);
  }
  return arrow::Status::OK();
}

arrow::Result<NestingBuffers> NestingReader::Finish(size_t layer) {
  Output& out = outputs_[layer];
  NestingBuffers buffers{.length = out.length, .items = out.items};
  buffers.null_count = static_cast<uint64_t>(out.validity.false_count());
  if (buffers.null_count > 0) {
    const auto missing = static_cast<int64_t>(out.length) - out.validity.length();
    ARROW_RETURN_NOT_OK(out.validity.Append(missing, true));
    ARROW_ASSIGN_OR_RAISE(buffers.validity, out.validity.Finish());
  }
  if (layers_[layer].is_list) {
    ARROW_ASSIGN_OR_RAISE(buffers.offsets, out.offsets.Finish());
  }
  return buffers;
}

}  // namespace pennon::encoding
