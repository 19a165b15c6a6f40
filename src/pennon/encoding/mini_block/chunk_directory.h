// Where the chunks of a mini-block page lie and which values they hold.
//
//   page buffer 0: one word a chunk, u16 (2.1) or u32 (2.2)
//     word = (bytes of the chunk / 8 - 1) << 4 | log2 of its values
//   the last chunk holds what the others leave of num_items, whatever its log says
//
// Source: docs/format-notes.md, "Chunk words". All input is untrusted; immutable, thread-safe.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <arrow/result.h>

namespace pennon::encoding {

class ChunkDirectory {
 public:
  /// The most values that one chunk can have.
  static constexpr uint64_t kMaxChunkValues = 1 << 15;

  /// Reads the words of a page with `num_items` > 0 values whose chunks take `chunk_bytes` bytes in
  /// all.
  static arrow::Result<ChunkDirectory> Parse(std::span<const uint8_t> words, bool large_chunks,
                                             uint64_t num_items, uint64_t chunk_bytes);

  size_t num_chunks() const { return starts_.size() - 1; }
  /// First byte of chunk `i` in page buffer 1; `i` = num_chunks(): the end.
  uint64_t start(size_t i) const { return starts_[i]; }
  /// First value of chunk `i`; `i` = num_chunks(): the number of values.
  uint64_t first(size_t i) const {
    if (!firsts_.empty()) return firsts_[i];
    return i == num_chunks() ? num_items_ : static_cast<uint64_t>(i) << uniform_log_;
  }
  /// The chunk that holds value `row` < num_items.
  size_t ChunkOf(uint64_t row) const;

  size_t MemoryBytes() const {
    return (starts_.capacity() + firsts_.capacity()) * sizeof(uint64_t) + sizeof(*this);
  }

 private:
  ChunkDirectory() = default;

  uint64_t num_items_ = 0;
  int uniform_log_ = 0;  ///< of all chunks but the last, if `firsts_` is empty
  std::vector<uint64_t> starts_;
  std::vector<uint64_t> firsts_;  ///< only if the chunks before the last differ
};

}  // namespace pennon::encoding
