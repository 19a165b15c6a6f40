// The items of a dictionary page, decoded once, and the gathering of values by index.
//
//   page buffer 2: num_dictionary_items items in block form: Variable, or General around it, for
//   strings; any encoding of block_values.h for fixed-width values. FixedSizeList(Flat) stands for
//   its bytes, Flat(1) for one bit an item.
//
// A dictionary column has one too: then the items are its dictionary, and the indexes, of the
// width of its key type, go to the output.
//
// Source: docs/format-notes.md, "Dictionary". All input is untrusted; immutable, thread-safe.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <arrow/result.h>

#include "pennon/encoding/dictionary/dictionary_output.h"
#include "pennon/encoding/leaf_type.h"
#include "pennon/encoding/output.h"
#include "pennon/wire/page_layout.h"

namespace pennon::encoding {

class DictionaryItems {
 public:
  /// Fails if items of `type` cannot be stored as `encoding`.
  static arrow::Status Check(const wire::CompressiveEncoding& encoding, const LeafType& type);

  /// Decodes `count` items of `type` from `in`. Allocates no more than `in` can expand to, or
  /// `num_values` + 1 items.
  static arrow::Result<DictionaryItems> Decode(const wire::CompressiveEncoding& encoding,
                                               const LeafType& type, uint64_t count,
                                               uint64_t num_values, std::span<const uint8_t> in);

  /// Writes the items named by `indices`, words of `index_bits` bits at any alignment, to the slots
  /// from `slot`; for a dictionary column the indexes. One that names no item is a kCorrupt error.
  arrow::Status Gather(const uint8_t* indices, int index_bits, uint64_t count, uint64_t slot,
                       ColumnOutput* out) const;

  size_t MemoryBytes() const { return items_->MemoryBytes() + sizeof(*this); }

 private:
  DictionaryItems() = default;
  template <typename Index>
  arrow::Status GatherIndexed(const uint8_t* indices, uint64_t count, uint64_t slot,
                              ColumnOutput* out) const;
  template <typename Index>
  arrow::Status WriteIndices(const uint8_t* indices, uint64_t count, uint64_t slot,
                             ColumnOutput* out) const;
  template <typename Index>
  void GatherFixed(const uint8_t* indices, uint64_t count, uint8_t* out) const;
  template <typename Index, typename Offset>
  arrow::Status GatherVariable(const uint8_t* indices, uint64_t count, uint64_t slot,
                               VariableOutput* out) const;

  std::shared_ptr<const DecodedItems> items_;
};

}  // namespace pennon::encoding
