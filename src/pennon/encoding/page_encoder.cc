#include "pennon/encoding/page_encoder.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "pennon/encoding/constant/constant_writer.h"
#include "pennon/encoding/dictionary/dictionary_encoder.h"
#include "pennon/encoding/full_zip/full_zip_writer.h"
#include "pennon/encoding/full_zip/zip_encoder.h"
#include "pennon/encoding/leaf_values.h"
#include "pennon/encoding/mini_block/mini_block_writer.h"
#include "pennon/encoding/nested/level_writer.h"
#include "pennon/encoding/nested/page_nesting.h"
#include "pennon/encoding/v20/page_writer.h"
#include "pennon/error.h"

namespace pennon::encoding {
namespace {

// From this size on a value is better addressed alone than decoded with its chunk.
constexpr uint64_t kFullZipBytes = 256;

// Values that the hint miniblock cannot bring into chunks, of which two must fit one.
constexpr uint64_t kLargestInChunk21 = 14 << 10;
constexpr uint64_t kLargestInChunk22 = 512 << 20;

// Bytes of the largest value.
uint64_t LargestValue(const LeafValues& values) {
  if (values.type.kind == LeafKind::kFixed) return values.type.bits_per_slot() / 8;
  uint64_t largest = 0;
  for (uint64_t i = 0; i < values.length; ++i) {
    largest = std::max(largest, values.value_start(i + 1) - values.value_start(i));
  }
  return largest;
}

bool IsMiniBlock(const LeafValues& values, const PageOptions& options) {
  // Only records have a form of lists without items.
  if (values.FirstNullLayer() < values.type.dimensions.size()) return false;
  // Bits cannot be zipped: booleans, and lists of them, are mini-block at any size.
  if (values.type.kind == LeafKind::kFixed && values.type.bits_per_item == 1) return true;
  if (options.hints.layout == LayoutHint::kFullZip) return false;
  const uint64_t largest = LargestValue(values);
  if (options.hints.layout == LayoutHint::kAuto) return largest < kFullZipBytes;
  return largest < (options.minor < 2 ? kLargestInChunk21 : kLargestInChunk22);
}

// So many levels fill no more than the 64 bytes that a buffer takes anyway.
constexpr uint64_t kFewEntries = 32;

bool HasLevels(const PageNesting& nesting) {
  return !nesting.repetition.empty() || !nesting.definition.empty();
}

// With levels a scalar page keeps 2 bytes an entry for each: more than words of 8 to 64 bits take,
// packed or in runs, unless they are to be zipped.
bool ScalarPays(const LeafValues& values, const PageNesting& nesting, const EncodingHints& hints) {
  const uint64_t bits = values.type.bits_per_item;
  const bool is_packed = bits <= 8 || bits == 16 || bits == 32 || bits == 64;
  if (nesting.entries <= kFewEntries) return true;
  return !HasLevels(nesting) || values.type.kind == LeafKind::kVariable || !is_packed ||
         hints.layout == LayoutHint::kFullZip;
}

PageNesting FlatNesting(const LeafValues& values) {
  PageNesting out;
  const bool nullable = values.null_count > 0;
  out.layers = {nullable ? wire::LayerKind::kNullableItem : wire::LayerKind::kAllValidItem};
  if (!values.all_null()) out.definition = LevelsOfValidity(values.validity.get(), values.length);
  out.entries = out.rows = out.slots = values.length;
  out.max_visible = out.max_definition = nullable ? 1 : 0;
  return out;
}

// One byte for each boolean, as full-zip wants them.
arrow::Result<LeafValues> WidenBooleans(const LeafValues& values, arrow::MemoryPool* pool) {
  LeafValues out = values;
  out.type.bits_per_item = 8;
  ARROW_ASSIGN_OR_RAISE(std::unique_ptr<arrow::Buffer> bytes,
                        arrow::AllocateBuffer(static_cast<int64_t>(values.length), pool));
  const uint8_t* bits = values.data->data();
  for (uint64_t i = 0; i < values.length; ++i)
    bytes->mutable_data()[i] = bits[i / 8] >> (i % 8) & 1;
  out.data = std::move(bytes);
  return out;
}

arrow::Result<EncodedPage> Zip(const LeafValues& values, const PageNesting& nesting,
                               const PageOptions& options, arrow::MemoryPool* pool) {
  if (values.type.is_boolean() && !values.type.is_list()) {
    ARROW_ASSIGN_OR_RAISE(const LeafValues bytes, WidenBooleans(values, pool));
    ARROW_ASSIGN_OR_RAISE(const EncodedRecords records, EncodeRecords(bytes, options, pool));
    return EncodeFullZip(nesting, records, pool);
  }
  if (values.type.is_boolean() && values.FirstNullLayer() == values.type.dimensions.size()) {
    return Unsupported(
        "",
        "Lists of booleans of this size, or with that many nulls around them, do not fit the "
        "chunks of the storage version; write a newer one. Items a value: ",
        values.type.items_per_slot);
  }
  ARROW_ASSIGN_OR_RAISE(const EncodedRecords records, EncodeRecords(values, options, pool));
  return EncodeFullZip(nesting, records, pool);
}

}  // namespace

arrow::Result<std::optional<EncodedPage>> EncodeNestedPage(const LeafValues& values,
                                                           const PageNesting& nesting,
                                                           const PageOptions& options,
                                                           arrow::MemoryPool* pool) {
  if (values.all_null()) return EncodeAllNull(nesting, options.minor);
  const bool is_scalar =
      options.minor >= 2 && ScalarPays(values, nesting, options.hints) && IsConstant(values);
  if (is_scalar && !HasLevels(nesting)) return EncodeScalar(nesting, values);
  // A dictionary of one item packs the levels, which a scalar page does not; without packing it
  // keeps its indexes, too.
  ARROW_ASSIGN_OR_RAISE(const std::optional<DictionaryValues> coded,
                        TryDictionary(values, options, pool));
  if (is_scalar && (!coded || options.hints.compression == CompressionHint::kNone))
    return EncodeScalar(nesting, values);
  if (coded || IsMiniBlock(values, options)) {
    const LeafValues& stored = coded ? coded->indexes : values;
    ARROW_ASSIGN_OR_RAISE(auto page, EncodeMiniBlock(
                                         nesting,
                                         [&](uint64_t max_chunk_values) {
                                           return EncodeChunks(stored, options, pool,
                                                               max_chunk_values);
                                         },
                                         coded ? &coded->dictionary : nullptr, options.minor));
    if (page) return page;
    // Levels of entries without values are what splitting helps against.
    if (nesting.rows > 1 && nesting.max_visible < nesting.max_definition) return std::nullopt;
  }
  return Zip(values, nesting, options, pool);
}

arrow::Result<EncodedPage> EncodePage(const LeafType& type, const arrow::ArrayData& values,
                                      const PageOptions& options, arrow::MemoryPool* pool) {
  ARROW_ASSIGN_OR_RAISE(LeafValues leaf, LeafValues::Make(type, values, pool));
  if (options.minor == 0) return EncodeV20Page(leaf, options.hints, pool);
  ARROW_ASSIGN_OR_RAISE(auto page, EncodeNestedPage(leaf, FlatNesting(leaf), options, pool));
  return *std::move(page);  // without lists nothing is split
}

}  // namespace pennon::encoding
