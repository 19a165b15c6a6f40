#include "pennon/encoding/mini_block/mini_block_writer.h"

#include <bit>
#include <cstring>
#include <span>
#include <utility>
#include <vector>

#include "pennon/encoding/nested/level_writer.h"
#include "pennon/wire/page_layout_writer.h"

namespace pennon::encoding {
namespace {

using Bytes = std::vector<uint8_t>;

constexpr uint64_t kLargestChunk21 = 32 * 1024;  // the words of 2.1 count no more
constexpr uint64_t kLargestChunk22 = uint64_t{1} << 31;
constexpr uint64_t kLargestU16 = UINT16_MAX;  // of level entries and bytes, in both versions

// The level entries of each chunk of values; nothing if one has too many.
std::optional<std::vector<uint32_t>> EntriesOfChunks(const PageNesting& nesting,
                                                     const std::vector<uint32_t>& counts) {
  if (nesting.max_visible == nesting.max_definition) return counts;  // every entry owns a value
  std::vector<uint32_t> entries;
  entries.reserve(counts.size());
  uint64_t entry = 0;
  for (size_t i = 0; i < counts.size(); ++i) {
    const uint64_t first = entry;
    if (i + 1 == counts.size()) {
      entry = nesting.entries;
    } else {
      for (uint32_t left = counts[i]; left > 0; ++entry) {
        if (nesting.is_visible(entry)) --left;
      }
    }
    if (entry - first > kLargestU16) return std::nullopt;
    entries.push_back(static_cast<uint32_t>(entry - first));
  }
  return entries;
}

// Rows that end in each chunk, and the entries behind the last end.
std::shared_ptr<arrow::Buffer> RepetitionIndex(const PageNesting& nesting,
                                               std::span<const uint32_t> entries) {
  std::vector<uint64_t> index;
  index.reserve(2 * entries.size());
  uint64_t first = 0;
  uint64_t inside = 0;  // whether the chunk begins inside a row
  for (uint32_t count : entries) {
    const uint64_t end = first + count;
    uint64_t starts = 0, last_start = first;
    for (uint64_t entry = first; entry < end; ++entry) {
      if (!nesting.starts_row(entry)) continue;
      ++starts;
      last_start = entry;
    }
    const uint64_t goes_on = end < nesting.entries && !nesting.starts_row(end) ? 1 : 0;
    index.push_back(starts + inside - goes_on);
    index.push_back(goes_on * (end - last_start));
    inside = goes_on;
    first = end;
  }
  return arrow::Buffer::FromVector(std::move(index));
}

// Writes the chunks of one page one after the other: levels and value buffers behind a header.
class ChunkWriter {
 public:
  ChunkWriter(const EncodedChunks& chunks, std::span<const LevelWriter* const> levels, int minor)
      : chunks_(chunks), levels_(levels), large_(minor >= 2), positions_(chunks.streams.size()) {}

  // Whether all chunks keep their limits.
  arrow::Result<bool> WriteAll(std::span<const uint32_t> entries) {
    body_.reserve(ExpectedBytes());
    uint64_t first = 0;
    for (size_t i = 0; i < chunks_.counts.size(); ++i) {
      ARROW_ASSIGN_OR_RAISE(const bool fits, WriteChunk(i, first, entries[i]));
      if (!fits) return false;
      first += entries[i];
    }
    return true;
  }

  std::shared_ptr<arrow::Buffer> TakeWords() {
    return arrow::Buffer::FromVector(std::move(words_));
  }
  std::shared_ptr<arrow::Buffer> TakeBody() { return arrow::Buffer::FromVector(std::move(body_)); }

 private:
  uint64_t ExpectedBytes() const {
    uint64_t bytes = chunks_.counts.size() * (32 + 8 * chunks_.streams.size());
    for (const auto& stream : chunks_.streams) bytes += static_cast<uint64_t>(stream->size());
    for (uint32_t count : chunks_.counts) bytes += levels_.size() * (count / 4 + 136);
    return bytes;
  }

  void PutNumber(size_t at, uint64_t value, size_t width) {
    std::memcpy(body_.data() + at, &value, width);
  }
  void Pad() { body_.resize((body_.size() + 7) / 8 * 8); }

