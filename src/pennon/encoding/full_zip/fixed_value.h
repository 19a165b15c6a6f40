// The bytes of one value of fixed width by itself, in a full-zip record or a row of a packed
// struct:
//
//   for each list layer with validity, outermost first: its bits (1 = valid), starting a byte
//   the items, unless all children of the last layer with validity are null
//
// Source: docs/format-notes.md, "FullZipLayout".
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include <arrow/result.h>

#include "pennon/encoding/leaf_type.h"
#include "pennon/wire/page_layout.h"

namespace pennon::encoding {

struct FixedValue {
  /// A list layer whose validity is stored.
  struct Validity {
    size_t layer;
    uint64_t run;     ///< children of that layer in a value
    uint64_t offset;  ///< byte in the value where their bits start
  };

  std::vector<Validity> validity;
  uint64_t item_offset = 0;  ///< byte in the value where the items start
  uint64_t item_bytes = 0;   ///< 0 if all of them are null and not stored

  uint64_t bytes() const { return item_offset + item_bytes; }

  /// Lays out values of `type` (kFixed, whole bytes) by `encoding`: Flat, with a FixedSizeList
  /// around it for each dimension. `place` is where they stand, for messages.
  static arrow::Result<FixedValue> Make(const wire::CompressiveEncoding& encoding,
                                        const LeafType& type, std::string_view place);
};

}  // namespace pennon::encoding
