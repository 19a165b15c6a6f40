#include "pennon/file/column_bytes.h"

#include <algorithm>

#include <arrow/type.h>

#include "pennon/encoding/leaf_values.h"

namespace pennon::file {
namespace {

constexpr uint64_t kLevelBytes = 4;

// The part of `array` that the lists [first, first + count) span; nothing if offsets are wrong.
template <typename Offset>
void Span(const arrow::ArrayData& array, int64_t* first, int64_t* count) {
  const Offset* offsets = array.GetValues<Offset>(1) + *first;
  const int64_t start = offsets[0];
  const int64_t end = offsets[*count];
  const bool fits = start >= 0 && start <= end && end <= array.child_data[0]->length;
  *first = fits ? start : 0;
  *count = fits ? end - start : 0;
}

// Bytes of large binaries, with their descriptions.
uint64_t DataBytes(const arrow::ArrayData& data, int64_t first, int64_t count) {
  constexpr uint64_t kPlaceBytes = 25;
  const int64_t* offsets = data.GetValues<int64_t>(1) + first;
  return static_cast<uint64_t>(offsets[count] - offsets[0]) +
         kPlaceBytes * static_cast<uint64_t>(count);
}

uint64_t BytesOf(const arrow::ArrayData& array, const ColumnPlan& plan, int64_t first,
                 int64_t count) {
  switch (plan.form) {
    case ColumnForm::kPlain:
    case ColumnForm::kDictionary:
    case ColumnForm::kBlob:
      return encoding::ValueBytes(plan.leaf, array, first, count);
    case ColumnForm::kPackedStruct: {
      uint64_t bytes = 0;
      for (size_t i = 0; i < plan.children.size(); ++i) {
        bytes += encoding::ValueBytes(plan.children[i], *array.child_data[i], array.offset + first,
                                      count);
      }
      return bytes;
    }
    case ColumnForm::kBlobV2: {
      const auto& type = static_cast<const arrow::StructType&>(*array.type);
      const auto& data = *array.child_data[static_cast<size_t>(type.GetFieldIndex("data"))];
      return count == 0 ? 0 : DataBytes(data, array.offset + first, count);
    }
    case ColumnForm::kListOffsets:
      return 8 * static_cast<uint64_t>(count);
    default:
      return 0;
  }
}

}  // namespace

uint64_t ColumnBytes(const arrow::ArrayData& rows, const ColumnPlan& plan, int64_t first,
                     int64_t count) {
  const arrow::ArrayData* at = &rows;
  uint64_t levels = 0;
  for (const encoding::NestingLayer& layer : plan.nesting) {
    if (layer.child < 0) break;
    switch (at->type->id()) {
      case arrow::Type::LIST:
      case arrow::Type::MAP:
        levels += static_cast<uint64_t>(count) * kLevelBytes;
        if (count > 0) Span<int32_t>(*at, &first, &count);
        break;
      case arrow::Type::LARGE_LIST:
        levels += static_cast<uint64_t>(count) * kLevelBytes;
        if (count > 0) Span<int64_t>(*at, &first, &count);
        break;
      case arrow::Type::FIXED_SIZE_LIST: {
        const int64_t size = static_cast<const arrow::FixedSizeListType&>(*at->type).list_size();
        first = (at->offset + first) * size;
        count *= size;
        break;
      }
      default:
        first += at->offset;
    }
    at = at->child_data[static_cast<size_t>(layer.child)].get();
  }
  return levels + BytesOf(*at, plan, first, count);
}

}  // namespace pennon::file
