// Serialises the page descriptions of 2.1 and 2.2 files (messages of package lance.encodings21).
// Each function gives the bytes of one message; a nested message is passed as its bytes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "pennon/wire/page_layout.h"

namespace pennon::wire {

/// Writes a CompressiveEncoding of n values of `bits` bits, back to back.
std::string WriteFlat(uint64_t bits);
/// Writes a CompressiveEncoding of byte strings with offsets of `offset_bits` bits (32 or 64).
std::string WriteVariable(uint64_t offset_bits);
/// Writes a CompressiveEncoding of words of `bits` bits, packed to a width that each block states.
std::string WriteInlineBitpacking(uint64_t bits);
/// Writes a CompressiveEncoding of words of `bits` bits packed to `width` bits (0 to `bits`).
std::string WriteOutOfLineBitpacking(uint64_t bits, uint64_t width);
/// Writes a CompressiveEncoding of runs: words of `bits` bits and run lengths of 8 bits.
std::string WriteRle(uint64_t bits);
/// Writes a CompressiveEncoding of words of `bits` bits (32 or 64) split into their bytes.
std::string WriteByteStreamSplit(uint64_t bits);
/// Writes a CompressiveEncoding of `values` compressed by scheme `scheme` (1 lz4, 2 zstd); `level`
/// is for information, 0 is none.
std::string WriteGeneral(uint64_t scheme, int level, std::string_view values);
/// Writes a CompressiveEncoding of strings, encoded as `values` says, coded with `symbol_table`.
std::string WriteFsst(std::string_view symbol_table, std::string_view values);
/// Writes a CompressiveEncoding of lists of `items` values each, encoded as `values` says.
std::string WriteFixedSizeList(uint64_t items, bool has_validity, std::string_view values);
/// Constant without a value: all null.
std::string WriteNullConstant();
/// Writes a CompressiveEncoding of rows of plain values, each of as many bits as `bits_per_value`
/// says.
std::string WritePackedStruct(const std::vector<uint64_t>& bits_per_value);

/// One child of a VariablePackedStruct.
struct PackedChild {
  std::string values;        ///< CompressiveEncoding of its values, each by itself
  uint64_t bits = 0;         ///< of a value, or of a value's length
  bool is_variable = false;  ///< whether `bits` is that of a length
};
/// Writes a CompressiveEncoding of rows some of whose values have a length of their own (2.2).
std::string WriteVariablePackedStruct(const std::vector<PackedChild>& children);

/// Fields of a MiniBlockLayout; an empty encoding is absent.
struct MiniBlockMessage {
  std::string rep_compression;
  std::string def_compression;
  std::string value_compression;
  std::string dictionary;
  uint64_t num_dictionary_items = 0;
  std::vector<LayerKind> layers;
  uint64_t num_buffers = 1;
  uint64_t repetition_index_depth = 0;
  uint64_t num_items = 0;
  bool has_large_chunk = false;
};

/// Fields of a FullZipLayout; exactly one of `bits_per_value` and `bits_per_offset` is not 0.
struct FullZipMessage {
  uint32_t bits_rep = 0;
  uint32_t bits_def = 0;
  uint32_t bits_per_value = 0;
  uint32_t bits_per_offset = 0;
  uint32_t num_items = 0;
  uint32_t num_visible_items = 0;
  std::string value_compression;
  std::vector<LayerKind> layers;
};

/// Fields of a ConstantLayout.
struct ConstantMessage {
  std::vector<LayerKind> layers;
  std::string inline_value;     ///< the bytes of the scalar, or empty for none
  std::string rep_compression;  ///< empty: raw words
  std::string def_compression;
  uint64_t num_rep_values = 0;  ///< if compressed
  uint64_t num_def_values = 0;
};

/// Writes a PageLayout of each kind.
std::string WriteMiniBlockPage(const MiniBlockMessage& message);
std::string WriteFullZipPage(const FullZipMessage& message);
std::string WriteConstantPage(const ConstantMessage& message);
/// `inner` is the PageLayout of the page that says where the blobs lie.
std::string WriteBlobPage(const std::string& inner, const std::vector<LayerKind>& layers);

}  // namespace pennon::wire
