// Reads rows of a mini-block page of a nested column: levels first, then the values.
//
// Levels are decoded a chunk at a time straight into the result; with lists a chunk's first
// entries may end a row that began in an earlier chunk.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <arrow/result.h>

#include "pennon/encoding/mini_block/mini_block_page.h"
#include "pennon/encoding/nested/entry_cursor.h"

namespace pennon::encoding {

class MiniBlockNestedRead : public NestedPageRead {
 public:
  /// The decoder and the rows must outlive the read.
  MiniBlockNestedRead(const MiniBlockDecoder& decoder, std::span<const PageRows> rows);

  arrow::Result<std::span<io::RangeRead>> Next() override { return fetch_.Next(); }
  arrow::Result<PageLevels> ReadLevels() override;
  arrow::Status ReadValues(uint64_t slot, ColumnOutput* out) override;

 private:
  /// Values [first, first + count) of a chunk that are wanted.
  struct ValueRun {
    std::span<const uint8_t> bytes;  ///< of the chunk
    size_t chunk;
    uint64_t first;
    uint64_t count;
  };

  uint64_t FirstRow(size_t chunk) const;
  /// Adds the levels of the wanted rows of `chunk`.
  arrow::Status ReadChunk(size_t chunk, std::span<const uint8_t> bytes);
  arrow::Status DecodeChunk(size_t chunk, const MiniBlockChunk& buffers, uint64_t entries);
  arrow::Status CheckStarts(size_t chunk, uint64_t entries) const;
  void TakeRows(size_t chunk, std::span<const uint8_t> bytes, uint64_t entries);

  const MiniBlockDecoder& decoder_;
  const MiniBlockFacts& facts_;
  std::span<const PageRows> rows_;
  MiniBlockFetch fetch_;

  PageLevels levels_;
  bool has_definition_ = false;  ///< whether the chunk at hand has levels other than 0
  size_t row_run_ = 0;           ///< the first of rows_ that is not wholly read
  std::vector<ValueRun> runs_;
  std::vector<uint8_t> level_scratch_;
};

}  // namespace pennon::encoding
