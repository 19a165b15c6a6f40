// Which rows begin in which chunk of a mini-block page with lists.
//
//   last page buffer: (ends u64, partial u64) a chunk
//     ends      rows whose last entry lies in the chunk
//     partial   entries after the last of these; above 0: a row goes on in the next chunk
//
// Source: docs/format-notes.md, "Random access". All input is untrusted; immutable, thread-safe.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <arrow/result.h>

namespace pennon::encoding {

class RepetitionIndex {
 public:
  /// Bytes of the index of one chunk.
  static constexpr uint64_t kEntryBytes = 16;

  /// Reads the index of a page of `num_chunks` chunks that hold `num_rows` rows.
  static arrow::Result<RepetitionIndex> Parse(std::span<const uint8_t> bytes, size_t num_chunks,
                                              uint64_t num_rows);

  /// Rows that begin before chunk `i`; `i` = the number of chunks: all rows.
  uint64_t first(size_t i) const { return firsts_[i]; }
  /// Whether chunk `i` starts inside a row.
  bool starts_inside(size_t i) const { return i > 0 && goes_on_[i - 1] != 0; }
  /// The chunk in which `row` begins.
  size_t ChunkOf(uint64_t row) const;
  /// The end of the chunks that hold entries of `row`.
  size_t ChunkEnd(uint64_t row) const;

  size_t MemoryBytes() const {
    return sizeof(*this) + firsts_.capacity() * sizeof(uint64_t) + goes_on_.capacity();
  }

 private:
  RepetitionIndex() = default;

  std::vector<uint64_t> firsts_;
  std::vector<uint8_t> goes_on_;  ///< whether the chunk's last row goes on in the next chunk
};

}  // namespace pennon::encoding
