#include "pennon/overlay/scatter.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

#include <arrow/buffer.h>
#include <arrow/type.h>
#include <arrow/type_traits.h>
#include <arrow/util/bit_util.h>
#include <arrow/util/bitmap_ops.h>

#include "pennon/error.h"

namespace pennon::overlay {
namespace {

// Calls `run(slot, count, cell)` for every run of a list; plain lists give runs of one.
template <typename Run>
void ForEachRun(const SlotList& slots, Run&& run) {
  for (const SlotRun& r : slots.runs) run(r.slot, r.count, r.cell);
  for (size_t i = 0; i < slots.offsets.size(); ++i) {
    run(slots.offsets[i] - slots.minus, uint32_t{1}, static_cast<uint32_t>(i));
  }
}

// Bytes of output that many sources are scattered into before moving on: they stay in the
// second-level cache, where one source after the other over the whole column would miss it for
// nearly every value.
constexpr uint64_t kBlockBytes = 256 << 10;

// A list of one slot a value, on its way through the blocks.
struct Cursor {
  const uint32_t* offset;
  const uint32_t* end;
  uint32_t minus;
  const uint8_t* from;
};

// Values that are copied between two looks at where the block ends, and how far ahead of them the
// next are fetched.
constexpr size_t kStep = 16;
constexpr size_t kAhead = 64;

// Copies values of a width known at compile time: the loop that a narrow column spends its time in.
template <size_t kWidth>
void ScatterPlain(std::span<Cursor> cursors, uint64_t slots, uint8_t* to) {
  const uint64_t block = cursors.size() > 1 ? kBlockBytes / kWidth : slots;
  for (uint64_t block_end = block;; block_end += block) {
    for (Cursor& cursor : cursors) {
      const uint64_t stop = block_end + cursor.minus;
      const uint32_t minus = cursor.minus;
      const uint32_t* offset = cursor.offset;
      const uint32_t* const end = cursor.end;
      const uint8_t* from = cursor.from;
      while (static_cast<size_t>(end - offset) >= kStep && offset[kStep - 1] < stop) {
        __builtin_prefetch(offset + kAhead);
        __builtin_prefetch(from + kAhead * kWidth);
        for (size_t i = 0; i < kStep; ++i)
          std::memcpy(to + size_t{offset[i] - minus} * kWidth, from + i * kWidth, kWidth);
        offset += kStep;
        from += kStep * kWidth;
      }
      while (offset != end && *offset < stop) {
        std::memcpy(to + size_t{*offset - minus} * kWidth, from, kWidth);
        ++offset;
        from += kWidth;
      }
      cursor.offset = offset;
      cursor.from = from;
    }
    if (block_end >= slots) return;
  }
}

void ScatterPlain(std::span<Cursor> cursors, size_t width, uint64_t slots, uint8_t* to) {
  switch (width) {
    case 1:
      return ScatterPlain<1>(cursors, slots, to);
    case 2:
      return ScatterPlain<2>(cursors, slots, to);
    case 4:
      return ScatterPlain<4>(cursors, slots, to);
    case 8:
      return ScatterPlain<8>(cursors, slots, to);
    case 16:
      return ScatterPlain<16>(cursors, slots, to);
    case 32:
      return ScatterPlain<32>(cursors, slots, to);
    default:
      for (Cursor& cursor : cursors) {
        for (; cursor.offset != cursor.end; ++cursor.offset, cursor.from += width) {
          std::memcpy(to + size_t{*cursor.offset - cursor.minus} * width, cursor.from, width);
        }
      }
  }
}

// Copies values of `width` bytes a slot; `froms` are where the values of each piece start.
void ScatterBytes(std::span<const Piece> pieces, std::span<const uint8_t* const> froms,
                  size_t width, uint64_t slots, uint8_t* to) {
  std::vector<Cursor> cursors;
  for (size_t i = 0; i < pieces.size(); ++i) {
    const SlotList& list = *pieces[i].slots;
    for (const SlotRun& run : list.runs) {
      std::memcpy(to + size_t{run.slot} * width, froms[i] + size_t{run.cell} * width,
                  size_t{run.count} * width);
    }
    const uint32_t* offsets = list.offsets.data();
    if (!list.offsets.empty()) {
      cursors.push_back({offsets, offsets + list.offsets.size(), list.minus, froms[i]});
    }
  }
  if (!cursors.empty()) ScatterPlain(cursors, width, slots, to);
}

// Copies `items` bits a slot; a null `from` stands for ones.
void ScatterBits(const SlotList& slots, uint64_t items, const uint8_t* from, int64_t from_offset,
                 uint8_t* to) {
  if (items == 1) {
    ForEachRun(slots, [&](uint32_t slot, uint32_t count, uint32_t cell) {
      if (from == nullptr) {
        arrow::bit_util::SetBitsTo(to, slot, count, true);
      } else if (count == 1) {
        arrow::bit_util::SetBitTo(to, slot, arrow::bit_util::GetBit(from, from_offset + cell));
      } else {
        arrow::internal::CopyBitmap(from, from_offset + cell, count, to, slot);
      }
    });
    return;
  }
  int64_t n = static_cast<int64_t>(items);
  ForEachRun(slots, [&](uint32_t slot, uint32_t count, uint32_t cell) {
    if (from == nullptr) {
      arrow::bit_util::SetBitsTo(to, slot * n, count * n, true);
    } else {
      arrow::internal::CopyBitmap(from, from_offset + cell * n, count * n, to, slot * n);
    }
  });
}

bool HasNulls(const arrow::ArrayData& data) {
  return data.null_count.load() != 0 && !data.buffers.empty() && data.buffers[0] != nullptr;
}

arrow::Result<std::shared_ptr<arrow::Buffer>> AllocateZeroed(uint64_t bytes,
                                                             arrow::MemoryPool* pool) {
  if (bytes > static_cast<uint64_t>(std::numeric_limits<int64_t>::max() / 2)) {
    return InvalidInput("column is too large to hold in memory: ", bytes, " bytes");
  }
  ARROW_ASSIGN_OR_RAISE(std::unique_ptr<arrow::Buffer> buffer,
                        arrow::AllocateBuffer(static_cast<int64_t>(bytes), pool));
  std::memset(buffer->mutable_data(), 0, bytes);
  return std::shared_ptr<arrow::Buffer>(std::move(buffer));
}

// Sets validity of the slots, `items` bits a slot. `values` are the arrays of the pieces at this
// level.
arrow::Status ScatterValidity(std::span<const Piece> pieces,
                              std::span<const arrow::ArrayData* const> values, uint64_t items,
                              arrow::ArrayData* column, arrow::MemoryPool* pool) {
  bool any = HasNulls(*column);
  for (const arrow::ArrayData* value : values) any |= HasNulls(*value);
  if (!any) {
    column->buffers[0] = nullptr;
    column->null_count = 0;
    return arrow::Status::OK();
  }
  if (column->buffers[0] == nullptr) {
    int64_t bytes = arrow::bit_util::BytesForBits(column->length);
    ARROW_ASSIGN_OR_RAISE(column->buffers[0], AllocateZeroed(static_cast<uint64_t>(bytes), pool));
    arrow::bit_util::SetBitsTo(column->buffers[0]->mutable_data(), 0, column->length, true);
  }
  uint8_t* bits = column->buffers[0]->mutable_data();
  for (size_t i = 0; i < pieces.size(); ++i) {
    const arrow::ArrayData& from = *values[i];
    const uint8_t* from_bits = HasNulls(from) ? from.buffers[0]->data() : nullptr;
    int64_t first = from.offset + static_cast<int64_t>(pieces[i].first * items);
    ScatterBits(*pieces[i].slots, items, from_bits, first, bits);
  }
  column->null_count = column->length - arrow::internal::CountSetBits(bits, 0, column->length);
  if (column->null_count == 0) column->buffers[0] = nullptr;
  return arrow::Status::OK();
}

// Booleans, fixed widths, fixed-size lists: `items` values of this level belong to one slot of the
// top level.
arrow::Status ScatterFixed(std::span<const Piece> pieces,
                           std::vector<const arrow::ArrayData*> values, uint64_t items,
                           arrow::ArrayData* column, arrow::MemoryPool* pool) {
  ARROW_RETURN_NOT_OK(ScatterValidity(pieces, values, items, column, pool));
  if (column->type->id() == arrow::Type::FIXED_SIZE_LIST) {
    const auto& list = static_cast<const arrow::FixedSizeListType&>(*column->type);
    uint64_t size = static_cast<uint64_t>(list.list_size());
    std::vector<Piece> below(pieces.begin(), pieces.end());
    std::vector<const arrow::ArrayData*> children;
    for (size_t i = 0; i < pieces.size(); ++i) {
      // The parent's own offset counts in lists; add it to the piece so that the child's index is
      // right.
      below[i].first = pieces[i].first + static_cast<uint64_t>(values[i]->offset) / items;
      children.push_back(values[i]->child_data[0].get());
    }
    return ScatterFixed(below, std::move(children), items * size, column->child_data[0].get(),
                        pool);
  }
  uint64_t bits =
      static_cast<uint64_t>(static_cast<const arrow::FixedWidthType&>(*column->type).bit_width());
  uint8_t* to = column->buffers[1]->mutable_data();
  std::vector<const uint8_t*> froms;
  for (size_t i = 0; i < pieces.size(); ++i) {
    uint64_t first = static_cast<uint64_t>(values[i]->offset) + pieces[i].first * items;
    const uint8_t* from = values[i]->buffers[1]->data();
    if (bits == 1) {
      ScatterBits(*pieces[i].slots, items, from, static_cast<int64_t>(first), to);
    } else {
      froms.push_back(from + first * (bits / 8));
    }
  }
  if (bits != 1 && items != 0) {
    ScatterBytes(pieces, froms, items * bits / 8, static_cast<uint64_t>(column->length) / items,
                 to);
  }
  return arrow::Status::OK();
}

// Calls `run(first, count)` for the runs of slots that no piece covers. `covered` has a bit a slot.
template <typename Run>
void ForEachBaseRun(const uint8_t* covered, int64_t length, Run&& run) {
  int64_t at = 0;
  while (at < length) {
    if (arrow::bit_util::GetBit(covered, at)) {
      ++at;
      continue;
    }
    int64_t end = at + 1;
    while (end < length && !arrow::bit_util::GetBit(covered, end)) ++end;
    run(at, end - at);
    at = end;
  }
}

// Strings and binary: lengths first, then their sums, then the bytes, each value once.
template <typename Offset>
arrow::Status ScatterVariable(std::span<const Piece> pieces, arrow::ArrayData* column,
                              arrow::MemoryPool* pool) {
  std::vector<const arrow::ArrayData*> values;
  for (const Piece& piece : pieces) values.push_back(piece.values);
  ARROW_RETURN_NOT_OK(ScatterValidity(pieces, values, 1, column, pool));
  const int64_t length = column->length;
  const auto* old = reinterpret_cast<const Offset*>(column->buffers[1]->data());
  ARROW_ASSIGN_OR_RAISE(std::shared_ptr<arrow::Buffer> offsets_buffer,
                        AllocateZeroed(static_cast<uint64_t>(length + 1) * sizeof(Offset), pool));
  ARROW_ASSIGN_OR_RAISE(
      std::shared_ptr<arrow::Buffer> covered,
      AllocateZeroed(static_cast<uint64_t>(arrow::bit_util::BytesForBits(length)), pool));
  auto* offsets = reinterpret_cast<Offset*>(offsets_buffer->mutable_data());
  uint8_t* covered_bits = covered->mutable_data();
  // offsets[i + 1] holds the length of value i until they are summed.
  for (int64_t i = 0; i < length; ++i) offsets[i + 1] = old[i + 1] - old[i];
  for (const Piece& piece : pieces) {
    const Offset* from = piece.values->template GetValues<Offset>(1) + piece.first;
    ForEachRun(*piece.slots, [&](uint32_t slot, uint32_t count, uint32_t cell) {
      arrow::bit_util::SetBitsTo(covered_bits, slot, count, true);
      for (uint32_t i = 0; i < count; ++i) {
        offsets[slot + i + 1] = from[cell + i + 1] - from[cell + i];
      }
    });
  }
  uint64_t total = 0;
  for (int64_t i = 0; i < length; ++i) {
    total += static_cast<uint64_t>(offsets[i + 1]);
    if (total > static_cast<uint64_t>(std::numeric_limits<Offset>::max())) {
      return Unsupported(
          "", "string column is too long for its offsets after overlays are applied: more than ",
          std::numeric_limits<Offset>::max(), " bytes in ", length, " rows");
    }
    offsets[i + 1] = static_cast<Offset>(total);
  }
  ARROW_ASSIGN_OR_RAISE(std::unique_ptr<arrow::Buffer> bytes,
                        arrow::AllocateBuffer(static_cast<int64_t>(total), pool));
  uint8_t* to = bytes->mutable_data();
  const uint8_t* base = column->buffers[2] ? column->buffers[2]->data() : nullptr;
  ForEachBaseRun(covered_bits, length, [&](int64_t first, int64_t count) {
    size_t size = static_cast<size_t>(old[first + count] - old[first]);
    if (size != 0) std::memcpy(to + offsets[first], base + old[first], size);
  });
  for (const Piece& piece : pieces) {
    const Offset* from = piece.values->template GetValues<Offset>(1) + piece.first;
    const uint8_t* data = piece.values->buffers[2] ? piece.values->buffers[2]->data() : nullptr;
    ForEachRun(*piece.slots, [&](uint32_t slot, uint32_t count, uint32_t cell) {
      size_t size = static_cast<size_t>(from[cell + count] - from[cell]);
      if (size != 0) std::memcpy(to + offsets[slot], data + from[cell], size);
    });
  }
  column->buffers[1] = std::move(offsets_buffer);
  column->buffers[2] = std::move(bytes);
  return arrow::Status::OK();
}

// Structs: validity here, then each child by itself.
arrow::Status ScatterStruct(std::span<const Piece> pieces, arrow::ArrayData* column,
                            arrow::MemoryPool* pool) {
  std::vector<const arrow::ArrayData*> values;
  for (const Piece& piece : pieces) values.push_back(piece.values);
  ARROW_RETURN_NOT_OK(ScatterValidity(pieces, values, 1, column, pool));
  std::vector<Piece> below(pieces.begin(), pieces.end());
  for (size_t child = 0; child < column->child_data.size(); ++child) {
    for (size_t i = 0; i < pieces.size(); ++i) {
      below[i].values = pieces[i].values->child_data[child].get();
      below[i].first = pieces[i].first + static_cast<uint64_t>(pieces[i].values->offset);
    }
    ARROW_RETURN_NOT_OK(ScatterPieces(below, column->child_data[child].get(), pool));
  }
  return arrow::Status::OK();
}

bool IsFixed(const arrow::DataType& type) {
  if (type.id() == arrow::Type::FIXED_SIZE_LIST) {
    return IsFixed(*static_cast<const arrow::FixedSizeListType&>(type).value_type());
  }
  return arrow::is_fixed_width(type.id()) && type.id() != arrow::Type::DICTIONARY;
}

}  // namespace

bool CanScatter(const arrow::DataType& type) {
  if (type.id() == arrow::Type::STRUCT) {
    return std::all_of(type.fields().begin(), type.fields().end(),
                       [](const auto& child) { return CanScatter(*child->type()); });
  }
  return type.id() == arrow::Type::NA || IsFixed(type) || arrow::is_base_binary_like(type.id());
}

arrow::Status ScatterPieces(std::span<const Piece> pieces, arrow::ArrayData* column,
                            arrow::MemoryPool* pool) {
  if (pieces.empty() || column->type->id() == arrow::Type::NA) return arrow::Status::OK();
  if (column->offset != 0)
    return InvalidInput("cannot write overlay values into a slice of an array");
  if (column->type->id() == arrow::Type::STRUCT) return ScatterStruct(pieces, column, pool);
  if (arrow::is_binary_like(column->type->id()))
    return ScatterVariable<int32_t>(pieces, column, pool);
  if (arrow::is_large_binary_like(column->type->id())) {
    return ScatterVariable<int64_t>(pieces, column, pool);
  }
  if (!IsFixed(*column->type)) {
    return Unsupported("",
                       "overlays on this type are not supported yet: ", column->type->ToString());
  }
  std::vector<const arrow::ArrayData*> values;
  for (const Piece& piece : pieces) values.push_back(piece.values);
  return ScatterFixed(pieces, std::move(values), 1, column, pool);
}

arrow::Result<std::shared_ptr<arrow::ArrayData>> MakeWritableNulls(
    const std::shared_ptr<arrow::DataType>& type, uint64_t length, arrow::MemoryPool* pool) {
  int64_t rows = static_cast<int64_t>(length);
  if (type->id() == arrow::Type::STRUCT) {
    std::vector<std::shared_ptr<arrow::ArrayData>> children;
    for (const auto& child : type->fields()) {
      ARROW_ASSIGN_OR_RAISE(auto nulls, MakeWritableNulls(child->type(), length, pool));
      children.push_back(std::move(nulls));
    }
    ARROW_ASSIGN_OR_RAISE(
        std::shared_ptr<arrow::Buffer> validity,
        AllocateZeroed(static_cast<uint64_t>(arrow::bit_util::BytesForBits(rows)), pool));
    return arrow::ArrayData::Make(type, rows, {std::move(validity)}, std::move(children), rows);
  }
  if (type->id() == arrow::Type::NA) return arrow::ArrayData::Make(type, rows, {nullptr}, rows);
  ARROW_ASSIGN_OR_RAISE(
      std::shared_ptr<arrow::Buffer> validity,
      AllocateZeroed(static_cast<uint64_t>(arrow::bit_util::BytesForBits(rows)), pool));
  if (type->id() == arrow::Type::FIXED_SIZE_LIST) {
    const auto& list = static_cast<const arrow::FixedSizeListType&>(*type);
    uint64_t items = 0;
    if (__builtin_mul_overflow(length, static_cast<uint64_t>(list.list_size()), &items)) {
      return InvalidInput("column is too large to hold in memory: ", length, " rows of ",
                          type->ToString());
    }
    ARROW_ASSIGN_OR_RAISE(std::shared_ptr<arrow::ArrayData> child,
                          MakeWritableNulls(list.value_type(), items, pool));
    // The items below a NULL list are valid zeros, as decoders leave them.
    child->buffers[0] = nullptr;
    child->null_count = 0;
    return arrow::ArrayData::Make(type, rows, {std::move(validity)}, {std::move(child)}, rows);
  }
  if (IsFixed(*type)) {
    uint64_t bits =
        static_cast<uint64_t>(static_cast<const arrow::FixedWidthType&>(*type).bit_width());
    uint64_t total = 0;
    if (__builtin_mul_overflow(length, bits, &total)) {
      return InvalidInput("column is too large to hold in memory: ", length, " rows of ",
                          type->ToString());
    }
    ARROW_ASSIGN_OR_RAISE(std::shared_ptr<arrow::Buffer> values,
                          AllocateZeroed(total / 8 + 1, pool));
    return arrow::ArrayData::Make(type, rows, {std::move(validity), std::move(values)}, rows);
  }
  if (!arrow::is_base_binary_like(type->id())) {
    return Unsupported("", "overlays on this type are not supported yet: ", type->ToString());
  }
  uint64_t width = arrow::is_large_binary_like(type->id()) ? 8 : 4;
  ARROW_ASSIGN_OR_RAISE(std::shared_ptr<arrow::Buffer> offsets,
                        AllocateZeroed((length + 1) * width, pool));
  ARROW_ASSIGN_OR_RAISE(std::shared_ptr<arrow::Buffer> bytes, AllocateZeroed(0, pool));
  return arrow::ArrayData::Make(type, rows,
                                {std::move(validity), std::move(offsets), std::move(bytes)}, rows);
}

}  // namespace pennon::overlay
