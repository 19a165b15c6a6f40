#include "pennon/encoding/mini_block_writer.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include <arrow/util/bit_util.h>
#include <arrow/util/bitmap_ops.h>

#include "pennon/encoding/bitpacking.h"
#include "pennon/encoding/level_writer.h"
#include "pennon/encoding/rle.h"
#include "pennon/encoding/variable.h"
#include "pennon/error.h"
#include "pennon/wire/page_layout_writer.h"

namespace pennon::encoding {
namespace {

using Bytes = std::vector<uint8_t>;

constexpr uint64_t kMaxChunkValues = 4096;
constexpr uint64_t kChunkBytes = 8186;          // of value buffers of fixed width
constexpr uint64_t kVariableChunkBytes = 4096;  // of offsets and bytes
constexpr uint64_t kMaxVariableValues = 2048;
constexpr uint64_t kLargestChunk21 = 32 * 1024;  // the words of 2.1 count no more
constexpr uint64_t kLargestChunk22 = uint64_t{1} << 31;

enum class ValueForm { kFlat, kInlineBitpacking, kRle, kVariable };

// A stored buffer of bits or bytes: `bits` a value.
struct ValueBuffer {
  const uint8_t* data;
  uint64_t bits;
};

struct ValuePlan {
  ValueForm form = ValueForm::kFlat;
  std::string encoding;
  std::vector<ValueBuffer> buffers;  // kFlat: validity of list layers, then the items
  uint64_t num_buffers = 1;
  uint64_t chunk_values =
      kMaxChunkValues;  // of every chunk but the last; kVariable: decided on the way
};

std::span<const uint8_t> WordsOf(const LeafValues& values, uint64_t first, uint64_t count) {
  return values.fixed_bytes(first, count);
}

// Bytes of the whole page in InlineBitpacking: a width word and a unit for every 1024 values.
template <typename Word>
uint64_t BitpackedBytes(const LeafValues& values) {
  uint64_t bytes = 0;
  const Word* words = reinterpret_cast<const Word*>(values.data->data());
  for (uint64_t at = 0; at < values.length; at += kUnitValues) {
    const uint64_t count = std::min<uint64_t>(kUnitValues, values.length - at);
    Word all = 0;
    for (uint64_t i = 0; i < count; ++i) {
      Word word;
      std::memcpy(&word, words + at + i, sizeof(Word));
      all |= word;
    }
    bytes += InlineBitpackingBytes(8 * sizeof(Word), std::bit_width(all));
  }
  return bytes;
}

uint64_t BitpackedBytes(const LeafValues& values) {
  switch (values.type.bits_per_item) {
    case 8:
      return BitpackedBytes<uint8_t>(values);
    case 16:
      return BitpackedBytes<uint16_t>(values);
    case 32:
      return BitpackedBytes<uint32_t>(values);
    default:
      return BitpackedBytes<uint64_t>(values);
  }
}

// Bytes of the page in Rle; runs end with their chunk.
uint64_t RleBytes(const LeafValues& values) {
  const int bits = static_cast<int>(values.type.bits_per_item);
  uint64_t runs = 0;
  for (uint64_t at = 0; at < values.length; at += kMaxChunkValues) {
    const uint64_t count = std::min(kMaxChunkValues, values.length - at);
    runs += static_cast<uint64_t>(CountRuns(WordsOf(values, at, count), bits));
  }
  return runs * (values.type.bits_per_item / 8 + 1);
}

void PlanFlat(const LeafValues& values, ValuePlan* plan) {
  plan->form = ValueForm::kFlat;
  plan->encoding = wire::WriteFlat(values.type.bits_per_item);
  uint64_t run = 1, bits = 0;
  for (size_t k = 0; k < values.type.dimensions.size(); ++k) {
    run *= values.type.dimensions[k];
    if (values.item_validity[k] == nullptr) continue;
    plan->buffers.push_back({values.item_validity[k]->data(), run});
    bits += run;
  }
  for (size_t k = values.type.dimensions.size(); k-- > 0;) {
    plan->encoding = wire::WriteFixedSizeList(values.type.dimensions[k],
                                              values.item_validity[k] != nullptr, plan->encoding);
  }
  plan->buffers.push_back({values.data->data(), values.type.bits_per_slot()});
  plan->num_buffers = plan->buffers.size();
  bits += values.type.bits_per_slot();
  uint64_t count = kMaxChunkValues;
  while (count > 2 && (count * bits + 7) / 8 >= kChunkBytes) count /= 2;
  plan->chunk_values = count;
}

ValuePlan PlanValues(const LeafValues& values) {
  ValuePlan plan;
  if (values.type.kind == LeafKind::kVariable) {
    plan.form = ValueForm::kVariable;
    plan.encoding = wire::WriteVariable(static_cast<uint64_t>(values.type.offset_bits));
    return plan;
  }
  PlanFlat(values, &plan);
  const uint64_t bits = values.type.bits_per_item;
  if (values.type.is_list() || (bits != 8 && bits != 16 && bits != 32 && bits != 64)) return plan;
  const uint64_t flat = values.length * bits / 8;
  const uint64_t packed = BitpackedBytes(values);
  const uint64_t runs = RleBytes(values);
  if (runs < flat && runs < packed) {
    plan.form = ValueForm::kRle;
    plan.encoding = wire::WriteRle(bits);
    plan.num_buffers = 2;
    // Without repeats a chunk of runs takes bits / 8 + 1 bytes a value.
    plan.chunk_values = std::bit_floor(kLargestChunk21 / 2 / (bits / 8 + 1));
    plan.chunk_values = std::min(plan.chunk_values, kMaxChunkValues);
  } else if (packed < flat) {
    plan.form = ValueForm::kInlineBitpacking;
    plan.encoding = wire::WriteInlineBitpacking(bits);
    plan.chunk_values = kUnitValues;
  }
  return plan;
}

// Values of the next chunk of strings, from `first` on: what is left, if it fits, or a power of
// two.
uint64_t VariableChunkValues(const LeafValues& values, uint64_t first) {
  const uint64_t width = static_cast<uint64_t>(values.type.offset_bits) / 8;
  const uint64_t start = values.value_start(first);
  const auto bytes = [&](uint64_t count) {
    return (count + 1) * width + values.value_start(first + count) - start;
  };
  const uint64_t left = values.length - first;
  if (left <= 2 || (left <= kMaxVariableValues && bytes(left) <= kVariableChunkBytes)) return left;
  uint64_t count = 2;
  while (2 * count < left && 2 * count <= kMaxVariableValues &&
         bytes(2 * count) <= kVariableChunkBytes) {
    count *= 2;
  }
  return count;
}

// Writes the chunks of one page one after the other.
class ChunkWriter {
 public:
  ChunkWriter(const LeafValues& values, const ValuePlan& plan, const LevelWriter& levels, int minor)
      : values_(values), plan_(plan), levels_(levels), large_(minor >= 2) {}

