// The dictionary of an array whose pages have dictionaries of their own. Not thread-safe.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <arrow/array/data.h>
#include <arrow/memory_pool.h>
#include <arrow/result.h>
#include <arrow/type_fwd.h>

#include "pennon/encoding/leaf_type.h"

namespace pennon::encoding {

/// The decoded items of one page's dictionary. Immutable.
struct DecodedItems {
  uint64_t count = 0;
  uint64_t item_bytes = 0;        ///< items of fixed width; a boolean takes a byte, 0 or 1
  std::vector<uint64_t> offsets;  ///< strings: count + 1, from 0; else empty
  /// The items, end to end, and kPadding more bytes, so that copies may read past the last one.
  std::vector<uint8_t> bytes;

  /// Short items may be copied by one load of this many bytes.
  static constexpr size_t kPadding = 16;

  std::string_view item(uint64_t i) const {
    const auto* const all = reinterpret_cast<const char*>(bytes.data());
    if (offsets.empty()) return {all + i * item_bytes, item_bytes};
    return {all + offsets[i], offsets[i + 1] - offsets[i]};
  }
  size_t MemoryBytes() const {
    return sizeof(*this) + bytes.size() + offsets.size() * sizeof(uint64_t);
  }
};

/// Collects the items of the pages that an array is read from. The first page's dictionary is taken
/// as it is; of later ones only items are added that are not there yet, compared by their bytes.
class DictionaryOutput {
 public:
  /// For a dictionary of `items`, at most `most_items` of them.
  DictionaryOutput(LeafType items, uint64_t most_items)
      : items_type_(std::move(items)), most_items_(most_items) {}

  /// Which item of the array's dictionary each item of `page` is; empty if all have the same number
  /// as in the page. Good until the next call. Fails if there come to be more items than the
  /// indexes can name.
  arrow::Result<std::span<const uint64_t>> NumbersOf(std::shared_ptr<const DecodedItems> page);

  /// Whether no page had an item.
  bool empty() const { return items_.empty(); }
  /// Adds an item of zero bytes, for slots without a value.
  void AddPlaceholder();

  /// Gives the dictionary, an array of `type`.
  arrow::Result<std::shared_ptr<arrow::ArrayData>> Finish(
      const std::shared_ptr<arrow::DataType>& type, arrow::MemoryPool* pool) const;

 private:
  struct Page {
    std::shared_ptr<const DecodedItems> items;  ///< kept: items_ points into it
    std::vector<uint64_t> numbers;              ///< empty: the same as in the page
  };
  arrow::Status CheckCount(uint64_t count) const;

  LeafType items_type_;
  uint64_t most_items_;
  std::vector<Page> pages_;
  std::vector<std::string_view> items_;
  std::unordered_map<std::string_view, uint64_t> number_of_;  ///< filled by the second dictionary
};

}  // namespace pennon::encoding
