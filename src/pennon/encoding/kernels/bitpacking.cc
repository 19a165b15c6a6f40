#include "pennon/encoding/kernels/bitpacking.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <type_traits>

#include "pennon/error.h"

#if defined(__x86_64__) && defined(__GNUC__)
#define PENNON_HAVE_AVX2_TARGET 1
#else
#define PENNON_HAVE_AVX2_TARGET 0
#endif

namespace pennon::encoding {
namespace {

static_assert(std::endian::native == std::endian::little, "the format is little-endian");

// One row of all lanes is 1024 bits whatever T is. It is handled as four vectors of four 64-bit
// words (one AVX2 or two SSE2 registers each); the shift is the same for every word. Bits that a
// shift carries over from a neighbouring value of the same word are masked away.
using Vector = uint64_t __attribute__((vector_size(32)));
constexpr size_t kRowBytes = 128;
constexpr size_t kVectorBytes = sizeof(Vector);

// Row r of a lane is value kRowBase[r / 8] + 128 * (r % 8) + lane of the unit.
constexpr int kRowBase[8] = {0, 64, 32, 96, 16, 80, 48, 112};

constexpr int RowStart(int row) { return kRowBase[row / 8] + 128 * (row % 8); }

template <typename T>
constexpr int kBits = static_cast<int>(sizeof(T) * 8);

template <typename T>
constexpr T LowBits(int width) {
  return width >= kBits<T> ? static_cast<T>(~T{0}) : static_cast<T>((T{1} << width) - 1);
}

// Repeats a mask of T bits over 64.
template <typename T>
constexpr uint64_t Repeat(T mask) {
  return static_cast<uint64_t>(mask) *
         (~uint64_t{0} / static_cast<uint64_t>(static_cast<T>(~T{0})));
}

template <typename T>
[[gnu::always_inline]] inline void UnpackUnit(const uint8_t* __restrict packed, int width,
                                              uint8_t* __restrict out) {
  for (int row = 0; row < kBits<T>; ++row) {
    const int bit = row * width;
    const int shift = bit % kBits<T>;
    const int low_width = std::min(width, kBits<T> - shift);  // bits of the value in the first word
    const uint8_t* low = packed + static_cast<size_t>(bit / kBits<T>) * kRowBytes;
    uint8_t* to = out + static_cast<size_t>(RowStart(row)) * sizeof(T);
    const uint64_t low_mask = Repeat<T>(LowBits<T>(low_width));
    if (low_width == width) {
      for (size_t i = 0; i < kRowBytes; i += kVectorBytes) {
        Vector v;
        std::memcpy(&v, low + i, kVectorBytes);
        v = (v >> shift) & low_mask;
        std::memcpy(to + i, &v, kVectorBytes);
      }
    } else {
      const uint8_t* high = low + kRowBytes;
      const uint64_t high_mask =
          Repeat<T>(static_cast<T>(LowBits<T>(width) ^ LowBits<T>(low_width)));
      for (size_t i = 0; i < kRowBytes; i += kVectorBytes) {
        Vector v;
        Vector next;
        std::memcpy(&v, low + i, kVectorBytes);
        std::memcpy(&next, high + i, kVectorBytes);
        v = ((v >> shift) & low_mask) | ((next << low_width) & high_mask);
        std::memcpy(to + i, &v, kVectorBytes);
      }
    }
  }
}

#if PENNON_HAVE_AVX2_TARGET
template <typename T>
__attribute__((target("avx2"))) void UnpackUnitAvx2(const uint8_t* packed, int width,
                                                    uint8_t* out) {
  UnpackUnit<T>(packed, width, out);
}
#endif

template <typename T>
void UnpackUnitPortable(const uint8_t* packed, int width, uint8_t* out) {
  UnpackUnit<T>(packed, width, out);
}

using UnpackFn = void (*)(const uint8_t*, int, uint8_t*);

template <typename T>
UnpackFn ChooseUnpack() {
#if PENNON_HAVE_AVX2_TARGET
  if (__builtin_cpu_supports("avx2")) return &UnpackUnitAvx2<T>;
#endif
  return &UnpackUnitPortable<T>;
}

// Unpacks to bytes of any alignment.
template <typename T>
void UnpackBytes(const uint8_t* packed, int width, uint8_t* out) {
  static const UnpackFn unpack = ChooseUnpack<T>();
  if (width == 0) {
    std::memset(out, 0, kUnitValues * sizeof(T));
  } else {
    unpack(packed, width, out);
  }
}

template <typename T>
void PackBytes(const uint8_t* __restrict values, int width, uint8_t* __restrict packed) {
  if (width == 0) return;
  for (int row = 0; row < kBits<T>; ++row) {
    const int bit = row * width;
    const int shift = bit % kBits<T>;
    const int low_width = std::min(width, kBits<T> - shift);
    uint8_t* low = packed + static_cast<size_t>(bit / kBits<T>) * kRowBytes;
    const uint8_t* from = values + static_cast<size_t>(RowStart(row)) * sizeof(T);
    const uint64_t low_mask = Repeat<T>(LowBits<T>(low_width));
    for (size_t i = 0; i < kRowBytes; i += kVectorBytes) {
      Vector v;
      Vector before{};
      std::memcpy(&v, from + i, kVectorBytes);
      if (shift != 0) std::memcpy(&before, low + i, kVectorBytes);
      v = before | ((v & low_mask) << shift);
      std::memcpy(low + i, &v, kVectorBytes);
    }
    if (low_width == width) continue;
    uint8_t* high = low + kRowBytes;
    const uint64_t high_mask = Repeat<T>(LowBits<T>(width - low_width));
    for (size_t i = 0; i < kRowBytes; i += kVectorBytes) {
      Vector v;
      std::memcpy(&v, from + i, kVectorBytes);
      v = (v >> low_width) & high_mask;
      std::memcpy(high + i, &v, kVectorBytes);
    }
  }
}

arrow::Status CheckWord(int bits) {
  if (bits == 8 || bits == 16 || bits == 32 || bits == 64) return arrow::Status::OK();
  return Corrupt("", "bit-packed values must be 8, 16, 32 or 64 bits wide, found ", bits);
}

arrow::Status CheckWidth(int width, int bits) {
  if (width >= 0 && width <= bits) return arrow::Status::OK();
  return Corrupt("", "bit-packed width must be between 0 and ", bits, ", found ", width);
}

// Whether `bytes` is num_values words of `bits` bits, which have been checked.
arrow::Status CheckOutput(size_t bytes, int bits, int64_t num_values) {
  if (num_values >= 0 && bytes % (bits / 8) == 0 &&
      bytes / (bits / 8) == static_cast<uint64_t>(num_values)) {
    return arrow::Status::OK();
  }
  return InvalidInput("Bit-packed output must hold exactly its values: ", num_values, " values of ",
                      bits, " bits, ", bytes, " bytes given");
}

// Calls `visit` with a zero of the word type of `bits` bits, which CheckWord has passed.
template <typename Visit>
auto VisitWord(int bits, Visit&& visit) {
  switch (bits) {
    case 8:
      return visit(uint8_t{0});
    case 16:
      return visit(uint16_t{0});
    case 32:
      return visit(uint32_t{0});
    default:
      return visit(uint64_t{0});
  }
}

// Unpacks rows [first, first + count) of one unit.
template <typename T>
void UnpackPart(const uint8_t* packed, int width, int64_t first, int64_t count, uint8_t* out) {
  if (count == kUnitValues) return UnpackBytes<T>(packed, width, out);
  uint8_t unit[kUnitValues * sizeof(T)];
  UnpackBytes<T>(packed, width, unit);
  std::memcpy(out, unit + first * sizeof(T), count * sizeof(T));
}

// Packs `count` <= 1024 values, zero padded, to the end of `out`.
template <typename T>
void AppendUnit(const uint8_t* values, int64_t count, int width, std::vector<uint8_t>* out) {
  const size_t at = out->size();
  out->resize(at + PackedUnitBytes(width));
  if (count == kUnitValues) return PackBytes<T>(values, width, out->data() + at);
  uint8_t unit[kUnitValues * sizeof(T)] = {};
  std::memcpy(unit, values, count * sizeof(T));
  PackBytes<T>(unit, width, out->data() + at);
}

template <typename T>
int WidthOfBytes(std::span<const uint8_t> values) {
  T all = 0;
  for (size_t i = 0; i + sizeof(T) <= values.size(); i += sizeof(T)) {
    T value;
    std::memcpy(&value, values.data() + i, sizeof(T));
    all = static_cast<T>(all | value);
  }
  return std::bit_width(all);
}

}  // namespace

template <typename T>
void Unpack1024(const uint8_t* packed, int width, T* out) {
  UnpackBytes<T>(packed, width, reinterpret_cast<uint8_t*>(out));
}

template <typename T>
void Pack1024(const T* values, int width, uint8_t* packed) {
  PackBytes<T>(reinterpret_cast<const uint8_t*>(values), width, packed);
}

template <typename T>
int BitWidth(std::span<const T> values) {
  return WidthOfBytes<T>({reinterpret_cast<const uint8_t*>(values.data()), values.size_bytes()});
}

#define PENNON_INSTANTIATE(T)                           \
  template void Unpack1024<T>(const uint8_t*, int, T*); \
  template void Pack1024<T>(const T*, int, uint8_t*);   \
  template int BitWidth<T>(std::span<const T>);
PENNON_INSTANTIATE(uint8_t)
PENNON_INSTANTIATE(uint16_t)
PENNON_INSTANTIATE(uint32_t)
PENNON_INSTANTIATE(uint64_t)
#undef PENNON_INSTANTIATE

arrow::Status DecodeInlineBitpacking(std::span<const uint8_t> in, int bits, int64_t num_values,
                                     std::span<uint8_t> out) {
  ARROW_RETURN_NOT_OK(CheckWord(bits));
  if (num_values < 0 || num_values > kUnitValues) {
    return Corrupt("", "inline bit-packed chunk must hold at most 1024 values, found ", num_values);
  }
  ARROW_RETURN_NOT_OK(CheckOutput(out.size(), bits, num_values));
  const size_t word = static_cast<size_t>(bits) / 8;
  if (in.size() < word) {
    return Corrupt("", "inline bit-packed chunk is too short for its width: expected ", word,
                   " bytes or more, found ", in.size());
  }
  uint64_t width = 0;
  std::memcpy(&width, in.data(), word);
  if (width > static_cast<uint64_t>(bits)) {
    return Corrupt("", "bit-packed width must be between 0 and ", bits, ", found ", width);
  }
  const int w = static_cast<int>(width);
  if (in.size() - word < PackedUnitBytes(w)) {
    return Corrupt("", "inline bit-packed chunk is too short: expected ",
                   InlineBitpackingBytes(bits, w), " bytes for width ", w, ", found ", in.size());
  }
  if (num_values == 0) return arrow::Status::OK();
  VisitWord(bits, [&](auto zero) {
    UnpackPart<decltype(zero)>(in.data() + word, w, 0, num_values, out.data());
  });
  return arrow::Status::OK();
}

arrow::Status EncodeInlineBitpacking(std::span<const uint8_t> values, int bits,
                                     std::vector<uint8_t>* out) {
  ARROW_RETURN_NOT_OK(CheckWord(bits));
  const size_t word = static_cast<size_t>(bits) / 8;
  const int64_t count = static_cast<int64_t>(values.size() / word);
  ARROW_RETURN_NOT_OK(CheckOutput(values.size(), bits, count));
  if (count > kUnitValues) {
    return InvalidInput("Inline bit-packed chunk must hold at most 1024 values, given ", count);
  }
  VisitWord(bits, [&](auto zero) {
    using T = decltype(zero);
    const int width = WidthOfBytes<T>(values);
    const uint64_t header = static_cast<uint64_t>(width);
    const auto* bytes = reinterpret_cast<const uint8_t*>(&header);
    out->insert(out->end(), bytes, bytes + word);
    AppendUnit<T>(values.data(), count, width, out);
  });
  return arrow::Status::OK();
}

arrow::Status DecodeOutOfLineBitpacking(std::span<const uint8_t> in, int bits, int width,
                                        int64_t num_values, std::span<uint8_t> out) {
  ARROW_RETURN_NOT_OK(CheckWord(bits));
  ARROW_RETURN_NOT_OK(CheckWidth(width, bits));
  ARROW_RETURN_NOT_OK(CheckOutput(out.size(), bits, num_values));
  const size_t word = static_cast<size_t>(bits) / 8;
  const int64_t units = num_values / kUnitValues;
  const int64_t tail = num_values % kUnitValues;
  // `out` exists, so neither product can overflow.
  const size_t unit_bytes = PackedUnitBytes(width);
  const size_t full = static_cast<size_t>(units) * unit_bytes;
  const size_t with_raw_tail = full + static_cast<size_t>(tail) * word;
  const bool raw_tail = in.size() == with_raw_tail;
  if (!raw_tail && in.size() != full + (tail != 0 ? unit_bytes : 0)) {
    return Corrupt("", "bit-packed buffer has the wrong size: expected ",
                   full + (tail != 0 ? unit_bytes : 0), " or ", with_raw_tail, " bytes for ",
                   num_values, " values of width ", width, ", found ", in.size());
  }
  VisitWord(bits, [&](auto zero) {
    using T = decltype(zero);
    for (int64_t unit = 0; unit < units; ++unit) {
      UnpackBytes<T>(in.data() + unit * unit_bytes, width, out.data() + unit * kUnitValues * word);
    }
    if (tail == 0) return;
    uint8_t* end = out.data() + units * kUnitValues * word;
    if (raw_tail) {
      std::memcpy(end, in.data() + full, tail * word);
    } else {
      UnpackPart<T>(in.data() + full, width, 0, tail, end);
    }
  });
  return arrow::Status::OK();
}

arrow::Status EncodeOutOfLineBitpacking(std::span<const uint8_t> values, int bits, int width,
                                        std::vector<uint8_t>* out) {
  ARROW_RETURN_NOT_OK(CheckWord(bits));
  const size_t word = static_cast<size_t>(bits) / 8;
  const int64_t count = static_cast<int64_t>(values.size() / word);
  ARROW_RETURN_NOT_OK(CheckOutput(values.size(), bits, count));
  const int needed =
      VisitWord(bits, [&](auto zero) { return WidthOfBytes<decltype(zero)>(values); });
  if (width < needed || width > bits) {
    return InvalidInput("Bit-packed width must be between ", needed, " and ", bits,
                        " for these values, given ", width);
  }
  const int64_t units = count / kUnitValues;
  const int64_t tail = count % kUnitValues;
  VisitWord(bits, [&](auto zero) {
    using T = decltype(zero);
    for (int64_t unit = 0; unit < units; ++unit) {
      AppendUnit<T>(values.data() + unit * kUnitValues * word, kUnitValues, width, out);
    }
    const auto rest = values.subspan(units * kUnitValues * word);
    if (tail * bits > kUnitValues * width) {
      AppendUnit<T>(rest.data(), tail, width, out);
    } else {
      out->insert(out->end(), rest.begin(), rest.end());
    }
  });
  return arrow::Status::OK();
}

arrow::Status DecodeBitpackedUnits(std::span<const uint8_t> in, int bits, int width, int64_t first,
                                   int64_t count, std::span<uint8_t> out) {
  ARROW_RETURN_NOT_OK(CheckWord(bits));
  ARROW_RETURN_NOT_OK(CheckWidth(width, bits));
  ARROW_RETURN_NOT_OK(CheckOutput(out.size(), bits, count));
  if (first < 0 || first >= kUnitValues) {
    return InvalidInput("First row must lie in the first bit-packed unit, given ", first);
  }
  const size_t unit_bytes = PackedUnitBytes(width);
  const uint64_t units =
      (static_cast<uint64_t>(first) + static_cast<uint64_t>(count) + kUnitValues - 1) / kUnitValues;
  if (count != 0 && unit_bytes != 0 && in.size() / unit_bytes < units) {
    return Corrupt("", "bit-packed buffer is too short: expected ", units, " units of ", unit_bytes,
                   " bytes, found ", in.size(), " bytes");
  }
  VisitWord(bits, [&](auto zero) {
    using T = decltype(zero);
    const uint8_t* packed = in.data();
    uint8_t* to = out.data();
    for (int64_t left = count; left > 0; packed += unit_bytes) {
      const int64_t n = std::min(left, kUnitValues - first);
      UnpackPart<T>(packed, width, first, n, to);
      to += n * sizeof(T);
      left -= n;
      first = 0;
    }
  });
  return arrow::Status::OK();
}

namespace {

// Reads `width` (<= 64) bits at bit `at` of `in`, which holds them.
uint64_t ReadBits(std::span<const uint8_t> in, uint64_t at, int width) {
  const size_t byte = at / 8;
  const int shift = static_cast<int>(at % 8);
  uint64_t low = 0;
  std::memcpy(&low, in.data() + byte, std::min<size_t>(8, in.size() - byte));
  uint64_t value = low >> shift;
  if (shift + width > 64) value |= static_cast<uint64_t>(in[byte + 8]) << (64 - shift);
  return width == 64 ? value : value & ((uint64_t{1} << width) - 1);
}

}  // namespace

arrow::Status DecodeBitStream(std::span<const uint8_t> in, uint64_t first_bit, int bits, int width,
                              bool is_signed, int64_t count, std::span<uint8_t> out) {
  ARROW_RETURN_NOT_OK(CheckWord(bits));
  ARROW_RETURN_NOT_OK(CheckWidth(width, bits));
  ARROW_RETURN_NOT_OK(CheckOutput(out.size(), bits, count));
  // `out` has as many bits or more, so this cannot overflow.
  const uint64_t end_bits = first_bit + static_cast<uint64_t>(count) * static_cast<uint64_t>(width);
  if (first_bit > 7 || in.size() < (end_bits + 7) / 8) {
    return Corrupt("", "bit-packed buffer is too short: expected ", (end_bits + 7) / 8,
                   " bytes, found ", in.size());
  }
  if (width == 0) {
    std::fill(out.begin(), out.end(), 0);
    return arrow::Status::OK();
  }
  VisitWord(bits, [&](auto zero) {
    using T = decltype(zero);
    const uint64_t sign = is_signed ? uint64_t{1} << (width - 1) : 0;
    for (int64_t i = 0; i < count; ++i) {
      const uint64_t raw = ReadBits(in, first_bit + static_cast<uint64_t>(i) * width, width);
      const T value = static_cast<T>((raw ^ sign) - sign);
      std::memcpy(out.data() + i * sizeof(T), &value, sizeof(T));
    }
  });
  return arrow::Status::OK();
}

}  // namespace pennon::encoding
