#include "pennon/encoding/mini_block.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <mutex>
#include <optional>
#include <utility>

#include "pennon/encoding/chunk_directory.h"
#include "pennon/encoding/chunk_values.h"
#include "pennon/encoding/dictionary_items.h"
#include "pennon/encoding/levels.h"
#include "pennon/error.h"

namespace pennon::encoding {

namespace {

constexpr size_t kMaxValueBuffers = 16;

/// Gaps between wanted rows that are estimated to be smaller than this do not speak against reading
/// a whole page.
constexpr uint64_t kSmallGap = 8 << 10;

/// What is known of a page once its directory was read.
struct PageState {
  ChunkDirectory directory;
  std::optional<DictionaryItems> dictionary;

  size_t MemoryBytes() const {
    return directory.MemoryBytes() + (dictionary ? dictionary->MemoryBytes() : 0);
  }
};

/// The fixed facts of a page, shared by its reads.
struct PageFacts {
  explicit PageFacts(ChunkValues chunk_values) : values(std::move(chunk_values)) {}

  LeafType type;
  uint64_t num_items = 0;
  bool large_chunks = false;
  PageBuffer words, chunks, dictionary_items;
  ItemLayers layers;
  std::optional<BlockDecoder> definition;
  ChunkValues values;
  std::optional<wire::CompressiveEncoding> dictionary;
  uint64_t num_dictionary_items = 0;
};

class MiniBlockDecoder : public PageDecoder {
 public:
  explicit MiniBlockDecoder(PageFacts facts) : facts_(std::move(facts)) {}

  arrow::Result<std::unique_ptr<PageRead>> Start(std::span<const PageRows> rows,
                                                 ColumnOutput* out) const override;

  size_t MemoryBytes() const override {
    const auto known = state();
    return sizeof(*this) + facts_.values.MemoryBytes() + (known ? known->MemoryBytes() : 0);
  }

  const PageFacts& facts() const { return facts_; }
  std::shared_ptr<const PageState> state() const {
    const std::lock_guard lock(mutex_);
    return state_;
  }
  /// Builds the state from the bytes of the page's directory buffers and keeps it.
  arrow::Result<std::shared_ptr<const PageState>> Learn(const uint8_t* words,
                                                        const uint8_t* dictionary_items) const;

 private:
  PageFacts facts_;
  mutable std::mutex mutex_;
  mutable std::shared_ptr<const PageState> state_;
};

/// The buffers of one chunk, inside the page's bytes.
struct Chunk {
  uint16_t num_levels = 0;
  std::span<const uint8_t> definition;
  std::array<std::span<const uint8_t>, kMaxValueBuffers> values;
};

class MiniBlockRead : public PageRead {
 public:
  MiniBlockRead(const MiniBlockDecoder& decoder, std::span<const PageRows> rows, ColumnOutput* out)
      : decoder_(decoder),
        facts_(decoder.facts()),
        rows_(rows),
        out_(out),
        state_(decoder.state()) {}

  arrow::Result<std::span<io::RangeRead>> Next() override;
  arrow::Status Decode() override;

 private:
  bool WantsWholePage() const;
  void PlanDirectory();
  void PlanChunks();
  arrow::Result<Chunk> ParseChunk(std::span<const uint8_t> bytes) const;
  arrow::Status OpenChunk(size_t index);
  arrow::Status WriteRows(uint64_t first, uint64_t count, uint64_t slot);

  /// Chunks [first, end) that one read brings.
  struct Span {
    size_t first;
    size_t end;
    size_t read;
  };

  const MiniBlockDecoder& decoder_;
  const PageFacts& facts_;
  std::span<const PageRows> rows_;
  ColumnOutput* out_;
  std::shared_ptr<const PageState> state_;
  enum class Step { kStart, kDirectory, kChunks } step_ = Step::kStart;
  std::vector<io::RangeRead> reads_;
  std::vector<Span> spans_;  ///< ascending
  bool whole_page_ = false;

