#include "pennon/expr/number.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>

namespace pennon::expr {
namespace {

constexpr size_t kMaxDigits = 76;  // of arrow::Decimal256

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

// Cuts zeros at both ends of the digits.
void Normalize(Number& number) {
  const size_t first = number.digits.find_first_not_of('0');
  number.digits.erase(0, std::min(first, number.digits.size()));
  while (!number.digits.empty() && number.digits.back() == '0') {
    number.digits.pop_back();
    ++number.exponent;
  }
  if (number.digits.empty()) {
    number.exponent = 0;
    number.negative = false;
  }
  number.exponent = std::clamp(number.exponent, -Number::kMaxExponent, Number::kMaxExponent);
}

template <typename Float>
std::optional<Number> FromFloating(Float value, Float exact_from) {
  if (!std::isfinite(value)) return std::nullopt;
  char text[512];
  const bool is_whole = std::abs(value) >= exact_from;
  const std::to_chars_result end =
      is_whole ? std::to_chars(text, text + sizeof(text), value, std::chars_format::fixed, 0)
               : std::to_chars(text, text + sizeof(text), value);
  return Number::Parse(std::string_view(text, end.ptr - text));
}

}  // namespace

std::optional<Number> Number::Parse(std::string_view text) {
  Number number;
  size_t at = 0;
  if (at < text.size() && (text[at] == '-' || text[at] == '+')) number.negative = text[at++] == '-';
  const size_t begin = at;
  int64_t exponent = 0;
  bool has_point = false;
  for (; at < text.size() && (IsDigit(text[at]) || (text[at] == '.' && !has_point)); ++at) {
    if (text[at] == '.') {
      has_point = true;
    } else {
      number.digits += text[at];
      exponent -= has_point;
    }
  }
  if (at - begin == static_cast<size_t>(has_point)) return std::nullopt;  // no digit at all
  if (at < text.size() && (text[at] == 'e' || text[at] == 'E')) {
    ++at;
    bool is_minus = false;
    if (at < text.size() && (text[at] == '-' || text[at] == '+')) is_minus = text[at++] == '-';
    if (at == text.size()) return std::nullopt;
    int64_t power = 0;
    for (; at < text.size() && IsDigit(text[at]); ++at)
      power = std::min<int64_t>(power * 10 + (text[at] - '0'), 1 << 28);
    exponent += is_minus ? -power : power;
  }
  if (at != text.size()) return std::nullopt;
  number.exponent = static_cast<int>(std::clamp<int64_t>(exponent, -(1 << 29), 1 << 29));
  Normalize(number);
  return number;
}

std::optional<Number> Number::FromDouble(double value) {
  return FromFloating(value, 9007199254740992.0);
}
std::optional<Number> Number::FromFloat(float value) { return FromFloating(value, 16777216.0f); }

std::string Number::ToText() const {
  if (is_zero()) return "0";
  return (negative ? "-" : "") + digits + "e" + std::to_string(exponent);
}

GridPoint FloorToScale(const Number& number, int scale) {
  GridPoint point;
  const int shift = number.exponent + scale;
  std::string units = number.digits;
  bool has_rest = false;
  if (number.is_zero()) {
    point.is_exact = true;
    return point;
  }
  if (shift >= 0) {
    if (number.digits.size() + shift > kMaxDigits) {
      point.beyond = number.negative ? -1 : 1;
      return point;
    }
    units.append(shift, '0');
  } else {
    const size_t cut = std::min<size_t>(-static_cast<int64_t>(shift), units.size());
    units.erase(units.size() - cut);
    has_rest = true;  // the last digit is not zero, so what is cut is not
    if (units.size() > kMaxDigits) {
      point.beyond = number.negative ? -1 : 1;
      return point;
    }
  }
  point.is_exact = !has_rest;
  point.floor =
      arrow::Decimal256::FromString(units.empty() ? "0" : units).ValueOr(arrow::Decimal256(0));
  if (number.negative) {
    point.floor.Negate();
    if (has_rest) point.floor -= arrow::Decimal256(1);
  }
  return point;
}

}  // namespace pennon::expr
