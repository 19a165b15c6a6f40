#include "pennon/encoding/nested/levels.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>

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

/// Counts in 16-bit lanes, which a step of kStep levels cannot overflow.
template <typename Predicate>
uint64_t CountIf(std::span<const uint16_t> levels, Predicate predicate) {
  uint64_t total = 0;
  for (size_t at = 0; at < levels.size(); at += kStep) {
    const size_t end = std::min<size_t>(levels.size(), at + kStep);
    uint16_t count = 0;
    for (size_t i = at; i < end; ++i)
      count = static_cast<uint16_t>(count + (predicate(levels[i]) ? 1 : 0));
    total += count;
  }
  return total;
}

}  // namespace

arrow::Result<LevelLimits> LevelLimits::Make(std::span<const wire::LayerKind> layers) {
  if (layers.empty() || wire::IsListLayer(layers[0])) {
    return Corrupt("", "a page's innermost layer must be an item: found ", layers.size(),
                   " layers");
  }
  LevelLimits out;
  out.layers = layers.size();
  uint64_t rep = 0, def = 0, visible = 0;
  for (const wire::LayerKind layer : layers) {
    if (wire::IsListLayer(layer) && rep++ == 0) visible = def;
    def += static_cast<uint64_t>(wire::DefinitionLevels(layer));
  }
  if (rep == 0) visible = def;
  if (std::max(rep, def) > std::numeric_limits<uint16_t>::max()) {
    return Corrupt("", "a page has more layers than levels can tell apart: found ", layers.size());
  }
  out.max_rep = static_cast<uint16_t>(rep);
  out.max_def = static_cast<uint16_t>(def);
  out.max_visible_def = static_cast<uint16_t>(visible);
  return out;
}

arrow::Status LevelLimits::ExpectFlat() const {
  if (layers == 1) return arrow::Status::OK();
  return Corrupt("", "a page of a column at top level must have one layer: found ", layers);
}

arrow::Status CheckLevels(std::span<const uint16_t> levels, uint16_t max, std::string_view name) {
  uint16_t found = 0;
  for (const uint16_t level : levels) found = std::max(found, level);
  if (found <= max) return arrow::Status::OK();
  return Corrupt("", "a level is higher than the page's layers allow: ", name,
                 ", expected at most ", max, ", found ", found);
}

uint64_t CountEqual(std::span<const uint16_t> levels, uint16_t level) {
  return CountIf(levels, [level](uint16_t found) { return found == level; });
}

uint64_t CountAtMost(std::span<const uint16_t> levels, uint16_t level) {
  return CountIf(levels, [level](uint16_t found) { return found <= level; });
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
