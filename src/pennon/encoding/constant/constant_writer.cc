#include "pennon/encoding/constant/constant_writer.h"

#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "pennon/encoding/nested/level_writer.h"
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

using Stream = std::shared_ptr<arrow::Buffer>;

Stream RawLevels(const std::vector<uint16_t>& levels) { return arrow::Buffer::FromVector(levels); }

// One stream of levels, compressed if the version can and it pays: then `encoding` is set.
arrow::Result<Stream> CompressLevels(const std::vector<uint16_t>& levels, int minor,
                                     std::string* encoding) {
  if (minor < 2 || levels.empty() || levels.size() > UINT32_MAX) return RawLevels(levels);
  const uint32_t count = static_cast<uint32_t>(levels.size());
  const LevelWriter writer(levels, std::span(&count, 1), minor);
  if (writer.is_plain()) return RawLevels(levels);
  std::vector<uint8_t> bytes;
  ARROW_RETURN_NOT_OK(writer.AppendChunk(0, count, &bytes));
  *encoding = writer.encoding();
  return arrow::Buffer::FromVector(std::move(bytes));
}

}  // namespace

arrow::Result<EncodedPage> EncodeAllNull(const PageNesting& nesting, int minor) {
  EncodedPage page;
  page.length = nesting.slots;
  wire::ConstantMessage message;
  message.layers = nesting.layers;
  if (nesting.layers != std::vector{wire::LayerKind::kNullableItem}) {
    ARROW_ASSIGN_OR_RAISE(Stream repetition,
                          CompressLevels(nesting.repetition, minor, &message.rep_compression));
    ARROW_ASSIGN_OR_RAISE(Stream definition,
                          CompressLevels(nesting.definition, minor, &message.def_compression));
    if (!message.rep_compression.empty()) message.num_rep_values = nesting.entries;
    if (!message.def_compression.empty()) message.num_def_values = nesting.entries;
    page.buffers = {std::move(repetition), std::move(definition)};
  }
  page.encoding = wire::WriteConstantPage(message);
  return page;
}

bool IsConstant(const LeafValues& values) {
  if (values.type.is_list()) return false;
  if (values.type.kind == LeafKind::kVariable) return ConstantVariable(values);
  return values.type.is_boolean() ? ConstantBits(values) : ConstantFixed(values);
}

EncodedPage EncodeScalar(const PageNesting& nesting, const LeafValues& values) {
  EncodedPage page;
  page.length = nesting.slots;
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
  if (!nesting.repetition.empty() || !nesting.definition.empty()) {
    page.buffers.push_back(RawLevels(nesting.repetition));
    page.buffers.push_back(RawLevels(nesting.definition));
  }
  wire::ConstantMessage message{.layers = nesting.layers};
  if (is_inline) message.inline_value = scalar;
  page.encoding = wire::WriteConstantPage(message);
  return page;
}

}  // namespace pennon::encoding
