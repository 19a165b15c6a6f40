#include "pennon/encoding/levels.h"

#include <algorithm>
#include <bit>
#include <cstring>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include <arrow/util/bitmap_ops.h>

#include "pennon/error.h"

namespace pennon::encoding {

namespace {

/// Levels converted at a time: their bits fit a small buffer on the stack.
constexpr uint64_t kStep = 4096;

uint16_t LoadLevel(const uint8_t* levels, uint64_t i) {
  uint16_t level;
  std::memcpy(&level, levels + 2 * i, 2);
  return level;
}

uint16_t MaxLevel(const uint8_t* levels, uint64_t count) {
  uint16_t max = 0;
  for (uint64_t i = 0; i < count; ++i) max = std::max(max, LoadLevel(levels, i));
  return max;
}

/// Writes bit i = (level i == 0) for `count` levels; bits up to the next byte are left as they
/// come.
void ZeroBits(const uint8_t* levels, uint64_t count, uint8_t* bits) {
  uint64_t i = 0;
#if defined(__SSE2__)
  const __m128i zero = _mm_setzero_si128();
  for (; i + 16 <= count; i += 16) {
    const __m128i low = _mm_loadu_si128(reinterpret_cast<const __m128i*>(levels + 2 * i));
    const __m128i high = _mm_loadu_si128(reinterpret_cast<const __m128i*>(levels + 2 * i + 16));
    const __m128i equal = _mm_packs_epi16(_mm_cmpeq_epi16(low, zero), _mm_cmpeq_epi16(high, zero));
    const auto mask = static_cast<uint16_t>(_mm_movemask_epi8(equal));
    std::memcpy(bits + i / 8, &mask, 2);
  }
#endif
  for (; i < count; i += 8) {
    uint8_t byte = 0;
    const uint64_t end = std::min<uint64_t>(8, count - i);
    for (uint64_t k = 0; k < end; ++k)
      byte |= static_cast<uint8_t>((LoadLevel(levels, i + k) == 0 ? 1U : 0U) << k);
    bits[i / 8] = byte;
  }
}

}  // namespace

arrow::Result<ItemLayers> ItemLayers::Make(std::span<const wire::LayerKind> layers) {
  if (layers.size() != 1 || wire::IsListLayer(layers[0])) {
    return Unsupported("", "pages of nested columns are not supported yet: found ", layers.size(),
                       " layers");
  }
  return ItemLayers{.nullable = layers[0] == wire::LayerKind::kNullableItem};
}

arrow::Status LevelsToValidity(const uint8_t* levels, uint64_t count, uint16_t max_level,
                               uint64_t slot, ValidityOutput* validity) {
  const uint16_t max = MaxLevel(levels, count);
  if (max > max_level) {
    return Corrupt("",
                   "a definition level is higher than the page's layers allow: expected at most ",
                   max_level, ", found ", max);
  }
  if (max == 0) return arrow::Status::OK();
  uint8_t bits[kStep / 8];
  while (count > 0) {
    const uint64_t step = std::min(count, kStep);
    ZeroBits(levels, step, bits);
    ARROW_RETURN_NOT_OK(validity->CopyBits(bits, 0, slot, step));
    levels += 2 * step;
    slot += step;
    count -= step;
  }
  return arrow::Status::OK();
}

}  // namespace pennon::encoding
