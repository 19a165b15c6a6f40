#include "pennon/encoding/kernels/fsst.h"

#include <algorithm>
#include <limits>

#include "pennon/error.h"

namespace pennon::encoding {
namespace {

constexpr size_t kHeader = 8;
constexpr size_t kSymbolBytes = 8;
constexpr uint8_t kEscape = 255;

}  // namespace

arrow::Result<FsstTable> FsstTable::Parse(std::span<const uint8_t> bytes) {
  if (bytes.size() != kBytes) {
    return Corrupt("", "FSST symbol table must have ", kBytes, " bytes, found ", bytes.size());
  }
  if (std::memcmp(bytes.data() + 4, "TSSF", 4) != 0) {
    return Corrupt("", "FSST symbol table must start with its magic number TSSF at byte 4");
  }
  FsstTable table;
  table.coded_ = (bytes[3] & 1) != 0;
  if (!table.coded_) return table;
  table.num_symbols_ = bytes[0];
  const uint8_t* symbols = bytes.data() + kHeader;
  const uint8_t* lengths = symbols + kSymbolBytes * table.num_symbols_;
  for (int i = 0; i < table.num_symbols_; ++i) {
    if (lengths[i] < 1 || lengths[i] > kSymbolBytes) {
      return Corrupt("", "FSST symbol must have 1 to 8 bytes: symbol ", i, " has ",
                     int{lengths[i]});
    }
    table.lengths_[i] = lengths[i];
    std::memcpy(&table.symbols_[i], symbols + kSymbolBytes * i, kSymbolBytes);
  }
  return table;
}

int64_t FsstTable::DecodedBytes(std::span<const uint8_t> in) const {
  if (!coded_) return static_cast<int64_t>(in.size());
  int64_t total = 0;
  for (size_t i = 0; i < in.size(); ++i) {
    const uint8_t length = lengths_[in[i]];
    if (length != 0) {
      total += length;
    } else if (in[i] == kEscape && i + 1 < in.size()) {
      ++total;
      ++i;
    } else {
      return -1;
    }
  }
  return total;
}

arrow::Status FsstTable::InvalidValue(std::span<const uint8_t> in) const {
  for (size_t i = 0; i < in.size(); ++i) {
    if (lengths_[in[i]] != 0) continue;
    if (in[i] != kEscape) {
      return Corrupt("", "FSST value uses a symbol that its table does not have: symbol ",
                     int{in[i]}, " of ", num_symbols_, ", at byte ", i);
    }
    if (++i == in.size())
      return Corrupt("", "FSST value ends inside an escape: length ", in.size());
  }
  return Corrupt("", "FSST value cannot be decoded: length ", in.size());
}

template <typename InOffset, typename OutOffset>
arrow::Result<int64_t> FsstTable::DecodeValues(const InOffset* offsets, const uint8_t* data,
                                               int64_t num_values, OutOffset first,
                                               OutOffset* out_offsets, uint8_t* out,
                                               int64_t capacity) const {
  uint8_t* at = out;
  const uint8_t* const limit = out + capacity;
  constexpr uint64_t kMaxOffset = static_cast<uint64_t>(std::numeric_limits<OutOffset>::max());
  const uint64_t room = kMaxOffset - static_cast<uint64_t>(first);
  out_offsets[0] = first;
  for (int64_t i = 0; i < num_values; ++i) {
    const std::span<const uint8_t> value(data + offsets[i],
                                         static_cast<size_t>(offsets[i + 1] - offsets[i]));
    if (MaxDecodedBytes(value.size()) + kSlack <= static_cast<size_t>(limit - at)) [[likely]] {
      uint8_t* end = Decode(value, at);
      if (end == nullptr) return InvalidValue(value);
      at = end;
    } else {
      // Near the end of the output the 8-byte stores do not fit: decode aside, then copy.
      const int64_t need = DecodedBytes(value);
      if (need < 0) return InvalidValue(value);
      if (need > limit - at) {
        return Corrupt("", "FSST values decode to more than expected: limit ", capacity, " bytes");
      }
      for (size_t k = 0; k < value.size(); ++k) {
        const uint8_t code = value[k];
        if (!coded_) {
          *at++ = code;
        } else if (code == kEscape) {
          *at++ = value[++k];
        } else {
          std::memcpy(at, &symbols_[code], lengths_[code]);
          at += lengths_[code];
        }
      }
    }
    const uint64_t end = static_cast<uint64_t>(at - out);
    if (end > room) {
      return Corrupt("", "FSST values decode to more than their offsets can say: ", end, " bytes");
    }
    out_offsets[i + 1] = static_cast<OutOffset>(static_cast<uint64_t>(first) + end);
  }
  return at - out;
}

#define PENNON_INSTANTIATE(In, Out)                                 \
  template arrow::Result<int64_t> FsstTable::DecodeValues<In, Out>( \
      const In*, const uint8_t*, int64_t, Out, Out*, uint8_t*, int64_t) const;
PENNON_INSTANTIATE(uint32_t, int32_t)
PENNON_INSTANTIATE(uint32_t, int64_t)
PENNON_INSTANTIATE(uint64_t, int32_t)
PENNON_INSTANTIATE(uint64_t, int64_t)
PENNON_INSTANTIATE(int32_t, int32_t)
PENNON_INSTANTIATE(int64_t, int64_t)
PENNON_INSTANTIATE(int64_t, int32_t)
#undef PENNON_INSTANTIATE

}  // namespace pennon::encoding
