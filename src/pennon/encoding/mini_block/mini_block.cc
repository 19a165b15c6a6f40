#include "pennon/encoding/mini_block/mini_block.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "pennon/encoding/mini_block/mini_block_nested.h"
#include "pennon/encoding/mini_block/mini_block_page.h"
#include "pennon/error.h"

namespace pennon::encoding {

namespace {

class MiniBlockRead : public PageRead {
 public:
  MiniBlockRead(const MiniBlockDecoder& decoder, std::span<const PageRows> rows, ColumnOutput* out)
      : decoder_(decoder), facts_(decoder.facts()), rows_(rows), out_(out), fetch_(decoder, rows) {}

  arrow::Result<std::span<io::RangeRead>> Next() override { return fetch_.Next(); }
  arrow::Status Decode() override;

 private:
  arrow::Status OpenChunk(size_t index);
  arrow::Status WriteRows(uint64_t first, uint64_t count, uint64_t slot);

  const MiniBlockDecoder& decoder_;
  const MiniBlockFacts& facts_;
  std::span<const PageRows> rows_;
  ColumnOutput* out_;
  MiniBlockFetch fetch_;

  // The chunk being decoded.
  size_t span_ = 0;
  size_t chunk_index_ = SIZE_MAX;
  uint64_t chunk_first_ = 0, chunk_end_ = 0;
  MiniBlockChunk chunk_;
  bool has_levels_ = false;  ///< whether levels_ has the chunk's levels; else all are valid
  std::vector<uint8_t> levels_;
  std::vector<uint8_t> level_scratch_;
  ChunkScratch scratch_;
};

arrow::Status MiniBlockRead::OpenChunk(size_t index) {
  const ChunkDirectory& directory = fetch_.state().directory;
  while (fetch_.spans()[span_].end <= index) ++span_;
  ARROW_ASSIGN_OR_RAISE(chunk_,
                        decoder_.ParseChunk(fetch_.ChunkBytes(fetch_.spans()[span_], index)));
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
    ARROW_RETURN_NOT_OK(LevelsToValidity(levels_.data() + 2 * first, count, facts_.limits.max_def,
                                         slot, &out_->validity()));
  }
  const std::optional<DictionaryItems>& items = fetch_.state().dictionary;
  const DictionaryItems* const dictionary = items ? &*items : nullptr;
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
        ARROW_RETURN_NOT_OK(
            OpenChunk(next ? chunk_index_ + 1 : fetch_.state().directory.ChunkOf(row)));
      }
      const uint64_t count = std::min(end, chunk_end_) - row;
      ARROW_RETURN_NOT_OK(WriteRows(row - chunk_first_, count, slot));
      row += count;
      slot += count;
    }
  }
  return arrow::Status::OK();
}

/// How many page buffers a page with `layout` has.
size_t NumBuffers(const wire::MiniBlockLayout& layout) {
  return 2 + (layout.dictionary ? 1 : 0) + (layout.repetition_index_depth > 0 ? 1 : 0);
}

/// Checks what a page with lists must have, and one without must not.
arrow::Status CheckLists(const PageDescription& page, const wire::MiniBlockLayout& layout,
                         const LevelLimits& limits) {
  const bool lists = limits.max_rep > 0;
  if (layout.repetition.has_value() != lists || (layout.repetition_index_depth > 0) != lists) {
    return Corrupt("", "a page must have repetition levels and their index if it has lists: found ",
                   limits.max_rep, " list layers, ", layout.repetition ? "levels" : "no levels",
                   ", an index of depth ", layout.repetition_index_depth);
  }
  if (layout.repetition_index_depth > 1) {
    return Unsupported("",
                       "a repetition index of a depth above 1: ", layout.repetition_index_depth);
  }
  if (!lists && layout.num_items != page.length) {
    return Corrupt("", "a page has another number of values than rows: expected ", page.length,
                   ", found ", layout.num_items);
  }
  return arrow::Status::OK();
}

