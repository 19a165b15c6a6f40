// One stream of levels of a page (repetition or definition), as u16 words in block form. One
// encoding serves all chunks of the page: the smallest of
//
//   Flat(16)                        2 bytes a level
//   OutOfLineBitpacking(16, W)      units of 1024 at the width W of the page's largest level; W = 0
//                                   takes no bytes
//   Rle(16, 8), 2.2 only            8 bytes and 3 a run, for each chunk
//
// Source: docs/format-notes.md, "Levels".
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <arrow/status.h>
#include <arrow/type_fwd.h>

namespace pennon::encoding {

/// The levels of one stream of a page, which must outlive it. Immutable.
class LevelWriter {
 public:
  /// No stream.
  LevelWriter() = default;
  /// Takes `levels`, which will be asked for in chunks of `chunk_entries` levels (their sum is
  /// levels.size(), unless there are none: no stream), for files of version 2.`minor`.
  LevelWriter(std::span<const uint16_t> levels, std::span<const uint32_t> chunk_entries, int minor);

  bool has_levels() const { return !levels_.empty(); }
  /// Whether the chunks are raw words.
  bool is_plain() const { return form_ == Form::kFlat; }
  /// The serialised CompressiveEncoding of the chunks; empty without levels.
  std::string encoding() const;
  /// Appends levels [first, first + count).
  arrow::Status AppendChunk(uint64_t first, uint64_t count, std::vector<uint8_t>* out) const;

 private:
  enum class Form { kFlat, kPacked, kRuns };

  std::span<const uint16_t> levels_;
  Form form_ = Form::kFlat;
  int width_ = 0;
};

/// The definition levels of `length` values of a column without nesting: 1 where `validity` (1 =
/// valid) is not set, else 0. No levels if `validity` is null.
std::vector<uint16_t> LevelsOfValidity(const arrow::Buffer* validity, uint64_t length);

}  // namespace pennon::encoding
