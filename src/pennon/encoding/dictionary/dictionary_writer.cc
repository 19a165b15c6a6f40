#include "pennon/encoding/dictionary/dictionary_writer.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <arrow/type.h>
#include <arrow/util/bit_util.h>
#include <arrow/util/bitmap_ops.h>

#include "pennon/encoding/constant/constant_writer.h"
#include "pennon/encoding/dictionary/dictionary_encoder.h"
#include "pennon/encoding/leaf_values.h"
#include "pennon/encoding/mini_block/chunk_encoder.h"
#include "pennon/encoding/mini_block/mini_block_writer.h"
#include "pennon/error.h"
#include "pennon/wire/page_layout_writer.h"

namespace pennon::encoding {
namespace {

// The items as those of a dictionary that the writer makes; bits as they are.
arrow::Result<EncodedDictionary> EncodeItems(const LeafType& type, const arrow::ArrayData& items,
                                             const PageOptions& options, arrow::MemoryPool* pool) {
  ARROW_ASSIGN_OR_RAISE(const LeafValues values, LeafValues::Make(type, items, pool));
  if (type.is_boolean()) {
    return EncodedDictionary{
        .encoding = wire::WriteFlat(1), .num_items = values.length, .items = values.data};
  }
  return EncodeDictionaryItems(values, options);
}

// Calls `visit` with index and slot of every valid slot.
template <typename Index, typename Visit>
void VisitIndexes(const arrow::ArrayData& values, const arrow::Buffer* validity, Visit&& visit) {
  const Index* indexes = values.GetValues<Index>(1);
  for (int64_t i = 0; i < values.length; ++i) {
    if (validity != nullptr && !arrow::bit_util::GetBit(validity->data(), i)) continue;
    visit(static_cast<uint64_t>(indexes[i]), i);
  }
}

// Negative indexes come out above every count of items.
template <typename Visit>
void VisitIndexes(const arrow::ArrayData& values, uint64_t bits, const arrow::Buffer* validity,
                  Visit&& visit) {
  switch (bits) {
    case 8:
      return VisitIndexes<uint8_t>(values, validity, visit);
    case 16:
      return VisitIndexes<uint16_t>(values, validity, visit);
    case 32:
      return VisitIndexes<uint32_t>(values, validity, visit);
    default:
      return VisitIndexes<uint64_t>(values, validity, visit);
  }
}

}  // namespace

arrow::Status CheckDictionaryIndexes(const arrow::ArrayData& values, const LeafType& index_type,
                                     const arrow::Buffer* validity) {
  if (values.length == 0) return arrow::Status::OK();
  if (values.dictionary == nullptr || values.buffers[1] == nullptr) {
    return InvalidInput("An Arrow dictionary array to write has no items; give a valid array");
  }
  const auto items = static_cast<uint64_t>(values.dictionary->length);
  uint64_t worst = 0;
  bool any = false;
  VisitIndexes(values, index_type.bits_per_item, validity, [&](uint64_t index, int64_t) {
    worst = std::max(worst, index);
    any = true;
  });
  if (!any || worst < items) return arrow::Status::OK();
  return InvalidInput("An Arrow dictionary array to write has an index outside its items: items ",
                      items, ", index ", worst);
}

arrow::Result<std::shared_ptr<arrow::ArrayData>> MoveItemNulls(
    std::shared_ptr<arrow::ArrayData> array, arrow::MemoryPool* pool) {
  if (array->dictionary == nullptr || array->dictionary->GetNullCount() == 0 ||
      array->length == 0) {
    return array;
  }
  const auto& type = static_cast<const arrow::DictionaryType&>(*array->type);
  ARROW_ASSIGN_OR_RAISE(const LeafType index_type, LeafType::Make(*type.index_type()));
  ARROW_ASSIGN_OR_RAISE(std::shared_ptr<arrow::Buffer> bits,
                        arrow::AllocateEmptyBitmap(array->offset + array->length, pool));
  std::shared_ptr<arrow::Buffer> own;
  if (array->GetNullCount() > 0) {
    ARROW_ASSIGN_OR_RAISE(own, arrow::internal::CopyBitmap(pool, array->buffers[0]->data(),
                                                           array->offset, array->length));
  }
  ARROW_RETURN_NOT_OK(CheckDictionaryIndexes(*array, index_type, own.get()));
  VisitIndexes(*array, index_type.bits_per_item, own.get(), [&](uint64_t index, int64_t slot) {
    if (array->dictionary->IsValid(static_cast<int64_t>(index)))
      arrow::bit_util::SetBit(bits->mutable_data(), array->offset + slot);
  });
  std::shared_ptr<arrow::ArrayData> out = array->Copy();
  out->buffers[0] = std::move(bits);
  out->null_count = arrow::kUnknownNullCount;
  return out;
}

arrow::Result<std::optional<EncodedPage>> EncodeDictionaryPage(const ShreddedRows& rows,
                                                               const LeafType& index_type,
                                                               const LeafType& item_type,
                                                               const PageOptions& options,
                                                               arrow::MemoryPool* pool) {
  ARROW_RETURN_NOT_OK(CheckDictionaryIndexes(*rows.values, index_type, rows.validity.get()));
  ARROW_ASSIGN_OR_RAISE(
      const LeafValues indexes,
      LeafValues::Make(index_type, *rows.values, rows.validity, rows.null_count, pool));
  if (indexes.all_null()) return EncodeAllNull(rows.nesting, options.minor);
  ARROW_ASSIGN_OR_RAISE(const EncodedDictionary dictionary,
                        EncodeItems(item_type, *rows.values->dictionary, options, pool));
  PageOptions plain = options;
  plain.hints = {};
  return EncodeMiniBlock(
      rows.nesting,
      [&](uint64_t max_chunk_values) {
        return EncodeChunks(indexes, plain, pool, max_chunk_values);
      },
      &dictionary, options.minor);
}

}  // namespace pennon::encoding
