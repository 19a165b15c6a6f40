// Fixed-width values in block form: one buffer, all values at once. Levels and dictionary items
// come so.
//
//   Flat                   n * bits / 8 bytes
//   InlineBitpacking       bitpacking.h (n <= 1024)
//   OutOfLineBitpacking    bitpacking.h
//   Rle                    rle.h, block form
//   General(one of these)  general.h around the whole buffer
//
// Source: docs/format-notes.md, "Positions". All input is untrusted.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include <arrow/result.h>

#include "pennon/encoding/kernels/general.h"
#include "pennon/wire/page_layout.h"

namespace pennon::encoding {

/// Decodes blocks of one encoding. Immutable, thread-safe.
class BlockDecoder {
 public:
  /// Takes `encoding` for values of `bits` bits. One that cannot give such values is a kCorrupt
  /// error, one that is not read in this position a kUnsupported error.
  static arrow::Result<BlockDecoder> Make(const wire::CompressiveEncoding& encoding, uint64_t bits);

  /// Decodes `count` values into `out`, which holds exactly count * bits / 8 bytes; `scratch` is
  /// for its use.
  arrow::Status Decode(std::span<const uint8_t> in, uint64_t count, std::span<uint8_t> out,
                       std::vector<uint8_t>* scratch) const;
  /// Whether all values of `in` are known to be zero without decoding them.
  bool IsAllZero(std::span<const uint8_t> in) const;

 private:
  BlockDecoder() = default;
  arrow::Status DecodePlain(std::span<const uint8_t> in, uint64_t count,
                            std::span<uint8_t> out) const;

  std::optional<GeneralScheme> general_;
  wire::CompressionKind kind_ = wire::CompressionKind::kFlat;
  int bits_ = 0;
  int width_ = 0;  ///< OutOfLineBitpacking: packed width
};

/// Fails unless `encoding` is Flat of `bits` bits.
arrow::Status ExpectFlat(const wire::CompressiveEncoding& encoding, uint64_t bits);

}  // namespace pennon::encoding
