// The values of a mini-block chunk: its value buffers decoded into the output.
//
//   encoding           value buffers
//   Flat               1   ceil(n * bits / 8) bytes
//   InlineBitpacking   1   bitpacking.h
//   Rle                2   values, run lengths: rle.h
//   ByteStreamSplit    1   byte_stream_split.h
//   Variable           1   variable.h, mini-block form
//   Fsst(Variable)     1   the same, coded: fsst.h
//   FixedSizeList      1 + one bitmap before it for each list layer with validity, outermost first;
//                      bits run on across rows, 1 = valid: the children of that layer
//   PackedStruct       1   the children's values row by row: packed_struct.h
//   General(any)       the first buffer of `any` compressed: general.h
//
// With a dictionary the values are indexes: dictionary_items.h.
// Source: docs/format-notes.md, "Compressive encodings". All input is untrusted.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include <arrow/result.h>

#include "pennon/encoding/dictionary/dictionary_items.h"
#include "pennon/encoding/kernels/fsst.h"
#include "pennon/encoding/kernels/general.h"
#include "pennon/encoding/kernels/variable.h"
#include "pennon/encoding/leaf_type.h"
#include "pennon/encoding/output.h"
#include "pennon/wire/page_layout.h"

namespace pennon::encoding {

/// Memory that decoding reuses from chunk to chunk. `chunk` tells whose decoded values it holds.
struct ChunkScratch {
  std::vector<uint8_t> decompressed;
  std::vector<uint8_t> values;
  bool has_values = false;         ///< whether `view` is set for the current chunk
  const uint8_t* fixed = nullptr;  ///< decoded fixed-width values of the current chunk
  VariableView variable;           ///< decoded strings of the current chunk
};

/// Decodes the chunks of one page. Immutable, thread-safe.
class ChunkValues {
 public:
  /// Takes the value encoding of a page of `type`; with `has_dictionary` the values are indexes.
  /// What cannot hold such values is a kCorrupt error, what is not read in this position a
  /// kUnsupported one.
  static arrow::Result<ChunkValues> Make(const wire::CompressiveEncoding& encoding,
                                         const LeafType& type, bool has_dictionary);

  /// Value buffers in a chunk.
  size_t num_buffers() const {
    return 1 + (kind_ == wire::CompressionKind::kRle ? 1 : 0) + validity_layers_.size();
  }

  /// Writes values [first, first + count) of a chunk of `chunk_count` values to the slots from
  /// `slot`. `buffers` are the chunk's value buffers. Calls for one chunk follow each other with
  /// the same scratch, whose has_values is false at the first.
  arrow::Status Write(std::span<const std::span<const uint8_t>> buffers, uint64_t chunk_count,
                      uint64_t first, uint64_t count, uint64_t slot,
                      const DictionaryItems* dictionary, ChunkScratch* scratch,
                      ColumnOutput* out) const;

  size_t MemoryBytes() const { return sizeof(*this); }

 private:
  ChunkValues() = default;
  arrow::Status MakeFixed(const wire::CompressiveEncoding& encoding, uint64_t bits);
  arrow::Status MakePacked(const wire::CompressiveEncoding& encoding, const LeafType& type);
  arrow::Status MakeList(const wire::CompressiveEncoding& encoding, const LeafType& type);
  arrow::Status MakeVariable(const wire::CompressiveEncoding& encoding, const LeafType& type);

  uint64_t FixedBytes(uint64_t count) const { return (count * bits_ + 7) / 8; }
  arrow::Status DecodeFixed(std::span<const std::span<const uint8_t>> buffers, uint64_t chunk_count,
                            std::span<uint8_t> out, std::vector<uint8_t>* decompressed) const;
  arrow::Status LoadFixed(std::span<const std::span<const uint8_t>> buffers, uint64_t chunk_count,
                          ChunkScratch* scratch) const;
  arrow::Status LoadVariable(std::span<const uint8_t> buffer, uint64_t chunk_count,
                             ChunkScratch* scratch) const;
  arrow::Status WriteVariable(const VariableView& view, uint64_t first, uint64_t count,
                              uint64_t slot, ColumnOutput* out) const;
  arrow::Status WriteItemValidity(std::span<const std::span<const uint8_t>> buffers,
                                  uint64_t chunk_count, uint64_t first, uint64_t count,
                                  uint64_t slot, ChunkScratch* scratch, ColumnOutput* out) const;

  /// A list layer with validity: which one, and how many children of it a row has.
  struct ValidityLayer {
    size_t layer;
    uint64_t run;
  };

  std::optional<GeneralScheme> general_;
  wire::CompressionKind kind_ = wire::CompressionKind::kFlat;
  uint64_t bits_ = 0;  ///< of a value (an index, with a dictionary); strings: of an offset
  std::optional<FsstTable> fsst_;
  std::vector<ValidityLayer> validity_layers_;
};

}  // namespace pennon::encoding
