// Run-length encoding: values of 8, 16, 32 or 64 bits, run lengths of one byte (1..255).
//
//   mini-block   buffer 0: one value a run      buffer 1: one length a run
//                runs beyond the chunk's value count are cut off, fewer are an error
//   block        [u64 bytes of values][values][lengths]     the lengths must sum to the value count
//
// Source: docs/format-notes.md, "Rle". All input is untrusted; stateless, thread-safe.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <arrow/status.h>

namespace pennon::encoding {

/// Expands the runs of a mini-block chunk into `out`, which holds exactly num_values * bits / 8
/// bytes.
arrow::Status DecodeRleMiniBlock(std::span<const uint8_t> values, std::span<const uint8_t> lengths,
                                 int bits, int64_t num_values, std::span<uint8_t> out);

/// Expands the block form into `out`, which holds exactly num_values * bits / 8 bytes.
arrow::Status DecodeRleBlock(std::span<const uint8_t> in, int bits, int64_t num_values,
                             std::span<uint8_t> out);

/// Counts the runs of `values` (words of `bits` bits), runs over 255 split.
int64_t CountRuns(std::span<const uint8_t> values, int bits);

/// Appends the runs of `values` (words of `bits` bits) to the two mini-block buffers.
arrow::Status EncodeRleMiniBlock(std::span<const uint8_t> values, int bits,
                                 std::vector<uint8_t>* run_values,
                                 std::vector<uint8_t>* run_lengths);

/// Appends the block form of `values` (words of `bits` bits).
arrow::Status EncodeRleBlock(std::span<const uint8_t> values, int bits, std::vector<uint8_t>* out);

}  // namespace pennon::encoding
