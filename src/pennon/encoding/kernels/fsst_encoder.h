// FSST, the coder: finds the symbols of 1 to 8 bytes that stand for most of a sample, and replaces
// them by one byte each; a byte outside every symbol takes two (255 and itself). The coded form is
// drawn in fsst.h.
//
// The table grows in a few generations. Each codes the sample with the symbols of the last one and
// counts how often every symbol, and every pair of neighbours, occurs; of these the 255 that stand
// for most bytes are the next symbols. The same sample gives the same table. Method: Boncz,
// Neumann, Leis, "FSST: Fast Random Access String Compression" (VLDB 2020).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace pennon::encoding {

/// A symbol table for coding. Immutable after Train, thread-safe.
class FsstEncoder {
 public:
  /// Finds symbols for texts like those of `sample`, pieces of some KiB altogether.
  static FsstEncoder Train(std::span<const std::span<const uint8_t>> sample);

  /// Codes `in` to `out`, which has room for 2 * in.size() + 1 bytes; returns the bytes used.
  /// `readable` bytes after `in` may be read, whatever they are: 7 or more make it quicker.
  size_t Encode(std::span<const uint8_t> in, size_t readable, uint8_t* out) const;

  /// The symbol table as the page describes it: FsstTable::kBytes bytes.
  std::string Serialize() const;

  int num_symbols() const { return static_cast<int>(symbols_.size()); }

 private:
  struct Symbol {
    uint64_t bytes = 0;  // first character lowest, zero padded
    uint8_t length = 0;
  };
  // What stands at some place: 0..255 a byte without symbol, 256 + i symbol i.
  struct Match {
    uint16_t code = 0;
    uint16_t length = 0;
  };
  // A symbol of 3 bytes or more.
  struct LongSymbol {
    uint64_t bytes = 0;
    uint16_t code = 0;
    uint16_t length = 0;  // 0: none
  };
  class Trainer;

  static constexpr size_t kBuckets = 512;  // by the first three bytes
  static constexpr size_t kBucketSize = 2;

  FsstEncoder();
  /// Takes `symbols`, most useful first; one that finds its bucket full is left out.
  explicit FsstEncoder(std::span<const Symbol> symbols);
  static size_t BucketOf(uint64_t word);
  bool Insert(const Symbol& symbol);
  Match Find(uint64_t word, size_t left) const;

  std::vector<Symbol> symbols_;
  std::array<LongSymbol, kBuckets * kBucketSize> long_{};  // longer ones first in their bucket
  std::vector<Match> short_;                               // by two bytes: the longest match
  std::array<Match, 256> single_{};
};

}  // namespace pennon::encoding
