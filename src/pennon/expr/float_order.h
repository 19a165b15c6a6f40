// The one order of floats: NaN equals itself and ranks above every number; -0.0 equals 0.0. Arrow's
// comparisons know another one, so floats are compared by integer keys.
#pragma once

#include <bit>
#include <cstdint>
#include <limits>

#include <arrow/datum.h>
#include <arrow/result.h>

namespace pennon::expr {

/// Returns an integer that orders as `value` does.
inline int64_t FloatOrderKey(double value) {
  if (value != value) return std::numeric_limits<int64_t>::max();
  const int64_t bits = std::bit_cast<int64_t>(value + 0.0);  // turns -0.0 into 0.0
  return bits ^ ((bits >> 63) & std::numeric_limits<int64_t>::max());
}
inline int32_t FloatOrderKey(float value) {
  if (value != value) return std::numeric_limits<int32_t>::max();
  const int32_t bits = std::bit_cast<int32_t>(value + 0.0f);
  return bits ^ ((bits >> 31) & std::numeric_limits<int32_t>::max());
}

/// Replaces the values of a double (float) array or scalar by their int64 (int32) keys; NULL stays
/// NULL. Values of other types come back as they are.
arrow::Result<arrow::Datum> FloatOrderKeys(const arrow::Datum& values, arrow::MemoryPool* pool);

}  // namespace pennon::expr
