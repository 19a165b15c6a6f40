// FSST: strings coded as one-byte symbols of 1 to 8 bytes. Decoder only.
//
// Symbol table, 2312 bytes:
//
//   byte 0        count S of symbols (0..255)
//   byte 1, 2     terminator, suffix limit: used by encoders only
//   byte 3        bit 0: 1 = values are coded, 0 = values are stored as they are
//   bytes 4..7    "TSSF"
//   bytes 8..     S symbols of 8 bytes, first character first, zero padded
//   then          S lengths of one byte (1..8); the rest is zero
//
// A value: code c < S stands for symbol c, 255 for the byte after it, S..254 for nothing (an
// error). Values are coded one by one, so an escape never crosses a value. Expansion is at most 8
// times. Source: docs/format-notes.md, "Fsst". All input is untrusted; immutable after Parse,
// thread-safe.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include <arrow/result.h>

namespace pennon::encoding {

class FsstTable {
 public:
  static constexpr size_t kBytes = 2312;
  /// Bytes past the decoded text that Decode may write to (its stores are 8 bytes wide).
  static constexpr size_t kSlack = 8;

  /// Reads a symbol table of exactly kBytes bytes.
  static arrow::Result<FsstTable> Parse(std::span<const uint8_t> bytes);

  /// False: the values are stored uncoded, and Decode copies them.
  bool coded() const { return coded_; }
  int num_symbols() const { return num_symbols_; }

  /// The most bytes that `coded_bytes` bytes decode to.
  size_t MaxDecodedBytes(size_t coded_bytes) const {
    return coded_ ? coded_bytes * 8 : coded_bytes;
  }

  /// Decodes one value to `out`, which has room for MaxDecodedBytes(in.size()) + kSlack bytes.
  /// Returns the end of the text, or null when the value is not valid (see InvalidValue).
  uint8_t* Decode(std::span<const uint8_t> in, uint8_t* out) const {
    if (!coded_) {
      if (!in.empty()) std::memcpy(out, in.data(), in.size());
      return out + in.size();
    }
    const uint8_t* p = in.data();
    const uint8_t* const end = p + in.size();
    while (p != end) {
      const uint8_t code = *p++;
      const unsigned length = lengths_[code];
      if (length != 0) [[likely]] {
        std::memcpy(out, &symbols_[code], 8);
        out += length;
        continue;
      }
      if (code != 255 || p == end) return nullptr;
      *out++ = *p++;
    }
    return out;
  }

  /// The bytes that one value decodes to, or -1 when the value is not valid.
  int64_t DecodedBytes(std::span<const uint8_t> in) const;

  /// The error for a value that Decode refuses.
  arrow::Status InvalidValue(std::span<const uint8_t> in) const;

  /// Decodes `num_values` values that lie between consecutive `offsets` (num_values + 1 of them,
  /// ascending, the caller has checked them against `data`): texts go to `out`, ends to
  /// `out_offsets` (num_values + 1; out_offsets[0] = `first`). `out` holds `capacity` bytes;
  /// returns the bytes used. Texts over the capacity, or ends beyond what OutOffset holds, are
  /// errors. Offsets: uint32_t / uint64_t / int32_t / int64_t.
  template <typename InOffset, typename OutOffset>
  arrow::Result<int64_t> DecodeValues(const InOffset* offsets, const uint8_t* data,
                                      int64_t num_values, OutOffset first, OutOffset* out_offsets,
                                      uint8_t* out, int64_t capacity) const;

 private:
  FsstTable() = default;

  std::array<uint64_t, 256> symbols_{};
  std::array<uint8_t, 256> lengths_{};  ///< 0: no such symbol (255 always: the escape)
  bool coded_ = false;
  int num_symbols_ = 0;
};

}  // namespace pennon::encoding
