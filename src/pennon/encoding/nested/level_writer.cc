#include "pennon/encoding/nested/level_writer.h"

#include <algorithm>
#include <bit>
#include <utility>

#include <arrow/buffer.h>

#include "pennon/encoding/kernels/bitpacking.h"
#include "pennon/encoding/kernels/rle.h"
#include "pennon/wire/page_layout_writer.h"

namespace pennon::encoding {
namespace {

constexpr int kLevelBits = 16;
constexpr uint64_t kRunHeader = 8;  // of each block of runs
constexpr uint64_t kRunBytes = 3;

std::span<const uint8_t> BytesOf(std::span<const uint16_t> levels, uint64_t first, uint64_t count) {
  return {reinterpret_cast<const uint8_t*>(levels.data() + first), 2 * count};
}

uint64_t PackedBytes(uint64_t count, int width) {
  const uint64_t unit = PackedUnitBytes(width);
  return count / kUnitValues * unit + std::min<uint64_t>(count % kUnitValues * 2, unit);
}

}  // namespace

LevelWriter::LevelWriter(std::span<const uint16_t> levels, std::span<const uint32_t> chunk_entries,
                         int minor)
    : levels_(levels) {
  if (levels_.empty()) return;
  uint16_t all = 0;
  for (uint16_t level : levels_) all |= level;
  width_ = std::bit_width(all);
  uint64_t packed = 0, runs = 0, first = 0;
  for (uint32_t count : chunk_entries) {
    packed += PackedBytes(count, width_);
    if (minor >= 2) {
      runs += kRunHeader +
              kRunBytes * static_cast<uint64_t>(CountRuns(BytesOf(levels_, first, count), 16));
    }
    first += count;
  }
  if (packed < 2 * levels_.size()) form_ = Form::kPacked;
  if (minor >= 2 && runs < std::min<uint64_t>(packed, 2 * levels_.size())) form_ = Form::kRuns;
}

std::string LevelWriter::encoding() const {
  if (!has_levels()) return {};
  if (form_ == Form::kRuns) return wire::WriteRle(kLevelBits);
  return form_ == Form::kPacked
             ? wire::WriteOutOfLineBitpacking(kLevelBits, static_cast<uint64_t>(width_))
             : wire::WriteFlat(kLevelBits);
}

arrow::Status LevelWriter::AppendChunk(uint64_t first, uint64_t count,
                                       std::vector<uint8_t>* out) const {
  const std::span<const uint8_t> words = BytesOf(levels_, first, count);
  if (form_ == Form::kRuns) return EncodeRleBlock(words, kLevelBits, out);
  if (form_ == Form::kPacked) return EncodeOutOfLineBitpacking(words, kLevelBits, width_, out);
  out->insert(out->end(), words.begin(), words.end());
  return arrow::Status::OK();
}

std::vector<uint16_t> LevelsOfValidity(const arrow::Buffer* validity, uint64_t length) {
  if (validity == nullptr) return {};
  std::vector<uint16_t> levels(length);
  const uint8_t* bits = validity->data();
  for (uint64_t i = 0; i < length; ++i) levels[i] = (bits[i / 8] >> (i % 8) & 1) ^ 1;
  return levels;
}

}  // namespace pennon::encoding
