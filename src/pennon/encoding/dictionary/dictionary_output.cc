#include "pennon/encoding/dictionary/dictionary_output.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "pennon/encoding/output.h"
#include "pennon/error.h"

namespace pennon::encoding {

arrow::Status DictionaryOutput::CheckCount(uint64_t count) const {
  if (count <= most_items_) return arrow::Status::OK();
  return InvalidInput(
      "the dictionaries of these rows have more items together than their indexes can name: read "
      "fewer rows at once; at most ",
      most_items_, ", found ", count);
}

arrow::Result<std::span<const uint64_t>> DictionaryOutput::NumbersOf(
    std::shared_ptr<const DecodedItems> page) {
  for (const Page& known : pages_) {
    if (known.items == page) return std::span<const uint64_t>(known.numbers);
  }
  if (page->count == 0) return std::span<const uint64_t>();
  if (pages_.empty() ||
      (pages_[0].items->bytes == page->bytes && pages_[0].items->offsets == page->offsets)) {
    if (pages_.empty()) {
      ARROW_RETURN_NOT_OK(CheckCount(page->count));
      items_.reserve(page->count);
      for (uint64_t i = 0; i < page->count; ++i) items_.push_back(page->item(i));
    }
    pages_.push_back({std::move(page), {}});
    return std::span<const uint64_t>();
  }
  if (number_of_.empty()) {
    for (uint64_t i = 0; i < items_.size(); ++i) number_of_.emplace(items_[i], i);
  }
  Page added;
  added.numbers.reserve(page->count);
  for (uint64_t i = 0; i < page->count; ++i) {
    const auto [at, is_new] = number_of_.emplace(page->item(i), items_.size());
    if (is_new) items_.push_back(at->first);
    added.numbers.push_back(at->second);
  }
  ARROW_RETURN_NOT_OK(CheckCount(items_.size()));
  added.items = std::move(page);
  pages_.push_back(std::move(added));
  return std::span<const uint64_t>(pages_.back().numbers);
}

void DictionaryOutput::AddPlaceholder() {
  auto zero = std::make_shared<DecodedItems>();
  zero->count = 1;
  if (items_type_.kind == LeafKind::kVariable) {
    zero->offsets = {0, 0};
  } else {
    zero->item_bytes = (items_type_.bits_per_slot() + 7) / 8;
  }
  zero->bytes.resize(zero->item_bytes + DecodedItems::kPadding);
  items_.push_back(zero->item(0));
  pages_.push_back({std::move(zero), {}});
}

arrow::Result<std::shared_ptr<arrow::ArrayData>> DictionaryOutput::Finish(
    const std::shared_ptr<arrow::DataType>& type, arrow::MemoryPool* pool) const {
  const uint64_t count = items_.size();
  ARROW_ASSIGN_OR_RAISE(auto out, ColumnOutput::Make(items_type_, count, pool));
  if (items_type_.kind == LeafKind::kVariable) {
    VariableOutput& strings = out->variable();
    ARROW_RETURN_NOT_OK(strings.StartRun(0));
    uint64_t total = 0;
    for (const std::string_view item : items_) total += item.size();
    ARROW_ASSIGN_OR_RAISE(uint8_t* at, strings.Reserve(total));
    const auto append = [&](auto* ends) {
      uint64_t end = 0;
      for (uint64_t i = 0; i < count; ++i) {
        if (!items_[i].empty()) std::memcpy(at + end, items_[i].data(), items_[i].size());
        end += items_[i].size();
        ends[i] = static_cast<std::remove_pointer_t<decltype(ends)>>(end);
      }
    };
    strings.offset_bits() == 32 ? append(strings.ends<int32_t>()) : append(strings.ends<int64_t>());
    strings.AdvanceBytes(total);
    ARROW_RETURN_NOT_OK(strings.FinishRun(count));
  } else if (items_type_.bits_per_slot() == 1) {
    for (uint64_t i = 0; i < count; ++i) {
      if (items_[i][0] != 0) out->values()[i / 8] |= static_cast<uint8_t>(1U << (i % 8));
    }
  } else {
    uint8_t* at = out->values();
    for (const std::string_view item : items_) {
      std::memcpy(at, item.data(), item.size());
      at += item.size();
    }
  }
  return out->Finish(type);
}

}  // namespace pennon::encoding
