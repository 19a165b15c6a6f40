// Levels: repetition (which list an entry begins) and definition (what of its nesting is null or
// empty). Without lists an entry stands for each value and there are definition levels only.
//
// Layers are numbered innermost first; each nullable layer takes the next level. 0 = valid
// everywhere. A column at top level has one item layer, so its levels are 0 (valid) and 1 (null).
// Source: docs/format-notes.md, "Levels". All input is untrusted.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include <arrow/result.h>

#include "pennon/encoding/output.h"
#include "pennon/wire/page_layout.h"

namespace pennon::encoding {

/// Bits of a stored level.
inline constexpr uint64_t kLevelBits = 16;

/// What the layers of a page allow. Definition levels are numbered from the innermost layer on, the
/// levels of the layers inside all lists first.
struct LevelLimits {
  size_t layers = 0;
  uint16_t max_rep = 0;          ///< list layers: the repetition level that starts a row
  uint16_t max_def = 0;          ///< the highest definition level
  uint16_t max_visible_def = 0;  ///< entries above it own no value

  /// Whether every entry owns a value.
  bool all_visible() const { return max_def == max_visible_def; }
  /// Takes the layers of a page description: at least one, the innermost an item layer.
  static arrow::Result<LevelLimits> Make(std::span<const wire::LayerKind> layers);
  /// Fails unless there is one layer, as in the pages of a column at top level.
  arrow::Status ExpectFlat() const;
};

/// Fails if one of `levels` is above `max`; `name` says which levels they are.
arrow::Status CheckLevels(std::span<const uint16_t> levels, uint16_t max, std::string_view name);

/// How many of `levels` are equal to `level`, and how many are at most `level`.
uint64_t CountEqual(std::span<const uint16_t> levels, uint16_t level);
uint64_t CountAtMost(std::span<const uint16_t> levels, uint16_t level);

/// Marks the slots from `slot` null where `levels` are not 0. A level above `max_level` is a
/// kCorrupt error. `levels` may have any alignment.
arrow::Status LevelsToValidity(const uint8_t* levels, uint64_t count, uint16_t max_level,
                               uint64_t slot, ValidityOutput* validity);

}  // namespace pennon::encoding