  arrow::Status WriteAll() {
    body_.reserve(ExpectedBytes());
    for (uint64_t at = 0; at < values_.length;) {
      const uint64_t left = values_.length - at;
      const uint64_t count = plan_.form == ValueForm::kVariable
                                 ? VariableChunkValues(values_, at)
                                 : std::min(plan_.chunk_values, left);
      ARROW_RETURN_NOT_OK(WriteChunk(at, count, count == left));
      at += count;
    }
    return arrow::Status::OK();
  }

  std::shared_ptr<arrow::Buffer> TakeWords() {
    return arrow::Buffer::FromVector(std::move(words_));
  }
  std::shared_ptr<arrow::Buffer> TakeBody() { return arrow::Buffer::FromVector(std::move(body_)); }

 private:
  uint64_t ExpectedBytes() const {
    const uint64_t values =
        values_.type.kind == LeafKind::kVariable
            ? values_.value_start(values_.length) - values_.value_start(0) +
                  values_.length * static_cast<uint64_t>(values_.type.offset_bits) / 8
            : values_.length * values_.type.bits_per_slot() / 8;
    return values + values / 64 + values_.length / 4 + 64;
  }

  void PutNumber(size_t at, uint64_t value, size_t width) {
    std::memcpy(body_.data() + at, &value, width);
  }
  void Pad() { body_.resize((body_.size() + 7) / 8 * 8); }

