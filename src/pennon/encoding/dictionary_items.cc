#include "pennon/encoding/dictionary_items.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include "pennon/encoding/block_values.h"
#include "pennon/encoding/general.h"
#include "pennon/encoding/variable.h"
#include "pennon/error.h"

namespace pennon::encoding {

namespace {

using wire::CompressionKind;

/// Short strings are copied by one store of this many bytes.
constexpr size_t kPadding = 16;

/// The Variable inside `encoding`, with its compression if it has one.
struct VariableForm {
  const wire::CompressiveEncoding* variable = nullptr;
  std::optional<GeneralScheme> general;
};

arrow::Result<VariableForm> FindVariable(const wire::CompressiveEncoding& encoding,
                                         const LeafType& type) {
  VariableForm form{.variable = &encoding};
  if (encoding.kind == CompressionKind::kGeneral) {
    ARROW_ASSIGN_OR_RAISE(form.general, GeneralSchemeOf(encoding.scheme));
    form.variable = &encoding.children[0];
  }
  if (form.variable->kind != CompressionKind::kVariable) {
    return Unsupported(
        "", "encoding of a dictionary's strings: ", wire::CompressionName(form.variable->kind));
  }
  ARROW_RETURN_NOT_OK(
      ExpectFlat(form.variable->children[0], static_cast<uint64_t>(type.offset_bits)));
  return form;
}

/// Lists of fixed size without item validity are one flat value.
wire::CompressiveEncoding Flattened(const wire::CompressiveEncoding& encoding) {
  uint64_t items = 1;
  const wire::CompressiveEncoding* inner = &encoding;
  while (inner->kind == CompressionKind::kFixedSizeList && !inner->has_validity &&
         !__builtin_mul_overflow(items, inner->items_per_value, &items)) {
    inner = &inner->children[0];
  }
  wire::CompressiveEncoding out = *inner;
  if (items != 1 &&
      (out.kind != CompressionKind::kFlat || __builtin_mul_overflow(out.bits, items, &out.bits))) {
    return encoding;
  }
  return out;
}

template <typename Index>
Index LoadIndex(const uint8_t* indices, uint64_t i) {
  Index index;
  std::memcpy(&index, indices + i * sizeof(Index), sizeof(Index));
  return index;
}

}  // namespace

arrow::Status DictionaryItems::Check(const wire::CompressiveEncoding& encoding,
                                     const LeafType& type) {
  if (type.kind == LeafKind::kVariable) return FindVariable(encoding, type).status();
  if (type.kind != LeafKind::kFixed || type.bits_per_slot() % 8 != 0) {
    return Unsupported("", "dictionary pages of values that are not whole bytes");
  }
  return BlockDecoder::Make(Flattened(encoding), type.bits_per_slot()).status();
}

arrow::Result<DictionaryItems> DictionaryItems::Decode(const wire::CompressiveEncoding& encoding,
                                                       const LeafType& type, uint64_t count,
                                                       std::span<const uint8_t> in) {
  DictionaryItems out;
  out.count_ = count;
  std::vector<uint8_t> scratch;
  if (type.kind == LeafKind::kVariable) {
    ARROW_ASSIGN_OR_RAISE(const VariableForm form, FindVariable(encoding, type));
    if (form.general) {
      ARROW_RETURN_NOT_OK(
          DecompressTo(*form.general, in, std::numeric_limits<int64_t>::max(), &scratch));
      in = scratch;
    }
    ARROW_ASSIGN_OR_RAISE(const VariableView view,
                          ViewVariableBlock(in, type.offset_bits, static_cast<int64_t>(count)));
    out.offsets_.resize(count + 1);
    for (uint64_t i = 0; i <= count; ++i) out.offsets_[i] = view.start(static_cast<int64_t>(i));
    out.bytes_.resize(out.offsets_[count] + kPadding);
    if (out.offsets_[count] > 0)
      std::memcpy(out.bytes_.data(), view.bytes.data(), out.offsets_[count]);
    return out;
  }
  ARROW_ASSIGN_OR_RAISE(const BlockDecoder decoder,
                        BlockDecoder::Make(Flattened(encoding), type.bits_per_slot()));
  out.item_bytes_ = type.bits_per_slot() / 8;
  uint64_t total;
  if (__builtin_mul_overflow(count, out.item_bytes_, &total) || total > uint64_t{1} << 40) {
    return Corrupt("", "a dictionary claims an impossible size: ", count, " items of ",
                   out.item_bytes_, " bytes");
  }
  if (encoding.kind == CompressionKind::kFlat && total != in.size()) {
    return Corrupt("", "a dictionary has the wrong size: expected ", total, " bytes, found ",
                   in.size());
  }
  out.bytes_.resize(total);
  ARROW_RETURN_NOT_OK(decoder.Decode(in, count, out.bytes_, &scratch));
  return out;
}

arrow::Status DictionaryItems::Gather(const uint8_t* indices, int index_bits, uint64_t count,
                                      uint64_t slot, ColumnOutput* out) const {
  switch (index_bits) {
    case 8:
      return GatherIndexed<uint8_t>(indices, count, slot, out);
    case 16:
      return GatherIndexed<uint16_t>(indices, count, slot, out);
    case 32:
      return GatherIndexed<uint32_t>(indices, count, slot, out);
    default:
      return GatherIndexed<uint64_t>(indices, count, slot, out);
  }
}

template <typename Index>
arrow::Status DictionaryItems::GatherIndexed(const uint8_t* indices, uint64_t count, uint64_t slot,
                                             ColumnOutput* out) const {
  Index max = 0;
  for (uint64_t i = 0; i < count; ++i) max = std::max(max, LoadIndex<Index>(indices, i));
  if (count > 0 && max >= count_) {
    return Corrupt("", "a dictionary index names no item: found ", static_cast<uint64_t>(max),
                   ", the dictionary has ", count_, " items");
  }
  if (offsets_.empty()) {
    GatherFixed<Index>(indices, count, out->values() + slot * item_bytes_);
    return arrow::Status::OK();
  }
  return out->variable().offset_bits() == 32
             ? GatherVariable<Index, uint32_t>(indices, count, slot, &out->variable())
             : GatherVariable<Index, uint64_t>(indices, count, slot, &out->variable());
}

template <typename Index>
void DictionaryItems::GatherFixed(const uint8_t* indices, uint64_t count, uint8_t* out) const {
  const auto copy = [&](auto width) {
    for (uint64_t i = 0; i < count; ++i) {
      std::memcpy(out + i * width, bytes_.data() + LoadIndex<Index>(indices, i) * width, width);
    }
  };
  switch (item_bytes_) {
    case 4:
      return copy(std::integral_constant<size_t, 4>());
    case 8:
      return copy(std::integral_constant<size_t, 8>());
    case 16:
      return copy(std::integral_constant<size_t, 16>());
    default:
      return copy(item_bytes_);
  }
}

template <typename Index, typename Offset>
arrow::Status DictionaryItems::GatherVariable(const uint8_t* indices, uint64_t count, uint64_t slot,
                                              VariableOutput* out) const {
  ARROW_RETURN_NOT_OK(out->StartRun(slot));
  auto* const ends = out->ends<Offset>();
  uint64_t end = out->size();
  for (uint64_t i = 0; i < count; ++i) {
    const Index index = LoadIndex<Index>(indices, i);
    end += offsets_[index + 1] - offsets_[index];
    ends[i] = static_cast<Offset>(end);
  }
  const uint64_t total = end - out->size();
  if (sizeof(Offset) == 4 && end > static_cast<uint64_t>(std::numeric_limits<int32_t>::max())) {
    return InvalidInput(
        "the values are more bytes than 32-bit offsets can count: read fewer rows at once; ", end,
        " bytes");
  }
  ARROW_ASSIGN_OR_RAISE(uint8_t* at, out->Reserve(total + kPadding));
  for (uint64_t i = 0; i < count; ++i) {
    const Index index = LoadIndex<Index>(indices, i);
    const uint8_t* const from = bytes_.data() + offsets_[index];
    const uint64_t size = offsets_[index + 1] - offsets_[index];
    if (size <= kPadding) {
      std::memcpy(at, from, kPadding);
    } else {
      std::memcpy(at, from, size);
    }
    at += size;
  }
  out->AdvanceBytes(total);
  return out->FinishRun(count);
}

}  // namespace pennon::encoding
