#include "pennon/expr/literal.h"

#include <charconv>
#include <cmath>
#include <limits>
#include <optional>

#include <arrow/compute/api_scalar.h>
#include <arrow/scalar.h>
#include <arrow/type.h>
#include <arrow/type_traits.h>
#include <arrow/util/float16.h>

#include "pennon/error.h"
#include "pennon/expr/number.h"
#include "pennon/expr/temporal_text.h"
#include "pennon/expr/types.h"

namespace pennon::expr {
namespace {

using ScalarPtr = std::shared_ptr<arrow::Scalar>;
using TypePtr = std::shared_ptr<arrow::DataType>;

constexpr int64_t kNanosecondsPerSecond = 1000000000;
constexpr int64_t kSecondsPerDay = 86400;

// A moment, time of day or duration in seconds and nanoseconds; `is_zoned`: counted in UTC.
struct Moment {
  int64_t seconds = 0;
  int64_t nanoseconds = 0;
  bool is_zoned = false;
};

arrow::Status KindMismatch(const Ast& literal, const arrow::DataType& type) {
  std::string found = "a value";
  if (literal.kind == AstKind::kNumber) found = "a number";
  if (literal.kind == AstKind::kString) found = "a string";
  if (literal.kind == AstKind::kBytes) found = "bytes";
  if (literal.kind == AstKind::kBoolean) found = "a boolean";
  if (literal.kind == AstKind::kScalar) found = literal.scalar->type->ToString();
  std::string hint;
  if (literal.kind == AstKind::kString && IsBytes(type)) hint = " (write bytes as X'6162')";
  if (literal.kind == AstKind::kString && arrow::is_floating(type.id()))
    hint = " (write CAST('…' AS double))";
  return InvalidInput("the types do not fit: expected ", type.ToString(), ", found ", found, hint);
}

template <typename Float>
PlacedLiteral PlaceTypedFloat(double value, const TypePtr& type) {
  const Float nearest = static_cast<Float>(value);
  auto make = [&](Float f) { return arrow::MakeScalar(type, f).ValueOr(nullptr); };
  if (std::isnan(value) || static_cast<double>(nearest) == value)
    return {Standing::kExact, make(nearest)};
  const Float below = std::numeric_limits<Float>::infinity() * -1;
  return {Standing::kBetween,
          make(static_cast<double>(nearest) < value ? nearest : std::nextafter(nearest, below))};
}

// Rounds a number as written to the nearest value of a float type.
template <typename Float>
PlacedLiteral PlaceWrittenFloat(const Number& number, const TypePtr& type) {
  const std::string text = number.ToText();
  double value = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool is_huge = read.ec == std::errc::result_out_of_range &&
                       static_cast<int64_t>(number.digits.size()) + number.exponent > 0;
  if (read.ec == std::errc::result_out_of_range && !is_huge) value = 0;
  auto make = [&](Float f) { return arrow::MakeScalar(type, f).ValueOr(nullptr); };
  if (is_huge || std::isinf(static_cast<Float>(value))) {
    const Float infinity = std::numeric_limits<Float>::infinity();
    return {Standing::kBetween,
            make(number.negative ? -infinity : std::numeric_limits<Float>::max())};
  }
  return {Standing::kExact, make(static_cast<Float>(value))};
}

arrow::Result<PlacedLiteral> PlaceInteger(const GridPoint& point, const TypePtr& type) {
  using arrow::Decimal256;
  const int bits = arrow::bit_width(type->id());
  const bool is_signed = arrow::is_signed_integer(type->id());
  const uint64_t all = bits == 64 ? ~uint64_t{0} : (uint64_t{1} << bits) - 1;
  const Decimal256 highest(arrow::Decimal128(0, is_signed ? all >> 1 : all));
  Decimal256 lowest = highest;
  if (is_signed) {
    lowest.Negate();
    lowest -= Decimal256(1);
  } else {
    lowest = Decimal256(0);
  }
  if (point.floor > highest) return PlacedLiteral{Standing::kAbove, nullptr};
  if (point.floor < lowest) return PlacedLiteral{Standing::kBelow, nullptr};
  const uint64_t low = point.floor.little_endian_array()[0];
  ARROW_ASSIGN_OR_RAISE(ScalarPtr scalar, is_signed
                                              ? arrow::MakeScalar(type, static_cast<int64_t>(low))
                                              : arrow::MakeScalar(type, low));
  return PlacedLiteral{point.is_exact ? Standing::kExact : Standing::kBetween, scalar};
}

arrow::Result<PlacedLiteral> PlaceDecimal(const GridPoint& point, const TypePtr& type) {
  const auto& decimal = static_cast<const arrow::DecimalType&>(*type);
  if (!point.floor.FitsInPrecision(decimal.precision())) {
    return PlacedLiteral{point.floor.Sign() < 0 ? Standing::kBelow : Standing::kAbove, nullptr};
  }
  const auto words = point.floor.little_endian_array();
  ScalarPtr scalar;
  if (type->id() == arrow::Type::DECIMAL256) {
    scalar = std::make_shared<arrow::Decimal256Scalar>(point.floor, type);
  } else if (type->id() == arrow::Type::DECIMAL128) {
    scalar = std::make_shared<arrow::Decimal128Scalar>(
        arrow::Decimal128(static_cast<int64_t>(words[1]), words[0]), type);
  } else {
    return InvalidInput("literals of this decimal type are not supported; cast the column: ",
                        type->ToString());
  }
  return PlacedLiteral{point.is_exact ? Standing::kExact : Standing::kBetween, scalar};
}

arrow::Result<PlacedLiteral> PlaceNumber(const Number& number, const TypePtr& type) {
  if (type->id() == arrow::Type::DOUBLE) return PlaceWrittenFloat<double>(number, type);
  if (type->id() == arrow::Type::FLOAT) return PlaceWrittenFloat<float>(number, type);
  const bool is_decimal = arrow::is_decimal(type->id());
  const int scale = is_decimal ? static_cast<const arrow::DecimalType&>(*type).scale() : 0;
  const GridPoint point = FloorToScale(number, scale);
  if (point.beyond != 0)
    return PlacedLiteral{point.beyond > 0 ? Standing::kAbove : Standing::kBelow, nullptr};
  return is_decimal ? PlaceDecimal(point, type) : PlaceInteger(point, type);
}

// The nanoseconds that one unit of a temporal type lasts.
int64_t UnitNanoseconds(const arrow::DataType& type) {
  auto of_unit = [](arrow::TimeUnit::type unit) {
    static constexpr int64_t kUnits[] = {kNanosecondsPerSecond, 1000000, 1000, 1};
    return kUnits[unit];
  };
  switch (type.id()) {
    case arrow::Type::DATE32:
      return kSecondsPerDay * kNanosecondsPerSecond;
    case arrow::Type::DATE64:
      return 1000000;
    case arrow::Type::TIMESTAMP:
      return of_unit(static_cast<const arrow::TimestampType&>(type).unit());
    case arrow::Type::DURATION:
      return of_unit(static_cast<const arrow::DurationType&>(type).unit());
    default:
      return of_unit(static_cast<const arrow::TimeType&>(type).unit());
  }
}

// Moves wall time in `zone` to UTC.
arrow::Status ToUtc(Moment& moment, const std::string& zone) {
  const auto wall =
      arrow::TimestampScalar(moment.seconds, arrow::timestamp(arrow::TimeUnit::SECOND));
  arrow::compute::AssumeTimezoneOptions options(zone);
  ARROW_ASSIGN_OR_RAISE(arrow::Datum utc, arrow::compute::AssumeTimezone(wall, options));
  moment.seconds = utc.scalar_as<arrow::TimestampScalar>().value;
  moment.is_zoned = true;
  return arrow::Status::OK();
}

arrow::Result<PlacedLiteral> PlaceMoment(Moment moment, const TypePtr& type) {
  if (type->id() == arrow::Type::TIMESTAMP && !moment.is_zoned) {
    const std::string& zone = static_cast<const arrow::TimestampType&>(*type).timezone();
    if (!zone.empty() && zone != "UTC") ARROW_RETURN_NOT_OK(ToUtc(moment, zone));
  }
  const __int128 total =
      static_cast<__int128>(moment.seconds) * kNanosecondsPerSecond + moment.nanoseconds;
  const int64_t unit = UnitNanoseconds(*type);
  __int128 count = total / unit;
  const bool is_exact = total % unit == 0;
  if (total % unit < 0) --count;
  const bool is_narrow = type->id() == arrow::Type::DATE32 || type->id() == arrow::Type::TIME32;
  const __int128 highest =
      is_narrow ? std::numeric_limits<int32_t>::max() : std::numeric_limits<int64_t>::max();
  if (count > highest) return PlacedLiteral{Standing::kAbove, nullptr};
  if (count < -highest - 1) return PlacedLiteral{Standing::kBelow, nullptr};
  ARROW_ASSIGN_OR_RAISE(ScalarPtr scalar,
                        is_narrow ? arrow::MakeScalar(type, static_cast<int32_t>(count))
                                  : arrow::MakeScalar(type, static_cast<int64_t>(count)));
  return PlacedLiteral{is_exact ? Standing::kExact : Standing::kBetween, scalar};
}

arrow::Result<PlacedLiteral> PlaceText(const Ast& literal, const TypePtr& type) {
  if (arrow::is_time(type->id())) {
    const auto time = ParseTimeText(literal.text);
    if (!time)
      return InvalidInput("this is no time of day; expected HH:MM:SS, found ", literal.text);
    return PlaceMoment({time->seconds, time->nanoseconds}, type);
  }
  if (!arrow::is_date(type->id()) && type->id() != arrow::Type::TIMESTAMP)
    return KindMismatch(literal, *type);
  const auto text = ParseTimestampText(literal.text);
  if (!text)
    return InvalidInput("this is no date or timestamp; expected YYYY-MM-DD HH:MM:SS, found ",
                        literal.text);
  Moment moment{text->seconds - text->zone_seconds.value_or(0), text->nanoseconds,
                text->zone_seconds.has_value()};
  const bool is_zoned_type = type->id() == arrow::Type::TIMESTAMP &&
                             !static_cast<const arrow::TimestampType&>(*type).timezone().empty();
  if (moment.is_zoned && !is_zoned_type) {
    return InvalidInput("a timestamp with a zone does not compare with a type without one: ",
                        type->ToString());
  }
  return PlaceMoment(moment, type);
}

std::optional<Moment> MomentOf(const arrow::Scalar& scalar) {
  const arrow::DataType& type = *scalar.type;
  int64_t count = 0;
  switch (type.id()) {
    case arrow::Type::DATE32:
      return Moment{static_cast<const arrow::Date32Scalar&>(scalar).value * kSecondsPerDay, 0,
                    false};
    case arrow::Type::TIME32:
      count = static_cast<const arrow::Time32Scalar&>(scalar).value;
      break;
    case arrow::Type::DATE64:
      count = static_cast<const arrow::Date64Scalar&>(scalar).value;
      break;
    case arrow::Type::TIME64:
      count = static_cast<const arrow::Time64Scalar&>(scalar).value;
      break;
    case arrow::Type::TIMESTAMP:
      count = static_cast<const arrow::TimestampScalar&>(scalar).value;
      break;
    case arrow::Type::DURATION:
      count = static_cast<const arrow::DurationScalar&>(scalar).value;
      break;
    default:
      return std::nullopt;
  }
  const int64_t per_second = kNanosecondsPerSecond / UnitNanoseconds(type);
  const int64_t rest = ((count % per_second) + per_second) % per_second;
  const bool is_zoned = type.id() == arrow::Type::TIMESTAMP &&
                        !static_cast<const arrow::TimestampType&>(type).timezone().empty();
  // count - rest would overflow near the lowest value: divide first.
  const int64_t seconds = count / per_second - (count % per_second < 0 ? 1 : 0);
  return Moment{seconds, rest * UnitNanoseconds(type), is_zoned};
}

bool AreComparableMoments(const arrow::DataType& left, const arrow::DataType& right) {
  auto kind = [](const arrow::DataType& type) {
    if (arrow::is_date(type.id()) || type.id() == arrow::Type::TIMESTAMP) return 1;
    if (arrow::is_time(type.id())) return 2;
    return type.id() == arrow::Type::DURATION ? 3 : 0;
  };
  return kind(left) != 0 && kind(left) == kind(right);
}

std::optional<Number> NumberOf(const arrow::Scalar& scalar) {
  const arrow::Type::type id = scalar.type->id();
  if (arrow::is_integer(id)) return Number::Parse(scalar.ToString());
  if (id == arrow::Type::DOUBLE)
    return Number::FromDouble(static_cast<const arrow::DoubleScalar&>(scalar).value);
  if (id == arrow::Type::FLOAT)
    return Number::FromFloat(static_cast<const arrow::FloatScalar&>(scalar).value);
  const bool is_known = id == arrow::Type::DECIMAL128 || id == arrow::Type::DECIMAL256;
  if (!is_known) return std::nullopt;
  const std::string digits =
      id == arrow::Type::DECIMAL128
          ? static_cast<const arrow::Decimal128Scalar&>(scalar).value.ToIntegerString()
          : static_cast<const arrow::Decimal256Scalar&>(scalar).value.ToIntegerString();
  return Number::Parse(
      digits + "e" + std::to_string(-static_cast<const arrow::DecimalType&>(*scalar.type).scale()));
}

std::optional<double> FloatOf(const arrow::Scalar& scalar) {
  if (scalar.type->id() == arrow::Type::DOUBLE)
    return static_cast<const arrow::DoubleScalar&>(scalar).value;
  if (scalar.type->id() == arrow::Type::FLOAT)
    return static_cast<const arrow::FloatScalar&>(scalar).value;
  return std::nullopt;
}

arrow::Result<PlacedLiteral> PlaceScalar(const Ast& literal, const TypePtr& type) {
  const arrow::Scalar& scalar = *literal.scalar;
  if (scalar.type->Equals(*type)) return PlacedLiteral{Standing::kExact, literal.scalar};
  const bool is_number = arrow::is_numeric(type->id()) || arrow::is_decimal(type->id());
  if (const auto value = FloatOf(scalar); value && is_number) {
    if (type->id() == arrow::Type::DOUBLE) return PlaceTypedFloat<double>(*value, type);
    if (type->id() == arrow::Type::FLOAT) return PlaceTypedFloat<float>(*value, type);
    // NaN ranks above every number.
    if (!std::isfinite(*value))
      return PlacedLiteral{*value < 0 ? Standing::kBelow : Standing::kAbove, nullptr};
  }
  if (const auto number = NumberOf(scalar); number && is_number) return PlaceNumber(*number, type);
  if (AreComparableMoments(*scalar.type, *type)) return PlaceMoment(*MomentOf(scalar), type);
  const bool both_text = IsText(*scalar.type) && IsText(*type);
  const bool both_bytes =
      IsBytes(*scalar.type) && IsBytes(*type) && type->id() != arrow::Type::FIXED_SIZE_BINARY;
  if (both_text || both_bytes) {
    ARROW_ASSIGN_OR_RAISE(ScalarPtr converted, scalar.CastTo(type));
    return PlacedLiteral{Standing::kExact, converted};
  }
  return KindMismatch(literal, *type);
}

}  // namespace

bool IsUntyped(const Ast& ast) {
  return ast.kind == AstKind::kNumber || ast.kind == AstKind::kString || ast.kind == AstKind::kNull;
}

arrow::Result<PlacedLiteral> PlaceLiteral(const Ast& literal, const TypePtr& type) {
  const bool is_number = (arrow::is_numeric(type->id()) && type->id() != arrow::Type::HALF_FLOAT) ||
                         arrow::is_decimal(type->id());
  switch (literal.kind) {
    case AstKind::kNumber: {
      const auto number = Number::Parse(literal.text);
      if (!is_number || !number) return KindMismatch(literal, *type);
      return PlaceNumber(*number, type);
    }
    case AstKind::kString:
      if (!IsText(*type)) return PlaceText(literal, type);
      break;
    case AstKind::kBytes:
      if (!IsBytes(*type)) return KindMismatch(literal, *type);
      break;
    case AstKind::kBoolean:
      if (type->id() != arrow::Type::BOOL) return KindMismatch(literal, *type);
      break;
    case AstKind::kScalar:
      return PlaceScalar(literal, type);
    default:
      return InvalidInput("a literal is expected");
  }
  ARROW_ASSIGN_OR_RAISE(ScalarPtr scalar, DefaultScalar(literal));
  if (type->id() == arrow::Type::FIXED_SIZE_BINARY) {
    const auto width = static_cast<const arrow::FixedSizeBinaryType&>(*type).byte_width();
    if (static_cast<int64_t>(literal.text.size()) != width) {
      return InvalidInput("the types do not fit: expected ", type->ToString(),
                          ", found bytes: ", literal.text.size());
    }
    return PlacedLiteral{Standing::kExact, std::make_shared<arrow::FixedSizeBinaryScalar>(
                                               arrow::Buffer::FromString(literal.text), type)};
  }
  if (!scalar->type->Equals(*type)) {
    ARROW_ASSIGN_OR_RAISE(scalar, scalar->CastTo(type));
  }
  return PlacedLiteral{Standing::kExact, scalar};
}

arrow::Result<ScalarPtr> DefaultScalar(const Ast& literal) {
  switch (literal.kind) {
    case AstKind::kNull:
      return arrow::MakeNullScalar(arrow::null());
    case AstKind::kBoolean:
      return arrow::MakeScalar(literal.flag);
    case AstKind::kString:
      return std::make_shared<arrow::StringScalar>(literal.text);
    case AstKind::kBytes:
      return std::make_shared<arrow::BinaryScalar>(arrow::Buffer::FromString(literal.text));
    case AstKind::kScalar:
      return literal.scalar;
    default:
      break;
  }
  const auto number = Number::Parse(literal.text);
  if (literal.kind != AstKind::kNumber || !number) return InvalidInput("a literal is expected");
  const bool is_integer = literal.text.find_first_of(".eE") == std::string::npos;
  for (const TypePtr& type : {arrow::int64(), arrow::uint64(), arrow::decimal128(38, 0)}) {
    if (!is_integer) break;
    ARROW_ASSIGN_OR_RAISE(PlacedLiteral placed, PlaceNumber(*number, type));
    if (placed.standing == Standing::kExact) return placed.value;
  }
  ARROW_ASSIGN_OR_RAISE(PlacedLiteral placed, PlaceNumber(*number, arrow::float64()));
  if (placed.standing != Standing::kExact)
    return InvalidInput("this number is too large for double");
  return placed.value;
}

ScalarPtr TemporalFromText(std::string_view text, const TypePtr& type) {
  Moment moment;
  if (arrow::is_time(type->id())) {
    const auto time = ParseTimeText(text);
    if (!time) return nullptr;
    moment = {time->seconds, time->nanoseconds, false};
  } else if (arrow::is_date(type->id()) || type->id() == arrow::Type::TIMESTAMP) {
    const auto read = ParseTimestampText(text);
    if (!read) return nullptr;
    moment = {read->seconds - read->zone_seconds.value_or(0), read->nanoseconds,
              read->zone_seconds.has_value()};
  } else {
    return nullptr;
  }
  const auto placed = PlaceMoment(moment, type);
  const bool is_held =
      placed.ok() && (placed->standing == Standing::kExact ||
                      (placed->standing == Standing::kBetween && arrow::is_date(type->id())));
  return is_held ? placed->value : nullptr;
}

}  // namespace pennon::expr
