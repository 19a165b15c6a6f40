#include "pennon/file/expand.h"

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include <arrow/array/array_base.h>
#include <arrow/array/builder_base.h>
#include <arrow/builder.h>
#include <arrow/type.h>
#include <arrow/type_traits.h>
#include <arrow/util/bitmap_ops.h>
#include <arrow/util/checked_cast.h>

#include "pennon/error.h"

namespace pennon::file {

namespace {

using BufferPtr = std::shared_ptr<arrow::Buffer>;

/// A buffer of `count` values of `bits` bits, each byte `fill`.
arrow::Result<BufferPtr> Filled(uint64_t count, uint64_t bits, int fill, arrow::MemoryPool* pool) {
  uint64_t total;
  if (__builtin_mul_overflow(count, bits, &total) || total > uint64_t{1} << 62) {
    return InvalidInput(
        "the rows asked for take more memory than can be addressed: read fewer rows at once; ",
        count, " values of ", bits, " bits");
  }
  const auto bytes = static_cast<int64_t>((total + 7) / 8);
  ARROW_ASSIGN_OR_RAISE(auto buffer, arrow::AllocateBuffer(bytes, pool));
  if (bytes > 0) std::memset(buffer->mutable_data(), fill, static_cast<size_t>(bytes));
  return BufferPtr(std::move(buffer));
}

/// Spreads values of `bits` bits; the slots between are `fill`.
arrow::Result<BufferPtr> SpreadValues(const BufferPtr& from, std::span<const SlotRun> runs,
                                      uint64_t length, uint64_t bits, int fill,
                                      arrow::MemoryPool* pool) {
  ARROW_ASSIGN_OR_RAISE(BufferPtr out, Filled(length, bits, fill, pool));
  uint64_t at = 0;
  for (const SlotRun& run : runs) {
    if (run.count == 0) continue;
    if (bits % 8 == 0) {
      std::memcpy(out->mutable_data() + run.out * (bits / 8), from->data() + at * (bits / 8),
                  run.count * (bits / 8));
    } else {
      arrow::internal::CopyBitmap(from->data(), static_cast<int64_t>(at * bits),
                                  static_cast<int64_t>(run.count * bits), out->mutable_data(),
                                  static_cast<int64_t>(run.out * bits));
    }
    at += run.count;
  }
  return out;
}

/// Spreads lists or strings: those between are empty.
template <typename Offset>
arrow::Result<BufferPtr> SpreadOffsets(const BufferPtr& from, std::span<const SlotRun> runs,
                                       uint64_t length, arrow::MemoryPool* pool) {
  ARROW_ASSIGN_OR_RAISE(BufferPtr out, Filled(length + 1, sizeof(Offset) * 8, 0, pool));
  const auto* offset = from->data_as<Offset>();
  auto* const to = out->mutable_data_as<Offset>();
  uint64_t slot = 0;
  for (const SlotRun& run : runs) {
    std::fill(to + slot, to + run.out, *offset);
    std::copy(offset, offset + run.count, to + run.out);
    offset += run.count;
    slot = run.out + run.count;
  }
  std::fill(to + slot, to + length + 1, *offset);
  return out;
}

}  // namespace

arrow::Result<std::shared_ptr<arrow::ArrayData>> MakeNulls(
    const std::shared_ptr<arrow::DataType>& type, uint64_t length, arrow::MemoryPool* pool) {
  std::unique_ptr<arrow::ArrayBuilder> builder;
  ARROW_RETURN_NOT_OK(arrow::MakeBuilder(pool, type, &builder));
  ARROW_RETURN_NOT_OK(builder->AppendNulls(static_cast<int64_t>(length)));
  ARROW_ASSIGN_OR_RAISE(const auto array, builder->Finish());
  return array->data();
}

arrow::Result<std::shared_ptr<arrow::ArrayData>> SpreadSlots(std::shared_ptr<arrow::ArrayData> data,
                                                             std::span<const SlotRun> runs,
                                                             uint64_t length,
                                                             arrow::MemoryPool* pool) {
  const arrow::DataType& type = *data->type;
  auto out = std::make_shared<arrow::ArrayData>(*data);
  out->length = static_cast<int64_t>(length);
  if (type.id() == arrow::Type::NA) {
    out->null_count = out->length;
    return out;
  }
  if (data->buffers[0] != nullptr) {
    ARROW_ASSIGN_OR_RAISE(out->buffers[0],
                          SpreadValues(data->buffers[0], runs, length, 1, 0xff, pool));
  }
  if (type.id() == arrow::Type::STRUCT) {
    for (auto& child : out->child_data) {
      ARROW_ASSIGN_OR_RAISE(child, SpreadSlots(child, runs, length, pool));
    }
  } else if (type.id() == arrow::Type::FIXED_SIZE_LIST) {
    const auto items = static_cast<uint64_t>(
        arrow::internal::checked_cast<const arrow::FixedSizeListType&>(type).list_size());
    uint64_t child_length;
    if (__builtin_mul_overflow(length, items, &child_length))
      return InvalidInput("too many values for one array: read fewer rows");
    std::vector<SlotRun> child_runs;
    for (const SlotRun& run : runs) child_runs.push_back({run.count * items, run.out * items});
    ARROW_ASSIGN_OR_RAISE(out->child_data[0],
                          SpreadSlots(data->child_data[0], child_runs, child_length, pool));
  } else if (arrow::is_large_binary_like(type.id()) || type.id() == arrow::Type::LARGE_LIST) {
    ARROW_ASSIGN_OR_RAISE(out->buffers[1],
                          SpreadOffsets<int64_t>(data->buffers[1], runs, length, pool));
  } else if (arrow::is_binary_like(type.id()) || type.id() == arrow::Type::LIST ||
             type.id() == arrow::Type::MAP) {
    ARROW_ASSIGN_OR_RAISE(out->buffers[1],
                          SpreadOffsets<int32_t>(data->buffers[1], runs, length, pool));
  } else {
    const auto bits = static_cast<uint64_t>(type.bit_width());
    ARROW_ASSIGN_OR_RAISE(out->buffers[1],
                          SpreadValues(data->buffers[1], runs, length, bits, 0, pool));
    // The new slots are valid and name the first item: there must be one.
    if (type.id() == arrow::Type::DICTIONARY && data->dictionary->length == 0 && length > 0) {
      ARROW_ASSIGN_OR_RAISE(out->dictionary, MakeNulls(data->dictionary->type, 1, pool));
    }
  }
  return out;
}

}  // namespace pennon::file
