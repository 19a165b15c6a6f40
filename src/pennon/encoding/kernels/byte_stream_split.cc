#include "pennon/encoding/kernels/byte_stream_split.h"

#include <cstring>

#include "pennon/error.h"

namespace pennon::encoding {
namespace {

arrow::Status CheckBits(int bits) {
  if (bits == 32 || bits == 64) return arrow::Status::OK();
  return Corrupt("", "byte-stream-split values must be 32 or 64 bits wide, found ", bits);
}

// Constant widths let the compiler turn the inner loops into shuffles.
template <int kWidth>
void Join(const uint8_t* __restrict in, int64_t n, uint8_t* __restrict out) {
  for (int64_t i = 0; i < n; ++i) {
    for (int b = 0; b < kWidth; ++b) out[i * kWidth + b] = in[b * n + i];
  }
}

template <int kWidth>
void Split(const uint8_t* __restrict in, int64_t n, uint8_t* __restrict out) {
  for (int b = 0; b < kWidth; ++b) {
    for (int64_t i = 0; i < n; ++i) out[b * n + i] = in[i * kWidth + b];
  }
}

}  // namespace

arrow::Status DecodeByteStreamSplit(std::span<const uint8_t> in, int bits, int64_t num_values,
                                    std::span<uint8_t> out) {
  ARROW_RETURN_NOT_OK(CheckBits(bits));
  const size_t width = static_cast<size_t>(bits) / 8;
  if (num_values < 0 || out.size() % width != 0 ||
      out.size() / width != static_cast<uint64_t>(num_values)) {
    return InvalidInput("Byte-stream-split output must hold exactly its values: ", num_values,
                        " values of ", bits, " bits, ", out.size(), " bytes given");
  }
  if (in.size() != out.size()) {
    return Corrupt("", "byte-stream-split buffer has the wrong size: expected ", out.size(),
                   " bytes, found ", in.size());
  }
  if (width == 4) {
    Join<4>(in.data(), num_values, out.data());
  } else {
    Join<8>(in.data(), num_values, out.data());
  }
  return arrow::Status::OK();
}

arrow::Status EncodeByteStreamSplit(std::span<const uint8_t> values, int bits,
                                    std::vector<uint8_t>* out) {
  ARROW_RETURN_NOT_OK(CheckBits(bits));
  const size_t width = static_cast<size_t>(bits) / 8;
  if (values.size() % width != 0) {
    return InvalidInput("Byte-stream-split input must be whole values of ", bits, " bits, ",
                        values.size(), " bytes given");
  }
  const int64_t n = static_cast<int64_t>(values.size() / width);
  const size_t at = out->size();
  out->resize(at + values.size());
  if (width == 4) {
    Split<4>(values.data(), n, out->data() + at);
  } else {
    Split<8>(values.data(), n, out->data() + at);
  }
  return arrow::Status::OK();
}

}  // namespace pennon::encoding
