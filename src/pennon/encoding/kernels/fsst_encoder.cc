#include "pennon/encoding/kernels/fsst_encoder.h"

#include <algorithm>
#include <cstring>
#include <tuple>
#include <utility>

#include "pennon/encoding/kernels/fsst.h"

namespace pennon::encoding {
namespace {

constexpr size_t kMaxSymbols = 255;
constexpr size_t kMaxLength = 8;
constexpr int kGenerations = 6;
constexpr size_t kCodes = 512;
constexpr uint8_t kEscape = 255;

uint64_t LowBytes(size_t count) {
  return count >= 8 ? ~uint64_t{0} : (uint64_t{1} << (8 * count)) - 1;
}

// The next 8 bytes at `at`; zeros for those from `end` on.
uint64_t Load(const uint8_t* at, const uint8_t* end) {
  uint64_t word = 0;
  if (end - at >= 8) [[likely]] {
    std::memcpy(&word, at, 8);
  } else {
    std::memcpy(&word, at, static_cast<size_t>(end - at));
  }
  return word;
}

}  // namespace

FsstEncoder::FsstEncoder() : short_(size_t{1} << 16) {
  for (size_t i = 0; i < single_.size(); ++i) single_[i] = {static_cast<uint16_t>(i), 1};
  for (size_t i = 0; i < short_.size(); ++i) short_[i] = single_[i & 255];
}

FsstEncoder::FsstEncoder(std::span<const Symbol> symbols) : FsstEncoder() {
  for (const Symbol& symbol : symbols) {
    if (symbols_.size() < kMaxSymbols) Insert(symbol);
  }
}

size_t FsstEncoder::BucketOf(uint64_t word) {
  const uint32_t mixed = static_cast<uint32_t>(word & 0xFFFFFF) * 0x9E3779B1u;
  return (mixed >> 23) * kBucketSize;
}

bool FsstEncoder::Insert(const Symbol& symbol) {
  const Match match{static_cast<uint16_t>(256 + symbols_.size()), symbol.length};
  if (symbol.length == 1) {
    single_[symbol.bytes] = match;
    for (size_t second = 0; second < 256; ++second) {
      Match& longest = short_[symbol.bytes | second << 8];
      if (longest.length == 1) longest = match;
    }
  } else if (symbol.length == 2) {
    short_[symbol.bytes] = match;
  } else {
    LongSymbol* bucket = &long_[BucketOf(symbol.bytes)];
    if (bucket[kBucketSize - 1].length != 0) return false;
    size_t at = kBucketSize - 1;
    for (; at > 0 && bucket[at - 1].length < symbol.length; --at) bucket[at] = bucket[at - 1];
    bucket[at] = {symbol.bytes, match.code, match.length};
  }
  symbols_.push_back(symbol);
  return true;
}

inline FsstEncoder::Match FsstEncoder::Find(uint64_t word, size_t left) const {
  const LongSymbol* bucket = &long_[BucketOf(word)];
  for (size_t i = 0; i < kBucketSize; ++i) {
    const LongSymbol& symbol = bucket[i];
    if (symbol.length != 0 && symbol.length <= left &&
        (word & LowBytes(symbol.length)) == symbol.bytes) {
      return {symbol.code, symbol.length};
    }
  }
  return left >= 2 ? short_[word & 0xFFFF] : single_[word & 0xFF];
}

size_t FsstEncoder::Encode(std::span<const uint8_t> in, size_t readable, uint8_t* out) const {
  const uint8_t* at = in.data();
  const uint8_t* const end = at + in.size();
  const uint8_t* const readable_end = end + readable;
  uint8_t* to = out;
  while (at != end) {
    const size_t left = static_cast<size_t>(end - at);
    const Match match = Find(Load(at, readable_end), left);
    const bool literal = match.code < 256;
    to[0] = literal ? kEscape : static_cast<uint8_t>(match.code - 256);
    to[1] = *at;
    to += literal ? 2 : 1;
    at += match.length;
  }
  return static_cast<size_t>(to - out);
}

std::string FsstEncoder::Serialize() const {
  std::string out(FsstTable::kBytes, '\0');
  out[0] = static_cast<char>(symbols_.size());
  out[3] = 1;
  std::memcpy(out.data() + 4, "TSSF", 4);
  char* at = out.data() + 8;
  for (const Symbol& symbol : symbols_) {
    std::memcpy(at, &symbol.bytes, 8);
    at += 8;
  }
  for (const Symbol& symbol : symbols_) *at++ = static_cast<char>(symbol.length);
  return out;
}

// Counts of one generation.
class FsstEncoder::Trainer {
 public:
  Trainer() : single_(kCodes), pair_(kCodes * kCodes) {}

