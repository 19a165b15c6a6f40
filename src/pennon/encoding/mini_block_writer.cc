#include "pennon/encoding/mini_block_writer.h"

#include <bit>
#include <cstring>
#include <utility>
#include <vector>

#include "pennon/encoding/chunk_encoder.h"
#include "pennon/encoding/level_writer.h"
#include "pennon/error.h"
#include "pennon/wire/page_layout_writer.h"

namespace pennon::encoding {
namespace {

using Bytes = std::vector<uint8_t>;

constexpr uint64_t kLargestChunk21 = 32 * 1024;  // the words of 2.1 count no more
constexpr uint64_t kLargestChunk22 = uint64_t{1} << 31;

// Writes the chunks of one page one after the other: levels and value buffers behind a header.
class ChunkWriter {
 public:
  ChunkWriter(const EncodedChunks& chunks, const LevelWriter& levels, int minor)
      : chunks_(chunks), levels_(levels), large_(minor >= 2), positions_(chunks.streams.size()) {}

  arrow::Status WriteAll() {
    body_.reserve(ExpectedBytes());
    uint64_t first = 0;
    for (size_t i = 0; i < chunks_.counts.size(); ++i) {
      ARROW_RETURN_NOT_OK(WriteChunk(i, first));
      first += chunks_.counts[i];
    }
    return arrow::Status::OK();
  }

  std::shared_ptr<arrow::Buffer> TakeWords() {
    return arrow::Buffer::FromVector(std::move(words_));
  }
  std::shared_ptr<arrow::Buffer> TakeBody() { return arrow::Buffer::FromVector(std::move(body_)); }

 private:
  uint64_t ExpectedBytes() const {
    uint64_t bytes = chunks_.counts.size() * (32 + 8 * chunks_.streams.size());
    for (const auto& stream : chunks_.streams) bytes += static_cast<uint64_t>(stream->size());
    if (levels_.has_levels()) {
      for (uint32_t count : chunks_.counts) bytes += count / 4 + 136;
    }
    return bytes;
  }

  void PutNumber(size_t at, uint64_t value, size_t width) {
    std::memcpy(body_.data() + at, &value, width);
  }
  void Pad() { body_.resize((body_.size() + 7) / 8 * 8); }

  arrow::Status WriteChunk(size_t index, uint64_t first) {
    const uint64_t count = chunks_.counts[index];
    const size_t num_streams = chunks_.streams.size();
    const size_t start = body_.size();
    const size_t size_width = large_ ? 4 : 2;
    const size_t level_bytes = levels_.has_levels() ? 4 : 2;
    body_.resize(start + level_bytes + num_streams * size_width);
    Pad();
    if (levels_.has_levels()) {
      const size_t at = body_.size();
      ARROW_RETURN_NOT_OK(levels_.AppendChunk(first, count, &body_));
      PutNumber(start, count, 2);
      PutNumber(start + 2, body_.size() - at, 2);
      Pad();
    }
    for (size_t i = 0; i < num_streams; ++i) {
      const uint64_t size = chunks_.sizes[index * num_streams + i];
      PutNumber(start + level_bytes + i * size_width, size, size_width);
      const uint8_t* from = chunks_.streams[i]->data() + positions_[i];
      if (size > 0) body_.insert(body_.end(), from, from + size);
      positions_[i] += size;
      Pad();
    }
    const uint64_t bytes = body_.size() - start;
    if (bytes > (large_ ? kLargestChunk22 : kLargestChunk21)) {
      return Unsupported(
          "",
          "Values of this size do not fit the chunks of the storage version; write a newer "
          "one. Bytes of ",
          count, " values: ", bytes);
    }
    const bool last = index + 1 == chunks_.counts.size();
    const uint64_t word =
        (bytes / 8 - 1) << 4 | (last ? 0 : static_cast<uint64_t>(std::countr_zero(count)));
    const uint8_t* word_bytes = reinterpret_cast<const uint8_t*>(&word);
    words_.insert(words_.end(), word_bytes, word_bytes + size_width);
    return arrow::Status::OK();
  }

  const EncodedChunks& chunks_;
  const LevelWriter& levels_;
  const bool large_;
  std::vector<uint64_t> positions_;  // where the next chunk begins in each stream
  Bytes words_;
  Bytes body_;
};

}  // namespace

arrow::Result<EncodedPage> EncodeMiniBlock(const LeafValues& values,
                                           const EncodedDictionary* dictionary,
                                           const PageOptions& options, arrow::MemoryPool* pool) {
  ARROW_ASSIGN_OR_RAISE(const EncodedChunks chunks, EncodeChunks(values, options, pool));
  const LevelWriter levels(LevelsOfValidity(values.validity.get(), values.length), chunks.counts,
                           options.minor);
  ChunkWriter writer(chunks, levels, options.minor);
  ARROW_RETURN_NOT_OK(writer.WriteAll());

  wire::MiniBlockMessage message;
  message.def_compression = levels.encoding();
  message.value_compression = chunks.encoding;
  if (dictionary != nullptr) {
    message.dictionary = dictionary->encoding;
    message.num_dictionary_items = dictionary->num_items;
  }
  message.layers = {levels.has_levels() ? wire::LayerKind::kNullableItem
                                        : wire::LayerKind::kAllValidItem};
  message.num_buffers = chunks.streams.size();
  message.num_items = values.length;
  message.has_large_chunk = options.minor >= 2;
  EncodedPage page;
  page.length = values.length;
  page.buffers = {writer.TakeWords(), writer.TakeBody()};
  if (dictionary != nullptr) page.buffers.push_back(dictionary->items);
  page.encoding = wire::WriteMiniBlockPage(message);
  return page;
}

}  // namespace pennon::encoding
