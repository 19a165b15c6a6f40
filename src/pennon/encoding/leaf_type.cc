#include "pennon/encoding/leaf_type.h"

#include <algorithm>
#include <utility>

#include <arrow/type.h>
#include <arrow/type_traits.h>
#include <arrow/util/checked_cast.h>

#include "pennon/error.h"

namespace pennon::encoding {

namespace {

using arrow::internal::checked_cast;

/// Packed structs inside each other; deeper ones are refused.
constexpr int kMaxDepth = 16;

arrow::Result<LeafType> MakeAt(const arrow::DataType& type, int depth);

arrow::Result<LeafType> MakeDictionary(const arrow::DictionaryType& type, int depth) {
  ARROW_ASSIGN_OR_RAISE(LeafType items, MakeAt(*type.value_type(), depth + 1));
  if (items.kind != LeafKind::kVariable && items.kind != LeafKind::kFixed) {
    return Unsupported("", "dictionaries of these items are not supported: type ", type.ToString());
  }
  LeafType leaf;
  leaf.kind = LeafKind::kDictionary;
  leaf.bits_per_item = static_cast<uint64_t>(type.bit_width());
  // Signed indexes spend a bit on the sign; no dictionary comes near the limit of 64-bit ones.
  const bool has_sign = arrow::is_signed_integer(type.index_type()->id());
  leaf.most_items = uint64_t{1} << std::min<uint64_t>(leaf.bits_per_item - (has_sign ? 1 : 0), 62);
  leaf.children.push_back(std::move(items));
  return leaf;
}

arrow::Result<LeafType> MakeStruct(const arrow::DataType& type, int depth) {
  LeafType leaf;
  leaf.kind = LeafKind::kStruct;
  for (const auto& field : type.fields()) {
    ARROW_ASSIGN_OR_RAISE(LeafType child, MakeAt(*field->type(), depth + 1));
    leaf.children.push_back(std::move(child));
  }
  return leaf;
}

arrow::Result<LeafType> MakeItem(const arrow::DataType& type, int depth) {
  LeafType leaf;
  switch (type.id()) {
    case arrow::Type::DICTIONARY:
      return MakeDictionary(checked_cast<const arrow::DictionaryType&>(type), depth);
    case arrow::Type::STRUCT:
      return MakeStruct(type, depth);
    case arrow::Type::NA:
      leaf.kind = LeafKind::kNull;
      return leaf;
    case arrow::Type::STRING:
      leaf.is_dictionary_string = true;
      [[fallthrough]];
    case arrow::Type::BINARY:
      leaf.kind = LeafKind::kVariable;
      leaf.offset_bits = 32;
      return leaf;
    case arrow::Type::LARGE_STRING:
    case arrow::Type::LARGE_BINARY:
      leaf.kind = LeafKind::kVariable;
      leaf.offset_bits = 64;
      return leaf;
    case arrow::Type::BOOL:
    case arrow::Type::INT8:
    case arrow::Type::INT16:
    case arrow::Type::INT32:
    case arrow::Type::INT64:
    case arrow::Type::UINT8:
    case arrow::Type::UINT16:
    case arrow::Type::UINT32:
    case arrow::Type::UINT64:
    case arrow::Type::HALF_FLOAT:
    case arrow::Type::FLOAT:
    case arrow::Type::DOUBLE:
    case arrow::Type::DECIMAL128:
    case arrow::Type::DECIMAL256:
    case arrow::Type::DATE32:
    case arrow::Type::DATE64:
    case arrow::Type::TIME32:
    case arrow::Type::TIME64:
    case arrow::Type::TIMESTAMP:
    case arrow::Type::DURATION:
    case arrow::Type::FIXED_SIZE_BINARY: {
      leaf.kind = LeafKind::kFixed;
      const int bits = checked_cast<const arrow::FixedWidthType&>(type).bit_width();
      if (bits <= 0)
        return Unsupported("", "values of no bytes are not supported: type ", type.ToString());
      leaf.bits_per_item = static_cast<uint64_t>(bits);
      return leaf;
    }
    default:
      return Unsupported("", "columns of this type are not supported yet: type ", type.ToString());
  }
}

arrow::Result<LeafType> MakeAt(const arrow::DataType& type, int depth) {
  if (depth > kMaxDepth)
    return Unsupported("", "columns nested that deeply are not supported: more than ", kMaxDepth,
                       " levels");
  std::vector<uint32_t> dimensions;
  uint64_t items = 1;
  const arrow::DataType* item = &type;
  while (item->id() == arrow::Type::FIXED_SIZE_LIST) {
    const auto& list = checked_cast<const arrow::FixedSizeListType&>(*item);
    if (list.list_size() <= 0)
      return Unsupported("", "lists of no items are not supported: type ", type.ToString());
    dimensions.push_back(static_cast<uint32_t>(list.list_size()));
    if (__builtin_mul_overflow(items, dimensions.back(), &items)) {
      return Unsupported("", "lists of that many items are not supported: type ", type.ToString());
    }
    item = list.value_type().get();
  }
  ARROW_ASSIGN_OR_RAISE(LeafType leaf, MakeItem(*item, depth));
  if (!dimensions.empty() && leaf.kind != LeafKind::kFixed) {
    return Unsupported("", "lists of these items are not supported yet: type ", type.ToString());
  }
  uint64_t bits;
  if (__builtin_mul_overflow(items, leaf.bits_per_item, &bits) || bits > uint64_t{1} << 40) {
    return Unsupported("", "values of that many bytes are not supported: type ", type.ToString());
  }
  leaf.dimensions = std::move(dimensions);
  leaf.items_per_slot = items;
  return leaf;
}

}  // namespace

arrow::Result<LeafType> LeafType::Make(const arrow::DataType& type) { return MakeAt(type, 0); }

LeafType LeafType::Blob() {
  LeafType leaf;
  leaf.kind = LeafKind::kVariable;
  leaf.offset_bits = 64;
  leaf.is_blob = true;
  return leaf;
}

LeafType LeafType::ItemRanges() {
  return {.kind = LeafKind::kFixed, .bits_per_item = 128, .role = LeafRole::kItemRanges};
}

LeafType LeafType::PackedRows(uint64_t bytes) {
  return {.kind = LeafKind::kFixed, .bits_per_item = bytes * 8, .role = LeafRole::kPackedRows};
}

}  // namespace pennon::encoding
