#include "column_input.h"

#include <map>
#include <string>
#include <utility>
#include <vector>

#include <arrow/array/array_base.h>
#include <arrow/array/util.h>
#include <arrow/buffer.h>
#include <arrow/type.h>

#include "pennon/schema/field_tree.h"
#include "taker.h"

namespace pennon::fuzz {
namespace {

using TypePtr = std::shared_ptr<arrow::DataType>;
using Data = std::shared_ptr<arrow::ArrayData>;

constexpr uint16_t kMostRows = 6000;
constexpr int64_t kMostItems = 1 << 15;  ///< of all lists of one layer
constexpr int64_t kMostBytes = 1 << 18;  ///< of all strings of one array

const std::vector<TypePtr>& Leaves() {
  static const std::vector<TypePtr> kLeaves = {
      arrow::int32(),
      arrow::utf8(),
      arrow::boolean(),
      arrow::uint8(),
      arrow::int64(),
      arrow::float32(),
      arrow::float64(),
      arrow::binary(),
      arrow::large_utf8(),
      arrow::int16(),
      arrow::null(),
      arrow::fixed_size_binary(5),
      arrow::fixed_size_binary(16),
      arrow::fixed_size_list(arrow::float32(), 4),
      arrow::fixed_size_list(arrow::fixed_size_list(arrow::boolean(), 3), 2),
      arrow::fixed_size_binary(300),
      arrow::large_binary()};
  return kLeaves;
}

TypePtr TakeType(Taker* in, int depth) {
  const uint8_t choice = in->Byte();
  if (choice < 0xC0 || depth > 3) return Leaves()[choice % Leaves().size()];
  switch (choice % 4) {
    case 0:
      return arrow::list(TakeType(in, depth + 1));
    case 1:
      return arrow::large_list(TakeType(in, depth + 1));
    case 2: {
      const auto first = TakeType(in, depth + 1);
      return arrow::struct_({arrow::field("a", first), arrow::field("b", TakeType(in, depth + 1))});
    }
    default:
      return arrow::fixed_size_list(arrow::struct_({arrow::field("a", TakeType(in, depth + 1))}),
                                    2);
  }
}

// A pattern that repeats, plus something that grows with each repeat.
class Pattern {
 public:
  explicit Pattern(Taker* in) : step_(in->Byte() % 4), bytes_(in->Bytes(1 + in->Byte() % 64)) {}
  uint8_t At(size_t i) const {
    if (bytes_.empty()) return 0;
    return static_cast<uint8_t>(bytes_[i % bytes_.size()] + i / bytes_.size() * step_);
  }

