#include "pennon/encoding/leaf_values.h"

#include <cstring>
#include <utility>

#include <arrow/util/bit_run_reader.h>
#include <arrow/util/bit_util.h>
#include <arrow/util/bitmap_ops.h>

#include "pennon/error.h"

namespace pennon::encoding {
namespace {

using BufferPtr = std::shared_ptr<arrow::Buffer>;

// Bits [offset, offset + length) of `bitmap`, from bit 0 on.
arrow::Result<BufferPtr> RealignBits(const BufferPtr& bitmap, int64_t offset, int64_t length,
                                     arrow::MemoryPool* pool) {
  if (offset % 8 == 0) {
    return arrow::SliceBuffer(bitmap, offset / 8, arrow::bit_util::BytesForBits(length));
  }
  return arrow::internal::CopyBitmap(pool, bitmap->data(), offset, length);
}

// The validity bitmap of `values`, or null if no value is null.
arrow::Result<BufferPtr> TakeValidity(const arrow::ArrayData& values, arrow::MemoryPool* pool) {
  if (values.GetNullCount() == 0 || values.buffers[0] == nullptr) return nullptr;
  return RealignBits(values.buffers[0], values.offset, values.length, pool);
}

// Validity of the children of a list layer: `validity`, but valid below every null of `parents` (a
// bitmap of `parent_count` bits, each parent has `run` children). Null when all end up valid.
arrow::Result<BufferPtr> ItemValidity(BufferPtr validity, const BufferPtr& parents,
                                      int64_t parent_count, int64_t run, arrow::MemoryPool* pool) {
  if (validity == nullptr) return nullptr;
  const int64_t count = parent_count * run;
  if (parents != nullptr) {
    ARROW_ASSIGN_OR_RAISE(validity, arrow::internal::CopyBitmap(pool, validity->data(), 0, count));
    uint8_t* bits = validity->mutable_data();
    arrow::internal::SetBitRunReader nulls(parents->data(), 0, parent_count);
    int64_t end = 0;
    for (auto valid = nulls.NextRun();; valid = nulls.NextRun()) {
      const int64_t next = valid.length == 0 ? parent_count : valid.position;
      arrow::bit_util::SetBitsTo(bits, end * run, (next - end) * run, true);
      if (valid.length == 0) break;
      end = valid.position + valid.length;
    }
  }
  if (arrow::internal::CountSetBits(validity->data(), 0, count) == count) return nullptr;
  return validity;
}

// A copy of `data` (slots of `bits` bits) that is zero where `validity` is not set.
arrow::Result<BufferPtr> ZeroNulls(const BufferPtr& data, const BufferPtr& validity, int64_t length,
                                   int64_t bits, arrow::MemoryPool* pool) {
  const int64_t bytes = arrow::bit_util::BytesForBits(length * bits);
  ARROW_ASSIGN_OR_RAISE(std::unique_ptr<arrow::Buffer> out, arrow::AllocateBuffer(bytes, pool));
  std::memset(out->mutable_data(), 0, static_cast<size_t>(bytes));
  arrow::internal::VisitSetBitRunsVoid(
      validity->data(), 0, length, [&](int64_t position, int64_t run) {
        if (bits % 8 == 0) {
          std::memcpy(out->mutable_data() + position * bits / 8, data->data() + position * bits / 8,
                      static_cast<size_t>(run * bits / 8));
        } else {
          arrow::internal::CopyBitmap(data->data(), position * bits, run * bits,
                                      out->mutable_data(), position * bits);
        }
      });
  return BufferPtr(std::move(out));
}

arrow::Status MissingBuffer() {
  return InvalidInput(
      "An Arrow array to write has values but no buffer for them; give a valid array");
}

// Fills data and item_validity of fixed-width values, lists included.
arrow::Status TakeFixed(const arrow::ArrayData& values, LeafValues* out, arrow::MemoryPool* pool) {
  const arrow::ArrayData* level = &values;
  arrow::ArrayData child;
  BufferPtr parents = out->validity;
  int64_t slots = values.length;
  for (uint32_t dimension : out->type.dimensions) {
    if (level->child_data.empty()) return MissingBuffer();
    const int64_t first = level->offset * dimension;
    arrow::ArrayData next = *level->child_data[0];
    next.offset += first;
    next.length = slots * dimension;
    next.null_count = arrow::kUnknownNullCount;
    if (level->child_data[0]->length < first + next.length) return MissingBuffer();
    child = std::move(next);
    level = &child;
    ARROW_ASSIGN_OR_RAISE(BufferPtr own, TakeValidity(child, pool));
    ARROW_ASSIGN_OR_RAISE(own, ItemValidity(std::move(own), parents, slots, dimension, pool));
    slots *= dimension;
    parents = own;
    out->item_validity.push_back(std::move(own));
  }
  const BufferPtr& data = level->buffers[1];
  if (data == nullptr) return MissingBuffer();
  const int64_t bits = static_cast<int64_t>(out->type.bits_per_item);
  if (bits == 1) {
    ARROW_ASSIGN_OR_RAISE(out->data, RealignBits(data, level->offset, slots, pool));
  } else {
    out->data = arrow::SliceBuffer(data, level->offset * bits / 8, slots * bits / 8);
  }
  if (out->validity != nullptr) {
    ARROW_ASSIGN_OR_RAISE(out->data,
                          ZeroNulls(out->data, out->validity, values.length,
                                    static_cast<int64_t>(out->type.bits_per_slot()), pool));
  }
  return arrow::Status::OK();
}

// Copies the bytes of the valid values only, with new offsets.
template <typename Offset>
arrow::Status CompactVariable(LeafValues* out, arrow::MemoryPool* pool) {
  const Offset* from = out->offsets_as<Offset>();
  uint64_t bytes = 0;
  for (uint64_t i = 0; i < out->length; ++i) {
    if (out->is_valid(i)) bytes += static_cast<uint64_t>(from[i + 1] - from[i]);
  }
  ARROW_ASSIGN_OR_RAISE(std::unique_ptr<arrow::Buffer> offsets,
                        arrow::AllocateBuffer((out->length + 1) * sizeof(Offset), pool));
  ARROW_ASSIGN_OR_RAISE(std::unique_ptr<arrow::Buffer> data, arrow::AllocateBuffer(bytes, pool));
  Offset* to = reinterpret_cast<Offset*>(offsets->mutable_data());
  Offset at = 0;
  for (uint64_t i = 0; i < out->length; ++i) {
    to[i] = at;
    const Offset size = from[i + 1] - from[i];
    if (size == 0 || !out->is_valid(i)) continue;
    std::memcpy(data->mutable_data() + at, out->data->data() + from[i], static_cast<size_t>(size));
    at += size;
  }
  to[out->length] = at;
  out->offsets = std::move(offsets);
  out->data = std::move(data);
  return arrow::Status::OK();
}

template <typename Offset>
arrow::Status TakeVariable(const arrow::ArrayData& values, LeafValues* out,
                           arrow::MemoryPool* pool) {
  if (values.buffers[1] == nullptr) return MissingBuffer();
  out->offsets = arrow::SliceBuffer(values.buffers[1], values.offset * sizeof(Offset),
                                    (values.length + 1) * sizeof(Offset));
  out->data = values.buffers[2] ? values.buffers[2] : std::make_shared<arrow::Buffer>("");
  const Offset* offsets = out->offsets_as<Offset>();
  bool garbage = false;
  for (uint64_t i = 0; i < out->length; ++i) {
    if (offsets[i] > offsets[i + 1]) {
      return InvalidInput("An Arrow array of strings to write has decreasing offsets, at value ",
                          i);
    }
    garbage |= offsets[i] != offsets[i + 1] && !out->is_valid(i);
  }
  if (offsets[0] < 0 || offsets[out->length] > out->data->size()) {
    return InvalidInput(
        "An Arrow array of strings to write has offsets outside its bytes: expected 0 to ",
        out->data->size(), ", found ", offsets[0], " to ", offsets[out->length]);
  }
  return garbage ? CompactVariable<Offset>(out, pool) : arrow::Status::OK();
}

}  // namespace

size_t LeafValues::FirstNullLayer() const {
  // Whether child `i` of list layer `layer` and all that it stands in are valid.
  const auto is_child_valid = [&](size_t layer, uint64_t i) {
    for (size_t k = layer + 1; k-- > 0; i /= type.dimensions[k]) {
      const auto& bits = item_validity[k];
      if (bits != nullptr && (bits->data()[i / 8] >> (i % 8) & 1) == 0) return false;
    }
    return is_valid(i);
  };
  uint64_t children = length;
  for (size_t layer = 0; layer < type.dimensions.size(); ++layer) {
    children *= type.dimensions[layer];
    if (item_validity[layer] == nullptr) continue;
    uint64_t i = 0;
    while (i < children && !is_child_valid(layer, i)) ++i;
    if (i == children) return layer;
  }
  return type.dimensions.size();
}

arrow::Result<LeafValues> LeafValues::Make(const LeafType& type, const arrow::ArrayData& values,
                                           arrow::MemoryPool* pool) {
  if (type.kind == LeafKind::kNull) {
    return Make(type, values, nullptr, static_cast<uint64_t>(values.length), pool);
  }
  ARROW_ASSIGN_OR_RAISE(BufferPtr validity, TakeValidity(values, pool));
  return Make(type, values, std::move(validity), static_cast<uint64_t>(values.GetNullCount()),
              pool);
}

arrow::Result<LeafValues> LeafValues::Make(const LeafType& type, const arrow::ArrayData& values,
                                           BufferPtr validity, uint64_t null_count,
                                           arrow::MemoryPool* pool) {
  LeafValues out;
  out.type = type;
  out.length = static_cast<uint64_t>(values.length);
  out.null_count = null_count;
  if (out.all_null()) return out;
  out.validity = std::move(validity);
  if (type.kind == LeafKind::kFixed) {
    ARROW_RETURN_NOT_OK(TakeFixed(values, &out, pool));
  } else if (type.offset_bits == 32) {
    ARROW_RETURN_NOT_OK(TakeVariable<int32_t>(values, &out, pool));
  } else {
    ARROW_RETURN_NOT_OK(TakeVariable<int64_t>(values, &out, pool));
  }
  return out;
}

uint64_t ValueBytes(const LeafType& type, const arrow::ArrayData& values, int64_t first,
                    int64_t count) {
  if (count == 0 || type.kind == LeafKind::kNull) return 0;
  if (type.kind == LeafKind::kFixed)
    return static_cast<uint64_t>(count) * type.bits_per_slot() / 8 + 1;
  if (values.buffers[1] == nullptr) return 0;
  const uint64_t width = static_cast<uint64_t>(type.offset_bits) / 8;
  uint64_t bytes = static_cast<uint64_t>(count) * width;
  if (width == 4) {
    const int32_t* offsets = values.GetValues<int32_t>(1) + first;
    bytes += static_cast<uint64_t>(offsets[count] - offsets[0]);
  } else {
    const int64_t* offsets = values.GetValues<int64_t>(1) + first;
    bytes += static_cast<uint64_t>(offsets[count] - offsets[0]);
  }
  return bytes;
}

}  // namespace pennon::encoding
