#include "pennon/encoding/output.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include <arrow/type.h>
#include <arrow/util/bit_util.h>
#include <arrow/util/bitmap_ops.h>
#include <arrow/util/checked_cast.h>

#include "pennon/encoding/kernels/utf8.h"
#include "pennon/error.h"

namespace pennon::encoding {

namespace {

/// The bytes of `count` values of `bits` bits, if an allocation can have that many.
arrow::Result<int64_t> BytesFor(uint64_t count, uint64_t bits) {
  uint64_t total;
  if (__builtin_mul_overflow(count, bits, &total) || total > uint64_t{1} << 62) {
    return InvalidInput(
        "the rows asked for take more memory than can be addressed: read fewer rows at once; ",
        count, " values of ", bits, " bits");
  }
  return static_cast<int64_t>((total + 7) / 8);
}

arrow::Result<std::shared_ptr<arrow::Buffer>> Allocate(int64_t bytes, arrow::MemoryPool* pool) {
  ARROW_ASSIGN_OR_RAISE(auto buffer, arrow::AllocateBuffer(bytes, pool));
  return std::shared_ptr<arrow::Buffer>(std::move(buffer));
}

}  // namespace

arrow::Result<uint8_t*> ValidityOutput::Bits() {
  if (!bitmap_) {
    ARROW_ASSIGN_OR_RAISE(const int64_t bytes, BytesFor(slots_, 1));
    ARROW_ASSIGN_OR_RAISE(bitmap_, Allocate(bytes, pool_));
    std::memset(bitmap_->mutable_data(), 0xff, static_cast<size_t>(bytes));
  }
  return bitmap_->mutable_data();
}

arrow::Status ValidityOutput::SetNull(uint64_t first, uint64_t count) {
  if (count == 0) return arrow::Status::OK();
  ARROW_ASSIGN_OR_RAISE(uint8_t* const bits, Bits());
  arrow::bit_util::SetBitsTo(bits, static_cast<int64_t>(first), static_cast<int64_t>(count), false);
  null_count_ += count;
  return arrow::Status::OK();
}

arrow::Status ValidityOutput::CopyBits(const uint8_t* bits, uint64_t bit_offset, uint64_t first,
                                       uint64_t count) {
  const auto length = static_cast<int64_t>(count);
  const int64_t valid =
      arrow::internal::CountSetBits(bits, static_cast<int64_t>(bit_offset), length);
  if (valid == length) return arrow::Status::OK();
  ARROW_ASSIGN_OR_RAISE(uint8_t* const out, Bits());
  arrow::internal::CopyBitmap(bits, static_cast<int64_t>(bit_offset), length, out,
                              static_cast<int64_t>(first));
  null_count_ += static_cast<uint64_t>(length - valid);
  return arrow::Status::OK();
}

std::shared_ptr<arrow::Buffer> ValidityOutput::Finish() {
  return null_count_ == 0 ? nullptr : std::move(bitmap_);
}

/// How much more than the bytes so far foretell is allocated, and the most that is allocated for
/// what is only foretold.
constexpr double kGrowthMargin = 1.05;
constexpr uint64_t kMostAhead = 64 << 20;

arrow::Result<VariableOutput> VariableOutput::Make(int offset_bits, uint64_t slots,
                                                   arrow::MemoryPool* pool) {
  VariableOutput out(offset_bits, slots);
  if (slots >= uint64_t{1} << 58)
    return InvalidInput("too many values for one array: read fewer rows; ", slots);
  ARROW_ASSIGN_OR_RAISE(const int64_t bytes,
                        BytesFor(slots + 1, static_cast<uint64_t>(offset_bits)));
  ARROW_ASSIGN_OR_RAISE(out.offsets_, Allocate(bytes, pool));
  std::memset(out.offsets_->mutable_data(), 0, static_cast<size_t>(offset_bits) / 8);
  ARROW_ASSIGN_OR_RAISE(out.bytes_, arrow::AllocateResizableBuffer(0, pool));
  return out;
}

void VariableOutput::FillEmpty(uint64_t end_slot) {
  const auto count = static_cast<size_t>(end_slot - next_slot_);
  if (offset_bits_ == 32) {
    std::fill_n(ends<int32_t>(), count, static_cast<int32_t>(size_));
  } else {
    std::fill_n(ends<int64_t>(), count, static_cast<int64_t>(size_));
  }
  next_slot_ = end_slot;
}

arrow::Status VariableOutput::StartRun(uint64_t slot) {
  if (slot < next_slot_ || slot > slots_) {
    return arrow::Status::Invalid("runs of slots must ascend: slot ", slot, ", expected at least ",
                                  next_slot_);
  }
  FillEmpty(slot);
  return arrow::Status::OK();
}

arrow::Result<uint8_t*> VariableOutput::Reserve(uint64_t bytes) {
  if (bytes > (uint64_t{1} << 62) - size_)
    return InvalidInput("too many bytes for one array: read fewer rows");
  const uint64_t needed = size_ + bytes;
  const auto capacity = static_cast<uint64_t>(bytes_->capacity());
  if (needed > capacity) {
    // The array's bytes so far must be inside the buffer's size to survive the move.
    ARROW_RETURN_NOT_OK(bytes_->Resize(static_cast<int64_t>(size_), /*shrink_to_fit=*/false));
    // What is there so far tells how much there will be: moving it again and again would cost more
    // than decoding it.
    uint64_t grown = std::max(needed, capacity + capacity / 2);
    if (next_slot_ > 0) {
      const double a_slot = static_cast<double>(size_) / static_cast<double>(next_slot_);
      const double all = a_slot * static_cast<double>(slots_) * kGrowthMargin;
      const auto most = static_cast<double>(needed + kMostAhead);
      grown = std::max(grown, static_cast<uint64_t>(std::min(all, most)));
    }
    ARROW_RETURN_NOT_OK(bytes_->Reserve(static_cast<int64_t>(grown)));
  }
  return bytes_->mutable_data() + size_;
}

arrow::Status VariableOutput::FinishRun(uint64_t count) {
  if (offset_bits_ == 32 && size_ > static_cast<uint64_t>(std::numeric_limits<int32_t>::max())) {
    return InvalidInput(
        "the values are more bytes than 32-bit offsets can count: read fewer rows at once; ", size_,
        " bytes");
  }
  next_slot_ += count;
  return arrow::Status::OK();
}

template <typename T>
arrow::Status VariableOutput::AppendRun(uint64_t slot, const void* offsets, uint64_t count,
                                        const uint8_t* base) {
  ARROW_RETURN_NOT_OK(StartRun(slot));
  if (count == 0) return arrow::Status::OK();
  const auto* at = static_cast<const uint8_t*>(offsets);
  const auto load = [at](uint64_t i) {
    T value;
    std::memcpy(&value, at + i * sizeof(T), sizeof(T));
    return value;
  };
  const T first = load(0);
  const uint64_t bytes = load(count) - first;
  ARROW_ASSIGN_OR_RAISE(uint8_t* const out, Reserve(bytes));
  if (bytes > 0) std::memcpy(out, base + first, bytes);
  // Wrapping arithmetic: FinishRun refuses a sum that does not fit.
  const uint64_t shift = size_ - first;
  if (offset_bits_ == 32) {
    auto* const end = ends<uint32_t>();
    const auto shift32 = static_cast<uint32_t>(shift);
    for (uint64_t i = 0; i < count; ++i) end[i] = static_cast<uint32_t>(load(i + 1)) + shift32;
  } else {
    auto* const end = ends<uint64_t>();
    for (uint64_t i = 0; i < count; ++i) end[i] = load(i + 1) + shift;
  }
  AdvanceBytes(bytes);
  return FinishRun(count);
}

template arrow::Status VariableOutput::AppendRun<uint32_t>(uint64_t, const void*, uint64_t,
                                                           const uint8_t*);
template arrow::Status VariableOutput::AppendRun<uint64_t>(uint64_t, const void*, uint64_t,
                                                           const uint8_t*);

arrow::Status VariableOutput::AppendEmpty(uint64_t slot, uint64_t count) {
  ARROW_RETURN_NOT_OK(StartRun(slot));
  FillEmpty(slot + count);
  return arrow::Status::OK();
}

arrow::Result<std::pair<std::shared_ptr<arrow::Buffer>, std::shared_ptr<arrow::Buffer>>>
VariableOutput::Finish() {
  FillEmpty(slots_);
  const auto size = static_cast<int64_t>(size_);
  const bool much_unused = bytes_->capacity() > size + size / 4 + 4096;
  ARROW_RETURN_NOT_OK(bytes_->Resize(size, /*shrink_to_fit=*/false));
  if (much_unused) ARROW_RETURN_NOT_OK(bytes_->Resize(size, /*shrink_to_fit=*/true));
  return std::pair(std::move(offsets_), std::shared_ptr<arrow::Buffer>(std::move(bytes_)));
}

arrow::Result<std::unique_ptr<ColumnOutput>> ColumnOutput::Make(LeafType type, uint64_t slots,
                                                                arrow::MemoryPool* pool) {
  std::unique_ptr<ColumnOutput> out(new ColumnOutput(std::move(type), slots, pool));
  const LeafType& leaf = out->type_;
  if (leaf.kind == LeafKind::kVariable) {
    ARROW_ASSIGN_OR_RAISE(auto variable, VariableOutput::Make(leaf.offset_bits, slots, pool));
    out->variable_ = std::make_unique<VariableOutput>(std::move(variable));
  } else if (leaf.kind == LeafKind::kStruct) {
    for (const LeafType& type_of_child : leaf.children) {
      ARROW_ASSIGN_OR_RAISE(auto child, Make(type_of_child, slots, pool));
      out->children_.push_back(std::move(child));
    }
  } else if (leaf.is_fixed()) {
    if (leaf.kind == LeafKind::kDictionary) {
      out->dictionary_ = std::make_unique<DictionaryOutput>(leaf.children[0], leaf.most_items);
    }
    ARROW_ASSIGN_OR_RAISE(const int64_t bytes, BytesFor(slots, leaf.bits_per_slot()));
    ARROW_ASSIGN_OR_RAISE(out->values_, Allocate(bytes, pool));
    // Runs of single bits may share a byte with their neighbours.
    if (leaf.bits_per_slot() % 8 != 0)
      std::memset(out->values_->mutable_data(), 0, static_cast<size_t>(bytes));
    out->AddItemValidity();
  }
  return out;
}

std::unique_ptr<ColumnOutput> ColumnOutput::MakeOver(LeafType type, uint64_t slots,
                                                     std::shared_ptr<arrow::Buffer> values,
                                                     arrow::MemoryPool* pool) {
  std::unique_ptr<ColumnOutput> out(new ColumnOutput(std::move(type), slots, pool));
  out->values_ = std::move(values);
  out->AddItemValidity();
  return out;
}

void ColumnOutput::AddItemValidity() {
  uint64_t children = slots_;
  for (const uint32_t dimension : type_.dimensions) {
    children *= dimension;
    item_validity_.emplace_back(children, pool_);
  }
}

void ColumnOutput::ZeroSlots(uint64_t first, uint64_t count) {
  for (const auto& child : children_) child->ZeroSlots(first, count);
  const uint64_t bits = type_.bits_per_slot();
  if (!type_.is_fixed() || bits % 8 != 0 || count == 0) return;
  std::memset(values() + first * (bits / 8), 0, static_cast<size_t>(count * (bits / 8)));
}

arrow::Status ColumnOutput::WriteEmpty(uint64_t first, uint64_t count) {
  for (const auto& child : children_) ARROW_RETURN_NOT_OK(child->WriteEmpty(first, count));
  if (type_.kind == LeafKind::kVariable) return variable_->AppendEmpty(first, count);
  if (children_.empty()) ZeroSlots(first, count);
  return arrow::Status::OK();
}

arrow::Result<std::shared_ptr<arrow::ArrayData>> ColumnOutput::FinishDictionary(
    const std::shared_ptr<arrow::DataType>& type) {
  const auto& dictionary_type = arrow::internal::checked_cast<const arrow::DictionaryType&>(*type);
  const auto nulls = static_cast<int64_t>(validity_.null_count());
  // Valid slots that no range names are zero, so there must be an item to name.
  if (dictionary_->empty() && validity_.null_count() < slots_) dictionary_->AddPlaceholder();
  ARROW_ASSIGN_OR_RAISE(auto items, dictionary_->Finish(dictionary_type.value_type(), pool_));
  auto data = arrow::ArrayData::Make(type, static_cast<int64_t>(slots_),
                                     {validity_.Finish(), values_}, nulls);
  data->dictionary = std::move(items);
  return data;
}

arrow::Result<std::shared_ptr<arrow::ArrayData>> ColumnOutput::FinishStruct(
    const std::shared_ptr<arrow::DataType>& type) {
  if (static_cast<size_t>(type->num_fields()) != children_.size()) {
    return arrow::Status::Invalid("a struct has other children than its values: ",
                                  type->ToString());
  }
  std::vector<std::shared_ptr<arrow::ArrayData>> children;
  for (int i = 0; i < type->num_fields(); ++i) {
    ARROW_ASSIGN_OR_RAISE(auto child,
                          children_[static_cast<size_t>(i)]->Finish(type->field(i)->type()));
    children.push_back(std::move(child));
  }
  const auto nulls = static_cast<int64_t>(validity_.null_count());
  return arrow::ArrayData::Make(type, static_cast<int64_t>(slots_), {validity_.Finish()},
                                std::move(children), nulls);
}

arrow::Result<std::shared_ptr<arrow::ArrayData>> ColumnOutput::Finish(
    const std::shared_ptr<arrow::DataType>& type) {
  const auto length = static_cast<int64_t>(slots_);
  const auto nulls = static_cast<int64_t>(validity_.null_count());
  if (type_.kind == LeafKind::kNull) return arrow::ArrayData::Make(type, length, {nullptr}, length);
  if (type_.kind == LeafKind::kDictionary) return FinishDictionary(type);
  if (type_.kind == LeafKind::kStruct) return FinishStruct(type);
  std::shared_ptr<arrow::Buffer> validity = validity_.Finish();
  if (type_.kind == LeafKind::kVariable) {
    ARROW_ASSIGN_OR_RAISE(auto buffers, variable_->Finish());
    auto data =
        arrow::ArrayData::Make(type, length, {validity, buffers.first, buffers.second}, nulls);
    const bool is_text =
        type->id() == arrow::Type::STRING || type->id() == arrow::Type::LARGE_STRING;
    if (is_text) ARROW_RETURN_NOT_OK(CheckUtf8(*data));
    return data;
  }
  if (!type_.is_list()) return arrow::ArrayData::Make(type, length, {validity, values_}, nulls);

  // The list types, outermost first, then the items' own.
  std::vector<std::shared_ptr<arrow::DataType>> types = {type};
  while (types.back()->id() == arrow::Type::FIXED_SIZE_LIST)
    types.push_back(types.back()->field(0)->type());
  std::shared_ptr<arrow::ArrayData> child;
  for (size_t depth = types.size() - 1; depth > 0; --depth) {
    ValidityOutput& own = item_validity_[depth - 1];
    const auto count = static_cast<int64_t>(own.slots());
    const auto null_count = static_cast<int64_t>(own.null_count());
    child = child
                ? arrow::ArrayData::Make(types[depth], count, {own.Finish()}, {child}, null_count)
                : arrow::ArrayData::Make(types[depth], count, {own.Finish(), values_}, null_count);
  }
  return arrow::ArrayData::Make(type, length, {validity}, {child}, nulls);
}

}  // namespace pennon::encoding
