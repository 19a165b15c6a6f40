// Byte stream split: n values of s bytes (s = 4 or 8) as s streams of n bytes.
//
//   [byte 0 of every value][byte 1 of every value] ... [byte s-1 of every value]
//
// Source: docs/format-notes.md, "ByteStreamSplit". All input is untrusted; stateless, thread-safe.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <arrow/status.h>

namespace pennon::encoding {

/// Joins the streams of `num_values` values of `bits` bits (32 or 64); `in` and `out` hold exactly
/// num_values * bits / 8 bytes.
arrow::Status DecodeByteStreamSplit(std::span<const uint8_t> in, int bits, int64_t num_values,
                                    std::span<uint8_t> out);

/// Appends the streams of `values` (words of 32 or 64 bits).
arrow::Status EncodeByteStreamSplit(std::span<const uint8_t> values, int bits,
                                    std::vector<uint8_t>* out);

}  // namespace pennon::encoding
