#include "pennon/encoding/v20/source.h"

#include <algorithm>
#include <cstring>

#include "pennon/encoding/kernels/bitpacking.h"
#include "pennon/error.h"

namespace pennon::encoding {
namespace {

using Form = V20Source::Form;
using wire::ArrayEncodingKind;

constexpr uint64_t kUnit = kUnitValues;

// Bytes that `count` values of `bits` bits take; values that no file can hold are an error.
arrow::Result<uint64_t> BytesFor(const PageDescription& page, uint64_t count, uint64_t bits) {
  uint64_t total;
  if (__builtin_mul_overflow(count, bits, &total) || total > UINT64_MAX - 7) {
    return Corrupt(page.path, "page claims more values than a file can hold: ", count, " of ", bits,
                   " bits, column: ", page.column);
  }
  return (total + 7) / 8;
}

arrow::Status TooShort(const PageDescription& page, uint64_t needed, const PageBuffer& buffer) {
  return Corrupt(page.path, "page buffer is too short for its values: expected ", needed,
                 " bytes, found ", buffer.size, ", column: ", page.column,
                 ", page buffer at: ", buffer.offset);
}

arrow::Status MakeFlatSource(const PageDescription& page, const wire::ArrayEncoding& node,
                             V20Source* out) {
  ARROW_ASSIGN_OR_RAISE(out->scheme, GeneralSchemeOf(std::string_view(node.scheme)));
  ARROW_ASSIGN_OR_RAISE(const uint64_t needed, BytesFor(page, out->count, out->bits));
  if (out->scheme != GeneralScheme::kNone) {
    if (out->bits % 8 != 0) {
      return Corrupt(page.path, "bitmaps cannot be compressed in 2.0 pages, column: ", page.column);
    }
    out->form = Form::kCompressed;
    return arrow::Status::OK();
  }
  if (out->buffer.size < needed) return TooShort(page, needed, out->buffer);
  return arrow::Status::OK();
}

arrow::Status MakePackedSource(const PageDescription& page, const wire::ArrayEncoding& node,
                               V20Source* out) {
  const bool words = out->bits == 8 || out->bits == 16 || out->bits == 32 || out->bits == 64;
  if (!words || node.packed_bits > out->bits) {
    return Corrupt(page.path, "bit-packed page has impossible widths: ", node.packed_bits,
                   " bits out of ", out->bits, ", column: ", page.column);
  }
  out->packed_bits = static_cast<int>(node.packed_bits);
  out->is_signed = node.is_signed;
  uint64_t needed = 0;
  if (node.kind == ArrayEncodingKind::kBitpacked) {
    out->form = Form::kBitStream;
    ARROW_ASSIGN_OR_RAISE(needed, BytesFor(page, out->count, node.packed_bits));
  } else {
    out->form = Form::kUnits;
    const uint64_t units = out->count / kUnit + (out->count % kUnit != 0 ? 1 : 0);
    ARROW_ASSIGN_OR_RAISE(needed, BytesFor(page, units, PackedUnitBytes(out->packed_bits) * 8));
  }
  return out->buffer.size < needed ? TooShort(page, needed, out->buffer) : arrow::Status::OK();
}

}  // namespace

const wire::ArrayEncoding& WithoutNoNulls(const wire::ArrayEncoding& node) {
  const wire::ArrayEncoding* at = &node;
  while (at->kind == ArrayEncodingKind::kNullable && at->nulls == wire::NullableKind::kNoNulls) {
    at = &at->children[0];
  }
  return *at;
}

arrow::Result<PageBuffer> FindBuffer(const PageDescription& page, const wire::BufferName& name) {
  if (name.collection != 0) {
    return Unsupported(page.path,
                       "Page values outside the page's own buffers are not supported, column: ",
                       page.column, ", buffer collection: ", name.collection);
  }
  if (name.index >= page.buffers.size()) {
    return Corrupt(page.path, "page encoding names a buffer that the page does not have: buffer ",
                   name.index, " of ", page.buffers.size(), ", column: ", page.column);
  }
  return page.buffers[name.index];
}

arrow::Result<V20Source> V20Source::Make(const PageDescription& page,
                                         const wire::ArrayEncoding& node, uint64_t count,
                                         uint64_t bits) {
  const wire::ArrayEncoding& leaf = WithoutNoNulls(node);
  const bool is_flat = leaf.kind == ArrayEncodingKind::kFlat;
  if (!is_flat && leaf.kind != ArrayEncodingKind::kBitpacked &&
      leaf.kind != ArrayEncodingKind::kBitpackedForNonNeg) {
    return Unsupported(page.path,
                       "Page encoding is not supported here: ", wire::ArrayEncodingName(leaf.kind),
                       ", column: ", page.column);
  }
  if (leaf.bits != bits) {
    return Corrupt(page.path, "page values have the wrong width: expected ", bits, " bits, found ",
                   leaf.bits, ", column: ", page.column);
  }
  V20Source source{.bits = bits, .count = count};
  ARROW_ASSIGN_OR_RAISE(source.buffer, FindBuffer(page, leaf.buffer));
  ARROW_RETURN_NOT_OK(is_flat ? MakeFlatSource(page, leaf, &source)
                              : MakePackedSource(page, leaf, &source));
  return source;
}

void V20SourceRead::Add(uint64_t first, uint64_t count, std::vector<io::RangeRead>* reads) {
  const V20Source& s = *source_;
  Run run{.first = first, .count = count, .read = reads->size()};
  if (s.form == Form::kCompressed && !runs_.empty()) {
    run.read = runs_[0].read;  // one read of all serves every run
    runs_.push_back(run);
    return;
  }
  uint64_t begin = 0;
  uint64_t end = s.buffer.size;
  if (s.form == Form::kUnits) {
    const uint64_t unit = PackedUnitBytes(s.packed_bits);
    begin = first / kUnit * unit;
    end = (first + count + kUnit - 1) / kUnit * unit;
  } else if (s.form != Form::kCompressed) {
    const uint64_t width = s.form == Form::kFlat ? s.bits : static_cast<uint64_t>(s.packed_bits);
    begin = first * width / 8;
    end = ((first + count) * width + 7) / 8;
  }
  run.size = end - begin;
  reads->push_back({.offset = s.buffer.offset + begin, .size = end - begin});
  runs_.push_back(run);
}

bool V20SourceRead::AddInto(uint64_t first, uint64_t count, uint8_t* into,
                            std::vector<io::RangeRead>* reads) {
  Add(first, count, reads);
  if (source_->form != Form::kFlat || source_->bits % 8 != 0) return false;
  reads->back().into = into;
  runs_.back().in_place = true;
  return true;
}

arrow::Status V20SourceRead::Load(std::span<const io::RangeRead> reads, arrow::MemoryPool* pool) {
  for (Run& run : runs_) run.data = reads[run.read].data;
  if (source_->form != Form::kCompressed || runs_.empty()) return arrow::Status::OK();
  // `Make` has seen that the product does not overflow.
  const uint64_t bytes = source_->count * source_->bits / 8;
  const std::span<const uint8_t> packed(runs_[0].data, source_->buffer.size);
  ARROW_ASSIGN_OR_RAISE(
      content_, Decompress(source_->scheme, packed,
                           static_cast<int64_t>(std::min<uint64_t>(bytes, INT64_MAX)), pool));
  if (static_cast<uint64_t>(content_->size()) != bytes) {
    return Corrupt("", "compressed page buffer has the wrong size: expected ", bytes,
                   " bytes, found ", content_->size());
  }
  return arrow::Status::OK();
}

V20SourceRead::Bits V20SourceRead::BitsOf(size_t run) const {
  const uint64_t bit = runs_[run].first * source_->bits;
  if (content_) return {content_->data(), bit};
  return {runs_[run].data, bit % 8};
}

arrow::Status V20SourceRead::Copy(size_t run_index, uint8_t* out) const {
  const Run& run = runs_[run_index];
  const V20Source& s = *source_;
  const uint64_t bytes = run.count * s.bits / 8;
  if (is_plain()) {
    if (run.in_place || bytes == 0) return arrow::Status::OK();
    const Bits at = BitsOf(run_index);
    std::memcpy(out, at.bytes + at.offset / 8, bytes);
    return arrow::Status::OK();
  }
  const std::span<const uint8_t> in(run.data, run.size);
  const std::span<uint8_t> to(out, bytes);
  const auto count = static_cast<int64_t>(run.count);
  const int bits = static_cast<int>(s.bits);
  if (s.form == Form::kUnits) {
    return DecodeBitpackedUnits(in, bits, s.packed_bits, static_cast<int64_t>(run.first % kUnit),
                                count, to);
  }
  // The read begins at the byte that holds the run's first bit.
  return DecodeBitStream(in, run.first * static_cast<uint64_t>(s.packed_bits) % 8, bits,
                         s.packed_bits, s.is_signed, count, to);
}

}  // namespace pennon::encoding