  // Codes `sample` with `table` and gives the symbols of the next one, best first; `grow` says
  // whether neighbours may become one symbol.
  std::vector<Symbol> Generation(const FsstEncoder& table,
                                 std::span<const std::span<const uint8_t>> sample, bool grow) {
    std::fill(single_.begin(), single_.end(), 0);
    std::fill(pair_.begin(), pair_.end(), 0);
    for (std::span<const uint8_t> text : sample) Count(table, text, grow);
    candidates_.clear();
    for (size_t a = 0; a < kCodes; ++a) {
      if (single_[a] == 0) continue;
      const Symbol symbol = SymbolOf(table, a);
      Add(symbol, single_[a]);
      if (!grow || symbol.length == kMaxLength) continue;
      for (size_t b = 0; b < kCodes; ++b) {
        const uint32_t count = pair_[a * kCodes + b];
        if (count > kNoise) Add(Join(symbol, SymbolOf(table, b)), count);
      }
    }
    return Best();
  }

 private:
  // A string of bytes and how many bytes it would stand for.
  struct Candidate {
    Symbol symbol;
    uint64_t gain;
  };

  // A pair seen less often is chance.
  static constexpr uint32_t kNoise = 2;

  void Count(const FsstEncoder& table, std::span<const uint8_t> text, bool grow) {
    const uint8_t* at = text.data();
    size_t left = text.size();
    size_t before = kCodes;
    while (left > 0) {
      const Match match = table.Find(Load(at, at + left), left);
      ++single_[match.code];
      if (grow) {
        if (before != kCodes) ++pair_[before * kCodes + match.code];
        // The first byte alone competes too, in case the longer symbol falls out.
        if (match.length > 1) {
          ++single_[*at];
          if (before != kCodes) ++pair_[before * kCodes + *at];
        }
        before = match.code;
      }
      at += match.length;
      left -= match.length;
    }
  }

  static Symbol SymbolOf(const FsstEncoder& table, size_t code) {
    if (code >= 256) return table.symbols_[code - 256];
    return {.bytes = code, .length = 1};
  }

  static Symbol Join(const Symbol& a, const Symbol& b) {
    const size_t length = std::min<size_t>(kMaxLength, a.length + b.length);
    return {.bytes = a.bytes | b.bytes << (8 * a.length), .length = static_cast<uint8_t>(length)};
  }

  void Add(const Symbol& symbol, uint64_t count) {
    // A byte without symbol costs two: symbols of one byte save as much as ones of many.
    candidates_.push_back({symbol, count * (symbol.length == 1 ? kSingleWeight : symbol.length)});
  }

  // The best of the candidates; equal strings count together.
  std::vector<Symbol> Best() {
    std::sort(candidates_.begin(), candidates_.end(), [](const Candidate& a, const Candidate& b) {
      return std::pair(a.symbol.bytes, a.symbol.length) <
             std::pair(b.symbol.bytes, b.symbol.length);
    });
    size_t kept = 0;
    for (const Candidate& candidate : candidates_) {
      if (kept > 0 && candidates_[kept - 1].symbol.bytes == candidate.symbol.bytes &&
          candidates_[kept - 1].symbol.length == candidate.symbol.length) {
        candidates_[kept - 1].gain += candidate.gain;
      } else {
        candidates_[kept++] = candidate;
      }
    }
    candidates_.resize(kept);
    // Some more than there are codes, because full buckets turn symbols away.
    const size_t wanted = std::min(kept, kMaxSymbols + kMaxSymbols / 4);
    std::partial_sort(candidates_.begin(), candidates_.begin() + static_cast<ptrdiff_t>(wanted),
                      candidates_.end(), [](const Candidate& a, const Candidate& b) {
                        return std::tuple(b.gain, a.symbol.bytes, a.symbol.length) <
                               std::tuple(a.gain, b.symbol.bytes, b.symbol.length);
                      });
    std::vector<Symbol> out;
    for (size_t i = 0; i < wanted; ++i) out.push_back(candidates_[i].symbol);
    return out;
  }

  static constexpr uint64_t kSingleWeight = 8;

  std::vector<uint32_t> single_;
  std::vector<uint32_t> pair_;
  std::vector<Candidate> candidates_;
};

FsstEncoder FsstEncoder::Train(std::span<const std::span<const uint8_t>> sample) {
  Trainer trainer;
  FsstEncoder table;
  for (int i = 1; i <= kGenerations; ++i) {
    table = FsstEncoder(trainer.Generation(table, sample, i < kGenerations));
  }
  return table;
}

}  // namespace pennon::encoding
