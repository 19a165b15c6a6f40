// Number literals kept exactly as written, so that comparing them with any column is exact.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <arrow/type_fwd.h>
#include <arrow/util/decimal.h>

namespace pennon::expr {

/// A decimal number: (-1)^negative * digits * 10^exponent.
struct Number {
  bool negative = false;
  std::string digits;  ///< without leading zeros; empty for zero
  int exponent = 0;    ///< within ±kMaxExponent

  static constexpr int kMaxExponent = 100000;

  /// Reads [-+]digits[.digits][e[-+]digits]; nothing if `text` is something else. Exponents beyond
  /// kMaxExponent are cut to it, which keeps every comparison with an Arrow value right.
  static std::optional<Number> Parse(std::string_view text);
  /// Reads a finite value: exactly at magnitudes of 2^53 and above, else by its shortest text.
  static std::optional<Number> FromDouble(double value);
  static std::optional<Number> FromFloat(float value);

  bool is_zero() const { return digits.empty(); }
  /// Whether it is written without fraction, as in 12 or 1e3.
  bool is_integer() const { return digits.empty() || exponent >= 0; }
  /// Returns the value as text that strtod reads.
  std::string ToText() const;
};

/// Where a number stands among the multiples of 10^-scale.
struct GridPoint {
  bool is_exact = false;    ///< the number is a multiple
  int beyond = 0;           ///< +1 or -1: its magnitude passes 76 digits
  arrow::Decimal256 floor;  ///< the greatest multiple not above it, counted in units of 10^-scale
};
GridPoint FloorToScale(const Number& number, int scale);

}  // namespace pennon::expr