  arrow::Result<bool> WriteChunk(size_t index, uint64_t first_entry, uint64_t entries) {
    const uint64_t count = chunks_.counts[index];
    const size_t num_streams = chunks_.streams.size();
    const size_t start = body_.size();
    const size_t size_width = large_ ? 4 : 2;
    const size_t sizes_at = start + 2 + 2 * levels_.size();
    body_.resize(sizes_at + num_streams * size_width);
    Pad();
    if (!levels_.empty()) PutNumber(start, entries, 2);
    for (size_t i = 0; i < levels_.size(); ++i) {
      const size_t at = body_.size();
      ARROW_RETURN_NOT_OK(levels_[i]->AppendChunk(first_entry, entries, &body_));
      if (body_.size() - at > kLargestU16) return false;
      PutNumber(start + 2 + 2 * i, body_.size() - at, 2);
      Pad();
    }
    for (size_t i = 0; i < num_streams; ++i) {
      const uint64_t size = chunks_.sizes[index * num_streams + i];
      PutNumber(sizes_at + i * size_width, size, size_width);
      const uint8_t* from = chunks_.streams[i]->data() + positions_[i];
      if (size > 0) body_.insert(body_.end(), from, from + size);
      positions_[i] += size;
      Pad();
    }
    const uint64_t bytes = body_.size() - start;
    if (bytes > (large_ ? kLargestChunk22 : kLargestChunk21)) return false;
    const bool last = index + 1 == chunks_.counts.size();
    const uint64_t word =
        (bytes / 8 - 1) << 4 | (last ? 0 : static_cast<uint64_t>(std::countr_zero(count)));
    const uint8_t* word_bytes = reinterpret_cast<const uint8_t*>(&word);
    words_.insert(words_.end(), word_bytes, word_bytes + size_width);
    return true;
  }

  const EncodedChunks& chunks_;
  const std::span<const LevelWriter* const> levels_;
  const bool large_;
  std::vector<uint64_t> positions_;  // where the next chunk begins in each stream
  Bytes words_;
  Bytes body_;
};

// Writes the page with the chunks as they are cut; nothing if that does not fit.
arrow::Result<std::optional<EncodedPage>> EncodeWith(const EncodedChunks& chunks,
                                                     const PageNesting& nesting,
                                                     const EncodedDictionary* dictionary,
                                                     int minor) {
  const auto entries = EntriesOfChunks(nesting, chunks.counts);
  if (!entries) return std::nullopt;
  const LevelWriter repetition(nesting.repetition, *entries, minor);
  const LevelWriter definition(nesting.definition, *entries, minor);
  std::vector<const LevelWriter*> levels;
  for (const LevelWriter* level : {&repetition, &definition}) {
    if (level->has_levels()) levels.push_back(level);
  }
  ChunkWriter writer(chunks, levels, minor);
  ARROW_ASSIGN_OR_RAISE(const bool fits, writer.WriteAll(*entries));
  if (!fits) return std::nullopt;

  wire::MiniBlockMessage message;
  message.rep_compression = repetition.encoding();
  message.def_compression = definition.encoding();
  message.value_compression = chunks.encoding;
  if (dictionary != nullptr) {
    message.dictionary = dictionary->encoding;
    message.num_dictionary_items = dictionary->num_items;
  }
  message.layers = nesting.layers;
  message.num_buffers = chunks.streams.size();
  message.repetition_index_depth = repetition.has_levels() ? 1 : 0;
  for (uint32_t count : chunks.counts) message.num_items += count;
  message.has_large_chunk = minor >= 2;
  EncodedPage page;
  page.length = nesting.slots;
  page.buffers = {writer.TakeWords(), writer.TakeBody()};
  if (dictionary != nullptr) page.buffers.push_back(dictionary->items);
  if (repetition.has_levels()) page.buffers.push_back(RepetitionIndex(nesting, *entries));
  page.encoding = wire::WriteMiniBlockPage(message);
  return page;
}

}  // namespace

arrow::Result<std::optional<EncodedPage>> EncodeMiniBlock(const PageNesting& nesting,
                                                          const ChunkSource& values,
                                                          const EncodedDictionary* dictionary,
                                                          int minor) {
  uint64_t most = kMaxChunkValues;
  while (true) {
    ARROW_ASSIGN_OR_RAISE(const EncodedChunks chunks, values(most));
    ARROW_ASSIGN_OR_RAISE(auto page, EncodeWith(chunks, nesting, dictionary, minor));
    if (page) return page;
    if (chunks.counts.size() == 1) {
      // A single chunk may hold far less than was allowed.
      while (most > chunks.counts[0]) most /= 2;
    }
    if (most <= 2) return std::nullopt;
    most /= 2;
  }
}

}  // namespace pennon::encoding
