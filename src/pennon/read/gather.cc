#include "pennon/read/gather.h"

#include <cstring>
#include <optional>
#include <utility>

#include <arrow/array/array_base.h>
#include <arrow/array/concatenate.h>
#include <arrow/buffer.h>
#include <arrow/compute/api_vector.h>
#include <arrow/compute/exec.h>
#include <arrow/datum.h>
#include <arrow/type.h>
#include <arrow/type_traits.h>
#include <arrow/util/bit_util.h>

namespace pennon::read {
namespace {

// Bytes of a value that is whole bytes in one buffer; 0 for all other types.
size_t FlatWidth(const arrow::DataType& type) {
  if (type.id() == arrow::Type::FIXED_SIZE_LIST) {
    const auto& list = static_cast<const arrow::FixedSizeListType&>(type);
    return static_cast<size_t>(list.list_size()) * FlatWidth(*list.value_type());
  }
  const bool plain = (arrow::is_primitive(type.id()) && type.id() != arrow::Type::BOOL) ||
                     arrow::is_fixed_size_binary(type.id());
  if (!plain) return 0;
  return static_cast<size_t>(static_cast<const arrow::FixedWidthType&>(type).bit_width()) / 8;
}

// The first value of an array of `width` bytes a value; null if items of its lists may be null.
const uint8_t* FlatValues(const arrow::ArrayData& data, size_t width) {
  const arrow::ArrayData* at = &data;
  int64_t offset = data.offset;
  while (at->type->id() == arrow::Type::FIXED_SIZE_LIST) {
    offset *= static_cast<const arrow::FixedSizeListType&>(*at->type).list_size();
    at = at->child_data[0].get();
    if (at->MayHaveNulls()) return nullptr;
    offset += at->offset;
  }
  if (at->buffers[1] == nullptr) return nullptr;
  // `offset` counts the innermost values.
  const size_t item = FlatWidth(*at->type);
  return width == 0 || item == 0 ? nullptr
                                 : at->buffers[1]->data() + static_cast<size_t>(offset) * item;
}

template <size_t kWidth>
void CopyPlain(std::span<const uint8_t* const> froms, std::span<const FetchedPlace> places,
               uint8_t* to) {
  for (const FetchedPlace& place : places) {
    std::memcpy(to, froms[place.part] + size_t{place.index} * kWidth, kWidth);
    to += kWidth;
  }
}

void CopyValues(std::span<const uint8_t* const> froms, size_t width,
                std::span<const FetchedPlace> places, uint8_t* to) {
  switch (width) {
    case 1:
      return CopyPlain<1>(froms, places, to);
    case 2:
      return CopyPlain<2>(froms, places, to);
    case 4:
      return CopyPlain<4>(froms, places, to);
    case 8:
      return CopyPlain<8>(froms, places, to);
    case 16:
      return CopyPlain<16>(froms, places, to);
    default:
      for (const FetchedPlace& place : places) {
        std::memcpy(to, froms[place.part] + size_t{place.index} * width, width);
        to += width;
      }
  }
}

// The bitmap of the values; null if all are valid.
arrow::Result<std::shared_ptr<arrow::Buffer>> GatherValidity(const arrow::ArrayVector& parts,
                                                             std::span<const FetchedPlace> places,
                                                             arrow::MemoryPool* pool) {
  bool nulls = false;
  for (const auto& part : parts) nulls |= part->null_count() != 0;
  if (!nulls) return nullptr;
  const auto count = static_cast<int64_t>(places.size());
  ARROW_ASSIGN_OR_RAISE(std::shared_ptr<arrow::Buffer> bits,
                        arrow::AllocateEmptyBitmap(count, pool));
  uint8_t* const to = bits->mutable_data();
  for (int64_t i = 0; i < count; ++i) {
    const FetchedPlace& place = places[static_cast<size_t>(i)];
    if (parts[place.part]->IsValid(place.index)) arrow::bit_util::SetBit(to, i);
  }
  return bits;
}

// An array of flat values with the layout that its type wants.
std::shared_ptr<arrow::ArrayData> MakeFlat(const std::shared_ptr<arrow::DataType>& type,
                                           int64_t length, std::shared_ptr<arrow::Buffer> validity,
                                           std::shared_ptr<arrow::Buffer> values) {
  if (type->id() != arrow::Type::FIXED_SIZE_LIST) {
    return arrow::ArrayData::Make(type, length, {std::move(validity), std::move(values)});
  }
  const auto& list = static_cast<const arrow::FixedSizeListType&>(*type);
  auto items = MakeFlat(list.value_type(), length * list.list_size(), nullptr, std::move(values));
  return arrow::ArrayData::Make(type, length, {std::move(validity)}, {std::move(items)});
}

// What any type can do: all parts as one array, then a take of it.
arrow::Result<std::shared_ptr<arrow::ArrayData>> GatherAny(const arrow::ArrayVector& parts,
                                                           std::span<const FetchedPlace> places,
                                                           arrow::MemoryPool* pool) {
  std::shared_ptr<arrow::Array> whole = parts[0];
  if (parts.size() > 1) {
    ARROW_ASSIGN_OR_RAISE(whole, arrow::Concatenate(parts, pool));
  }
  std::vector<int64_t> starts = {0};
  for (const auto& part : parts) starts.push_back(starts.back() + part->length());
  const auto count = static_cast<int64_t>(places.size());
  ARROW_ASSIGN_OR_RAISE(std::shared_ptr<arrow::Buffer> buffer,
                        arrow::AllocateBuffer(count * int64_t{sizeof(int64_t)}, pool));
  auto* const indices = buffer->mutable_data_as<int64_t>();
  bool in_order = count == whole->length();
  for (int64_t i = 0; i < count; ++i) {
    const FetchedPlace& place = places[static_cast<size_t>(i)];
    indices[i] = starts[place.part] + place.index;
    in_order &= indices[i] == i;
  }
  if (in_order) return whole->data();
  auto order = arrow::ArrayData::Make(arrow::int64(), count, {nullptr, std::move(buffer)}, 0);
  arrow::compute::ExecContext context(pool);
  ARROW_ASSIGN_OR_RAISE(
      arrow::Datum taken,
      arrow::compute::Take(arrow::Datum(whole), arrow::Datum(std::move(order)),
                           arrow::compute::TakeOptions::NoBoundsCheck(), &context));
  return taken.array();
}

bool IsWholePart(const arrow::ArrayVector& parts, std::span<const FetchedPlace> places) {
  if (parts.size() != 1 || places.size() != static_cast<size_t>(parts[0]->length())) return false;
  for (size_t i = 0; i < places.size(); ++i) {
    if (places[i].index != i) return false;
  }
  return true;
}

}  // namespace

arrow::Result<std::shared_ptr<arrow::ArrayData>> Gather(const arrow::ArrayVector& parts,
                                                        std::span<const FetchedPlace> places,
                                                        arrow::MemoryPool* pool) {
  if (IsWholePart(parts, places)) return parts[0]->data();
  const std::shared_ptr<arrow::DataType>& type = parts[0]->type();
  const size_t width = FlatWidth(*type);
  std::vector<const uint8_t*> froms;
  for (const auto& part : parts) {
    const uint8_t* const from = width == 0 ? nullptr : FlatValues(*part->data(), width);
    if (from == nullptr) return GatherAny(parts, places, pool);
    froms.push_back(from);
  }
  ARROW_ASSIGN_OR_RAISE(std::shared_ptr<arrow::Buffer> validity,
                        GatherValidity(parts, places, pool));
  ARROW_ASSIGN_OR_RAISE(std::shared_ptr<arrow::Buffer> values,
                        arrow::AllocateBuffer(static_cast<int64_t>(places.size() * width), pool));
  CopyValues(froms, width, places, values->mutable_data());
  return MakeFlat(type, static_cast<int64_t>(places.size()), std::move(validity),
                  std::move(values));
}

}  // namespace pennon::read
