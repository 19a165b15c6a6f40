#include "pennon/encoding/mini_block/mini_block_page.h"

#include <algorithm>
#include <cstring>

#include "pennon/error.h"

namespace pennon::encoding {

namespace {

/// Gaps between wanted rows that are estimated to be smaller than this do not speak against reading
/// a whole page.
constexpr uint64_t kSmallGap = 8 << 10;

}  // namespace

size_t MiniBlockDecoder::MemoryBytes() const {
  const auto known = state();
  return sizeof(*this) + facts_.values.MemoryBytes() + facts_.layers.capacity() +
         (known ? known->MemoryBytes() : 0);
}

std::shared_ptr<const MiniBlockState> MiniBlockDecoder::state() const {
  const std::lock_guard lock(mutex_);
  return state_;
}

std::vector<io::RangeRead> MiniBlockDecoder::DirectoryReads(bool whole_page) const {
  std::vector<io::RangeRead> reads;
  const auto add = [&](const PageBuffer& buffer) {
    reads.push_back({.offset = buffer.offset, .size = buffer.size});
  };
  add(facts_.words);
  add(facts_.dictionary_items);
  add(facts_.repetition_index);
  if (whole_page) add(facts_.chunks);
  return reads;
}

arrow::Result<std::shared_ptr<const MiniBlockState>> MiniBlockDecoder::Learn(
    std::span<const io::RangeRead> reads) const {
  const auto bytes = [&](size_t i) {
    return std::span<const uint8_t>(reads[i].data, static_cast<size_t>(reads[i].size));
  };
  ARROW_ASSIGN_OR_RAISE(
      ChunkDirectory directory,
      ChunkDirectory::Parse(bytes(0), facts_.large_chunks, facts_.num_values, facts_.chunks.size));
  std::optional<DictionaryItems> dictionary;
  if (facts_.dictionary) {
    ARROW_ASSIGN_OR_RAISE(dictionary, DictionaryItems::Decode(*facts_.dictionary, facts_.type,
                                                              facts_.num_dictionary_items,
                                                              facts_.num_values, bytes(1)));
  }
  std::optional<RepetitionIndex> index;
  if (facts_.has_lists()) {
    ARROW_ASSIGN_OR_RAISE(
        index, RepetitionIndex::Parse(bytes(2), directory.num_chunks(), facts_.num_rows));
  }
  auto state = std::make_shared<const MiniBlockState>(
      MiniBlockState{std::move(directory), std::move(dictionary), std::move(index)});
  const std::lock_guard lock(mutex_);
  if (!state_) state_ = state;
  return state;
}

bool MiniBlockDecoder::WantsWholePage(std::span<const PageRows> rows_wanted) const {
  uint64_t at = 0, widest = 0;
  for (const PageRows& rows : rows_wanted) {
    widest = std::max(widest, rows.first - at);
    at = rows.first + rows.count;
  }
  widest = std::max(widest, facts_.num_rows - at);
  const double row_bytes =
      static_cast<double>(facts_.chunks.size) / static_cast<double>(facts_.num_rows);
  return static_cast<double>(widest) * row_bytes <= static_cast<double>(kSmallGap);
}

arrow::Result<MiniBlockChunk> MiniBlockDecoder::ParseChunk(std::span<const uint8_t> bytes) const {
  const size_t num_values = facts_.values.num_buffers();
  const size_t width = facts_.large_chunks ? 4 : 2;
  const size_t num_levels = (facts_.repetition ? 1 : 0) + (facts_.definition ? 1 : 0);
  size_t at = 2 + 2 * num_levels + num_values * width;
  if (bytes.size() < at)
    return Corrupt("", "a chunk is too short for its header: found ", bytes.size(), " bytes");
  MiniBlockChunk chunk;
  const uint8_t* header = bytes.data();
  std::memcpy(&chunk.num_levels, header, 2);
  header += 2;
  const auto take = [&](size_t field_bytes, std::span<const uint8_t>* out) {
    uint32_t size = 0;
    std::memcpy(&size, header, field_bytes);
    header += field_bytes;
    at = (at + 7) & ~size_t{7};
    if (at > bytes.size() || size > bytes.size() - at) return false;
    *out = bytes.subspan(at, size);
    at += size;
    return true;
  };
  bool fits = true;
  if (facts_.repetition) fits = take(2, &chunk.repetition);
  if (facts_.definition) fits = fits && take(2, &chunk.definition);
  for (size_t i = 0; i < num_values; ++i) fits = fits && take(width, &chunk.values[i]);
  if (!fits)
    return Corrupt("", "a chunk's buffers are longer than the chunk: ", bytes.size(), " bytes");
  return chunk;
}

namespace {

/// Joins chunks [first, end) to `spans`, which are ascending; chunks that touch share a read.
void AddChunks(size_t first, size_t end, std::vector<ChunkSpan>* spans) {
  if (!spans->empty() && first <= spans->back().end) {
    spans->back().end = std::max(spans->back().end, end);
  } else {
    spans->push_back({first, end, spans->size()});
  }
}

}  // namespace

void MiniBlockFetch::PlanChunks() {
  const ChunkDirectory& directory = state_->directory;
  if (whole_page_) {
    spans_.push_back({0, directory.num_chunks(), MiniBlockDecoder::kChunksRead});
    return;
  }
  for (const PageRows& rows : rows_) {
    const uint64_t last = rows.first + rows.count - 1;
    if (state_->index) {
      AddChunks(state_->index->ChunkOf(rows.first), state_->index->ChunkEnd(last), &spans_);
    } else {
      AddChunks(directory.ChunkOf(rows.first), directory.ChunkOf(last) + 1, &spans_);
    }
  }
  reads_.clear();
  reads_.reserve(spans_.size());
  for (const ChunkSpan& span : spans_) {
    const uint64_t start = directory.start(span.first);
    reads_.push_back({.offset = decoder_.facts().chunks.offset + start,
                      .size = directory.start(span.end) - start});
  }
}

arrow::Result<std::span<io::RangeRead>> MiniBlockFetch::Next() {
  switch (step_) {
    case Step::kStart:
      step_ = Step::kDirectory;
      if (!state_) {
        whole_page_ = decoder_.WantsWholePage(rows_);
        reads_ = decoder_.DirectoryReads(whole_page_);
        return std::span(reads_);
      }
      [[fallthrough]];
    case Step::kDirectory:
      step_ = Step::kChunks;
      if (!state_) {
        ARROW_ASSIGN_OR_RAISE(state_, decoder_.Learn(reads_));
      }
      PlanChunks();
      if (!whole_page_) return std::span(reads_);
      [[fallthrough]];
    case Step::kChunks:
      break;
  }
  return std::span<io::RangeRead>();
}

std::span<const uint8_t> MiniBlockFetch::ChunkBytes(const ChunkSpan& span, size_t chunk) const {
  const ChunkDirectory& directory = state_->directory;
  const uint64_t start = directory.start(chunk);
  return {reads_[span.read].data + (start - directory.start(span.first)),
          static_cast<size_t>(directory.start(chunk + 1) - start)};
}

}  // namespace pennon::encoding
