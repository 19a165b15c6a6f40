// Fixed-width values of a 2.0 page: the leaves of its encoding tree, and reading runs of them.
//
//   Flat                 value i at bits [i w, (i + 1) w) of the buffer, w = 1 or a multiple of 8;
//                        with a compression the whole buffer is one compressed unit
//   Bitpacked            a bit stream, value i at bits [i p, (i + 1) p)      (read only)
//   BitpackedForNonNeg   units of 1024 values, 128 p bytes each             (read only)
//
// Source: docs/format-notes.md, "2.0 encodings". All input is untrusted.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <arrow/buffer.h>
#include <arrow/memory_pool.h>
#include <arrow/result.h>

#include "pennon/encoding/kernels/general.h"
#include "pennon/encoding/page.h"
#include "pennon/io/read_ranges.h"
#include "pennon/wire/array_encoding.h"

namespace pennon::encoding {

/// Values of `bits` bits in one page buffer, which has been checked to hold them all. Immutable.
struct V20Source {
  enum class Form { kFlat, kCompressed, kBitStream, kUnits };

  Form form = Form::kFlat;
  uint64_t bits = 0;
  uint64_t count = 0;   ///< values in the page
  int packed_bits = 0;  ///< kBitStream, kUnits
  bool is_signed = false;
  GeneralScheme scheme = GeneralScheme::kNone;
  PageBuffer buffer;

  /// Takes the leaf `node` of `page`, which must have `count` values of `bits` bits; wrappers that
  /// say "no nulls" are taken off.
  static arrow::Result<V20Source> Make(const PageDescription& page, const wire::ArrayEncoding& node,
                                       uint64_t count, uint64_t bits);
};

/// Takes "Nullable, no nulls" wrappers off `node`.
const wire::ArrayEncoding& WithoutNoNulls(const wire::ArrayEncoding& node);

/// The buffer `name` of `page`; one that is not there is an error.
arrow::Result<PageBuffer> FindBuffer(const PageDescription& page, const wire::BufferName& name);

/// Reads runs of one source: Add them all, have the reads filled, Load, then take them one by one.
class V20SourceRead {
 public:
  /// `source` must outlive this.
  explicit V20SourceRead(const V20Source& source) : source_(&source) {}

  /// Adds a run of `count` values from `first` (inside the source) and appends the reads it needs.
  /// Runs come in ascending order.
  void Add(uint64_t first, uint64_t count, std::vector<io::RangeRead>* reads);
  /// As Add, for a run whose bytes can go straight to `into`: whether the source can do that.
  bool AddInto(uint64_t first, uint64_t count, uint8_t* into, std::vector<io::RangeRead>* reads);

  /// Decompresses what must be. `reads` are those that Add appended to, now filled.
  arrow::Status Load(std::span<const io::RangeRead> reads, arrow::MemoryPool* pool);

  /// Where run `run` begins: bytes and a bit to start from. kFlat and kCompressed only.
  struct Bits {
    const uint8_t* bytes;
    uint64_t offset;
  };
  Bits BitsOf(size_t run) const;
  /// Whether BitsOf works: the values lie as they are.
  bool is_plain() const {
    return source_->form == V20Source::Form::kFlat || source_->form == V20Source::Form::kCompressed;
  }

  /// Writes the values of run `run` to `out`; the source's bits are a multiple of 8.
  arrow::Status Copy(size_t run, uint8_t* out) const;

 private:
  struct Run {
    uint64_t first;
    uint64_t count;
    size_t read;  ///< index among the reads
    const uint8_t* data = nullptr;
    uint64_t size = 0;
    bool in_place = false;
  };

  const V20Source* source_;
  std::vector<Run> runs_;
  std::shared_ptr<arrow::Buffer> content_;  ///< kCompressed, once loaded
};

}  // namespace pennon::encoding
