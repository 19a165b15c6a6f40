// The values of a full-zip page, each encoded by itself: the value side of full_zip_writer.h, which
// adds control words and lengths.
//
//   fixed width    the plain values; lists of fixed size with the validity of their items, for each
//                  list layer that has nulls, in whole bytes before the items
//   strings        Variable, Fsst(Variable), or General(Variable): always zstd, each value by
//                  itself, with the hint zstd or lz4, or when there are values of over 32 KiB
//
// Source: docs/format-notes.md, "Compressive encodings". Stateless, thread-safe.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include <arrow/buffer.h>
#include <arrow/memory_pool.h>
#include <arrow/result.h>

#include "pennon/encoding/encoding_hints.h"
#include "pennon/encoding/leaf_values.h"

namespace pennon::encoding {

/// Encoded values, each of its own bytes. May borrow the values.
struct EncodedRecords {
  std::string encoding;                 ///< serialised CompressiveEncoding
  uint32_t bits_per_value = 0;          ///< fixed width: a multiple of 8
  uint32_t bits_per_offset = 0;         ///< variable width: 32 or 64
  std::shared_ptr<arrow::Buffer> data;  ///< the values; fixed width: null slots are zero
  /// Variable width: length + 1 offsets of bits_per_offset bits into `data`, the first maybe not 0;
  /// null slots are empty.
  std::shared_ptr<arrow::Buffer> offsets;

  /// Variable width: where value `i` starts in `data`.
  uint64_t value_start(uint64_t i) const {
    return bits_per_offset == 32 ? reinterpret_cast<const uint32_t*>(offsets->data())[i]
                                 : reinterpret_cast<const uint64_t*>(offsets->data())[i];
  }
};

/// Encodes `values` (of kind kFixed with items of whole bytes, or kVariable; not all null).
arrow::Result<EncodedRecords> EncodeRecords(const LeafValues& values, const PageOptions& options,
                                            arrow::MemoryPool* pool);

}  // namespace pennon::encoding
