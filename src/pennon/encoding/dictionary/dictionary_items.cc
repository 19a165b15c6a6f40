#include "pennon/encoding/dictionary/dictionary_items.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

#include "pennon/encoding/kernels/block_values.h"
#include "pennon/encoding/kernels/general.h"
#include "pennon/encoding/kernels/variable.h"
#include "pennon/error.h"

namespace pennon::encoding {

namespace {

using wire::CompressionKind;

constexpr size_t kPadding = DecodedItems::kPadding;

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

/// The most bytes that `size` bytes of `encoding` decode to.
double MostBytes(const wire::CompressiveEncoding& encoding, double size) {
  switch (encoding.kind) {
    case CompressionKind::kGeneral:
      // What the schemes can do at best: general.h refuses claims beyond it.
      return MostBytes(encoding.children[0], size * (encoding.scheme == 1 ? 255 : 65536));
    case CompressionKind::kRle:
      return size * 255;
    case CompressionKind::kInlineBitpacking:
      return 1024 * 8;
    case CompressionKind::kOutOfLineBitpacking:
      return encoding.children[0].bits == 0 ? 0 : size * 64;
    default:
      return size;
  }
}

using ItemsResult = arrow::Result<std::shared_ptr<const DecodedItems>>;

ItemsResult DecodeVariable(const wire::CompressiveEncoding& encoding, const LeafType& type,
                           uint64_t count, std::span<const uint8_t> in) {
  auto out = std::make_shared<DecodedItems>();
  out->count = count;
  std::vector<uint8_t> scratch;
  ARROW_ASSIGN_OR_RAISE(const VariableForm form, FindVariable(encoding, type));
  if (form.general) {
    ARROW_RETURN_NOT_OK(
        DecompressTo(*form.general, in, std::numeric_limits<int64_t>::max(), &scratch));
    in = scratch;
  }
  ARROW_ASSIGN_OR_RAISE(const VariableView view,
                        ViewVariableBlock(in, type.offset_bits, static_cast<int64_t>(count)));
  out->offsets.resize(count + 1);
  for (uint64_t i = 0; i <= count; ++i) out->offsets[i] = view.start(static_cast<int64_t>(i));
  out->bytes.resize(out->offsets[count] + kPadding);
  if (out->offsets[count] > 0)
    std::memcpy(out->bytes.data(), view.bytes.data(), out->offsets[count]);
  return out;
}

ItemsResult DecodeFixed(const wire::CompressiveEncoding& encoding, const LeafType& type,
                        uint64_t count, uint64_t num_values, std::span<const uint8_t> in) {
  const wire::CompressiveEncoding flattened = Flattened(encoding);
  const uint64_t bits = type.bits_per_slot();
  ARROW_ASSIGN_OR_RAISE(const BlockDecoder decoder, BlockDecoder::Make(flattened, bits));
  uint64_t total_bits;
  if (__builtin_mul_overflow(count, bits, &total_bits) || total_bits > uint64_t{1} << 43) {
    return Corrupt("", "a dictionary claims an impossible size: ", count, " items of ", bits,
                   " bits");
  }
  const uint64_t total = (total_bits + 7) / 8;
  const bool fits =
      flattened.kind == CompressionKind::kFlat
          ? total == in.size()
          : count <= num_values + 1 ||
                static_cast<double>(total) <= MostBytes(flattened, static_cast<double>(in.size()));
  if (!fits) {
    return Corrupt("", "a dictionary has the wrong size: expected ", total, " bytes, found ",
                   in.size());
  }
  auto out = std::make_shared<DecodedItems>();
  out->count = count;
  out->item_bytes = (bits + 7) / 8;
  out->bytes.resize(total);
  std::vector<uint8_t> scratch;
  ARROW_RETURN_NOT_OK(decoder.Decode(in, count, out->bytes, &scratch));
  if (bits == 1) {
    std::vector<uint8_t> spread(count);
    for (uint64_t i = 0; i < count; ++i) spread[i] = (out->bytes[i / 8] >> (i % 8)) & 1;
    out->bytes = std::move(spread);
  }
  out->bytes.resize(out->bytes.size() + kPadding);
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
  const bool is_own = type.kind == LeafKind::kDictionary;
  const LeafType& items = is_own ? type.children[0] : type;
  if (items.kind == LeafKind::kVariable) return FindVariable(encoding, items).status();
  const uint64_t bits = items.bits_per_slot();
  // Single bits can be items of a dictionary, but not be gathered.
  if (items.kind != LeafKind::kFixed || (bits % 8 != 0 && !(is_own && bits == 1)))
    return Unsupported("", "dictionary pages of values that are not whole bytes");
  return BlockDecoder::Make(Flattened(encoding), bits).status();
}

arrow::Result<DictionaryItems> DictionaryItems::Decode(const wire::CompressiveEncoding& encoding,
                                                       const LeafType& type, uint64_t count,
                                                       uint64_t num_values,
                                                       std::span<const uint8_t> in) {
  if (type.kind == LeafKind::kDictionary)
    return Decode(encoding, type.children[0], count, num_values, in);
  DictionaryItems out;
  if (type.kind == LeafKind::kVariable) {
    ARROW_ASSIGN_OR_RAISE(out.items_, DecodeVariable(encoding, type, count, in));
  } else {
    ARROW_ASSIGN_OR_RAISE(out.items_, DecodeFixed(encoding, type, count, num_values, in));
  }
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
  if (count > 0 && max >= items_->count) {
    return Corrupt("", "a dictionary index names no item: found ", static_cast<uint64_t>(max),
                   ", the dictionary has ", items_->count, " items");
  }
  if (out->type().kind == LeafKind::kDictionary)
    return WriteIndices<Index>(indices, count, slot, out);
  if (items_->offsets.empty()) {
    GatherFixed<Index>(indices, count, out->values() + slot * items_->item_bytes);
    return arrow::Status::OK();
  }
  return out->variable().offset_bits() == 32
             ? GatherVariable<Index, uint32_t>(indices, count, slot, &out->variable())
             : GatherVariable<Index, uint64_t>(indices, count, slot, &out->variable());
}

template <typename Index>
arrow::Status DictionaryItems::WriteIndices(const uint8_t* indices, uint64_t count, uint64_t slot,
                                            ColumnOutput* out) const {
  ARROW_ASSIGN_OR_RAISE(const std::span<const uint64_t> numbers,
                        out->dictionary().NumbersOf(items_));
  uint8_t* const to = out->values() + slot * sizeof(Index);
  if (numbers.empty()) {
    std::memcpy(to, indices, count * sizeof(Index));
    return arrow::Status::OK();
  }
  for (uint64_t i = 0; i < count; ++i) {
    const auto number = static_cast<Index>(numbers[LoadIndex<Index>(indices, i)]);
    std::memcpy(to + i * sizeof(Index), &number, sizeof(Index));
  }
  return arrow::Status::OK();
}

template <typename Index>
void DictionaryItems::GatherFixed(const uint8_t* indices, uint64_t count, uint8_t* out) const {
  const std::vector<uint8_t>& bytes = items_->bytes;
  const auto copy = [&](auto width) {
    for (uint64_t i = 0; i < count; ++i) {
      std::memcpy(out + i * width, bytes.data() + LoadIndex<Index>(indices, i) * width, width);
    }
  };
  switch (items_->item_bytes) {
    case 4:
      return copy(std::integral_constant<size_t, 4>());
    case 8:
      return copy(std::integral_constant<size_t, 8>());
    case 16:
      return copy(std::integral_constant<size_t, 16>());
    default:
      return copy(items_->item_bytes);
  }
}

template <typename Index, typename Offset>
arrow::Status DictionaryItems::GatherVariable(const uint8_t* indices, uint64_t count, uint64_t slot,
                                              VariableOutput* out) const {
  const std::vector<uint64_t>& offsets = items_->offsets;
  ARROW_RETURN_NOT_OK(out->StartRun(slot));
  auto* const ends = out->ends<Offset>();
  uint64_t end = out->size();
  for (uint64_t i = 0; i < count; ++i) {
    const Index index = LoadIndex<Index>(indices, i);
    end += offsets[index + 1] - offsets[index];
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
    const uint8_t* const from = items_->bytes.data() + offsets[index];
    const uint64_t size = offsets[index + 1] - offsets[index];
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
