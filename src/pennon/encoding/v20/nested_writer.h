// Writes the pages of file version 2.0 that plain values do not have.
//
//   list              List: u64 end of each list, from the page's first item; null ones plus the
//                     number of items + 1. The items are another column
//   struct            SimpleStruct: nothing but its length; the children are other columns
//   packed struct     PackedStruct: the values of each row, back to back
//   dictionary        Dictionary: indexes of the width of the keys, then the items; null slots name
//                     an item that is null
//
// Structs have no nulls in 2.0. Source: docs/format-notes.md, "2.0 encodings". Stateless,
// thread-safe.
#pragma once

#include <cstdint>
#include <vector>

#include <arrow/array/data.h>
#include <arrow/memory_pool.h>
#include <arrow/result.h>

#include "pennon/encoding/leaf_type.h"
#include "pennon/encoding/nested/shredding.h"
#include "pennon/encoding/nested/slot_runs.h"
#include "pennon/encoding/page_encoder.h"

namespace pennon::encoding {

/// The slots of one field below the rows of its top-level field.
struct FieldSlots {
  const arrow::ArrayData* array = nullptr;
  SlotRuns slots;
};

/// Goes from `rows` along `nesting` to its last field, leaving out what lies under null lists. A
/// null struct on the way is a kUnsupported error, a null in a field that is not nullable a
/// kInvalidInput one.
arrow::Result<FieldSlots> FindSlots(const arrow::ArrayData& rows, const Nesting& nesting);

/// Encodes the lists in `lists`; their items are the slots that FindSlots gives for the next field.
arrow::Result<EncodedPage> EncodeV20Lists(const FieldSlots& lists, arrow::MemoryPool* pool);
/// The only page of a struct column of `length` slots.
arrow::Result<EncodedPage> EncodeV20StructHeader(uint64_t length);
/// Encodes a struct array of `children`. Nulls are a kUnsupported error.
arrow::Result<EncodedPage> EncodeV20PackedStruct(const arrow::ArrayData& values,
                                                 const std::vector<LeafType>& children,
                                                 arrow::MemoryPool* pool);
/// Encodes a dictionary array. Indexes outside the dictionary are a kInvalidInput error.
arrow::Result<EncodedPage> EncodeV20Dictionary(const arrow::ArrayData& values,
                                               const LeafType& index_type,
                                               const LeafType& item_type, arrow::MemoryPool* pool);
/// The page of a blob column: `rows` are position and size of each value.
arrow::Result<EncodedPage> EncodeV20BlobPlaces(std::shared_ptr<arrow::Buffer> rows,
                                               uint64_t length);

}  // namespace pennon::encoding