  // The chunk being decoded.
  size_t span_ = 0;
  size_t chunk_index_ = SIZE_MAX;
  uint64_t chunk_first_ = 0, chunk_end_ = 0;
  Chunk chunk_;
  bool has_levels_ = false;  ///< whether levels_ has the chunk's levels; else all are valid
  std::vector<uint8_t> levels_;
  std::vector<uint8_t> level_scratch_;
  ChunkScratch scratch_;
};

arrow::Result<std::unique_ptr<PageRead>> MiniBlockDecoder::Start(std::span<const PageRows> rows,
                                                                 ColumnOutput* out) const {
  return std::make_unique<MiniBlockRead>(*this, rows, out);
}

arrow::Result<std::shared_ptr<const PageState>> MiniBlockDecoder::Learn(
    const uint8_t* words, const uint8_t* dictionary_items) const {
  ARROW_ASSIGN_OR_RAISE(ChunkDirectory directory,
                        ChunkDirectory::Parse({words, facts_.words.size}, facts_.large_chunks,
                                              facts_.num_items, facts_.chunks.size));
  std::optional<DictionaryItems> dictionary;
  if (facts_.dictionary) {
    ARROW_ASSIGN_OR_RAISE(
        dictionary,
        DictionaryItems::Decode(*facts_.dictionary, facts_.type, facts_.num_dictionary_items,
                                {dictionary_items, facts_.dictionary_items.size}));
  }
  auto state =
      std::make_shared<const PageState>(PageState{std::move(directory), std::move(dictionary)});
  const std::lock_guard lock(mutex_);
  if (!state_) state_ = state;
  return state;
}

/// Whether the wanted rows leave no gap that is worth a second round of reading.
bool MiniBlockRead::WantsWholePage() const {
  uint64_t at = 0, widest = 0;
  for (const PageRows& rows : rows_) {
    widest = std::max(widest, rows.first - at);
    at = rows.first + rows.count;
  }
  widest = std::max(widest, facts_.num_items - at);
  const double row_bytes =
      static_cast<double>(facts_.chunks.size) / static_cast<double>(facts_.num_items);
  return static_cast<double>(widest) * row_bytes <= static_cast<double>(kSmallGap);
}

void MiniBlockRead::PlanDirectory() {
  reads_.push_back({.offset = facts_.words.offset, .size = facts_.words.size});
  reads_.push_back(
      {.offset = facts_.dictionary_items.offset, .size = facts_.dictionary_items.size});
  whole_page_ = WantsWholePage();
  if (whole_page_) reads_.push_back({.offset = facts_.chunks.offset, .size = facts_.chunks.size});
}

void MiniBlockRead::PlanChunks() {
  const ChunkDirectory& directory = state_->directory;
  if (whole_page_) {
    spans_.push_back({0, directory.num_chunks(), 2});
    return;
  }
  for (const PageRows& rows : rows_) {
    const size_t first = directory.ChunkOf(rows.first);
    const size_t end = directory.ChunkOf(rows.first + rows.count - 1) + 1;
    if (!spans_.empty() && first <= spans_.back().end) {
      spans_.back().end = end;
    } else {
      spans_.push_back({first, end, spans_.size()});
    }
  }
  reads_.clear();
  for (const Span& span : spans_) {
    const uint64_t start = directory.start(span.first);
    reads_.push_back(
        {.offset = facts_.chunks.offset + start, .size = directory.start(span.end) - start});
  }
}

arrow::Result<std::span<io::RangeRead>> MiniBlockRead::Next() {
  switch (step_) {
    case Step::kStart:
      step_ = Step::kDirectory;
      if (!state_) {
        PlanDirectory();
        return std::span(reads_);
      }
      [[fallthrough]];
    case Step::kDirectory:
      step_ = Step::kChunks;
      if (!state_) {
        ARROW_ASSIGN_OR_RAISE(state_, decoder_.Learn(reads_[0].data, reads_[1].data));
      }
      PlanChunks();
      if (!whole_page_) return std::span(reads_);
      [[fallthrough]];
    case Step::kChunks:
      break;
  }
  return std::span<io::RangeRead>();
}

arrow::Result<Chunk> MiniBlockRead::ParseChunk(std::span<const uint8_t> bytes) const {
  const size_t num_values = facts_.values.num_buffers();
  const size_t width = facts_.large_chunks ? 4 : 2;
  const bool has_levels = facts_.definition.has_value();
  size_t at = 2 + (has_levels ? 2 : 0) + num_values * width;
  if (bytes.size() < at)
    return Corrupt("", "a chunk is too short for its header: found ", bytes.size(), " bytes");
  Chunk chunk;
  const uint8_t* header = bytes.data();
  std::memcpy(&chunk.num_levels, header, 2);
  header += 2;
  const auto take = [&](uint64_t size, std::span<const uint8_t>* out) {
    at = (at + 7) & ~size_t{7};
    if (at > bytes.size() || size > bytes.size() - at) return false;
    *out = bytes.subspan(at, size);
    at += size;
    return true;
  };
  bool fits = true;
  if (has_levels) {
    uint16_t size;
    std::memcpy(&size, header, 2);
    header += 2;
    fits = take(size, &chunk.definition);
  }
  for (size_t i = 0; i < num_values; ++i) {
    uint32_t size = 0;
    std::memcpy(&size, header, width);
    header += width;
    fits = fits && take(size, &chunk.values[i]);
  }
  if (!fits)
    return Corrupt("", "a chunk's buffers are longer than the chunk: ", bytes.size(), " bytes");
  return chunk;
}

arrow::Status MiniBlockRead::OpenChunk(size_t index) {
  const ChunkDirectory& directory = state_->directory;
  while (spans_[span_].end <= index) ++span_;
  const Span& span = spans_[span_];
  const uint64_t start = directory.start(index);
  const uint8_t* const bytes = reads_[span.read].data + (start - directory.start(span.first));
  ARROW_ASSIGN_OR_RAISE(chunk_, ParseChunk({bytes, directory.start(index + 1) - start}));
  chunk_index_ = index;
  chunk_first_ = directory.first(index);
  chunk_end_ = directory.first(index + 1);
  scratch_.has_values = false;
  has_levels_ = false;
  if (!facts_.definition) return arrow::Status::OK();
  const uint64_t count = chunk_end_ - chunk_first_;
  if (chunk_.num_levels != count) {
    return Corrupt("", "a chunk has another number of levels than values: expected ", count,
                   ", found ", chunk_.num_levels);
  }
  if (facts_.definition->IsAllZero(chunk_.definition)) return arrow::Status::OK();
  levels_.resize(2 * count);
  ARROW_RETURN_NOT_OK(
      facts_.definition->Decode(chunk_.definition, count, levels_, &level_scratch_));
  has_levels_ = true;
  return arrow::Status::OK();
}

arrow::Status MiniBlockRead::WriteRows(uint64_t first, uint64_t count, uint64_t slot) {
  if (has_levels_) {
    ARROW_RETURN_NOT_OK(LevelsToValidity(levels_.data() + 2 * first, count,
                                         facts_.layers.max_level(), slot, &out_->validity()));
  }
  const DictionaryItems* const dictionary = state_->dictionary ? &*state_->dictionary : nullptr;
  return facts_.values.Write({chunk_.values.data(), facts_.values.num_buffers()},
                             chunk_end_ - chunk_first_, first, count, slot, dictionary, &scratch_,
                             out_);
}

arrow::Status MiniBlockRead::Decode() {
  for (const PageRows& rows : rows_) {
    uint64_t row = rows.first;
    uint64_t slot = rows.out;
    const uint64_t end = rows.first + rows.count;
    while (row < end) {
      if (chunk_index_ == SIZE_MAX || row >= chunk_end_) {
        const bool next = chunk_index_ != SIZE_MAX && row == chunk_end_;
        ARROW_RETURN_NOT_OK(OpenChunk(next ? chunk_index_ + 1 : state_->directory.ChunkOf(row)));
      }
      const uint64_t count = std::min(end, chunk_end_) - row;
      ARROW_RETURN_NOT_OK(WriteRows(row - chunk_first_, count, slot));
      row += count;
      slot += count;
    }
  }
  return arrow::Status::OK();
}

arrow::Status CheckLayout(const PageDescription& page, const wire::MiniBlockLayout& layout) {
  if (layout.repetition || layout.repetition_index_depth != 0) {
    return Unsupported("", "pages with repetition levels are not supported yet");
  }
  const bool large = page.minor >= 2;
  if (layout.has_large_chunk != large) {
    return Corrupt("", "a page has chunks of another version than its file's 2.", page.minor);
  }
  const size_t expected = layout.dictionary ? 3 : 2;
  if (page.buffers.size() != expected) {
    return Corrupt("", "a mini-block page has a wrong number of buffers: expected ", expected,
                   ", found ", page.buffers.size());
  }
  if (layout.num_items != page.length) {
    return Corrupt("", "a page has another number of values than rows: expected ", page.length,
                   ", found ", layout.num_items);
  }
  const uint64_t words = page.buffers[0].size / (large ? 4 : 2);
  if (layout.num_items / ChunkDirectory::kMaxChunkValues > words) {
    return Corrupt("", "a page claims more values than its chunks can hold: ", layout.num_items,
                   " values in ", words, " chunks");
  }
  if (layout.dictionary && layout.num_dictionary_items > layout.num_items + 1) {
    return Corrupt("",
                   "a page has more dictionary items than values: ", layout.num_dictionary_items,
                   " items, ", layout.num_items, " values");
  }
  return arrow::Status::OK();
}

}  // namespace

arrow::Result<std::shared_ptr<const PageDecoder>> MakeMiniBlockDecoder(
    const PageDescription& page, const wire::MiniBlockLayout& layout, const LeafType& type) {
  ARROW_ASSIGN_OR_RAISE(const ItemLayers layers, ItemLayers::Make(layout.layers));
  ARROW_RETURN_NOT_OK(CheckLayout(page, layout));
  ARROW_ASSIGN_OR_RAISE(ChunkValues values,
                        ChunkValues::Make(layout.values, type, layout.dictionary.has_value()));
  if (layout.num_buffers != values.num_buffers() || values.num_buffers() > kMaxValueBuffers) {
    return Corrupt("", "a page has a wrong number of value buffers in a chunk: expected ",
                   values.num_buffers(), ", found ", layout.num_buffers);
  }
  PageFacts facts(std::move(values));
  facts.type = type;
  facts.num_items = layout.num_items;
  facts.large_chunks = layout.has_large_chunk;
  facts.words = page.buffers[0];
  facts.chunks = page.buffers[1];
  facts.layers = layers;
  if (layout.definition) {
    ARROW_ASSIGN_OR_RAISE(facts.definition, BlockDecoder::Make(*layout.definition, kLevelBits));
  }
  if (layout.dictionary) {
    ARROW_RETURN_NOT_OK(DictionaryItems::Check(*layout.dictionary, type));
    facts.dictionary = layout.dictionary;
    facts.num_dictionary_items = layout.num_dictionary_items;
    facts.dictionary_items = page.buffers[2];
  } else {
    facts.dictionary_items = PageBuffer{.offset = facts.words.offset, .size = 0};
  }
  return std::make_shared<MiniBlockDecoder>(std::move(facts));
}

}  // namespace pennon::encoding
