#include "pennon/encoding/mini_block/chunk_directory.h"

#include <algorithm>
#include <cstring>

#include "pennon/error.h"

namespace pennon::encoding {

namespace {

uint32_t LoadWord(const uint8_t* words, size_t i, bool large) {
  if (large) {
    uint32_t word;
    std::memcpy(&word, words + 4 * i, 4);
    return word;
  }
  uint16_t word;
  std::memcpy(&word, words + 2 * i, 2);
  return word;
}

}  // namespace

arrow::Result<ChunkDirectory> ChunkDirectory::Parse(std::span<const uint8_t> words,
                                                    bool large_chunks, uint64_t num_items,
                                                    uint64_t chunk_bytes) {
  const size_t width = large_chunks ? 4 : 2;
  const size_t count = words.size() / width;
  if (count == 0 || words.size() % width != 0) {
    return Corrupt("", "a page's chunk words have a wrong size: expected a multiple of ", width,
                   " bytes, found ", words.size());
  }
  ChunkDirectory out;
  out.num_items_ = num_items;
  out.starts_.resize(count + 1);
  uint64_t start = 0, values = 0;
  bool uniform = true;
  const uint32_t first_log = LoadWord(words.data(), 0, large_chunks) & 15U;
  for (size_t i = 0; i < count; ++i) {
    const uint32_t word = LoadWord(words.data(), i, large_chunks);
    out.starts_[i] = start;
    start += (uint64_t{word >> 4U} + 1) * 8;
    if (i + 1 == count) break;
    const uint32_t log = word & 15U;
    if (log == 0)
      return Corrupt("", "a chunk before the last says that it holds one value: chunk ", i);
    uniform = uniform && log == first_log;
    values += uint64_t{1} << log;
  }
  out.starts_[count] = start;
  if (start != chunk_bytes) {
    return Corrupt("", "a page's chunks do not add up to their buffer: expected ", chunk_bytes,
                   " bytes, found ", start);
  }
  if (values >= num_items || num_items - values > kMaxChunkValues) {
    return Corrupt("", "a page's chunks do not add up to its values: ", count, " chunks, ", values,
                   " values before the last, ", num_items, " in all");
  }
  out.uniform_log_ = static_cast<int>(first_log);
  if (!uniform) {
    out.firsts_.resize(count + 1);
    for (size_t i = 0; i + 1 < count; ++i) {
      out.firsts_[i + 1] =
          out.firsts_[i] + (uint64_t{1} << (LoadWord(words.data(), i, large_chunks) & 15U));
    }
    out.firsts_[count] = num_items;
  }
  return out;
}

size_t ChunkDirectory::ChunkOf(uint64_t row) const {
  if (firsts_.empty()) return std::min<size_t>(row >> uniform_log_, num_chunks() - 1);
  return static_cast<size_t>(std::upper_bound(firsts_.begin(), firsts_.end(), row) -
                             firsts_.begin()) -
         1;
}

}  // namespace pennon::encoding