  arrow::Status WriteChunk(uint64_t first, uint64_t count, bool last) {
    const size_t start = body_.size();
    const size_t size_width = large_ ? 4 : 2;
    const size_t level_bytes = levels_.has_levels() ? 4 : 2;
    body_.resize(start + level_bytes + plan_.num_buffers * size_width);
    Pad();
    if (levels_.has_levels()) {
      const size_t at = body_.size();
      ARROW_RETURN_NOT_OK(levels_.AppendChunk(first, count, &body_));
      PutNumber(start, count, 2);
      PutNumber(start + 2, body_.size() - at, 2);
      Pad();
    }
    sizes_.clear();
    ARROW_RETURN_NOT_OK(AppendValues(first, count));
    const uint64_t bytes = body_.size() - start;
    if (bytes > (large_ ? kLargestChunk22 : kLargestChunk21)) {
      return Unsupported(
          "",
          "Values of this size do not fit the chunks of the storage version; write a newer "
          "one. Bytes of ",
          count, " values: ", bytes);
    }
    for (size_t i = 0; i < sizes_.size(); ++i) {
      PutNumber(start + level_bytes + i * size_width, sizes_[i], size_width);
    }
    const uint64_t word =
        (bytes / 8 - 1) << 4 | (last ? 0 : static_cast<uint64_t>(std::countr_zero(count)));
    const uint8_t* word_bytes = reinterpret_cast<const uint8_t*>(&word);
    words_.insert(words_.end(), word_bytes, word_bytes + size_width);
    return arrow::Status::OK();
  }

  // Ends a value buffer that began at `at`.
  void EndBuffer(size_t at) {
    sizes_.push_back(body_.size() - at);
    Pad();
  }

  arrow::Status AppendValues(uint64_t first, uint64_t count) {
    const size_t at = body_.size();
    const int bits = static_cast<int>(values_.type.bits_per_item);
    switch (plan_.form) {
      case ValueForm::kFlat:
        for (const ValueBuffer& buffer : plan_.buffers) AppendBits(buffer, first, count);
        return arrow::Status::OK();
      case ValueForm::kInlineBitpacking:
        ARROW_RETURN_NOT_OK(EncodeInlineBitpacking(WordsOf(values_, first, count), bits, &body_));
        break;
      case ValueForm::kRle:
        run_lengths_.clear();
        ARROW_RETURN_NOT_OK(
            EncodeRleMiniBlock(WordsOf(values_, first, count), bits, &body_, &run_lengths_));
        EndBuffer(at);
        return AppendRunLengths();
      case ValueForm::kVariable: {
        const uint8_t* bytes = values_.data->data();
        ARROW_RETURN_NOT_OK(
            values_.type.offset_bits == 32
                ? EncodeVariableMiniBlock(values_.offsets_as<int32_t>() + first, bytes,
                                          static_cast<int64_t>(count), 32, &body_)
                : EncodeVariableMiniBlock(values_.offsets_as<int64_t>() + first, bytes,
                                          static_cast<int64_t>(count), 64, &body_));
        break;
      }
    }
    EndBuffer(at);
    return arrow::Status::OK();
  }

  arrow::Status AppendRunLengths() {
    const size_t at = body_.size();
    body_.insert(body_.end(), run_lengths_.begin(), run_lengths_.end());
    EndBuffer(at);
    return arrow::Status::OK();
  }

  void AppendBits(const ValueBuffer& buffer, uint64_t first, uint64_t count) {
    const size_t at = body_.size();
    const uint64_t begin = first * buffer.bits, bits = count * buffer.bits;
    if (begin % 8 == 0 && bits % 8 == 0) {
      body_.insert(body_.end(), buffer.data + begin / 8, buffer.data + (begin + bits) / 8);
    } else {
      body_.resize(at + (bits + 7) / 8);
      arrow::internal::CopyBitmap(buffer.data, static_cast<int64_t>(begin),
                                  static_cast<int64_t>(bits), body_.data() + at, 0);
    }
    EndBuffer(at);
  }

  const LeafValues& values_;
  const ValuePlan& plan_;
  const LevelWriter& levels_;
  const bool large_;
  Bytes words_;
  Bytes body_;
  Bytes run_lengths_;
  std::vector<uint64_t> sizes_;
};

}  // namespace

arrow::Result<EncodedPage> EncodeMiniBlock(const LeafValues& values, int minor) {
  const LevelWriter levels(values.validity.get(), values.length);
  const ValuePlan plan = PlanValues(values);
  ChunkWriter chunks(values, plan, levels, minor);
  ARROW_RETURN_NOT_OK(chunks.WriteAll());

  wire::MiniBlockMessage message;
  message.def_compression = levels.encoding();
  message.value_compression = plan.encoding;
  message.layers = {levels.has_levels() ? wire::LayerKind::kNullableItem
                                        : wire::LayerKind::kAllValidItem};
  message.num_buffers = plan.num_buffers;
  message.num_items = values.length;
  message.has_large_chunk = minor >= 2;
  EncodedPage page;
  page.length = values.length;
  page.buffers = {chunks.TakeWords(), chunks.TakeBody()};
  page.encoding = wire::WriteMiniBlockPage(message);
  return page;
}

}  // namespace pennon::encoding
