#include "pennon/encoding/kernels/rle.h"

#include <algorithm>
#include <cstring>
#include <string>

#include "pennon/error.h"

namespace pennon::encoding {
namespace {

constexpr int64_t kMaxRun = 255;

template <typename T>
T Load(const uint8_t* from) {
  T value;
  std::memcpy(&value, from, sizeof(T));
  return value;
}

// Calls `visit` with a zero of the value type of `bits` bits; anything else is an error.
template <typename Visit>
arrow::Status VisitValue(int bits, Visit&& visit) {
  switch (bits) {
    case 8:
      return visit(uint8_t{0});
    case 16:
      return visit(uint16_t{0});
    case 32:
      return visit(uint32_t{0});
    case 64:
      return visit(uint64_t{0});
    default:
      break;
  }
  return Corrupt("", "run-length values must be 8, 16, 32 or 64 bits wide, found ", bits);
}

arrow::Status CheckOutput(size_t bytes, size_t value_bytes, int64_t num_values) {
  if (num_values >= 0 && bytes % value_bytes == 0 &&
      bytes / value_bytes == static_cast<uint64_t>(num_values)) {
    return arrow::Status::OK();
  }
  return InvalidInput("Run-length output must hold exactly its values: ", num_values, " values of ",
                      value_bytes, " bytes, ", bytes, " bytes given");
}

// Writes the runs to `out`; gives the sum of the lengths that were looked at, which is the value
// count when the runs fill it exactly and more when they overrun; -1 for a run of length 0.
template <typename T>
int64_t Expand(const uint8_t* values, std::span<const uint8_t> lengths, int64_t num_values,
               uint8_t* out) {
  int64_t done = 0;
  for (size_t run = 0; run < lengths.size(); ++run) {
    const int64_t length = lengths[run];
    if (length == 0) return -1;
    const int64_t n = std::min(length, num_values - done);
    const T value = Load<T>(values + run * sizeof(T));
    for (int64_t i = 0; i < n; ++i) std::memcpy(out + (done + i) * sizeof(T), &value, sizeof(T));
    if (length > n) return done + length;
    done += n;
  }
  return done;
}

template <typename T>
arrow::Status Decode(std::span<const uint8_t> values, std::span<const uint8_t> lengths,
                     int64_t num_values, bool exact, std::span<uint8_t> out) {
  ARROW_RETURN_NOT_OK(CheckOutput(out.size(), sizeof(T), num_values));
  if (values.size() % sizeof(T) != 0 || values.size() / sizeof(T) != lengths.size()) {
    return Corrupt("", "run-length values and lengths must match: found ", values.size(),
                   " bytes of ", sizeof(T), "-byte values and ", lengths.size(), " lengths");
  }
  const int64_t sum = Expand<T>(values.data(), lengths, num_values, out.data());
  if (sum < 0) return Corrupt("", "run lengths must be between 1 and 255, found 0");
  if (sum < num_values || (exact && sum > num_values)) {
    return Corrupt("", "run lengths must sum to the value count: expected ", num_values, ", found ",
                   sum > num_values ? "more" : std::to_string(sum));
  }
  return arrow::Status::OK();
}

// Calls `emit(value, length)` for each run of at most 255.
template <typename T, typename Emit>
void ForEachRun(std::span<const uint8_t> values, Emit&& emit) {
  const int64_t n = static_cast<int64_t>(values.size() / sizeof(T));
  for (int64_t begin = 0; begin < n;) {
    const T value = Load<T>(values.data() + begin * sizeof(T));
    int64_t end = begin + 1;
    while (end < n && end - begin < kMaxRun && Load<T>(values.data() + end * sizeof(T)) == value)
      ++end;
    emit(value, static_cast<uint8_t>(end - begin));
    begin = end;
  }
}

}  // namespace

arrow::Status DecodeRleMiniBlock(std::span<const uint8_t> values, std::span<const uint8_t> lengths,
                                 int bits, int64_t num_values, std::span<uint8_t> out) {
  return VisitValue(bits, [&](auto zero) {
    return Decode<decltype(zero)>(values, lengths, num_values, /*exact=*/false, out);
  });
}

arrow::Status DecodeRleBlock(std::span<const uint8_t> in, int bits, int64_t num_values,
                             std::span<uint8_t> out) {
  if (in.size() < 8) {
    return Corrupt("", "run-length block is too short: expected 8 bytes or more, found ",
                   in.size());
  }
  const uint64_t value_bytes = Load<uint64_t>(in.data());
  const auto rest = in.subspan(8);
  if (value_bytes > rest.size()) {
    return Corrupt("", "run-length block is too short for its values: expected ", value_bytes,
                   " bytes, found ", rest.size());
  }
  return VisitValue(bits, [&](auto zero) {
    return Decode<decltype(zero)>(rest.first(value_bytes), rest.subspan(value_bytes), num_values,
                                  /*exact=*/true, out);
  });
}

int64_t CountRuns(std::span<const uint8_t> values, int bits) {
  int64_t runs = 0;
  arrow::Status status = VisitValue(bits, [&](auto zero) {
    ForEachRun<decltype(zero)>(values, [&](auto, uint8_t) { ++runs; });
    return arrow::Status::OK();
  });
  return status.ok() ? runs : 0;
}

arrow::Status EncodeRleMiniBlock(std::span<const uint8_t> values, int bits,
                                 std::vector<uint8_t>* run_values,
                                 std::vector<uint8_t>* run_lengths) {
  return VisitValue(bits, [&](auto zero) {
    using T = decltype(zero);
    ARROW_RETURN_NOT_OK(
        CheckOutput(values.size(), sizeof(T), static_cast<int64_t>(values.size() / sizeof(T))));
    ForEachRun<T>(values, [&](T value, uint8_t length) {
      const auto* bytes = reinterpret_cast<const uint8_t*>(&value);
      run_values->insert(run_values->end(), bytes, bytes + sizeof(T));
      run_lengths->push_back(length);
    });
    return arrow::Status::OK();
  });
}

arrow::Status EncodeRleBlock(std::span<const uint8_t> values, int bits, std::vector<uint8_t>* out) {
  std::vector<uint8_t> run_values;
  std::vector<uint8_t> run_lengths;
  ARROW_RETURN_NOT_OK(EncodeRleMiniBlock(values, bits, &run_values, &run_lengths));
  const uint64_t value_bytes = run_values.size();
  const auto* header = reinterpret_cast<const uint8_t*>(&value_bytes);
  out->insert(out->end(), header, header + 8);
  out->insert(out->end(), run_values.begin(), run_values.end());
  out->insert(out->end(), run_lengths.begin(), run_lengths.end());
  return arrow::Status::OK();
}

}  // namespace pennon::encoding
