#include "pennon/expr/types.h"

#include <algorithm>
#include <unordered_map>

#include <arrow/type.h>
#include <arrow/type_traits.h>

#include "pennon/error.h"

namespace pennon::expr {
namespace {

using TypePtr = std::shared_ptr<arrow::DataType>;

const std::unordered_map<std::string, TypePtr>& PlainTypes() {
  using namespace arrow;  // the table reads better so
  static const std::unordered_map<std::string, TypePtr> types = {
      {"bool", boolean()},
      {"boolean", boolean()},
      {"tinyint", int8()},
      {"int2", int16()},
      {"smallint", int16()},
      {"int16", int16()},
      {"int4", int32()},
      {"int", int32()},
      {"integer", int32()},
      {"int32", int32()},
      {"int8", int64()},
      {"bigint", int64()},
      {"int64", int64()},
      {"uint8", uint8()},
      {"uint16", uint16()},
      {"uint32", uint32()},
      {"uint64", uint64()},
      {"float16", float16()},
      {"float4", float32()},
      {"float32", float32()},
      {"real", float32()},
      {"float8", float64()},
      {"double", float64()},
      {"float64", float64()},
      {"string", utf8()},
      {"text", utf8()},
      {"varchar", utf8()},
      {"utf8", utf8()},
      {"large_string", large_utf8()},
      {"binary", binary()},
      {"bytea", binary()},
      {"varbinary", binary()},
      {"blob", binary()},
      {"date", date32()},
      {"date32", date32()},
      {"time", time64(TimeUnit::MICRO)},
      {"timestamptz", timestamp(TimeUnit::MICRO, "UTC")},
  };
  return types;
}

int UnitRank(const arrow::DataType& type) {
  switch (type.id()) {
    case arrow::Type::TIMESTAMP:
      return static_cast<const arrow::TimestampType&>(type).unit();
    case arrow::Type::TIME32:
    case arrow::Type::TIME64:
      return static_cast<const arrow::TimeType&>(type).unit();
    case arrow::Type::DURATION:
      return static_cast<const arrow::DurationType&>(type).unit();
    default:
      return arrow::TimeUnit::SECOND;
  }
}

TypePtr CommonDecimal(const arrow::DataType& left, const arrow::DataType& right) {
  auto precision = [](const arrow::DataType& type) {
    return arrow::is_integer(type.id()) ? IntegerDigits(type)
                                        : static_cast<const arrow::DecimalType&>(type).precision();
  };
  auto scale = [](const arrow::DataType& type) {
    return arrow::is_integer(type.id()) ? 0 : static_cast<const arrow::DecimalType&>(type).scale();
  };
  const int digits_after = std::max({scale(left), scale(right), 0});
  const int digits_before =
      std::max(precision(left) - scale(left), precision(right) - scale(right));
  const int digits = digits_before + digits_after;
  if (digits <= 38) return arrow::decimal128(std::max(digits, 1), digits_after);
  return digits <= 76 ? arrow::decimal256(digits, digits_after) : nullptr;
}

TypePtr CommonInteger(const arrow::DataType& left, const arrow::DataType& right) {
  const bool is_signed =
      arrow::is_signed_integer(left.id()) || arrow::is_signed_integer(right.id());
  if (!is_signed) return arrow::uint64();
  const bool has_uint64 = left.id() == arrow::Type::UINT64 || right.id() == arrow::Type::UINT64;
  return has_uint64 ? arrow::decimal128(20, 0) : arrow::int64();
}

TypePtr CommonNumber(const TypePtr& left, const TypePtr& right) {
  const bool left_float = arrow::is_floating(left->id()),
             right_float = arrow::is_floating(right->id());
  if (left_float && right_float) {
    const bool is_double = left->id() == arrow::Type::DOUBLE || right->id() == arrow::Type::DOUBLE;
    return is_double ? arrow::float64() : arrow::float32();
  }
  if (left_float || right_float) {
    const arrow::DataType& other = left_float ? *right : *left;
    const bool fits_float = arrow::bit_width(other.id()) <= 16;
    const bool is_double = (left_float ? left : right)->id() == arrow::Type::DOUBLE;
    return is_double || !fits_float ? arrow::float64() : arrow::float32();
  }
  if (arrow::is_decimal(left->id()) || arrow::is_decimal(right->id()))
    return CommonDecimal(*left, *right);
  return CommonInteger(*left, *right);
}

TypePtr CommonTemporal(const TypePtr& left, const TypePtr& right) {
  const auto unit = static_cast<arrow::TimeUnit::type>(std::max(UnitRank(*left), UnitRank(*right)));
  auto is_moment = [](const arrow::DataType& type) {
    return type.id() == arrow::Type::TIMESTAMP || arrow::is_date(type.id());
  };
  if (is_moment(*left) && is_moment(*right)) {
    for (const TypePtr& type : {left, right}) {
      if (type->id() != arrow::Type::TIMESTAMP) continue;
      const std::string& zone = static_cast<const arrow::TimestampType&>(*type).timezone();
      if (!zone.empty()) return arrow::timestamp(unit, zone);
    }
    return arrow::timestamp(unit);
  }
  if (arrow::is_time(left->id()) && arrow::is_time(right->id())) {
    return unit <= arrow::TimeUnit::MILLI ? arrow::time32(unit) : arrow::time64(unit);
  }
  const bool are_durations =
      left->id() == arrow::Type::DURATION && right->id() == arrow::Type::DURATION;
  return are_durations ? arrow::duration(unit) : nullptr;
}

}  // namespace

arrow::Result<TypePtr> SqlType(const std::string& name, const std::vector<int>& modifiers) {
  if (name == "numeric" || name == "decimal") {
    const int precision = modifiers.empty() ? 38 : modifiers[0];
    const int scale = modifiers.size() > 1 ? modifiers[1] : modifiers.empty() ? 10 : 0;
    if (precision < 1 || precision > 76 || scale < 0 || scale > precision) {
      return InvalidInput(
          "decimal(precision, scale) needs 1 <= precision <= 76 and 0 <= scale <= precision");
    }
    if (precision <= 38) return arrow::decimal128(precision, scale);
    return arrow::decimal256(precision, scale);
  }
  if (name == "timestamp" || name == "datetime") {
    const int digits = modifiers.empty() ? 6 : modifiers[0];
    if (digits == 0) return arrow::timestamp(arrow::TimeUnit::SECOND);
    if (digits == 3) return arrow::timestamp(arrow::TimeUnit::MILLI);
    if (digits == 6) return arrow::timestamp(arrow::TimeUnit::MICRO);
    if (digits == 9) return arrow::timestamp(arrow::TimeUnit::NANO);
    return InvalidInput("timestamp(digits) takes 0, 3, 6 or 9");
  }
  auto found = PlainTypes().find(name);
  if (found == PlainTypes().end()) {
    return InvalidInput(
        "no such type; known are boolean, tinyint, smallint, int, bigint (each also unsigned), "
        "float, double, string, binary, date, time, timestamp, decimal");
  }
  return found->second;
}

TypePtr CommonType(const TypePtr& left, const TypePtr& right) {
  if (left->Equals(*right)) return left;
  auto is_number = [](const arrow::DataType& type) {
    return arrow::is_numeric(type.id()) || arrow::is_decimal(type.id());
  };
  if (is_number(*left) && is_number(*right)) return CommonNumber(left, right);
  if (IsText(*left) && IsText(*right)) {
    const bool is_large =
        left->id() == arrow::Type::LARGE_STRING || right->id() == arrow::Type::LARGE_STRING;
    return is_large ? arrow::large_utf8() : arrow::utf8();
  }
  if (IsBytes(*left) && IsBytes(*right)) {
    const bool is_large =
        left->id() == arrow::Type::LARGE_BINARY || right->id() == arrow::Type::LARGE_BINARY;
    return is_large ? arrow::large_binary() : arrow::binary();
  }
  if (arrow::is_temporal(left->id()) && arrow::is_temporal(right->id()))
    return CommonTemporal(left, right);
  return nullptr;
}

bool IsText(const arrow::DataType& type) {
  return arrow::is_string(type.id()) || type.id() == arrow::Type::STRING_VIEW;
}

bool IsBytes(const arrow::DataType& type) {
  return type.id() == arrow::Type::BINARY || type.id() == arrow::Type::LARGE_BINARY ||
         type.id() == arrow::Type::BINARY_VIEW || type.id() == arrow::Type::FIXED_SIZE_BINARY;
}

bool IsList(const arrow::DataType& type) {
  return type.id() == arrow::Type::LIST || type.id() == arrow::Type::LARGE_LIST ||
         type.id() == arrow::Type::FIXED_SIZE_LIST;
}

int IntegerDigits(const arrow::DataType& type) {
  switch (arrow::bit_width(type.id())) {
    case 8:
      return 3;
    case 16:
      return 5;
    case 32:
      return 10;
    default:
      return type.id() == arrow::Type::UINT64 ? 20 : 19;
  }
}

}  // namespace pennon::expr
