#include "pennon/encoding/mini_block/chunk_values.h"

#include <cstring>
#include <limits>

#include <arrow/util/bitmap_ops.h>

#include "pennon/encoding/kernels/bitpacking.h"
#include "pennon/encoding/kernels/block_values.h"
#include "pennon/encoding/kernels/byte_stream_split.h"
#include "pennon/encoding/kernels/rle.h"
#include "pennon/encoding/packed_struct/packed_struct.h"
#include "pennon/error.h"

namespace pennon::encoding {

using wire::CompressionKind;

namespace {

bool IsWord(uint64_t bits) { return bits == 8 || bits == 16 || bits == 32 || bits == 64; }

/// The most bytes a chunk's first buffer can decompress to, for strings.
constexpr int64_t kMaxStrings = int64_t{1} << 40;

}  // namespace

arrow::Result<ChunkValues> ChunkValues::Make(const wire::CompressiveEncoding& encoding,
                                             const LeafType& type, bool has_dictionary) {
  ChunkValues out;
  const wire::CompressiveEncoding* inner = &encoding;
  if (inner->kind == CompressionKind::kGeneral) {
    ARROW_ASSIGN_OR_RAISE(out.general_, GeneralSchemeOf(inner->scheme));
    inner = &inner->children[0];
  }
  if (has_dictionary) {
    // The width of indexes is the encoding's own.
    uint64_t bits = inner->bits;
    if (inner->kind == CompressionKind::kRle || inner->kind == CompressionKind::kByteStreamSplit) {
      bits = inner->children[0].bits;
    }
    if (!IsWord(bits))
      return Corrupt("", "dictionary indexes must be words of 8 to 64 bits, found ", bits);
    if (type.kind == LeafKind::kDictionary && bits != type.bits_per_item) {
      return Corrupt("", "dictionary indexes have another width than their type: expected ",
                     type.bits_per_item, " bits, found ", bits);
    }
    ARROW_RETURN_NOT_OK(out.MakeFixed(*inner, bits));
  } else if (type.kind == LeafKind::kVariable) {
    ARROW_RETURN_NOT_OK(out.MakeVariable(*inner, type));
  } else if (type.kind == LeafKind::kNull) {
    return Unsupported("", "a column of type null with values");
  } else if (type.kind == LeafKind::kDictionary) {
    return Unsupported("", "a dictionary column's page without a dictionary");
  } else if (type.kind == LeafKind::kStruct) {
    ARROW_RETURN_NOT_OK(out.MakePacked(*inner, type));
  } else if (type.is_list()) {
    ARROW_RETURN_NOT_OK(out.MakeList(*inner, type));
  } else {
    ARROW_RETURN_NOT_OK(out.MakeFixed(*inner, type.bits_per_item));
  }
  return out;
}

arrow::Status ChunkValues::MakeFixed(const wire::CompressiveEncoding& encoding, uint64_t bits) {
  kind_ = encoding.kind;
  bits_ = bits;
  switch (encoding.kind) {
    case CompressionKind::kFlat:
      return ExpectFlat(encoding, bits);
    case CompressionKind::kInlineBitpacking:
      if (encoding.bits != bits || !IsWord(bits)) {
        return Corrupt("", "bit-packed values have another width than their type: expected ", bits,
                       " bits, found ", encoding.bits);
      }
      if (encoding.scheme != 0)
        return Unsupported("", "InlineBitpacking with a compression of its own");
      return arrow::Status::OK();
    case CompressionKind::kRle:
      if (!IsWord(bits))
        return Corrupt("", "run-length values must be words of 8 to 64 bits, found ", bits);
      ARROW_RETURN_NOT_OK(ExpectFlat(encoding.children[0], bits));
      return ExpectFlat(encoding.children[1], 8);
    case CompressionKind::kByteStreamSplit:
      if (bits != 32 && bits != 64)
        return Corrupt("", "split values must have 32 or 64 bits, found ", bits);
      return ExpectFlat(encoding.children[0], bits);
    default:
      return Unsupported("", "encoding of values of fixed width in mini-blocks: ",
                         wire::CompressionName(encoding.kind));
  }
}

arrow::Status ChunkValues::MakeList(const wire::CompressiveEncoding& encoding,
                                    const LeafType& type) {
  const wire::CompressiveEncoding* inner = &encoding;
  uint64_t run = 1;
  for (size_t layer = 0; layer < type.dimensions.size(); ++layer) {
    if (inner->kind != CompressionKind::kFixedSizeList) {
      return Unsupported(
          "", "encoding of fixed-size lists in mini-blocks: ", wire::CompressionName(inner->kind));
    }
    if (inner->items_per_value != type.dimensions[layer]) {
      return Corrupt("", "fixed-size lists have another size than their type: expected ",
                     type.dimensions[layer], ", found ", inner->items_per_value);
    }
    run *= type.dimensions[layer];
    if (inner->has_validity) validity_layers_.push_back({layer, run});
    inner = &inner->children[0];
  }
  kind_ = CompressionKind::kFlat;
  bits_ = type.bits_per_slot();
  return ExpectFlat(*inner, type.bits_per_item);
}

arrow::Status ChunkValues::MakePacked(const wire::CompressiveEncoding& encoding,
                                      const LeafType& type) {
  ARROW_ASSIGN_OR_RAISE(bits_, PackedRowBits(encoding, type));
  kind_ = CompressionKind::kPackedStruct;
  return arrow::Status::OK();
}

arrow::Status ChunkValues::MakeVariable(const wire::CompressiveEncoding& encoding,
                                        const LeafType& type) {
  const wire::CompressiveEncoding* inner = &encoding;
  kind_ = CompressionKind::kVariable;
  bits_ = static_cast<uint64_t>(type.offset_bits);
  if (inner->kind == CompressionKind::kFsst) {
    const auto* table = reinterpret_cast<const uint8_t*>(inner->symbol_table.data());
    ARROW_ASSIGN_OR_RAISE(auto parsed, FsstTable::Parse({table, inner->symbol_table.size()}));
    if (parsed.coded()) fsst_ = parsed;
    inner = &inner->children[0];
  }
  if (inner->kind != CompressionKind::kVariable || inner->scheme != 0) {
    return Unsupported("",
                       "encoding of strings in mini-blocks: ", wire::CompressionName(inner->kind));
  }
  return ExpectFlat(inner->children[0], bits_);
}

arrow::Status ChunkValues::DecodeFixed(std::span<const std::span<const uint8_t>> buffers,
                                       uint64_t chunk_count, std::span<uint8_t> out,
                                       std::vector<uint8_t>* decompressed) const {
  const size_t at = validity_layers_.size();
  std::span<const uint8_t> in = buffers[at];
  const auto n = static_cast<int64_t>(chunk_count);
  const auto bits = static_cast<int>(bits_);
  if (general_ && at == 0) {
    if (kind_ == CompressionKind::kFlat || kind_ == CompressionKind::kPackedStruct)
      return DecompressInto(*general_, in, out);
    // A packed unit is at most 1024 words and its header; run values are no more than the values.
    const auto limit = static_cast<int64_t>(out.size() + 16384);
    ARROW_RETURN_NOT_OK(DecompressTo(*general_, in, limit, decompressed));
    in = *decompressed;
  }
  switch (kind_) {
    case CompressionKind::kInlineBitpacking:
      return DecodeInlineBitpacking(in, bits, n, out);
    case CompressionKind::kRle:
      return DecodeRleMiniBlock(in, buffers[at + 1], bits, n, out);
    case CompressionKind::kByteStreamSplit:
      return DecodeByteStreamSplit(in, bits, n, out);
    default:
      if (in.size() != out.size()) {
        return Corrupt("", "a chunk's values have the wrong size: expected ", out.size(),
                       " bytes, found ", in.size());
      }
      if (!in.empty()) std::memcpy(out.data(), in.data(), in.size());
      return arrow::Status::OK();
  }
}

arrow::Status ChunkValues::LoadFixed(std::span<const std::span<const uint8_t>> buffers,
                                     uint64_t chunk_count, ChunkScratch* scratch) const {
  const uint64_t bytes = FixedBytes(chunk_count);
  const size_t at = validity_layers_.size();
  const bool is_plain = kind_ == CompressionKind::kFlat || kind_ == CompressionKind::kPackedStruct;
  if (is_plain && !(general_ && at == 0)) {
    if (buffers[at].size() != bytes) {
      return Corrupt("", "a chunk's values have the wrong size: expected ", bytes, " bytes, found ",
                     buffers[at].size());
    }
    scratch->fixed = buffers[at].data();
  } else {
    if (scratch->values.size() < bytes) scratch->values.resize(bytes);
    ARROW_RETURN_NOT_OK(
        DecodeFixed(buffers, chunk_count, {scratch->values.data(), bytes}, &scratch->decompressed));
    scratch->fixed = scratch->values.data();
  }
  scratch->has_values = true;
  return arrow::Status::OK();
}

arrow::Status ChunkValues::LoadVariable(std::span<const uint8_t> buffer, uint64_t chunk_count,
                                        ChunkScratch* scratch) const {
  if (general_) {
    ARROW_RETURN_NOT_OK(DecompressTo(*general_, buffer, kMaxStrings, &scratch->decompressed));
    buffer = scratch->decompressed;
  }
  ARROW_ASSIGN_OR_RAISE(
      scratch->variable,
      ViewVariableMiniBlock(buffer, static_cast<int>(bits_), static_cast<int64_t>(chunk_count)));
  scratch->has_values = true;
  return arrow::Status::OK();
}

arrow::Status ChunkValues::WriteVariable(const VariableView& view, uint64_t first, uint64_t count,
                                         uint64_t slot, ColumnOutput* out) const {
  VariableOutput& variable = out->variable();
  const uint8_t* const base = view.bytes.data() - view.base;
  if (!fsst_) {
    return bits_ == 32
               ? variable.AppendRun<uint32_t>(slot, view.offsets.data() + 4 * first, count, base)
               : variable.AppendRun<uint64_t>(slot, view.offsets.data() + 8 * first, count, base);
  }
  ARROW_RETURN_NOT_OK(variable.StartRun(slot));
  const auto n = static_cast<int64_t>(first);
  const uint64_t coded = view.start(static_cast<int64_t>(first + count)) - view.start(n);
  ARROW_ASSIGN_OR_RAISE(uint8_t* const begin,
                        variable.Reserve(fsst_->MaxDecodedBytes(coded) + FsstTable::kSlack));
  uint8_t* at = begin;
  const uint64_t size = variable.size();
  const auto decode = [&](auto* ends) -> arrow::Status {
    using End = std::remove_pointer_t<decltype(ends)>;
    for (uint64_t i = 0; i < count; ++i) {
      const auto value = view.value(static_cast<int64_t>(first + i));
      at = fsst_->Decode(value, at);
      if (at == nullptr) return fsst_->InvalidValue(value);
      ends[i] = static_cast<End>(size + static_cast<uint64_t>(at - begin));
    }
    return arrow::Status::OK();
  };
  ARROW_RETURN_NOT_OK(bits_ == 32 ? decode(variable.ends<uint32_t>())
                                  : decode(variable.ends<uint64_t>()));
  variable.AdvanceBytes(static_cast<uint64_t>(at - begin));
  return variable.FinishRun(count);
}

arrow::Status ChunkValues::WriteItemValidity(std::span<const std::span<const uint8_t>> buffers,
                                             uint64_t chunk_count, uint64_t first, uint64_t count,
                                             uint64_t slot, ChunkScratch* scratch,
                                             ColumnOutput* out) const {
  for (size_t i = 0; i < validity_layers_.size(); ++i) {
    const auto [layer, run] = validity_layers_[i];
    std::span<const uint8_t> bits = buffers[i];
    const uint64_t expected = (chunk_count * run + 7) / 8;
    if (general_ && i == 0) {
      if (!scratch->has_values) {
        scratch->decompressed.resize(expected);
        ARROW_RETURN_NOT_OK(DecompressInto(*general_, bits, scratch->decompressed));
      }
      bits = scratch->decompressed;
    }
    if (bits.size() != expected) {
      return Corrupt("", "a chunk's item validity has the wrong size: expected ", expected,
                     " bytes, found ", bits.size());
    }
    ARROW_RETURN_NOT_OK(
        out->item_validity(layer).CopyBits(bits.data(), first * run, slot * run, count * run));
  }
  return arrow::Status::OK();
}

arrow::Status ChunkValues::Write(std::span<const std::span<const uint8_t>> buffers,
                                 uint64_t chunk_count, uint64_t first, uint64_t count,
                                 uint64_t slot, const DictionaryItems* dictionary,
                                 ChunkScratch* scratch, ColumnOutput* out) const {
  if (kind_ == CompressionKind::kVariable) {
    if (!scratch->has_values) ARROW_RETURN_NOT_OK(LoadVariable(buffers[0], chunk_count, scratch));
    return WriteVariable(scratch->variable, first, count, slot, out);
  }
  if (!validity_layers_.empty()) {
    ARROW_RETURN_NOT_OK(WriteItemValidity(buffers, chunk_count, first, count, slot, scratch, out));
  }
  const bool whole_bytes = bits_ % 8 == 0;
  const bool is_packed = kind_ == CompressionKind::kPackedStruct;
  if (dictionary == nullptr && !is_packed && whole_bytes && count == chunk_count) {
    // The whole chunk lands in place.
    uint8_t* const to = out->values() + slot * (bits_ / 8);
    return DecodeFixed(buffers, chunk_count, {to, FixedBytes(count)}, &scratch->decompressed);
  }
  if (!scratch->has_values) ARROW_RETURN_NOT_OK(LoadFixed(buffers, chunk_count, scratch));
  if (dictionary != nullptr) {
    return dictionary->Gather(scratch->fixed + first * (bits_ / 8), static_cast<int>(bits_), count,
                              slot, out);
  }
  if (is_packed) {
    WritePackedRows(scratch->fixed + first * (bits_ / 8), bits_ / 8, count, slot, out);
  } else if (whole_bytes) {
    const uint64_t width = bits_ / 8;
    std::memcpy(out->values() + slot * width, scratch->fixed + first * width, count * width);
  } else {
    arrow::internal::CopyBitmap(scratch->fixed, static_cast<int64_t>(first * bits_),
                                static_cast<int64_t>(count * bits_), out->values(),
                                static_cast<int64_t>(slot * bits_));
  }
  return arrow::Status::OK();
}

}  // namespace pennon::encoding
