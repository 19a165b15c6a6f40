// Takes a fuzz target's input apart, from the front.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <source_location>
#include <span>

namespace pennon::fuzz {

/// Bytes of the input, one piece after the other; an input that has ended gives zeros.
class Taker {
 public:
  explicit Taker(std::span<const uint8_t> bytes) : rest_(bytes) {}

  uint8_t Byte() { return static_cast<uint8_t>(Number(1)); }
  uint16_t Short() { return static_cast<uint16_t>(Number(2)); }
  /// `n` bytes, fewer at the end.
  std::span<const uint8_t> Bytes(size_t n) {
    const auto taken = rest_.first(std::min(n, rest_.size()));
    rest_ = rest_.subspan(taken.size());
    return taken;
  }
  /// A piece that says its own size: [u16 size][bytes].
  std::span<const uint8_t> Piece() {
    const uint16_t size = Short();
    return Bytes(size);
  }
  std::span<const uint8_t> Rest() { return Bytes(rest_.size()); }
  bool empty() const { return rest_.empty(); }
  size_t left() const { return rest_.size(); }

 private:
  uint64_t Number(size_t n) {
    uint64_t value = 0;
    const auto taken = Bytes(n);
    if (!taken.empty()) std::memcpy(&value, taken.data(), taken.size());
    return value;
  }
  std::span<const uint8_t> rest_;
};

/// Ends the process unless `holds`, which is how a target tells the fuzzer of a wrong answer.
inline void Require(bool holds, std::source_location at = std::source_location::current()) {
  if (holds) return;
  std::fprintf(stderr, "%s:%u: what must hold does not\n", at.file_name(), at.line());
  std::abort();
}

}  // namespace pennon::fuzz
