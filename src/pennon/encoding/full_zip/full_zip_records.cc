#include "pennon/encoding/full_zip/full_zip_records.h"

#include <algorithm>

#include "pennon/encoding/nested/levels.h"
#include "pennon/error.h"

namespace pennon::encoding {

arrow::Result<ControlWords> ControlWords::Make(const wire::FullZipLayout& layout) {
  ARROW_ASSIGN_OR_RAISE(const LevelLimits limits, LevelLimits::Make(layout.layers));
  ARROW_RETURN_NOT_OK(limits.ExpectFlat());
  if (layout.bits_rep != 0)
    return Corrupt("", "a page without lists has repetition levels: ", layout.bits_rep, " bits");
  if (layout.bits_def > 16)
    return Corrupt("", "definition levels have at most 16 bits, found ", layout.bits_def);
  ControlWords out;
  out.bytes_ = layout.bits_def == 0 ? 0 : layout.bits_def <= 8 ? 1 : 2;
  out.max_level_ = limits.max_def;
  return out;
}

arrow::Status ControlWords::BadLevel(uint32_t level) const {
  return Corrupt(
      "", "a record's definition level is higher than the page's layers allow: expected at most ",
      max_level_, ", found ", level);
}

arrow::Status ControlWords::ReadStrided(const uint8_t* at, uint64_t stride, uint64_t count,
                                        uint64_t slot, ValidityOutput* validity) const {
  if (bytes_ == 0) return arrow::Status::OK();
  uint32_t max = 0;
  for (uint64_t i = 0; i < count; ++i) max = std::max(max, Level(at + i * stride));
  if (max > max_level_) return BadLevel(max);
  if (max == 0) return arrow::Status::OK();
  ARROW_ASSIGN_OR_RAISE(uint8_t* const bits, validity->Bits());
  uint64_t nulls = 0;
  for (uint64_t i = 0; i < count; ++i) {
    const bool null = Level(at + i * stride) != 0;
    const uint64_t to = slot + i;
    bits[to / 8] = static_cast<uint8_t>(bits[to / 8] & ~((null ? 1U : 0U) << (to % 8)));
    nulls += null ? 1 : 0;
  }
  validity->AddNulls(nulls);
  return arrow::Status::OK();
}

}  // namespace pennon::encoding
