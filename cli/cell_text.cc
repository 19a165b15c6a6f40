#include "cell_text.h"

#include <cmath>
#include <string_view>

#include <arrow/api.h>
#include <arrow/util/base64.h>
#include <arrow/util/decimal.h>
#include <arrow/util/float16.h>

namespace pennon::cli {
namespace {

Json FloatToJson(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "Infinity" : "-Infinity";
  return value;
}

// A float32 printed as double shows digits it does not have: go through its own shortest text.
Json Float32ToJson(float value) {
  if (!std::isfinite(value)) return FloatToJson(value);
  char text[32];
  for (int precision = 6; precision <= 9; ++precision) {
    std::snprintf(text, sizeof text, "%.*g", precision, static_cast<double>(value));
    if (std::strtof(text, nullptr) == value) break;
  }
  return std::strtod(text, nullptr);
}

template <typename ListLike>
Json ListToJson(const ListLike& list, int64_t index) {
  Json out = Json::array();
  const auto& values = *list.values();
  for (int64_t i = list.value_offset(index);
       i < list.value_offset(index) + list.value_length(index); ++i) {
    out.push_back(CellToJson(values, i));
  }
  return out;
}

Json StructToJson(const arrow::StructArray& array, int64_t index) {
  Json out = Json::object();
  for (int i = 0; i < array.num_fields(); ++i) {
    out[array.type()->field(i)->name()] = CellToJson(*array.field(i), index);
  }
  return out;
}

template <typename BinaryLike>
std::string_view ViewOf(const arrow::Array& array, int64_t index) {
  return static_cast<const BinaryLike&>(array).GetView(index);
}

std::string_view BytesOf(const arrow::Array& array, int64_t index) {
  switch (array.type_id()) {
    case arrow::Type::STRING:
    case arrow::Type::BINARY:
      return ViewOf<arrow::BinaryArray>(array, index);
    case arrow::Type::LARGE_STRING:
    case arrow::Type::LARGE_BINARY:
      return ViewOf<arrow::LargeBinaryArray>(array, index);
    default:
      return ViewOf<arrow::FixedSizeBinaryArray>(array, index);
  }
}

template <typename ArrayType>
Json NumberToJson(const arrow::Array& array, int64_t index) {
  return static_cast<const ArrayType&>(array).Value(index);
}

std::string OtherToText(const arrow::Array& array, int64_t index) {
  auto scalar = array.GetScalar(index);
  return scalar.ok() ? (*scalar)->ToString() : scalar.status().ToString();
}

bool IsBinary(arrow::Type::type id) {
  return id == arrow::Type::BINARY || id == arrow::Type::LARGE_BINARY ||
         id == arrow::Type::FIXED_SIZE_BINARY;
}

std::string HexOf(std::string_view bytes) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string out = "X'";
  for (unsigned char byte : bytes) {
    out += kDigits[byte >> 4];
    out += kDigits[byte & 15];
  }
  return out + "'";
}

}  // namespace

Json CellToJson(const arrow::Array& array, int64_t index) {
  if (array.IsNull(index)) return nullptr;
  switch (array.type_id()) {
    case arrow::Type::BOOL:
      return static_cast<const arrow::BooleanArray&>(array).Value(index);
    case arrow::Type::INT8:
      return NumberToJson<arrow::Int8Array>(array, index);
    case arrow::Type::INT16:
      return NumberToJson<arrow::Int16Array>(array, index);
    case arrow::Type::INT32:
      return NumberToJson<arrow::Int32Array>(array, index);
    case arrow::Type::INT64:
      return NumberToJson<arrow::Int64Array>(array, index);
    case arrow::Type::UINT8:
      return NumberToJson<arrow::UInt8Array>(array, index);
    case arrow::Type::UINT16:
      return NumberToJson<arrow::UInt16Array>(array, index);
    case arrow::Type::UINT32:
      return NumberToJson<arrow::UInt32Array>(array, index);
    case arrow::Type::UINT64:
      return NumberToJson<arrow::UInt64Array>(array, index);
    case arrow::Type::FLOAT:
      return Float32ToJson(static_cast<const arrow::FloatArray&>(array).Value(index));
    case arrow::Type::DOUBLE:
      return FloatToJson(static_cast<const arrow::DoubleArray&>(array).Value(index));
    case arrow::Type::HALF_FLOAT:
      return FloatToJson(arrow::util::Float16::FromBits(
                             static_cast<const arrow::HalfFloatArray&>(array).Value(index))
                             .ToDouble());
    case arrow::Type::STRING:
    case arrow::Type::LARGE_STRING:
      return std::string(BytesOf(array, index));
    case arrow::Type::BINARY:
    case arrow::Type::LARGE_BINARY:
    case arrow::Type::FIXED_SIZE_BINARY:
      return arrow::util::base64_encode(BytesOf(array, index));
    case arrow::Type::LIST:
      return ListToJson(static_cast<const arrow::ListArray&>(array), index);
    case arrow::Type::LARGE_LIST:
      return ListToJson(static_cast<const arrow::LargeListArray&>(array), index);
    case arrow::Type::MAP:  // a list of objects with key and value: keys need not be texts
      return ListToJson(static_cast<const arrow::MapArray&>(array), index);
    case arrow::Type::FIXED_SIZE_LIST:
      return ListToJson(static_cast<const arrow::FixedSizeListArray&>(array), index);
    case arrow::Type::STRUCT:
      return StructToJson(static_cast<const arrow::StructArray&>(array), index);
    case arrow::Type::DICTIONARY: {
      const auto& dictionary = static_cast<const arrow::DictionaryArray&>(array);
      return CellToJson(*dictionary.dictionary(), dictionary.GetValueIndex(index));
    }
    case arrow::Type::EXTENSION:
      return CellToJson(*static_cast<const arrow::ExtensionArray&>(array).storage(), index);
    default:
      return OtherToText(array, index);  // dates, times, timestamps, durations, decimals
  }
}

std::string DumpJson(const Json& json, int indent) {
  return json.dump(indent, ' ', false, Json::error_handler_t::replace);
}

std::string CellToText(const arrow::Array& array, int64_t index, const std::string& null_text) {
  if (array.IsNull(index)) return null_text;
  if (IsBinary(array.type_id())) return HexOf(BytesOf(array, index));
  if (array.type_id() == arrow::Type::DICTIONARY) {
    const auto& dictionary = static_cast<const arrow::DictionaryArray&>(array);
    return CellToText(*dictionary.dictionary(), dictionary.GetValueIndex(index), null_text);
  }
  Json json = CellToJson(array, index);
  return json.is_string() ? json.get<std::string>() : DumpJson(json);
}

Json ScalarToJson(const std::shared_ptr<arrow::Scalar>& scalar) {
  if (scalar == nullptr || !scalar->is_valid) return nullptr;
  auto array = arrow::MakeArrayFromScalar(*scalar, 1);
  return array.ok() ? CellToJson(**array, 0) : Json(scalar->ToString());
}

std::string ScalarToText(const std::shared_ptr<arrow::Scalar>& scalar) {
  if (scalar == nullptr || !scalar->is_valid) return "NULL";
  auto array = arrow::MakeArrayFromScalar(*scalar, 1);
  return array.ok() ? CellToText(**array, 0, "NULL") : scalar->ToString();
}

}  // namespace pennon::cli
