// Definition levels of a page without lists: level 1 = null, 0 = valid, as u16 words in block form.
// One encoding serves all chunks of a page: OutOfLineBitpacking at one bit, or Flat when packing
// saves nothing.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <arrow/buffer.h>
#include <arrow/status.h>

namespace pennon::encoding {

/// The levels of one page. Immutable.
class LevelWriter {
 public:
  /// Takes `length` bits of `validity` (1 = valid), which may be null: then the page has no levels.
  LevelWriter(const arrow::Buffer* validity, uint64_t length);

  bool has_levels() const { return !levels_.empty(); }
  /// The serialised CompressiveEncoding of the chunks; empty without levels.
  std::string encoding() const;
  /// Appends the levels of values [first, first + count).
  arrow::Status AppendChunk(uint64_t first, uint64_t count, std::vector<uint8_t>* out) const;
  /// All levels as raw words.
  std::vector<uint8_t> Raw() const;

 private:
  std::vector<uint16_t> levels_;
  bool packed_ = false;
};

}  // namespace pennon::encoding
