// Writes the pages of Arrow dictionary columns of 2.1 and 2.2: a mini-block page of indexes as wide
// as the dictionary's keys, and the items in block form.
//
// The items are as those of a dictionary that the writer makes: dictionary_encoder.h.
//
// Source: docs/format-notes.md, "Dictionary". Stateless, thread-safe.
#pragma once

#include <memory>
#include <optional>

#include <arrow/array/data.h>
#include <arrow/memory_pool.h>
#include <arrow/result.h>

#include "pennon/encoding/leaf_type.h"
#include "pennon/encoding/nested/shredding.h"
#include "pennon/encoding/page_encoder.h"

namespace pennon::encoding {

/// Encodes `rows` of a dictionary column with indexes of type `index_type` into items of
/// `item_type`; nothing if they must be split. Indexes outside the dictionary are a kInvalidInput
/// error.
arrow::Result<std::optional<EncodedPage>> EncodeDictionaryPage(const ShreddedRows& rows,
                                                               const LeafType& index_type,
                                                               const LeafType& item_type,
                                                               const PageOptions& options,
                                                               arrow::MemoryPool* pool);

/// Fails unless every index of `values`, a dictionary array, that `validity` (bit 0 first, or null)
/// calls valid names an item.
arrow::Status CheckDictionaryIndexes(const arrow::ArrayData& values, const LeafType& index_type,
                                     const arrow::Buffer* validity);

/// `array`, a dictionary array, with those slots null whose item is null; as it is if none is.
arrow::Result<std::shared_ptr<arrow::ArrayData>> MoveItemNulls(
    std::shared_ptr<arrow::ArrayData> array, arrow::MemoryPool* pool);

}  // namespace pennon::encoding
