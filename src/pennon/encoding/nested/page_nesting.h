// The nesting of one page's values as the page writers want it: layers and levels
// (docs/format-notes.md, "Levels").
#pragma once

#include <cstdint>
#include <vector>

#include "pennon/wire/page_layout.h"

namespace pennon::encoding {

/// Plain values; `entries` pairs of levels, of which those with a definition of at most
/// `max_visible` own a value.
struct PageNesting {
  std::vector<wire::LayerKind> layers;  ///< innermost first
  std::vector<uint16_t> repetition;     ///< empty if no layer is a list
  std::vector<uint16_t> definition;     ///< empty if the layers have no level but 0
  uint64_t entries = 0;
  uint64_t rows = 0;   ///< top-level rows
  uint64_t slots = 0;  ///< what Page.length says: rows, times the dimensions of the fixed-size
                       ///< lists of structs around the leaf
  uint16_t max_visible = 0;
  uint16_t max_definition = 0;  ///< the highest that the layers have
  uint16_t max_repetition = 0;  ///< number of list layers; starts a new row

  bool is_visible(uint64_t entry) const {
    return definition.empty() || definition[entry] <= max_visible;
  }
  bool starts_row(uint64_t entry) const {
    return repetition.empty() || repetition[entry] == max_repetition;
  }
};

}  // namespace pennon::encoding
