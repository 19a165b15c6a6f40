// The shape of the values of one column, as the decoders see it: widths and dimensions, no Arrow
// type.
#pragma once

#include <cstdint>
#include <vector>

#include <arrow/result.h>
#include <arrow/type_fwd.h>

namespace pennon::encoding {

/// What one value is made of.
enum class LeafKind {
  kNull,        ///< Arrow's null type: no bytes
  kFixed,       ///< `bits_per_item` bits: a multiple of 8, or 1 for booleans
  kVariable,    ///< a byte string
  kDictionary,  ///< `bits_per_item` bits that name an item of a dictionary of children[0]
  kStruct,      ///< a value of each child, all in one column
};

/// What the values of a column stand for; all but kValues in 2.0 only.
enum class LeafRole {
  kValues,      ///< themselves
  kItemRanges,  ///< lists: two u64, where a list's items start and end, from the page's first
  kPackedRows,  ///< packed structs and blob descriptors: their children's bytes end to end
};

/// The values of one column. Immutable.
struct LeafType {
  LeafKind kind = LeafKind::kFixed;
  uint64_t bits_per_item = 0;        ///< kFixed: 1 (boolean) or a multiple of 8; kDictionary
  int offset_bits = 32;              ///< kVariable: 32 or 64, the width of Arrow's offsets
  std::vector<uint32_t> dimensions;  ///< of a fixed_size_list, outermost first; only with kFixed
  uint64_t items_per_slot = 1;       ///< the product of `dimensions`
  bool is_dictionary_string =
      false;             ///< Arrow type is exactly utf8: in 2.0 its dictionary index 0 means null
  bool is_blob = false;  ///< kVariable: pages hold where the bytes lie in the file, or descriptors
  uint64_t most_items = 0;         ///< kDictionary: how many items the indexes can name
  std::vector<LeafType> children;  ///< kDictionary: {the items}; kStruct: the children
  LeafRole role = LeafRole::kValues;

  bool operator==(const LeafType&) const = default;
  bool is_boolean() const { return kind == LeafKind::kFixed && bits_per_item == 1; }
  bool is_fixed() const { return kind == LeafKind::kFixed || kind == LeafKind::kDictionary; }
  bool is_list() const { return !dimensions.empty(); }
  /// Bits that one slot takes in the values buffer.
  uint64_t bits_per_slot() const { return bits_per_item * items_per_slot; }

  /// Describes `type`; a struct as one packed into one column. A type that has no column of its own
  /// (lists, maps, views) is a kUnsupported error.
  static arrow::Result<LeafType> Make(const arrow::DataType& type);
  /// The values of a blob column, large_binary.
  static LeafType Blob();
  /// Describes the column of a list of 2.0.
  static LeafType ItemRanges();
  /// Describes rows of `bytes` > 0 bytes that hold several fields each (2.0).
  static LeafType PackedRows(uint64_t bytes);
};

}  // namespace pennon::encoding
