// FastLanes bit-packing: the 1024-value unit, and the two messages built on it.
//
// Unit of width W over words of T bits (T = 8, 16, 32, 64; 0 <= W <= T), 128 * W bytes:
//
//   packed word k * LANES + l  =  word k of lane l        LANES = 1024 / T, k = 0 .. W-1
//   lane l                     =  T values of W bits, least significant bit first, row r at bit r *
//   W row r of lane l            =  value  BASE[r / 8] + 128 * (r % 8) + l   of the 1024 BASE =  0,
//   64, 32, 96, 16, 80, 48, 112
//
//   InlineBitpacking       [word of T bits: W][unit]                       one chunk of at most
//   1024 values OutOfLineBitpacking    [unit]...[unit][tail]     the message has W; the tail of n %
//   1024 values is
//                          raw words if the buffer holds exactly that many, else one more padded
//                          unit
//
// Source: docs/format-notes.md, "OutOfLineBitpacking" and "InlineBitpacking"; BitpackedForNonNeg
// of 2.0 is units only. All input is untrusted; every function is stateless and thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <arrow/status.h>

namespace pennon::encoding {

/// Values in one packed unit.
inline constexpr int64_t kUnitValues = 1024;

/// Bytes of one packed unit of width `width` bits, whatever the word size.
constexpr size_t PackedUnitBytes(int width) { return size_t{128} * static_cast<size_t>(width); }

/// Unpacks one unit: reads PackedUnitBytes(width) bytes from `packed` (any alignment), writes 1024
/// values to `out` (aligned for T). 0 <= width <= bits of T, which the caller has checked. T:
/// uint8_t .. uint64_t.
template <typename T>
void Unpack1024(const uint8_t* packed, int width, T* out);

/// Packs 1024 values into PackedUnitBytes(width) bytes (any alignment); bits above `width` are
/// dropped.
template <typename T>
void Pack1024(const T* values, int width, uint8_t* packed);

/// The width in bits of the largest value, 0 if all are zero or there are none.
template <typename T>
int BitWidth(std::span<const T> values);

/// Decodes an InlineBitpacking chunk of `num_values` (<= 1024) values of `bits` bits (8, 16, 32,
/// 64) into `out`, which holds exactly num_values * bits / 8 bytes at any alignment. Padding after
/// the unit is ignored.
arrow::Status DecodeInlineBitpacking(std::span<const uint8_t> in, int bits, int64_t num_values,
                                     std::span<uint8_t> out);

/// Bytes of an InlineBitpacking chunk of `bits`-bit words at `width`.
constexpr size_t InlineBitpackingBytes(int bits, int width) {
  return static_cast<size_t>(bits) / 8 + PackedUnitBytes(width);
}

/// Appends the InlineBitpacking form of `values`: at most 1024 words of `bits` bits, at their own
/// width.
arrow::Status EncodeInlineBitpacking(std::span<const uint8_t> values, int bits,
                                     std::vector<uint8_t>* out);

/// Decodes an OutOfLineBitpacking buffer of `num_values` words of `bits` bits packed to `width`
/// into `out`, which holds exactly num_values * bits / 8 bytes at any alignment.
arrow::Status DecodeOutOfLineBitpacking(std::span<const uint8_t> in, int bits, int width,
                                        int64_t num_values, std::span<uint8_t> out);

/// Appends the OutOfLineBitpacking form of `values` (words of `bits` bits) at `width`, which must
/// hold them. The tail is packed when that is smaller, as the reference writer does.
arrow::Status EncodeOutOfLineBitpacking(std::span<const uint8_t> values, int bits, int width,
                                        std::vector<uint8_t>* out);

/// Decodes rows [first, first + count) of BitpackedForNonNeg units of `width` bits (2.0 pages):
/// `in` starts with the unit that holds row `first`, so 0 <= first < 1024. `out` holds exactly
/// count * bits / 8 bytes.
arrow::Status DecodeBitpackedUnits(std::span<const uint8_t> in, int bits, int width, int64_t first,
                                   int64_t count, std::span<uint8_t> out);

/// Decodes `count` values of a plain bit stream (2.0 `Bitpacked`) whose first one begins at bit
/// `first_bit` (0..7) of `in`: `width` bits each, least significant first; widened to `bits` (8 ..
/// 64), sign-extended if `is_signed`.
arrow::Status DecodeBitStream(std::span<const uint8_t> in, uint64_t first_bit, int bits, int width,
                              bool is_signed, int64_t count, std::span<uint8_t> out);

}  // namespace pennon::encoding
