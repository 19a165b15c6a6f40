#include "pennon/encoding/constant_writer.h"

#include <cstring>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "pennon/encoding/level_writer.h"
#include "pennon/wire/page_layout_writer.h"

namespace pennon::encoding {
namespace {

constexpr uint64_t kMaxInlineBytes = 32;

uint64_t FirstValid(const LeafValues& values) {
  uint64_t i = 0;
  while (!values.is_valid(i)) ++i;
  return i;
}

bool ConstantBits(const LeafValues& values) {
  const uint8_t* bits = values.data->data();
  const uint64_t first = FirstValid(values);
  const int expected = bits[first / 8] >> (first % 8) & 1;
  for (uint64_t i = first; i < values.length; ++i) {
    if ((bits[i / 8] >> (i % 8) & 1) != expected && values.is_valid(i)) return false;
  }
  return true;
}

bool ConstantFixed(const LeafValues& values) {
  const uint64_t width = values.type.bits_per_slot() / 8;
  const uint8_t* data = values.data->data();
  // Equal to itself shifted by one value.
  if (values.validity == nullptr) {
    return std::memcmp(data, data + width, static_cast<size_t>((values.length - 1) * width)) == 0;
  }
  const uint64_t first = FirstValid(values);
  for (uint64_t i = first + 1; i < values.length; ++i) {
    if (std::memcmp(data + i * width, data + first * width, width) != 0 && values.is_valid(i))
      return false;
  }
  return true;
}

bool ConstantVariable(const LeafValues& values) {
  const uint64_t first = FirstValid(values);
  const std::string_view expected = values.value(first);
  for (uint64_t i = first + 1; i < values.length; ++i) {
    if (values.value(i) != expected && values.is_valid(i)) return false;
  }
  return true;
}

void AppendU32(uint64_t value, std::string* out) {
  const uint32_t word = static_cast<uint32_t>(value);
  out->append(reinterpret_cast<const char*>(&word), sizeof(word));
}

std::string ScalarBuffer(const LeafValues& values, std::string_view scalar) {
  std::string out;
  if (values.type.kind == LeafKind::kFixed) {
    AppendU32(1, &out);
    AppendU32(scalar.size(), &out);
  } else {
    const size_t width = static_cast<size_t>(values.type.offset_bits) / 8;
    AppendU32(2, &out);
    AppendU32(2 * width, &out);
    AppendU32(scalar.size(), &out);
    out.append(width, '\0');
    AppendU32(scalar.size(), &out);
    out.append(width - 4, '\0');
  }
  out.append(scalar);
  return out;
}

}  // namespace

EncodedPage EncodeAllNull(uint64_t length) {
  return {.buffers = {},
          .encoding = wire::WriteConstantPage({wire::LayerKind::kNullableItem}, {}),
          .length = length};
}

bool IsConstant(const LeafValues& values) {
  if (values.type.is_list()) return false;
  if (values.type.kind == LeafKind::kVariable) return ConstantVariable(values);
  return values.type.is_boolean() ? ConstantBits(values) : ConstantFixed(values);
}

EncodedPage EncodeScalar(const LeafValues& values) {
  EncodedPage page;
  page.length = values.length;
  const uint64_t first = FirstValid(values);
  std::string scalar;
  bool is_inline = true;
  if (values.type.is_boolean()) {
    scalar.assign(1, static_cast<char>(values.data->data()[first / 8] >> (first % 8) & 1));
  } else if (values.type.kind == LeafKind::kFixed) {
    const std::span<const uint8_t> bytes = values.fixed_bytes(first, 1);
    scalar.assign(bytes.begin(), bytes.end());
    is_inline = scalar.size() <= kMaxInlineBytes;
  } else {
    scalar = values.value(first);
    is_inline = false;
  }
  if (!is_inline) page.buffers.push_back(arrow::Buffer::FromString(ScalarBuffer(values, scalar)));
  wire::LayerKind layer = wire::LayerKind::kAllValidItem;
  if (values.validity != nullptr) {
    layer = wire::LayerKind::kNullableItem;
    page.buffers.push_back(std::make_shared<arrow::Buffer>(nullptr, 0));
    page.buffers.push_back(
        arrow::Buffer::FromVector(LevelsOfValidity(values.validity.get(), values.length)));
  }
  page.encoding =
      wire::WriteConstantPage({layer}, is_inline ? std::string_view(scalar) : std::string_view());
  return page;
}

}  // namespace pennon::encoding
