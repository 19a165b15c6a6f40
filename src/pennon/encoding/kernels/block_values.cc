#include "pennon/encoding/kernels/block_values.h"

#include <cstring>
#include <limits>

#include "pennon/encoding/kernels/bitpacking.h"
#include "pennon/encoding/kernels/rle.h"
#include "pennon/error.h"

namespace pennon::encoding {

using wire::CompressionKind;

arrow::Status ExpectFlat(const wire::CompressiveEncoding& encoding, uint64_t bits) {
  if (encoding.kind != CompressionKind::kFlat) {
    return Unsupported("", "the values of an encoding must be Flat, found ",
                       wire::CompressionName(encoding.kind));
  }
  if (encoding.scheme != 0) return Unsupported("", "Flat values with a compression of their own");
  if (encoding.bits != bits) {
    return Corrupt("", "an encoding's values have another width than its type: expected ", bits,
                   " bits, found ", encoding.bits);
  }
  return arrow::Status::OK();
}

arrow::Result<BlockDecoder> BlockDecoder::Make(const wire::CompressiveEncoding& encoding,
                                               uint64_t bits) {
  BlockDecoder out;
  const wire::CompressiveEncoding* inner = &encoding;
  if (inner->kind == CompressionKind::kGeneral) {
    ARROW_ASSIGN_OR_RAISE(out.general_, GeneralSchemeOf(inner->scheme));
    inner = &inner->children[0];
  }
  if (bits > std::numeric_limits<int>::max())
    return Unsupported("", "values of ", bits, " bits in block form");
  out.kind_ = inner->kind;
  out.bits_ = static_cast<int>(bits);
  switch (inner->kind) {
    case CompressionKind::kFlat:
      ARROW_RETURN_NOT_OK(ExpectFlat(*inner, bits));
      return out;
    case CompressionKind::kRle:
      ARROW_RETURN_NOT_OK(ExpectFlat(inner->children[0], bits));
      ARROW_RETURN_NOT_OK(ExpectFlat(inner->children[1], 8));
      break;
    case CompressionKind::kOutOfLineBitpacking:
      if (inner->children[0].kind != CompressionKind::kFlat || inner->children[0].bits > bits) {
        return Corrupt("", "packed values must be Flat and no wider than unpacked ones: found ",
                       wire::CompressionName(inner->children[0].kind), " of ",
                       inner->children[0].bits, " bits");
      }
      out.width_ = static_cast<int>(inner->children[0].bits);
      [[fallthrough]];
    case CompressionKind::kInlineBitpacking:
      if (inner->bits != bits) {
        return Corrupt("", "bit-packed values have another width than their type: expected ", bits,
                       " bits, found ", inner->bits);
      }
      break;
    default:
      return Unsupported("",
                         "encoding of values in block form: ", wire::CompressionName(inner->kind));
  }
  if (bits != 8 && bits != 16 && bits != 32 && bits != 64) {
    return Corrupt("", "this encoding holds words of 8, 16, 32 or 64 bits: ",
                   wire::CompressionName(inner->kind), " of ", bits, " bits");
  }
  return out;
}

bool BlockDecoder::IsAllZero(std::span<const uint8_t> in) const {
  if (general_) return false;
  if (kind_ == CompressionKind::kOutOfLineBitpacking) return width_ == 0 && in.empty();
  if (kind_ != CompressionKind::kInlineBitpacking) return false;
  const auto word = static_cast<size_t>(bits_ / 8);
  if (in.size() < word) return false;
  for (size_t i = 0; i < word; ++i) {
    if (in[i] != 0) return false;
  }
  return true;
}

arrow::Status BlockDecoder::Decode(std::span<const uint8_t> in, uint64_t count,
                                   std::span<uint8_t> out, std::vector<uint8_t>* scratch) const {
  if (!general_) return DecodePlain(in, count, out);
  if (kind_ == CompressionKind::kFlat) return DecompressInto(*general_, in, out);
  // No inner form is much longer than the values: a run is at most one value and one byte.
  const uint64_t limit = out.size() + count + 16384;
  ARROW_RETURN_NOT_OK(DecompressTo(*general_, in, static_cast<int64_t>(limit), scratch));
  return DecodePlain(*scratch, count, out);
}

arrow::Status BlockDecoder::DecodePlain(std::span<const uint8_t> in, uint64_t count,
                                        std::span<uint8_t> out) const {
  const auto n = static_cast<int64_t>(count);
  switch (kind_) {
    case CompressionKind::kInlineBitpacking:
      return DecodeInlineBitpacking(in, bits_, n, out);
    case CompressionKind::kOutOfLineBitpacking:
      return DecodeOutOfLineBitpacking(in, bits_, width_, n, out);
    case CompressionKind::kRle:
      return DecodeRleBlock(in, bits_, n, out);
    default:
      if (in.size() != out.size()) {
        return Corrupt("", "a buffer of plain values has the wrong size: expected ", out.size(),
                       " bytes, found ", in.size());
      }
      if (!in.empty()) std::memcpy(out.data(), in.data(), in.size());
      return arrow::Status::OK();
  }
}

}  // namespace pennon::encoding
