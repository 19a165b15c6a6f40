#include "pennon/encoding/kernels/utf8.h"

#include <algorithm>
#include <cstdint>
#include <cstring>

#include <arrow/type.h>
#include <arrow/util/bit_util.h>
#include <arrow/util/utf8.h>

#include "pennon/error.h"

namespace pennon::encoding {
namespace {

constexpr size_t kBlockBytes = 4096;

bool IsAscii(const uint8_t* data, size_t size) {
  for (size_t at = 0; at < size; at += kBlockBytes) {
    const size_t end = std::min(size, at + kBlockBytes);
    uint8_t bits = 0;
    for (size_t i = at; i < end; ++i) bits |= data[i];
    if ((bits & 0x80) != 0) return false;
  }
  return true;
}

/// Whether `byte` stands inside a character, after its first byte.
bool IsContinuation(uint8_t byte) { return (byte & 0xC0) == 0x80; }

/// Whether all bytes together are UTF-8 and no value begins inside a character: then each value is.
template <typename Offset>
bool IsUtf8Throughout(const Offset* offsets, int64_t length, const uint8_t* data) {
  const Offset first = offsets[0], end = offsets[length];
  if (IsAscii(data + first, static_cast<size_t>(end - first))) return true;
  if (!arrow::util::ValidateUTF8(data + first, end - first)) return false;
  // Starts at `end` belong to empty values, and there is no byte there.
  bool cut = false;
  for (int64_t i = 0; i < length && offsets[i] < end; ++i) cut |= IsContinuation(data[offsets[i]]);
  return !cut;
}

/// The first byte from which on `data` is not UTF-8.
int64_t FirstBadByte(const uint8_t* data, int64_t size) {
  // The longest valid prefix; validity of prefixes is not monotone inside a character of 4 bytes.
  int64_t good = 0;
  while (good < size) {
    int64_t step = 1;
    while (step <= 4 && good + step <= size && !arrow::util::ValidateUTF8(data + good, step))
      ++step;
    if (step > 4 || good + step > size) return good;
    good += step;
  }
  return good;
}

template <typename Offset>
arrow::Status CheckEach(const arrow::ArrayData& strings, const Offset* offsets,
                        const uint8_t* data) {
  const uint8_t* const validity = strings.buffers[0] ? strings.buffers[0]->data() : nullptr;
  for (int64_t i = 0; i < strings.length; ++i) {
    if (validity != nullptr && !arrow::bit_util::GetBit(validity, i)) continue;
    const int64_t size = offsets[i + 1] - offsets[i];
    if (arrow::util::ValidateUTF8(data + offsets[i], size)) continue;
    const int64_t bad = FirstBadByte(data + offsets[i], size);
    return Corrupt("",
                   "a text value is not valid UTF-8 (bytes of other kinds belong in a binary "
                   "column): value ",
                   i, " of those read, byte ", bad, " of ", size, " is ",
                   static_cast<unsigned>(data[offsets[i] + bad]));
  }
  return arrow::Status::OK();
}

template <typename Offset>
arrow::Status Check(const arrow::ArrayData& strings) {
  if (strings.length == 0) return arrow::Status::OK();
  const auto* const offsets = strings.GetValues<Offset>(1);
  const uint8_t* const data = strings.buffers[2]->data();
  if (IsUtf8Throughout(offsets, strings.length, data)) return arrow::Status::OK();
  // Rare: a defect, or a null slot that holds any bytes.
  return CheckEach(strings, offsets, data);
}

}  // namespace

arrow::Status CheckUtf8(const arrow::ArrayData& strings) {
  static const bool initialized = (arrow::util::InitializeUTF8(), true);
  (void)initialized;
  return strings.type->id() == arrow::Type::LARGE_STRING ? Check<int64_t>(strings)
                                                         : Check<int32_t>(strings);
}

}  // namespace pennon::encoding
