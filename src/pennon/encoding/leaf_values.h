// The values of one page as the page writers want them: no Arrow offsets, no garbage under nulls.
//
// Values are borrowed from the Arrow array where their bytes can be written as they are, and copied
// where they cannot (bitmaps that do not start on a byte, null slots that hold something).
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include <arrow/array/data.h>
#include <arrow/buffer.h>
#include <arrow/memory_pool.h>
#include <arrow/result.h>

#include "pennon/encoding/leaf_type.h"

namespace pennon::encoding {

/// The values of one page of a leaf column. Immutable; keeps what it borrows alive.
struct LeafValues {
  LeafType type;
  uint64_t length = 0;
  uint64_t null_count = 0;
  /// Validity of the slots, value 0 at bit 0 of byte 0; null if there is no null.
  std::shared_ptr<arrow::Buffer> validity;
  /// One for each dimension of the type, outermost first: validity of the children of that list
  /// layer, bit 0 first, or null if all are valid. Children of null lists count as valid.
  std::vector<std::shared_ptr<arrow::Buffer>> item_validity;
  /// kFixed: the items, value 0 at bit 0 of byte 0; null slots are zero. kVariable: the bytes that
  /// `offsets` cut. Null if nothing but nulls is there.
  std::shared_ptr<arrow::Buffer> data;
  /// kVariable: length + 1 offsets of type.offset_bits bits, which need not start at 0. Null slots
  /// are empty.
  std::shared_ptr<arrow::Buffer> offsets;

  bool all_null() const { return null_count == length; }
  bool is_valid(uint64_t i) const {
    return validity == nullptr || (validity->data()[i / 8] >> (i % 8) & 1) != 0;
  }
  /// kFixed: the bytes of whole values [first, first + count), whose bits must start and end on
  /// bytes.
  std::span<const uint8_t> fixed_bytes(uint64_t first, uint64_t count) const {
    const uint64_t bits = type.bits_per_slot();
    return {data->data() + first * bits / 8, static_cast<size_t>(count * bits / 8)};
  }
  /// kVariable.
  template <typename Offset>
  const Offset* offsets_as() const {
    return reinterpret_cast<const Offset*>(offsets->data());
  }
  uint64_t value_start(uint64_t i) const {
    return type.offset_bits == 32 ? static_cast<uint64_t>(offsets_as<int32_t>()[i])
                                  : static_cast<uint64_t>(offsets_as<int64_t>()[i]);
  }
  std::string_view value(uint64_t i) const {
    const uint64_t start = value_start(i);
    return {reinterpret_cast<const char*>(data->data()) + start,
            static_cast<size_t>(value_start(i + 1) - start)};
  }

  /// The first list layer whose children, below values that are valid, are all null; the number of
  /// layers if there is none such. What is below it says nothing.
  size_t FirstNullLayer() const;

  /// Takes `values`, an array of `type` with a length above 0.
  static arrow::Result<LeafValues> Make(const LeafType& type, const arrow::ArrayData& values,
                                        arrow::MemoryPool* pool);
  /// The same with a validity that takes the place of the array's own: `validity` has bit 0 first,
  /// or is null if `null_count` is 0.
  static arrow::Result<LeafValues> Make(const LeafType& type, const arrow::ArrayData& values,
                                        std::shared_ptr<arrow::Buffer> validity,
                                        uint64_t null_count, arrow::MemoryPool* pool);
};

/// Bytes that rows [first, first + count) of `values`, an array of `type`, take without nulls.
uint64_t ValueBytes(const LeafType& type, const arrow::ArrayData& values, int64_t first,
                    int64_t count);

}  // namespace pennon::encoding
