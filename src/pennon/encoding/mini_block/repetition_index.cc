#include "pennon/encoding/mini_block/repetition_index.h"

#include <algorithm>
#include <cstring>

#include "pennon/error.h"

namespace pennon::encoding {

arrow::Result<RepetitionIndex> RepetitionIndex::Parse(std::span<const uint8_t> bytes,
                                                      size_t num_chunks, uint64_t num_rows) {
  if (bytes.size() / kEntryBytes != num_chunks || bytes.size() % kEntryBytes != 0) {
    return Corrupt("", "a page's repetition index has the wrong size: expected ", num_chunks,
                   " chunks of ", kEntryBytes, " bytes, found ", bytes.size(), " bytes");
  }
  RepetitionIndex out;
  out.firsts_.resize(num_chunks + 1);
  out.goes_on_.resize(num_chunks);
  uint64_t ended = 0;
  bool inside = false;
  for (size_t i = 0; i < num_chunks; ++i) {
    uint64_t ends, partial;
    std::memcpy(&ends, bytes.data() + i * kEntryBytes, 8);
    std::memcpy(&partial, bytes.data() + i * kEntryBytes + 8, 8);
    if (ends > num_rows - ended) {
      return Corrupt("", "a page's repetition index has more rows than the page: expected ",
                     num_rows, ", found ", ended, " and ", ends, " in chunk ", i);
    }
    if (inside && ends == 0 && partial == 0) {
      return Corrupt("", "a page's repetition index loses a row: it neither ends in chunk ", i,
                     " nor goes on");
    }
    // Rows that end here but for the one that began earlier, and the one that goes on. That sums
    // to `ended`, plus one if a row goes on.
    out.firsts_[i] = ended + (inside ? 1 : 0);
    ended += ends;
    inside = partial > 0;
    out.goes_on_[i] = inside ? 1 : 0;
  }
  if (ended != num_rows || inside) {
    return Corrupt("", "a page's repetition index does not add up to the page: expected ", num_rows,
                   " rows, found ", ended, inside ? " and one without end" : "");
  }
  out.firsts_[num_chunks] = num_rows;
  return out;
}

size_t RepetitionIndex::ChunkOf(uint64_t row) const {
  return static_cast<size_t>(std::upper_bound(firsts_.begin(), firsts_.end(), row) -
                             firsts_.begin()) -
         1;
}

size_t RepetitionIndex::ChunkEnd(uint64_t row) const {
  size_t chunk = ChunkOf(row);
  // Row `row` goes on from `chunk` if it is the last that begins there.
  while (goes_on_[chunk] != 0 && firsts_[chunk + 1] == row + 1) ++chunk;
  return chunk + 1;
}

}  // namespace pennon::encoding
