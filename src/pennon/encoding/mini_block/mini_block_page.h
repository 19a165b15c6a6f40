// What the reads of a mini-block page share: its facts, its directory, its chunks. The layout is
// drawn in mini_block.h.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <arrow/result.h>

#include "pennon/encoding/dictionary/dictionary_items.h"
#include "pennon/encoding/kernels/block_values.h"
#include "pennon/encoding/mini_block/chunk_directory.h"
#include "pennon/encoding/mini_block/chunk_values.h"
#include "pennon/encoding/mini_block/repetition_index.h"
#include "pennon/encoding/nested/levels.h"
#include "pennon/encoding/page.h"

namespace pennon::encoding {

inline constexpr size_t kMaxValueBuffers = 16;

/// The fixed facts of a page.
struct MiniBlockFacts {
  explicit MiniBlockFacts(ChunkValues chunk_values) : values(std::move(chunk_values)) {}

  LeafType type;
  uint64_t num_rows = 0;
  uint64_t num_values = 0;
  bool large_chunks = false;
  PageBuffer words, chunks;
  PageBuffer dictionary_items;  ///< size 0 if there is no dictionary
  PageBuffer repetition_index;  ///< size 0 if there are no lists
  std::vector<wire::LayerKind> layers;
  LevelLimits limits;
  std::optional<BlockDecoder> repetition, definition;
  ChunkValues values;
  std::optional<wire::CompressiveEncoding> dictionary;
  uint64_t num_dictionary_items = 0;

  bool has_lists() const { return limits.max_rep > 0; }
};

/// What is known of a page once its directory was read.
struct MiniBlockState {
  ChunkDirectory directory;
  std::optional<DictionaryItems> dictionary;
  std::optional<RepetitionIndex> index;  ///< set if the page has lists

  size_t MemoryBytes() const {
    return directory.MemoryBytes() + (dictionary ? dictionary->MemoryBytes() : 0) +
           (index ? index->MemoryBytes() : 0);
  }
};

/// The buffers of one chunk, inside the page's bytes.
struct MiniBlockChunk {
  uint16_t num_levels = 0;
  std::span<const uint8_t> repetition;
  std::span<const uint8_t> definition;
  std::array<std::span<const uint8_t>, kMaxValueBuffers> values;
};

class MiniBlockDecoder : public PageDecoder {
 public:
  explicit MiniBlockDecoder(MiniBlockFacts facts) : facts_(std::move(facts)) {}

  arrow::Result<std::unique_ptr<PageRead>> Start(std::span<const PageRows> rows,
                                                 ColumnOutput* out) const override;
  std::span<const wire::LayerKind> layers() const override { return facts_.layers; }
  arrow::Result<std::unique_ptr<NestedPageRead>> StartNested(
      std::span<const PageRows> rows) const override;
  size_t MemoryBytes() const override;

  const MiniBlockFacts& facts() const { return facts_; }
  /// What is known of the page, or null.
  std::shared_ptr<const MiniBlockState> state() const;
  /// Reads of the directory buffers, in the order in which Learn takes them; with `whole_page` one
  /// of all chunks follows.
  std::vector<io::RangeRead> DirectoryReads(bool whole_page) const;
  static constexpr size_t kChunksRead = 3;  ///< which of DirectoryReads brings the chunks
  /// Builds the state from the bytes of the page's directory buffers and keeps it.
  arrow::Result<std::shared_ptr<const MiniBlockState>> Learn(
      std::span<const io::RangeRead> reads) const;
  /// Whether `rows` leave no gap that is worth a second round of reading.
  bool WantsWholePage(std::span<const PageRows> rows) const;
  /// Takes the bytes of one chunk apart.
  arrow::Result<MiniBlockChunk> ParseChunk(std::span<const uint8_t> bytes) const;

 private:
  MiniBlockFacts facts_;
  mutable std::mutex mutex_;
  mutable std::shared_ptr<const MiniBlockState> state_;
};

/// Chunks [first, end) that one read brings.
struct ChunkSpan {
  size_t first;
  size_t end;
  size_t read;
};

/// Fetches the chunks that hold some rows of a page: in one round if the page is known or wanted
/// whole, else its directory first. Used by one thread.
class MiniBlockFetch {
 public:
  /// The decoder and the rows must outlive this.
  MiniBlockFetch(const MiniBlockDecoder& decoder, std::span<const PageRows> rows)
      : decoder_(decoder), rows_(rows), state_(decoder.state()) {}

  /// As PageRead::Next.
  arrow::Result<std::span<io::RangeRead>> Next();

  // Once Next wants nothing more:
  const MiniBlockState& state() const { return *state_; }
  /// What was fetched, ascending.
  std::span<const ChunkSpan> spans() const { return spans_; }
  /// The bytes of `chunk`, which `span` has.
  std::span<const uint8_t> ChunkBytes(const ChunkSpan& span, size_t chunk) const;

 private:
  void PlanChunks();

  const MiniBlockDecoder& decoder_;
  std::span<const PageRows> rows_;
  std::shared_ptr<const MiniBlockState> state_;
  enum class Step { kStart, kDirectory, kChunks } step_ = Step::kStart;
  std::vector<io::RangeRead> reads_;
  std::vector<ChunkSpan> spans_;
  bool whole_page_ = false;
};

}  // namespace pennon::encoding
