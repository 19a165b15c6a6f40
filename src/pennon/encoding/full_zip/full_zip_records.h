// The control words of full-zip records: full_zip.h.
#pragma once

#include <cstdint>
#include <cstring>

#include <arrow/result.h>

#include "pennon/encoding/output.h"
#include "pennon/wire/page_layout.h"

namespace pennon::encoding {

/// Reads the levels in front of records. Immutable.
class ControlWords {
 public:
  ControlWords() = default;
  /// Fails for pages with repetition levels, or with levels that the layers do not allow.
  static arrow::Result<ControlWords> Make(const wire::FullZipLayout& layout);

  /// Bytes of a control word; 0 if there is none and all values are valid.
  uint64_t bytes() const { return bytes_; }
  uint32_t max_level() const { return max_level_; }

  /// The definition level of the word at `at`.
  uint32_t Level(const uint8_t* at) const {
    uint32_t word = 0;
    std::memcpy(&word, at, bytes_);
    return word;
  }

  /// Takes the levels of `count` records that lie `stride` bytes apart from `at` as validity of the
  /// slots from `slot`.
  arrow::Status ReadStrided(const uint8_t* at, uint64_t stride, uint64_t count, uint64_t slot,
                            ValidityOutput* validity) const;

  /// The error for a level above max_level().
  arrow::Status BadLevel(uint32_t level) const;

 private:
  uint64_t bytes_ = 0;
  uint32_t max_level_ = 0;
};

}  // namespace pennon::encoding
