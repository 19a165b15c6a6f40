#include "pennon/encoding/page_encoder.h"

#include <algorithm>
#include <optional>

#include "pennon/encoding/constant_writer.h"
#include "pennon/encoding/dictionary_encoder.h"
#include "pennon/encoding/full_zip_writer.h"
#include "pennon/encoding/leaf_values.h"
#include "pennon/encoding/mini_block_writer.h"
#include "pennon/encoding/v20/page_writer.h"

namespace pennon::encoding {
namespace {

// From this size on a value is better addressed alone than decoded with its chunk.
constexpr uint64_t kFullZipBytes = 256;

// Bytes of the largest value.
uint64_t LargestValue(const LeafValues& values) {
  if (values.type.kind == LeafKind::kFixed) return values.type.bits_per_slot() / 8;
  uint64_t largest = 0;
  for (uint64_t i = 0; i < values.length; ++i) {
    largest = std::max(largest, values.value_start(i + 1) - values.value_start(i));
  }
  return largest;
}

bool IsMiniBlock(const LeafValues& values, LayoutHint hint) {
  // Bits cannot be zipped: booleans, and lists of them, are mini-block at any size.
  if (values.type.kind == LeafKind::kFixed && values.type.bits_per_item == 1) return true;
  if (hint != LayoutHint::kAuto) return hint == LayoutHint::kMiniBlock;
  return LargestValue(values) < kFullZipBytes;
}

// With nulls a scalar page keeps 2 bytes of levels a value: more than small values bit-packed take.
bool ScalarPays(const LeafValues& values) {
  if (values.validity == nullptr) return true;
  return values.type.kind == LeafKind::kVariable || values.type.bits_per_item > 64;
}

}  // namespace

arrow::Result<EncodedPage> EncodePage(const LeafType& type, const arrow::ArrayData& values,
                                      const PageOptions& options, arrow::MemoryPool* pool) {
  ARROW_ASSIGN_OR_RAISE(LeafValues leaf, LeafValues::Make(type, values, pool));
  if (options.minor == 0) return EncodeV20Page(leaf, pool);
  if (leaf.all_null()) return EncodeAllNull(leaf.length);
  if (options.minor >= 2 && ScalarPays(leaf) && IsConstant(leaf)) return EncodeScalar(leaf);
  ARROW_ASSIGN_OR_RAISE(const std::optional<DictionaryValues> coded,
                        TryDictionary(leaf, options, pool));
  if (coded) return EncodeMiniBlock(coded->indexes, &coded->dictionary, options, pool);
  return IsMiniBlock(leaf, options.hints.layout) ? EncodeMiniBlock(leaf, nullptr, options, pool)
                                                 : EncodeFullZip(leaf, options, pool);
}

}  // namespace pennon::encoding
