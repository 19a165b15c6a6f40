// The dictionary of a mini-block page: the values become indexes, the distinct values one block.
//
//   which     strings; values of 128 bits; in 2.2 values of 64 bits
//   when      at least 100 values, at most half of them distinct (judged by a sample first), and
//             the page becomes smaller
//   items     Variable or Flat; words bit-packed where that is smaller; in 2.2 lz4 around either
//
// Source: docs/format-notes.md, "Dictionary". Stateless, thread-safe.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include <arrow/buffer.h>
#include <arrow/memory_pool.h>
#include <arrow/result.h>

#include "pennon/encoding/encoding_hints.h"
#include "pennon/encoding/leaf_values.h"

namespace pennon::encoding {

/// The items of a dictionary in block form.
struct EncodedDictionary {
  std::string encoding;  ///< serialised CompressiveEncoding
  uint64_t num_items = 0;
  std::shared_ptr<arrow::Buffer> items;
};

/// The valid values that `numbers` name, as values of their own.
LeafValues TakeItems(const LeafValues& values, std::span<const uint64_t> numbers);

/// Encodes `items`, which have no nulls: strings, or fixed width in whole bytes.
arrow::Result<EncodedDictionary> EncodeDictionaryItems(const LeafValues& items,
                                                       const PageOptions& options);

/// Values as indexes of 32 bits into a dictionary. A null slot repeats the index before it.
struct DictionaryValues {
  LeafValues indexes;
  EncodedDictionary dictionary;
};

/// Gives `values` (not all null) as indexes if that pays in version 2.1 or 2.2.
arrow::Result<std::optional<DictionaryValues>> TryDictionary(const LeafValues& values,
                                                             const PageOptions& options,
                                                             arrow::MemoryPool* pool);

}  // namespace pennon::encoding
