#include "pennon/read/gather.h"

#include <cstring>
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
#include <arrow/util/bitmap_ops.h>

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

// One part of flat values, taken apart.
struct FlatPart {
  const uint8_t* values = nullptr;  ///< of the first row
  /// For the rows, then for the items of each list layer: the bits (null: all valid) and the first.
  std::vector<std::pair<const uint8_t*, int64_t>> validity;
};

FlatPart TakeApart(const arrow::ArrayData& data) {
  FlatPart part;
  int64_t offset = data.offset;
  const arrow::ArrayData* at = &data;
  while (true) {
    part.validity.emplace_back(at->MayHaveNulls() ? at->buffers[0]->data() : nullptr, offset);
    if (at->type->id() != arrow::Type::FIXED_SIZE_LIST) break;
    offset *= static_cast<const arrow::FixedSizeListType&>(*at->type).list_size();
    at = at->child_data[0].get();
    offset += at->offset;
  }
  part.values = at->buffers[1]->data() + static_cast<size_t>(offset) * FlatWidth(*at->type);
  return part;
}

template <size_t kWidth>
void CopyPlain(std::span<const FlatPart> froms, std::span<const FetchedPlace> places, uint8_t* to) {
  for (const FetchedPlace& place : places) {
    std::memcpy(to, froms[place.part].values + size_t{place.index} * kWidth, kWidth);
    to += kWidth;
  }
}

void CopyValues(std::span<const FlatPart> froms, size_t width, std::span<const FetchedPlace> places,
                uint8_t* to) {
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
        std::memcpy(to, froms[place.part].values + size_t{place.index} * width, width);
        to += width;
      }
  }
}

// The bitmap of layer `layer`, `run` bits a row; null if all are valid.
arrow::Result<std::shared_ptr<arrow::Buffer>> GatherValidity(std::span<const FlatPart> parts,
                                                             std::span<const FetchedPlace> places,
                                                             size_t layer, int64_t run,
                                                             arrow::MemoryPool* pool) {
  bool nulls = false;
  for (const FlatPart& part : parts) nulls |= part.validity[layer].first != nullptr;
  if (!nulls) return nullptr;
  ARROW_ASSIGN_OR_RAISE(
      std::shared_ptr<arrow::Buffer> bits,
      arrow::AllocateEmptyBitmap(static_cast<int64_t>(places.size()) * run, pool));
  uint8_t* const to = bits->mutable_data();
  int64_t slot = 0;
  for (const FetchedPlace& place : places) {
    const auto [from, first] = parts[place.part].validity[layer];
    const int64_t bit = first + int64_t{place.index} * run;
    if (from == nullptr) {
      arrow::bit_util::SetBitsTo(to, slot, run, true);
    } else if (run == 1) {
      arrow::bit_util::SetBitTo(to, slot, arrow::bit_util::GetBit(from, bit));
    } else {
      arrow::internal::CopyBitmap(from, bit, run, to, slot);
    }
    slot += run;
  }
  return bits;
}

arrow::Result<std::shared_ptr<arrow::ArrayData>> GatherFlat(
    const std::shared_ptr<arrow::DataType>& type, std::span<const FlatPart> parts,
    std::span<const FetchedPlace> places, arrow::MemoryPool* pool) {
  const size_t width = FlatWidth(*type);
  ARROW_ASSIGN_OR_RAISE(std::shared_ptr<arrow::Buffer> values,
                        arrow::AllocateBuffer(static_cast<int64_t>(places.size() * width), pool));
  CopyValues(parts, width, places, values->mutable_data());
  // The list types, outermost first, then that of the items.
  std::vector<std::shared_ptr<arrow::DataType>> types = {type};
  std::vector<int64_t> runs = {1};
  while (types.back()->id() == arrow::Type::FIXED_SIZE_LIST) {
    const auto& list = static_cast<const arrow::FixedSizeListType&>(*types.back());
    runs.push_back(runs.back() * list.list_size());
    types.push_back(list.value_type());
  }
  std::shared_ptr<arrow::ArrayData> data;
  for (size_t layer = types.size(); layer-- > 0;) {
    ARROW_ASSIGN_OR_RAISE(auto validity, GatherValidity(parts, places, layer, runs[layer], pool));
    const int64_t length = static_cast<int64_t>(places.size()) * runs[layer];
    data = data == nullptr
               ? arrow::ArrayData::Make(types[layer], length, {validity, std::move(values)})
               : arrow::ArrayData::Make(types[layer], length, {validity}, {std::move(data)});
  }
  return data;
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
  if (FlatWidth(*type) == 0) return GatherAny(parts, places, pool);
  std::vector<FlatPart> flat;
  for (const auto& part : parts) flat.push_back(TakeApart(*part->data()));
  return GatherFlat(type, flat, places, pool);
}

}  // namespace pennon::read
