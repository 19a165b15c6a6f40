#include "pennon/encoding/level_writer.h"

#include <span>

#include "pennon/encoding/bitpacking.h"
#include "pennon/wire/page_layout_writer.h"

namespace pennon::encoding {
namespace {

constexpr int kLevelBits = 16;
constexpr int kWidth = 1;
// Below this many levels a packed unit of 1024 is larger than the plain words.
constexpr uint64_t kWorthPacking = PackedUnitBytes(kWidth) / 2;

}  // namespace

LevelWriter::LevelWriter(const arrow::Buffer* validity, uint64_t length) {
  if (validity == nullptr) return;
  levels_.resize(length);
  const uint8_t* bits = validity->data();
  for (uint64_t i = 0; i < length; ++i) levels_[i] = (bits[i / 8] >> (i % 8) & 1) ^ 1;
  packed_ = length > kWorthPacking;
}

std::string LevelWriter::encoding() const {
  if (!has_levels()) return {};
  return packed_ ? wire::WriteOutOfLineBitpacking(kLevelBits, kWidth) : wire::WriteFlat(kLevelBits);
}

arrow::Status LevelWriter::AppendChunk(uint64_t first, uint64_t count,
                                       std::vector<uint8_t>* out) const {
  const std::span<const uint8_t> words(reinterpret_cast<const uint8_t*>(levels_.data() + first),
                                       2 * count);
  if (packed_) return EncodeOutOfLineBitpacking(words, kLevelBits, kWidth, out);
  out->insert(out->end(), words.begin(), words.end());
  return arrow::Status::OK();
}

std::vector<uint8_t> LevelWriter::Raw() const {
  const uint8_t* begin = reinterpret_cast<const uint8_t*>(levels_.data());
  return {begin, begin + 2 * levels_.size()};
}

}  // namespace pennon::encoding
