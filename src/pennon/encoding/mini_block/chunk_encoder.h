// The values of a mini-block page, encoded and cut into chunks: the value side of
// mini_block_writer.h, which adds levels and headers.
//
//   fixed width    fixed_chunks.h
//   strings        string_chunks.h
//
// Source: docs/format-notes.md, "Compressive encodings". Stateless, thread-safe.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <arrow/buffer.h>
#include <arrow/memory_pool.h>
#include <arrow/result.h>

#include "pennon/encoding/encoding_hints.h"
#include "pennon/encoding/leaf_values.h"

namespace pennon::encoding {

/// Encoded values, without levels.
struct EncodedChunks {
  std::string encoding;  ///< serialised CompressiveEncoding
  /// One for each value buffer of a chunk: that buffer of all chunks, back to back. May borrow the
  /// values.
  std::vector<std::shared_ptr<arrow::Buffer>> streams;
  /// Values in each chunk: a power of two, 2 or more, in all but the last.
  std::vector<uint32_t> counts;
  /// Bytes of each value buffer, chunk by chunk: counts.size() * streams.size().
  std::vector<uint32_t> sizes;

  uint64_t bytes() const;  ///< of all streams
};

/// Values a chunk holds at most.
inline constexpr uint64_t kMaxChunkValues = 4096;

/// Encodes `values` (of kind kFixed or kVariable, not all null). No chunk has more than
/// `max_chunk_values` values, a power of two, 2 to kMaxChunkValues.
arrow::Result<EncodedChunks> EncodeChunks(const LeafValues& values, const PageOptions& options,
                                          arrow::MemoryPool* pool,
                                          uint64_t max_chunk_values = kMaxChunkValues);

}  // namespace pennon::encoding