 private:
  uint8_t step_;
  std::span<const uint8_t> bytes_;
};

std::shared_ptr<arrow::Buffer> TakeValidity(int64_t length, Taker* in) {
  const uint8_t mode = in->Byte() % 4;
  if (mode < 2) return nullptr;
  std::vector<uint8_t> bits(static_cast<size_t>(length + 7) / 8 + 1, mode == 2 ? 0xFF : 0);
  const Pattern pattern(in);
  if (mode == 2 || in->Byte() % 4 != 0) {
    for (size_t i = 0; i < bits.size(); ++i) bits[i] = pattern.At(i);
  }
  return arrow::Buffer::FromVector(std::move(bits));
}

/// Ends of `length` runs, of less than `most` in all.
template <typename Offset>
std::shared_ptr<arrow::Buffer> TakeOffsets(int64_t length, int64_t most, Taker* in, int64_t* end) {
  std::vector<Offset> offsets(static_cast<size_t>(length) + 1, 0);
  const int scale = in->Byte() % 8;
  const Pattern pattern(in);
  for (size_t i = 0; i + 1 < offsets.size(); ++i) {
    const int64_t next = offsets[i] + (pattern.At(i) << 3 >> scale);
    offsets[i + 1] = static_cast<Offset>(next < most ? next : offsets[i]);
  }
  *end = offsets.back();
  return arrow::Buffer::FromVector(std::move(offsets));
}

std::shared_ptr<arrow::Buffer> TakeBytes(int64_t size, bool text, Taker* in) {
  std::vector<uint8_t> bytes(static_cast<size_t>(size));
  const Pattern pattern(in);
  for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = pattern.At(i) & (text ? 0x7F : 0xFF);
  return arrow::Buffer::FromVector(std::move(bytes));
}

Data TakeArray(const TypePtr& type, int64_t length, Taker* in);

template <typename Offset>
Data TakeStrings(const TypePtr& type, int64_t length, bool text, Taker* in) {
  int64_t bytes;
  auto validity = TakeValidity(length, in);
  auto offsets = TakeOffsets<Offset>(length, kMostBytes, in, &bytes);
  return arrow::ArrayData::Make(type, length, {validity, offsets, TakeBytes(bytes, text, in)});
}

template <typename Offset>
Data TakeLists(const TypePtr& type, int64_t length, Taker* in) {
  int64_t items;
  auto validity = TakeValidity(length, in);
  auto offsets = TakeOffsets<Offset>(length, kMostItems, in, &items);
  return arrow::ArrayData::Make(type, length, {validity, offsets},
                                {TakeArray(type->field(0)->type(), items, in)});
}

Data TakeArray(const TypePtr& type, int64_t length, Taker* in) {
  switch (type->id()) {
    case arrow::Type::NA:
      return arrow::ArrayData::Make(type, length, {nullptr}, length);
    case arrow::Type::STRING:
    case arrow::Type::BINARY:
      return TakeStrings<int32_t>(type, length, type->id() == arrow::Type::STRING, in);
    case arrow::Type::LARGE_STRING:
    case arrow::Type::LARGE_BINARY:
      return TakeStrings<int64_t>(type, length, type->id() == arrow::Type::LARGE_STRING, in);
    case arrow::Type::LIST:
      return TakeLists<int32_t>(type, length, in);
    case arrow::Type::LARGE_LIST:
      return TakeLists<int64_t>(type, length, in);
    case arrow::Type::FIXED_SIZE_LIST: {
      const auto& list = static_cast<const arrow::FixedSizeListType&>(*type);
      auto validity = TakeValidity(length, in);
      return arrow::ArrayData::Make(type, length, {validity},
                                    {TakeArray(list.value_type(), length * list.list_size(), in)});
    }
    case arrow::Type::STRUCT: {
      auto out = arrow::ArrayData::Make(type, length, {TakeValidity(length, in)});
      for (const auto& field : type->fields())
        out->child_data.push_back(TakeArray(field->type(), length, in));
      return out;
    }
    default: {
      const int64_t bits = static_cast<const arrow::FixedWidthType&>(*type).bit_width();
      auto validity = TakeValidity(length, in);
      return arrow::ArrayData::Make(type, length,
                                    {validity, TakeBytes((length * bits + 7) / 8, false, in)});
    }
  }
}

std::map<std::string, std::string> TakeHints(uint8_t choice) {
  static const char* const kCompressions[] = {"", "zstd", "lz4", "fsst", "none"};
  std::map<std::string, std::string> hints;
  if (choice % 5 != 0) hints["lance-encoding:compression"] = kCompressions[choice % 5];
  if (choice & 0x20) hints["lance-encoding:bss"] = "on";
  if (choice & 0x40)
    hints["lance-encoding:structural-encoding"] = choice & 0x80 ? "fullzip" : "miniblock";
  return hints;
}

}  // namespace

ColumnInput TakeColumn(std::span<const uint8_t> input) {
  Taker in(input);
  ColumnInput out{.minor = static_cast<uint16_t>(in.Byte() % 3)};
  const auto hints = TakeHints(in.Byte());
  const int64_t rows = 1 + in.Short() % kMostRows;
  const TypePtr type = TakeType(&in, 0);
  out.array = arrow::MakeArray(TakeArray(type, rows + 3, &in))->Slice(3);
  Require(out.array->ValidateFull().ok());
  auto schema = schema::FromArrow(*arrow::schema({arrow::field("c", type)})).ValueOrDie();
  out.field = std::move(schema.fields[0]);
  out.field.metadata.insert(hints.begin(), hints.end());
  if (type->id() == arrow::Type::LARGE_BINARY && rows % 2 != 0)
    out.field.metadata["lance-encoding:blob"] = "true";
  return out;
}

}  // namespace pennon::fuzz