arrow::Status CheckLayout(const PageDescription& page, const wire::MiniBlockLayout& layout,
                          const LevelLimits& limits, const LeafType& type) {
  ARROW_RETURN_NOT_OK(CheckLists(page, layout, limits));
  const bool large = page.minor >= 2;
  if (layout.has_large_chunk != large) {
    return Corrupt("", "a page has chunks of another version than its file's 2.", page.minor);
  }
  const size_t expected = NumBuffers(layout);
  if (page.buffers.size() != expected) {
    return Corrupt("", "a mini-block page has a wrong number of buffers: expected ", expected,
                   ", found ", page.buffers.size());
  }
  const uint64_t words = page.buffers[0].size / (large ? 4 : 2);
  if (layout.num_items / ChunkDirectory::kMaxChunkValues > words) {
    return Corrupt("", "a page claims more values than its chunks can hold: ", layout.num_items,
                   " values in ", words, " chunks");
  }
  // A dictionary column's dictionary may have items that no value names.
  const uint64_t most_items =
      type.kind == LeafKind::kDictionary ? type.most_items : layout.num_items + 1;
  if (layout.dictionary && layout.num_dictionary_items > most_items) {
    return Corrupt("",
                   "a page has more dictionary items than its values can name: expected at most ",
                   most_items, ", found ", layout.num_dictionary_items);
  }
  return arrow::Status::OK();
}

}  // namespace

arrow::Result<std::unique_ptr<PageRead>> MiniBlockDecoder::Start(std::span<const PageRows> rows,
                                                                 ColumnOutput* out) const {
  ARROW_RETURN_NOT_OK(facts_.limits.ExpectFlat());
  return std::make_unique<MiniBlockRead>(*this, rows, out);
}

arrow::Result<std::unique_ptr<NestedPageRead>> MiniBlockDecoder::StartNested(
    std::span<const PageRows> rows) const {
  return std::make_unique<MiniBlockNestedRead>(*this, rows);
}

arrow::Result<std::shared_ptr<const PageDecoder>> MakeMiniBlockDecoder(
    const PageDescription& page, const wire::MiniBlockLayout& layout, const LeafType& type) {
  ARROW_ASSIGN_OR_RAISE(const LevelLimits limits, LevelLimits::Make(layout.layers));
  ARROW_RETURN_NOT_OK(CheckLayout(page, layout, limits, type));
  ARROW_ASSIGN_OR_RAISE(ChunkValues values,
                        ChunkValues::Make(layout.values, type, layout.dictionary.has_value()));
  if (layout.num_buffers != values.num_buffers() || values.num_buffers() > kMaxValueBuffers) {
    return Corrupt("", "a page has a wrong number of value buffers in a chunk: expected ",
                   values.num_buffers(), ", found ", layout.num_buffers);
  }
  MiniBlockFacts facts(std::move(values));
  facts.type = type;
  facts.num_rows = page.length;
  facts.num_values = layout.num_items;
  facts.large_chunks = layout.has_large_chunk;
  facts.words = page.buffers[0];
  facts.chunks = page.buffers[1];
  facts.dictionary_items = facts.repetition_index = {.offset = facts.words.offset, .size = 0};
  facts.layers = layout.layers;
  facts.limits = limits;
  if (layout.definition) {
    ARROW_ASSIGN_OR_RAISE(facts.definition, BlockDecoder::Make(*layout.definition, kLevelBits));
  }
  if (layout.repetition) {
    ARROW_ASSIGN_OR_RAISE(facts.repetition, BlockDecoder::Make(*layout.repetition, kLevelBits));
    facts.repetition_index = page.buffers.back();
  }
  if (layout.dictionary) {
    ARROW_RETURN_NOT_OK(DictionaryItems::Check(*layout.dictionary, type));
    facts.dictionary = layout.dictionary;
    facts.num_dictionary_items = layout.num_dictionary_items;
    facts.dictionary_items = page.buffers[2];
  }
  return std::make_shared<MiniBlockDecoder>(std::move(facts));
}

}  // namespace pennon::encoding
