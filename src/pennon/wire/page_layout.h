// The description of a page of file versions 2.1 and 2.2: lance.encodings21.PageLayout and what it
// holds. Plain values; nothing here refers to the parsed bytes. What each means byte by byte:
// docs/format-notes.md.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <arrow/result.h>

namespace pennon::wire {

/// Which message a CompressiveEncoding holds; the numbers are its field numbers.
enum class CompressionKind {
  kFlat = 1,
  kVariable = 2,
  kConstant = 3,
  kOutOfLineBitpacking = 4,
  kInlineBitpacking = 5,
  kFsst = 6,
  kDictionary = 7,
  kRle = 8,
  kByteStreamSplit = 9,
  kGeneral = 10,
  kFixedSizeList = 11,
  kPackedStruct = 12,
  kVariablePackedStruct = 13,
};

/// The name of `kind`, for messages.
std::string_view CompressionName(CompressionKind kind);

/// How value bytes are encoded: a tree, one node a message. Which members are used follows from
/// `kind`.
struct CompressiveEncoding {
  CompressionKind kind = CompressionKind::kFlat;
  uint64_t bits = 0;  ///< Flat: bits per value; both bit-packings: bits of the unpacked words
  uint64_t scheme =
      0;  ///< General: 1 lz4, 2 zstd. A leaf (Flat, Variable, InlineBitpacking): of its own bytes
  uint64_t items_per_value = 0;      ///< FixedSizeList
  bool has_validity = false;         ///< FixedSizeList
  uint64_t num_items = 0;            ///< Dictionary: number of items
  std::string symbol_table;          ///< Fsst
  std::optional<std::string> value;  ///< Constant; absent: every value is null

  /// The encodings inside, in the order of their field numbers: Variable {offsets},
  /// OutOfLineBitpacking, Fsst, ByteStreamSplit, General, FixedSizeList, PackedStruct {values}, Rle
  /// {values, run lengths}, Dictionary {indices, items}, VariablePackedStruct {one a child}.
  std::vector<CompressiveEncoding> children;
  /// PackedStruct: bits of each child. VariablePackedStruct: bits of each child's value or of its
  /// length.
  std::vector<uint64_t> child_bits;
  /// VariablePackedStruct: whether child_bits counts the length of a variable child.
  std::vector<bool> child_is_variable;
};

/// One nesting layer of a column, as `layers` lists them: innermost first.
enum class LayerKind : uint8_t {
  kAllValidItem = 1,
  kAllValidList = 2,
  kNullableItem = 3,
  kNullableList = 4,
  kEmptyableList = 5,
  kNullAndEmptyList = 6,
};

/// Whether `kind` is a list layer.
constexpr bool IsListLayer(LayerKind kind) {
  return kind != LayerKind::kAllValidItem && kind != LayerKind::kNullableItem;
}
/// Definition levels that a layer of `kind` takes.
constexpr int DefinitionLevels(LayerKind kind) {
  if (kind == LayerKind::kNullAndEmptyList) return 2;
  return kind == LayerKind::kAllValidItem || kind == LayerKind::kAllValidList ? 0 : 1;
}

struct MiniBlockLayout {
  std::optional<CompressiveEncoding> repetition;
  std::optional<CompressiveEncoding> definition;
  CompressiveEncoding values;
  std::optional<CompressiveEncoding> dictionary;
  uint64_t num_dictionary_items = 0;
  std::vector<LayerKind> layers;
  uint64_t num_buffers = 0;
  uint64_t repetition_index_depth = 0;
  uint64_t num_items = 0;
  bool has_large_chunk = false;
};

struct FullZipLayout {
  uint64_t bits_rep = 0;
  uint64_t bits_def = 0;
  bool is_variable = false;  ///< whether `bits` is the width of a length, not of a value
  uint64_t bits = 0;
  uint64_t num_items = 0;
  uint64_t num_visible_items = 0;
  CompressiveEncoding values;
  std::vector<LayerKind> layers;
};

struct ConstantLayout {
  std::vector<LayerKind> layers;
  std::optional<std::string> inline_value;
  std::optional<CompressiveEncoding> repetition;
  std::optional<CompressiveEncoding> definition;
  uint64_t num_rep_values = 0;
  uint64_t num_def_values = 0;
};

struct PageLayout;

struct BlobLayout {
  std::shared_ptr<const PageLayout> inner;  ///< never null
  std::vector<LayerKind> layers;
};

struct PageLayout {
  std::variant<MiniBlockLayout, ConstantLayout, FullZipLayout, BlobLayout> layout;
};

/// Parses a PageLayout from untrusted bytes; a defect is a kCorrupt error at `path`. Every encoding
/// of the result has the children its kind demands, every mandatory encoding is there, every layer
/// has a known kind.
arrow::Result<PageLayout> ParsePageLayout(std::string_view bytes, std::string_view path);

}  // namespace pennon::wire
