// Strings of a page coded by FSST with one symbol table, trained on a sample of them.
#pragma once

#include <memory>
#include <string>

#include <arrow/buffer.h>
#include <arrow/memory_pool.h>
#include <arrow/result.h>

#include "pennon/encoding/encoding_hints.h"
#include "pennon/encoding/leaf_values.h"

namespace pennon::encoding {

/// Coded strings, or nothing.
struct FsstValues {
  std::string table;  ///< as the page describes it; empty: not coded
  std::shared_ptr<arrow::Buffer> data;
  /// length + 1 offsets of the width of the values' own, from 0.
  std::shared_ptr<arrow::Buffer> offsets;

  bool used() const { return !table.empty(); }
};

/// Codes `values` (kVariable) if the hint fsst asks for it, or if there is no hint and a sample
/// says that the page becomes smaller by a tenth and more.
arrow::Result<FsstValues> EncodeFsst(const LeafValues& values, const EncodingHints& hints,
                                     arrow::MemoryPool* pool);

}  // namespace pennon::encoding
