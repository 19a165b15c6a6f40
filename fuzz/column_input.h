// Columns as fuzz inputs: a type, nulls, values, and how they are to be written.
//
//   [minor: b % 3][hints][u16 rows - 1][type][then for each array: nulls, values]
//
// Values are made from few bytes: a pattern that repeats, so that small inputs fill many chunks.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include <arrow/type_fwd.h>

#include "pennon/schema.h"

namespace pennon::fuzz {

struct ColumnInput {
  uint16_t minor = 0;                   ///< of the file's version
  std::shared_ptr<arrow::Array> array;  ///< never empty; a slice
  Field field;                          ///< with hints in its metadata
};

/// The column that `input` stands for; any input stands for one.
ColumnInput TakeColumn(std::span<const uint8_t> input);

}  // namespace pennon::fuzz
