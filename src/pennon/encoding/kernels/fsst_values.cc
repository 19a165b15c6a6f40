#include "pennon/encoding/kernels/fsst_values.h"

#include <algorithm>
#include <cstring>
#include <span>
#include <utility>
#include <vector>

#include "pennon/encoding/kernels/fsst.h"
#include "pennon/encoding/kernels/fsst_encoder.h"

namespace pennon::encoding {
namespace {

using Text = std::span<const uint8_t>;

constexpr uint64_t kSampleBytes = 32 << 10;
constexpr uint64_t kPieceBytes = 1024;  // of one value
constexpr uint64_t kMinBytes = 16 << 10;
constexpr double kWorthwhile = 0.9;

Text TextOf(const LeafValues& values, uint64_t i) {
  const std::string_view text = values.value(i);
  return {reinterpret_cast<const uint8_t*>(text.data()), text.size()};
}

// Pieces of values spread evenly over the page.
std::vector<Text> SampleOf(const LeafValues& values) {
  const auto piece = [&](uint64_t i) {
    const Text text = TextOf(values, i);
    return text.first(std::min<size_t>(text.size(), kPieceBytes));
  };
  uint64_t total = 0;
  for (uint64_t i = 0; i < values.length; ++i) total += piece(i).size();
  const uint64_t step = std::max<uint64_t>(1, total / kSampleBytes);
  std::vector<Text> out;
  for (uint64_t i = 0; i < values.length; i += step) {
    if (const Text text = piece(i); !text.empty()) out.push_back(text);
  }
  return out;
}

// Bytes that the sample codes to, as a share of its own.
double CodedShare(const FsstEncoder& encoder, const std::vector<Text>& sample) {
  std::vector<uint8_t> coded(2 * kPieceBytes + 1);
  uint64_t before = 0, after = 0;
  for (const Text& text : sample) {
    before += text.size();
    after += encoder.Encode(text, 0, coded.data());
  }
  return before == 0 ? 1 : static_cast<double>(after) / static_cast<double>(before);
}

template <typename Offset>
arrow::Result<FsstValues> EncodeAll(const LeafValues& values, const FsstEncoder& encoder,
                                    uint64_t bytes, double share, arrow::MemoryPool* pool) {
  FsstValues out;
  out.table = encoder.Serialize();
  ARROW_ASSIGN_OR_RAISE(
      std::unique_ptr<arrow::Buffer> offsets,
      arrow::AllocateBuffer(static_cast<int64_t>((values.length + 1) * sizeof(Offset)), pool));
  ARROW_ASSIGN_OR_RAISE(
      std::unique_ptr<arrow::ResizableBuffer> data,
      arrow::AllocateResizableBuffer(
          static_cast<int64_t>(static_cast<double>(bytes) * std::min(share * 1.1, 2.0)) + 4096,
          pool));
  auto* ends = reinterpret_cast<Offset*>(offsets->mutable_data());
  const uint8_t* const values_end = values.data->data() + values.data->size();
  uint64_t at = 0;
  for (uint64_t i = 0; i < values.length; ++i) {
    ends[i] = static_cast<Offset>(at);
    const Text text = TextOf(values, i);
    const uint64_t room = at + 2 * text.size() + 1;
    if (room > static_cast<uint64_t>(data->size())) {
      ARROW_RETURN_NOT_OK(data->Resize(static_cast<int64_t>(std::max(room, at + at / 2))));
    }
    const size_t readable = static_cast<size_t>(values_end - (text.data() + text.size()));
    at += encoder.Encode(text, readable, data->mutable_data() + at);
  }
  ends[values.length] = static_cast<Offset>(at);
  ARROW_RETURN_NOT_OK(data->Resize(static_cast<int64_t>(at)));
  out.offsets = std::move(offsets);
  out.data = std::move(data);
  return out;
}

}  // namespace

arrow::Result<FsstValues> EncodeFsst(const LeafValues& values, const EncodingHints& hints,
                                     arrow::MemoryPool* pool) {
  const bool asked = hints.compression == CompressionHint::kFsst;
  if (!asked && hints.compression != CompressionHint::kAuto) return FsstValues{};
  const uint64_t bytes = values.value_start(values.length) - values.value_start(0);
  const uint64_t width = static_cast<uint64_t>(values.type.offset_bits) / 8;
  if (bytes == 0 || (!asked && bytes < kMinBytes)) return FsstValues{};
  // Coded strings may be longer than what their offsets can say.
  if (width == 4 && bytes >= uint64_t{1} << 30) return FsstValues{};
  const std::vector<Text> sample = SampleOf(values);
  const FsstEncoder encoder = FsstEncoder::Train(sample);
  const double share = CodedShare(encoder, sample);
  if (!asked) {
    const double offsets = static_cast<double>(values.length * width);
    const double before = static_cast<double>(bytes) + offsets;
    const double after = share * static_cast<double>(bytes) + offsets + FsstTable::kBytes;
    if (after > kWorthwhile * before) return FsstValues{};
  }
  return width == 4 ? EncodeAll<int32_t>(values, encoder, bytes, share, pool)
                    : EncodeAll<int64_t>(values, encoder, bytes, share, pool);
}

}  // namespace pennon::encoding
