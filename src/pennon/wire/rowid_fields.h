// Field numbers of row id and row version sequences (package lance.table).
#pragma once

#include <cstdint>

namespace pennon::wire {

inline constexpr uint32_t kSequenceSegments = 1;  // in RowIdSequence
inline constexpr uint32_t kSequenceRuns = 1;      // in RowDatasetVersionSequence

namespace version_run {
enum : uint32_t { kSpan = 1, kVersion = 2 };
}
namespace u64_segment {
enum : uint32_t {
  kRange = 1,
  kRangeWithHoles = 2,
  kRangeWithBitmap = 3,
  kSortedArray = 4,
  kArray = 5
};
}
/// Range, RangeWithHoles and RangeWithBitmap alike.
namespace u64_range {
enum : uint32_t { kStart = 1, kEnd = 2, kHolesOrBitmap = 3 };
}
namespace u64_array {
enum : uint32_t { kU16 = 1, kU32 = 2, kU64 = 3 };
/// In U16Array and U32Array 1 is the base and 2 the offsets; in U64Array 2 is the values.
enum : uint32_t { kBase = 1, kValues = 2 };
}  // namespace u64_array

}  // namespace pennon::wire
