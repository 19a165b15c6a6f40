// Variable-width values: offsets of 32 or 64 bits and the bytes they cut.
//
//   mini-block, w = 4 or 8    [n + 1 offsets of w bytes][bytes][padding]
//                             offsets count from the start of the buffer: first = (n + 1) w, last =
//                             end of the bytes; padding up to a multiple of w
//   block, w = 4              [u32 32][u32 8 + 4 (n + 1)][n + 1 x u32 offsets][bytes]    offsets
//   from 0 block, w = 8              [u64 64][u64 16 + 8 (n + 1)][n + 1 x u64 offsets][bytes]
//
// Source: docs/format-notes.md, "Variable". All input is untrusted; stateless, thread-safe.
#pragma once

#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include <arrow/result.h>

namespace pennon::encoding {

/// Checked variable-width values inside an encoded buffer, which must outlive the view.
struct VariableView {
  int offset_bits = 32;  ///< 32 or 64
  int64_t num_values = 0;
  std::span<const uint8_t>
      offsets;  ///< num_values + 1 little-endian offsets, any alignment, ascending
  std::span<const uint8_t> bytes;  ///< the values, end to end
  uint64_t base = 0;               ///< what the first offset says: the start of `bytes`

  /// Where value `i` starts in `bytes` (i == num_values: where the last one ends).
  uint64_t start(int64_t i) const {
    if (offset_bits == 32) {
      uint32_t at;
      std::memcpy(&at, offsets.data() + 4 * i, 4);
      return at - base;
    }
    uint64_t at;
    std::memcpy(&at, offsets.data() + 8 * i, 8);
    return at - base;
  }
  std::span<const uint8_t> value(int64_t i) const {
    return bytes.subspan(start(i), start(i + 1) - start(i));
  }

  /// Writes the offsets of values [begin, begin + count) so that value `begin` starts at `first`:
  /// count + 1 offsets, out[0] = first. An end that Offset (int32_t or int64_t) cannot hold is an
  /// error.
  template <typename Offset>
  arrow::Status CopyOffsets(int64_t begin, int64_t count, Offset first, Offset* out) const;
};

/// Checks a mini-block buffer of `num_values` values and gives a view of it.
arrow::Result<VariableView> ViewVariableMiniBlock(std::span<const uint8_t> in, int offset_bits,
                                                  int64_t num_values);

/// Checks a block buffer of `num_values` values and gives a view of it.
arrow::Result<VariableView> ViewVariableBlock(std::span<const uint8_t> in, int offset_bits,
                                              int64_t num_values);

/// Appends the mini-block form of values given by `num_values` + 1 ascending `offsets` into `bytes`
/// (Arrow's own: offsets[0] may be above 0), padded to a multiple of the offset width. Ends beyond
/// what the offset width holds are an error.
template <typename Offset>
arrow::Status EncodeVariableMiniBlock(const Offset* offsets, const uint8_t* bytes,
                                      int64_t num_values, int offset_bits,
                                      std::vector<uint8_t>* out);

/// Appends the block form of the same.
template <typename Offset>
arrow::Status EncodeVariableBlock(const Offset* offsets, const uint8_t* bytes, int64_t num_values,
                                  int offset_bits, std::vector<uint8_t>* out);

}  // namespace pennon::encoding
