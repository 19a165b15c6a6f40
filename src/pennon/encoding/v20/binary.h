// String values of a 2.0 page: Binary, and Fsst around it.
//
//   indices   u64 a value: where it ends among the bytes, + A if it is null; A = null_adjustment
//   bytes     the values end to end, null ones too; in Fsst coded one by one
//
// Source: docs/format-notes.md, "Binary" and "Fsst" of 2.0. All input is untrusted.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include <arrow/result.h>

#include "pennon/encoding/kernels/fsst.h"
#include "pennon/encoding/v20/source.h"
#include "pennon/wire/array_encoding.h"

namespace pennon::encoding {

/// A Binary node (or Fsst of one) of a page. Immutable.
struct V20Strings {
  V20Source indices;
  uint64_t null_adjustment = 0;
  PageBuffer bytes;
  GeneralScheme scheme = GeneralScheme::kNone;  ///< of the bytes
  std::optional<FsstTable> symbols;

  /// Takes `node`, of `count` values.
  static arrow::Result<V20Strings> Make(const PageDescription& page,
                                        const wire::ArrayEncoding& node, uint64_t count);

  /// Decompresses the whole of the bytes, if they are compressed; null otherwise.
  arrow::Result<std::shared_ptr<arrow::Buffer>> Content(const uint8_t* packed,
                                                        arrow::MemoryPool* pool) const;
};

}  // namespace pennon::encoding
