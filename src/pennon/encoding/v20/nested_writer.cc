#include "pennon/encoding/v20/nested_writer.h"

#include <cstring>
#include <memory>
#include <utility>

#include <arrow/array/array_base.h>
#include <arrow/array/concatenate.h>
#include <arrow/array/util.h>
#include <arrow/type.h>
#include <arrow/type_traits.h>
#include <arrow/util/bit_util.h>

#include "pennon/encoding/dictionary/dictionary_writer.h"
#include "pennon/encoding/leaf_values.h"
#include "pennon/encoding/packed_struct/packed_struct_writer.h"
#include "pennon/encoding/v20/page_writer.h"
#include "pennon/error.h"
#include "pennon/wire/array_encoding.h"

namespace pennon::encoding {
namespace {

using wire::ArrayEncoding;
using BufferPtr = std::shared_ptr<arrow::Buffer>;

uint32_t AddBuffer(BufferPtr buffer, EncodedPage* page) {
  page->buffers.push_back(std::move(buffer));
  return static_cast<uint32_t>(page->buffers.size() - 1);
}

bool HasNull(const arrow::ArrayData& array, const SlotRuns& slots) {
  if (array.GetNullCount() == 0) return false;
  for (const SlotRun& run : slots.runs()) {
    for (int64_t slot = run.first; slot < run.first + run.length; ++slot) {
      if (array.IsNull(slot)) return true;
    }
  }
  return false;
}

// Copies the indexes with all null slots at `null_index`, counted from `bits` wide words.
template <typename Index>
void FillNulls(const arrow::ArrayData& values, uint64_t null_index, uint8_t* out) {
  const auto index = static_cast<Index>(null_index);
  for (int64_t i = 0; i < values.length; ++i) {
    if (values.IsNull(i)) std::memcpy(out + i * sizeof(Index), &index, sizeof(Index));
  }
}

// Largest index that a signed or unsigned key of `type` can hold.
uint64_t LargestKey(const arrow::DataType& type, uint64_t bits) {
  const bool is_signed = arrow::is_signed_integer(type.id());
  const uint64_t all = bits == 64 ? UINT64_MAX : (uint64_t{1} << bits) - 1;
  return is_signed ? all / 2 : all;
}

// The items of `values` with a null among them, whose position is `null_index`.
arrow::Result<std::shared_ptr<arrow::ArrayData>> WithNullItem(const arrow::ArrayData& values,
                                                              const LeafType& index_type,
                                                              uint64_t* null_index,
                                                              arrow::MemoryPool* pool) {
  const std::shared_ptr<arrow::ArrayData>& items = values.dictionary;
  if (values.GetNullCount() == values.length) {  // no index names an item
    *null_index = 0;
    ARROW_ASSIGN_OR_RAISE(const auto null, arrow::MakeArrayOfNull(items->type, 1, pool));
    return null->data();
  }
  for (int64_t i = 0; i < items->length && items->GetNullCount() > 0; ++i) {
    if (items->IsValid(i)) continue;
    *null_index = static_cast<uint64_t>(i);
    return items;
  }
  *null_index = static_cast<uint64_t>(items->length);
  const auto& type = static_cast<const arrow::DictionaryType&>(*values.type);
  if (*null_index > LargestKey(*type.index_type(), index_type.bits_per_item)) {
    return Unsupported("",
                       "2.0 keeps the nulls of a dictionary column as an item, for which the keys "
                       "have no room: key type ",
                       type.index_type()->ToString(), ", items ", items->length);
  }
  ARROW_ASSIGN_OR_RAISE(const auto null, arrow::MakeArrayOfNull(items->type, 1, pool));
  ARROW_ASSIGN_OR_RAISE(const auto all, arrow::Concatenate({arrow::MakeArray(items), null}, pool));
  return all->data();
}

arrow::Result<EncodedPage> Finish(ArrayEncoding root, EncodedPage page) {
  ARROW_ASSIGN_OR_RAISE(page.encoding, wire::SerializeArrayEncoding(root));
  return page;
}

}  // namespace

arrow::Result<FieldSlots> FindSlots(const arrow::ArrayData& rows, const Nesting& nesting) {
  FieldSlots at{&rows, SlotRuns(0, rows.length)};
  for (const NestingLayer& layer : nesting) {
    const bool is_list = layer.kind == NestingKind::kList;
    const bool is_last = &layer == &nesting.back();
    if (is_list) ARROW_RETURN_NOT_OK(CheckOffsets(*at.array, at.slots));
    if (!layer.nullable && HasNull(*at.array, at.slots)) {
      return InvalidInput("Values to write have nulls, but their field is not nullable, column: ",
                          layer.column);
    }
    const bool is_struct = at.array->type->id() == arrow::Type::STRUCT;
    if (is_struct && HasNull(*at.array, at.slots)) {
      return Unsupported(
          "", "Version 2.0 cannot hold null structs; write storage version 2.1 or later, column: ",
          layer.column);
    }
    if (is_last) break;
    if (is_list) {
      at.slots = ListItems(*at.array, at.slots);
    } else if (is_struct) {
      at.slots.Shift(at.array->offset);
    }
    at.array = at.array->child_data[static_cast<size_t>(layer.child)].get();
  }
  return at;
}

arrow::Result<EncodedPage> EncodeV20Lists(const FieldSlots& lists, arrow::MemoryPool* pool) {
  EncodedPage page{.length = static_cast<uint64_t>(lists.slots.total())};
  ARROW_ASSIGN_OR_RAISE(
      std::unique_ptr<arrow::Buffer> buffer,
      arrow::AllocateBuffer(static_cast<int64_t>(page.length * sizeof(uint64_t)), pool));
  auto* ends = reinterpret_cast<uint64_t*>(buffer->mutable_data());
  const uint64_t adjustment =
      static_cast<uint64_t>(ListItems(*lists.array, lists.slots).total()) + 1;
  const ListOffsets offsets(*lists.array);
  uint64_t end = 0;
  for (const SlotRun& run : lists.slots.runs()) {
    for (int64_t slot = run.first; slot < run.first + run.length; ++slot) {
      const bool valid = lists.array->IsValid(slot);
      if (valid) end += static_cast<uint64_t>(offsets.Extent(slot).length);
      *ends++ = valid ? end : end + adjustment;
    }
  }
  const uint32_t number = AddBuffer(std::move(buffer), &page);
  ArrayEncoding root =
      wire::MakeList(wire::MakeNoNulls(wire::MakeFlat(64, number)), adjustment, adjustment - 1);
  return Finish(std::move(root), std::move(page));
}

arrow::Result<EncodedPage> EncodeV20StructHeader(uint64_t length) {
  return Finish(wire::MakeSimpleStruct(), EncodedPage{.length = length});
}

arrow::Result<EncodedPage> EncodeV20PackedStruct(const arrow::ArrayData& values,
                                                 const std::vector<LeafType>& children,
                                                 arrow::MemoryPool* pool) {
  const ShreddedRows rows{.values = values.Copy()};
  ARROW_ASSIGN_OR_RAISE(const std::vector<LeafValues> packed, PackedChildren(rows, children, pool));
  EncodedPage page{.length = static_cast<uint64_t>(values.length)};
  std::vector<ArrayEncoding> nodes;
  for (const LeafValues& child : packed) {
    for (const auto& validity : child.item_validity) {
      if (validity != nullptr)
        return Unsupported("", "Lists in a packed struct cannot have null items in 2.0");
    }
    ArrayEncoding node = wire::MakeFlat(child.type.bits_per_item, 0);
    for (size_t k = child.type.dimensions.size(); k-- > 0;)
      node = wire::MakeFixedSizeList(child.type.dimensions[k], std::move(node));
    nodes.push_back(std::move(node));
  }
  ARROW_ASSIGN_OR_RAISE(BufferPtr bytes, PackRows(packed, pool));
  const uint32_t number = AddBuffer(std::move(bytes), &page);
  return Finish(wire::MakePackedStruct(std::move(nodes), number), std::move(page));
}

arrow::Result<EncodedPage> EncodeV20Dictionary(const arrow::ArrayData& values,
                                               const LeafType& index_type,
                                               const LeafType& item_type, arrow::MemoryPool* pool) {
  EncodedPage page{.length = static_cast<uint64_t>(values.length)};
  ARROW_ASSIGN_OR_RAISE(LeafValues indexes, LeafValues::Make(index_type, values, pool));
  ARROW_RETURN_NOT_OK(CheckDictionaryIndexes(values, index_type, indexes.validity.get()));
  std::shared_ptr<arrow::ArrayData> items = values.dictionary;
  if (indexes.null_count > 0) {
    uint64_t null_index = 0;
    ARROW_ASSIGN_OR_RAISE(items, WithNullItem(values, index_type, &null_index, pool));
    const uint64_t bytes = index_type.bits_per_item / 8;
    ARROW_ASSIGN_OR_RAISE(
        std::unique_ptr<arrow::Buffer> filled,
        arrow::AllocateBuffer(static_cast<int64_t>(indexes.length * bytes), pool));
    uint8_t* out = filled->mutable_data();
    if (indexes.data != nullptr) std::memcpy(out, indexes.data->data(), indexes.length * bytes);
    switch (bytes) {
      case 1:
        FillNulls<uint8_t>(values, null_index, out);
        break;
      case 2:
        FillNulls<uint16_t>(values, null_index, out);
        break;
      case 4:
        FillNulls<uint32_t>(values, null_index, out);
        break;
      default:
        FillNulls<uint64_t>(values, null_index, out);
    }
    indexes.data = std::move(filled);
  }
  const uint32_t number = AddBuffer(indexes.data, &page);
  ArrayEncoding keys = wire::MakeNoNulls(wire::MakeFlat(index_type.bits_per_item, number));
  ARROW_ASSIGN_OR_RAISE(const LeafValues item_values, LeafValues::Make(item_type, *items, pool));
  ARROW_ASSIGN_OR_RAISE(ArrayEncoding item_node, V20Node(item_values, &page, pool));
  return Finish(wire::MakeDictionary(std::move(keys), std::move(item_node), item_values.length),
                std::move(page));
}

arrow::Result<EncodedPage> EncodeV20BlobPlaces(BufferPtr rows, uint64_t length) {
  EncodedPage page{.length = length};
  const uint32_t number = AddBuffer(std::move(rows), &page);
  return Finish(wire::MakePackedStruct({wire::MakeFlat(64, 0), wire::MakeFlat(64, 0)}, number),
                std::move(page));
}

}  // namespace pennon::encoding
