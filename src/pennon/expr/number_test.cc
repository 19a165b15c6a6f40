#include "pennon/expr/number.h"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>

namespace pennon::expr {
namespace {

TEST(Number, ReadsTextAndCutsZeros) {
  EXPECT_EQ(Number::Parse("0012.500")->digits, "125");
  EXPECT_EQ(Number::Parse("0012.500")->exponent, -1);
  EXPECT_EQ(Number::Parse("-1e3")->ToText(), "-1e3");
  EXPECT_TRUE(Number::Parse("-0.0")->is_zero());
  EXPECT_FALSE(Number::Parse("-0.0")->negative);
  EXPECT_EQ(Number::Parse("1e999999999999")->exponent, Number::kMaxExponent);
  for (const char* text : {"", "-", ".", "1e", "e5", "1.2.3", "1x", "nan", "--1"}) {
    EXPECT_FALSE(Number::Parse(text).has_value()) << text;
  }
}

TEST(Number, FloorsTowardsMinusInfinity) {
  auto floor = [](const char* text, int scale) {
    return FloorToScale(*Number::Parse(text), scale).floor.ToIntegerString();
  };
  EXPECT_EQ(floor("1.5", 0), "1");
  EXPECT_EQ(floor("-1.5", 0), "-2");
  EXPECT_EQ(floor("-0.1", 0), "-1");
  EXPECT_EQ(floor("0.1", 0), "0");
  EXPECT_EQ(floor("1.005", 2), "100");
  EXPECT_EQ(floor("1e1", 0), "10");
  EXPECT_TRUE(FloorToScale(*Number::Parse("1.50"), 1).is_exact);
  EXPECT_FALSE(FloorToScale(*Number::Parse("1.55"), 1).is_exact);
  EXPECT_EQ(FloorToScale(*Number::Parse("1e400"), 0).beyond, 1);
  EXPECT_EQ(FloorToScale(*Number::Parse("-1e400"), 0).beyond, -1);
  EXPECT_EQ(floor("1e-400", 0), "0");
  EXPECT_EQ(floor("-1e-99999", 0), "-1");
}

TEST(Number, TakesDoublesExactlyWhereTheyAreWhole) {
  EXPECT_EQ(Number::FromDouble(1152921504606846976.0)->ToText(),
            Number::Parse("1152921504606846976")->ToText());
  EXPECT_EQ(Number::FromDouble(0.1)->ToText(), "1e-1");
  EXPECT_FALSE(Number::FromDouble(std::nan("")).has_value());
  EXPECT_TRUE(Number::FromDouble(std::numeric_limits<double>::max()).has_value());
}

}  // namespace
}  // namespace pennon::expr
