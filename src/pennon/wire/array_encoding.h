// The description of a page of file version 2.0: lance.encodings.ArrayEncoding, a tree. Plain
// values; nothing here refers to the parsed bytes. What each node means byte by byte:
// docs/format-notes.md, "2.0 encodings".
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <arrow/result.h>

namespace pennon::wire {

/// Which message an ArrayEncoding holds; the numbers are its field numbers. From kConstant on they
/// never occur in 2.0 files.
enum class ArrayEncodingKind {
  kFlat = 1,
  kNullable = 2,
  kFixedSizeList = 3,
  kList = 4,
  kSimpleStruct = 5,
  kBinary = 6,
  kDictionary = 7,
  kFsst = 8,
  kPackedStruct = 9,
  kBitpacked = 10,
  kFixedSizeBinary = 11,
  kBitpackedForNonNeg = 12,
  kConstant = 13,
  kInlineBitpacking = 14,
  kOutOfLineBitpacking = 15,
  kVariable = 16,
  kPackedStructFixedWidthMiniBlock = 17,
  kBlock = 18,
  kRle = 19,
  kGeneralMiniBlock = 20,
  kByteStreamSplit = 21,
};

/// The name of `kind`, for messages.
std::string_view ArrayEncodingName(ArrayEncodingKind kind);

/// Names one buffer.
struct BufferName {
  uint32_t index = 0;
  uint32_t collection = 0;  ///< 0 page, 1 column, 2 file
  bool operator==(const BufferName&) const = default;
};

/// Which nulls a Nullable has; the numbers are its field numbers.
enum class NullableKind { kNoNulls = 1, kSomeNulls = 2, kAllNulls = 3 };

/// One node. Which members are used follows from `kind`.
struct ArrayEncoding {
  ArrayEncodingKind kind = ArrayEncodingKind::kFlat;
  NullableKind nulls = NullableKind::kNoNulls;  ///< Nullable
  uint64_t bits = 0;  ///< Flat: bits per value; Bitpacked, BitpackedForNonNeg: bits once unpacked
  uint64_t packed_bits = 0;      ///< Bitpacked, BitpackedForNonNeg
  bool is_signed = false;        ///< Bitpacked
  BufferName buffer;             ///< Flat, Bitpacked, BitpackedForNonNeg, PackedStruct
  std::string scheme;            ///< Flat: of the compression, empty if there is none
  uint64_t dimension = 0;        ///< FixedSizeList
  uint64_t null_adjustment = 0;  ///< List, Binary
  uint64_t num_items = 0;        ///< List, Dictionary
  uint64_t byte_width = 0;       ///< FixedSizeBinary
  std::string symbol_table;      ///< Fsst

  /// Nullable {values}, {validity, values} or {}; FixedSizeList {items}; List {offsets}; Binary
  /// {indices, bytes}; Dictionary {indices, items}; Fsst {binary}; FixedSizeBinary {bytes}. Empty
  /// for the others. A PackedStruct lists its children when it is written; what is read drops them,
  /// they say nothing that its schema does not.
  std::vector<ArrayEncoding> children;

  bool operator==(const ArrayEncoding&) const = default;
};

/// Parses an ArrayEncoding from untrusted bytes; a defect is a kCorrupt error at `path`. Every node
/// of the result has the children its kind demands, and the tree is at most 32 deep.
arrow::Result<ArrayEncoding> ParseArrayEncoding(std::string_view bytes, std::string_view path);

/// Writes `encoding`, whose kinds are those up to kFixedSizeBinary that have all their facts in
/// ArrayEncoding: Flat, Nullable, FixedSizeList, List, SimpleStruct, Binary, Dictionary, Fsst,
/// PackedStruct, Bitpacked, FixedSizeBinary and BitpackedForNonNeg.
arrow::Result<std::string> SerializeArrayEncoding(const ArrayEncoding& encoding);

/// Builds the nodes that are written.
ArrayEncoding MakeFlat(uint64_t bits, uint32_t page_buffer);
ArrayEncoding MakeNoNulls(ArrayEncoding values);
ArrayEncoding MakeSomeNulls(ArrayEncoding validity, ArrayEncoding values);
ArrayEncoding MakeAllNulls();
ArrayEncoding MakeFixedSizeList(uint64_t dimension, ArrayEncoding items);
ArrayEncoding MakeBinary(ArrayEncoding indices, ArrayEncoding bytes, uint64_t null_adjustment);
ArrayEncoding MakeList(ArrayEncoding offsets, uint64_t null_adjustment, uint64_t num_items);
ArrayEncoding MakeSimpleStruct();
ArrayEncoding MakeDictionary(ArrayEncoding indices, ArrayEncoding items, uint64_t num_items);
/// `children` are one for each child, of the rows in `page_buffer`.
ArrayEncoding MakePackedStruct(std::vector<ArrayEncoding> children, uint32_t page_buffer);

}  // namespace pennon::wire
