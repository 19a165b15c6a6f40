// Definition levels: what of a value's nesting is null. Without lists a level stands for each
// value.
//
// Layers are numbered innermost first; each nullable layer takes the next level. 0 = valid
// everywhere. A column at top level has one item layer, so its levels are 0 (valid) and 1 (null).
// Source: docs/format-notes.md, "Levels". All input is untrusted.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include <arrow/result.h>

#include "pennon/encoding/block_values.h"
#include "pennon/encoding/output.h"
#include "pennon/wire/page_layout.h"

namespace pennon::encoding {

/// Bits of a stored level.
inline constexpr uint64_t kLevelBits = 16;

/// The nesting of a page, as far as columns without lists and structs need it.
struct ItemLayers {
  bool nullable = false;

  /// The highest level that may occur.
  uint16_t max_level() const { return nullable ? 1 : 0; }
  /// Takes the layers of a page description. Anything but one item layer is a kUnsupported error.
  static arrow::Result<ItemLayers> Make(std::span<const wire::LayerKind> layers);
};

/// Marks the slots from `slot` null where `levels` are not 0. A level above `max_level` is a
/// kCorrupt error. `levels` may have any alignment.
arrow::Status LevelsToValidity(const uint8_t* levels, uint64_t count, uint16_t max_level,
                               uint64_t slot, ValidityOutput* validity);

}  // namespace pennon::encoding
