#include "pennon/encoding/kernels/variable.h"

#include <algorithm>
#include <limits>

#include "pennon/error.h"

namespace pennon::encoding {
namespace {

template <typename T>
T Load(const uint8_t* from) {
  T value;
  std::memcpy(&value, from, sizeof(T));
  return value;
}

template <typename W>
bool Ascends(const uint8_t* offsets, int64_t num_values) {
  bool falls = false;
  for (int64_t i = 0; i < num_values; ++i) {
    falls |= Load<W>(offsets + (i + 1) * sizeof(W)) < Load<W>(offsets + i * sizeof(W));
  }
  return !falls;
}

arrow::Status CheckOffsetBits(int offset_bits) {
  if (offset_bits == 32 || offset_bits == 64) return arrow::Status::OK();
  return Corrupt("", "offsets must be 32 or 64 bits wide, found ", offset_bits);
}

// Views offsets that begin at `in[at]`, count from byte `origin` of the buffer, and must say
// `first` first.
template <typename W>
arrow::Result<VariableView> View(std::span<const uint8_t> in, size_t at, size_t origin,
                                 uint64_t first, int64_t num_values) {
  const size_t end =
      at + (static_cast<size_t>(num_values) + 1) * sizeof(W);  // the caller checked the size
  const uint8_t* offsets = in.data() + at;
  if (Load<W>(offsets) != first) {
    return Corrupt("", "first offset must be ", first, ", found ", Load<W>(offsets));
  }
  if (!Ascends<W>(offsets, num_values)) return Corrupt("", "offsets must not decrease");
  const uint64_t last = Load<W>(offsets + static_cast<size_t>(num_values) * sizeof(W));
  if (last > in.size() - origin) {
    return Corrupt("", "offsets reach beyond their buffer: last offset ", last, ", buffer has ",
                   in.size() - origin, " bytes");
  }
  return VariableView{.offset_bits = static_cast<int>(sizeof(W) * 8),
                      .num_values = num_values,
                      .offsets = in.subspan(at, end - at),
                      .bytes = in.subspan(end, last - first),
                      .base = first};
}

// Whether `in` has room for `header` bytes and num_values + 1 offsets of `width` bytes.
arrow::Status CheckRoom(std::span<const uint8_t> in, size_t header, size_t width,
                        int64_t num_values) {
  if (num_values >= 0 && in.size() >= header &&
      (in.size() - header) / width > static_cast<uint64_t>(num_values)) {
    return arrow::Status::OK();
  }
  return Corrupt("", "variable-width buffer is too short for its offsets: ", num_values,
                 " values, ", in.size(), " bytes");
}

template <typename W>
arrow::Result<VariableView> ViewBlock(std::span<const uint8_t> in, int64_t num_values) {
  constexpr size_t kHeader = 2 * sizeof(W);
  ARROW_RETURN_NOT_OK(CheckRoom(in, kHeader, sizeof(W), num_values));
  const W width = Load<W>(in.data());
  if (width != sizeof(W) * 8) {
    return Corrupt("", "variable-width block must start with its offset width: expected ",
                   sizeof(W) * 8, ", found ", width);
  }
  const uint64_t start = kHeader + (static_cast<uint64_t>(num_values) + 1) * sizeof(W);
  if (Load<W>(in.data() + sizeof(W)) != start) {
    return Corrupt("", "variable-width block must say where its bytes start: expected ", start,
                   ", found ", Load<W>(in.data() + sizeof(W)));
  }
  return View<W>(in, kHeader, start, 0, num_values);
}

template <typename W>
void Append(W value, std::vector<uint8_t>* out) {
  const auto* bytes = reinterpret_cast<const uint8_t*>(&value);
  out->insert(out->end(), bytes, bytes + sizeof(W));
}

// Appends `offsets`, moved so that the first one says `first`, and the bytes between them.
template <typename W, typename Offset>
arrow::Status AppendValues(const Offset* offsets, const uint8_t* bytes, int64_t num_values,
                           uint64_t first, std::vector<uint8_t>* out) {
  const uint64_t total =
      static_cast<uint64_t>(offsets[num_values]) - static_cast<uint64_t>(offsets[0]);
  if (total > std::numeric_limits<W>::max() - first) {
    return InvalidInput("Values do not fit their offset width: ", total, " bytes in offsets of ",
                        sizeof(W) * 8, " bits");
  }
  const size_t at = out->size();
  const size_t offset_bytes = (static_cast<size_t>(num_values) + 1) * sizeof(W);
  out->resize(at + offset_bytes + total);
  for (int64_t i = 0; i <= num_values; ++i) {
    const W end = static_cast<W>(first + static_cast<uint64_t>(offsets[i] - offsets[0]));
    std::memcpy(out->data() + at + i * sizeof(W), &end, sizeof(W));
  }
  if (total != 0) std::memcpy(out->data() + at + offset_bytes, bytes + offsets[0], total);
  return arrow::Status::OK();
}

template <typename W, typename Offset>
arrow::Status AppendMiniBlock(const Offset* offsets, const uint8_t* bytes, int64_t num_values,
                              std::vector<uint8_t>* out) {
  const size_t at = out->size();
  const uint64_t first = (static_cast<uint64_t>(num_values) + 1) * sizeof(W);
  ARROW_RETURN_NOT_OK(AppendValues<W>(offsets, bytes, num_values, first, out));
  // The reference writer's padding byte.
  while ((out->size() - at) % sizeof(W) != 0) out->push_back(72);
  return arrow::Status::OK();
}

template <typename W, typename Offset>
arrow::Status AppendBlock(const Offset* offsets, const uint8_t* bytes, int64_t num_values,
                          std::vector<uint8_t>* out) {
  const uint64_t start = 2 * sizeof(W) + (static_cast<uint64_t>(num_values) + 1) * sizeof(W);
  if (start > std::numeric_limits<W>::max()) {
    return InvalidInput("Values do not fit their offset width: ", num_values,
                        " values in offsets of ", sizeof(W) * 8, " bits");
  }
  Append<W>(static_cast<W>(sizeof(W) * 8), out);
  Append<W>(static_cast<W>(start), out);
  return AppendValues<W>(offsets, bytes, num_values, 0, out);
}

arrow::Status CheckEncode(int64_t num_values, int offset_bits) {
  if (num_values >= 0 && (offset_bits == 32 || offset_bits == 64)) return arrow::Status::OK();
  return InvalidInput("Variable-width values must have offsets of 32 or 64 bits: ", num_values,
                      " values, offsets of ", offset_bits, " bits");
}

}  // namespace

arrow::Result<VariableView> ViewVariableMiniBlock(std::span<const uint8_t> in, int offset_bits,
                                                  int64_t num_values) {
  ARROW_RETURN_NOT_OK(CheckOffsetBits(offset_bits));
  const size_t width = static_cast<size_t>(offset_bits) / 8;
  ARROW_RETURN_NOT_OK(CheckRoom(in, 0, width, num_values));
  const uint64_t first = (static_cast<uint64_t>(num_values) + 1) * width;
  return offset_bits == 32 ? View<uint32_t>(in, 0, 0, first, num_values)
                           : View<uint64_t>(in, 0, 0, first, num_values);
}

arrow::Result<VariableView> ViewVariableBlock(std::span<const uint8_t> in, int offset_bits,
                                              int64_t num_values) {
  ARROW_RETURN_NOT_OK(CheckOffsetBits(offset_bits));
  return offset_bits == 32 ? ViewBlock<uint32_t>(in, num_values)
                           : ViewBlock<uint64_t>(in, num_values);
}

template <typename Offset>
arrow::Status VariableView::CopyOffsets(int64_t begin, int64_t count, Offset first,
                                        Offset* out) const {
  const uint64_t from = start(begin);
  const uint64_t total = start(begin + count) - from;
  if (total >
      static_cast<uint64_t>(std::numeric_limits<Offset>::max()) - static_cast<uint64_t>(first)) {
    return Corrupt("", "values are longer than their Arrow type can hold in one array: ", total,
                   " bytes after ", first);
  }
  const uint64_t move = static_cast<uint64_t>(first) - from - base;
  if (offset_bits == 32) {
    const uint8_t* at = offsets.data() + begin * 4;
    for (int64_t i = 0; i <= count; ++i)
      out[i] = static_cast<Offset>(Load<uint32_t>(at + 4 * i) + move);
  } else {
    const uint8_t* at = offsets.data() + begin * 8;
    for (int64_t i = 0; i <= count; ++i)
      out[i] = static_cast<Offset>(Load<uint64_t>(at + 8 * i) + move);
  }
  return arrow::Status::OK();
}

template <typename Offset>
arrow::Status EncodeVariableMiniBlock(const Offset* offsets, const uint8_t* bytes,
                                      int64_t num_values, int offset_bits,
                                      std::vector<uint8_t>* out) {
  ARROW_RETURN_NOT_OK(CheckEncode(num_values, offset_bits));
  return offset_bits == 32 ? AppendMiniBlock<uint32_t>(offsets, bytes, num_values, out)
                           : AppendMiniBlock<uint64_t>(offsets, bytes, num_values, out);
}

template <typename Offset>
arrow::Status EncodeVariableBlock(const Offset* offsets, const uint8_t* bytes, int64_t num_values,
                                  int offset_bits, std::vector<uint8_t>* out) {
  ARROW_RETURN_NOT_OK(CheckEncode(num_values, offset_bits));
  return offset_bits == 32 ? AppendBlock<uint32_t>(offsets, bytes, num_values, out)
                           : AppendBlock<uint64_t>(offsets, bytes, num_values, out);
}

#define PENNON_INSTANTIATE(Offset)                                                                \
  template arrow::Status VariableView::CopyOffsets<Offset>(int64_t, int64_t, Offset, Offset*)     \
      const;                                                                                      \
  template arrow::Status EncodeVariableMiniBlock<Offset>(const Offset*, const uint8_t*, int64_t,  \
                                                         int, std::vector<uint8_t>*);             \
  template arrow::Status EncodeVariableBlock<Offset>(const Offset*, const uint8_t*, int64_t, int, \
                                                     std::vector<uint8_t>*);
PENNON_INSTANTIATE(int32_t)
PENNON_INSTANTIATE(int64_t)
#undef PENNON_INSTANTIATE

}  // namespace pennon::encoding
