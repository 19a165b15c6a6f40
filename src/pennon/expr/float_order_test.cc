// Comparisons of floats against a plain oracle: NaN above all and equal to itself, -0.0 equal to
// 0.0.
#include "pennon/expr/float_order.h"

#include <cmath>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <arrow/array.h>
#include <arrow/builder.h>
#include <arrow/record_batch.h>
#include <arrow/type.h>

#include "pennon/expr/expression.h"

namespace pennon::expr {
namespace {

using Cell = std::optional<double>;
using Truth = std::optional<bool>;

// -1, 0, 1 in the order that is wanted, written without keys.
int Order(double a, double b) {
  if (std::isnan(a) || std::isnan(b))
    return static_cast<int>(std::isnan(a)) - static_cast<int>(std::isnan(b));
  return a < b ? -1 : a > b ? 1 : 0;
}

bool Holds(const std::string& op, int order) {
  if (op == "=") return order == 0;
  if (op == "<>") return order != 0;
  if (op == "<") return order < 0;
  if (op == "<=") return order <= 0;
  if (op == ">") return order > 0;
  return order >= 0;
}

Truth Compare(const std::string& op, const Cell& a, const Cell& b) {
  if (!a || !b) return std::nullopt;
  return Holds(op, Order(*a, *b));
}

std::vector<double> Specials() {
  const double infinity = std::numeric_limits<double>::infinity();
  return {0.0,
          -0.0,
          1.5,
          -1.5,
          2.0,
          1e300,
          -1e300,
          infinity,
          -infinity,
          std::nan(""),
          -std::nan(""),
          std::numeric_limits<double>::denorm_min(),
          std::numeric_limits<double>::max()};
}

struct Sample {
  std::vector<Cell> x, y;
  std::shared_ptr<arrow::RecordBatch> batch;
};

template <typename Builder, typename Float>
Sample MakeSample(std::mt19937_64& random, const std::shared_ptr<arrow::DataType>& type) {
  Sample sample;
  const std::vector<double> pool = Specials();
  arrow::ArrayVector arrays;
  for (std::vector<Cell>* cells : {&sample.x, &sample.y}) {
    Builder builder;
    for (int i = 0; i < 257; ++i) {
      if (random() % 7 == 0) {
        cells->push_back(std::nullopt);
        EXPECT_TRUE(builder.AppendNull().ok());
        continue;
      }
      const auto value = static_cast<Float>(
          random() % 2 ? pool[random() % pool.size()] : static_cast<double>(random() % 9) / 2 - 2);
      cells->push_back(static_cast<double>(value));
      EXPECT_TRUE(builder.Append(value).ok());
    }
    arrays.push_back(builder.Finish().ValueOrDie());
  }
  sample.batch = arrow::RecordBatch::Make(
      arrow::schema({arrow::field("x", type), arrow::field("y", type)}), 257, arrays);
  return sample;
}

void Check(const Sample& sample, const std::string& sql,
           const std::function<Truth(const Cell&, const Cell&)>& oracle) {
  auto expression = Expression::ParseFilter(sql, *sample.batch->schema());
  ASSERT_TRUE(expression.ok()) << expression.status().ToString();
  // The slice checks that offsets are minded.
  for (int64_t offset : {0, 9}) {
    auto value = expression->Evaluate(*sample.batch->Slice(offset), arrow::default_memory_pool());
    ASSERT_TRUE(value.ok()) << value.status().ToString();
    const auto& bits = static_cast<const arrow::BooleanArray&>(**value);
    for (int64_t i = 0; i < bits.length(); ++i) {
      const Truth expected = oracle(sample.x[i + offset], sample.y[i + offset]);
      ASSERT_EQ(bits.IsValid(i), expected.has_value()) << sql << " row " << i;
      if (expected) {
        ASSERT_EQ(bits.Value(i), *expected) << sql << " row " << i;
      }
    }
  }
}

void CheckAll(const Sample& sample) {
  const double nan = std::nan("");
  for (const std::string op : {"=", "<>", "<", "<=", ">", ">="}) {
    Check(sample, "x " + op + " y",
          [&](const Cell& x, const Cell& y) { return Compare(op, x, y); });
    Check(sample, "x " + op + " 1.5",
          [&](const Cell& x, const Cell&) { return Compare(op, x, 1.5); });
    Check(sample, "x " + op + " -0.0",
          [&](const Cell& x, const Cell&) { return Compare(op, x, 0.0); });
    Check(sample, "x " + op + " CAST('nan' AS double)",
          [&](const Cell& x, const Cell&) { return Compare(op, x, nan); });
    Check(sample, "0 " + op + " x",
          [&](const Cell& x, const Cell&) { return Compare(op, 0.0, x); });
  }
  Check(sample, "x IN (0, 2, y)", [&](const Cell& x, const Cell& y) -> Truth {
    if (!x) return std::nullopt;
    if (Order(*x, 0) == 0 || Order(*x, 2) == 0 || (y && Order(*x, *y) == 0)) return true;
    return y ? Truth(false) : std::nullopt;
  });
  Check(sample, "x IN (1.5, -0.0)", [&](const Cell& x, const Cell&) -> Truth {
    if (!x) return std::nullopt;
    return Order(*x, 1.5) == 0 || Order(*x, 0) == 0;
  });
  Check(sample, "x BETWEEN y AND CAST('inf' AS double)",
        [&](const Cell& x, const Cell& y) -> Truth {
          if (!x) return std::nullopt;
          const bool is_high = Order(*x, std::numeric_limits<double>::infinity()) <= 0;
          if (!is_high) return false;
          return y ? Truth(Order(*x, *y) >= 0) : std::nullopt;
        });
  Check(sample, "x IS DISTINCT FROM y", [&](const Cell& x, const Cell& y) -> Truth {
    return x.has_value() != y.has_value() || (x && Order(*x, *y) != 0);
  });
  Check(sample, "nullif(x, y) IS NULL",
        [&](const Cell& x, const Cell& y) -> Truth { return !x || (y && Order(*x, *y) == 0); });
}

TEST(FloatOrder, EqualsThePlainOracleOnDoubles) {
  std::mt19937_64 random(20261130);
  for (int round = 0; round < 5; ++round)
    CheckAll(MakeSample<arrow::DoubleBuilder, double>(random, arrow::float64()));
}

TEST(FloatOrder, EqualsThePlainOracleOnFloats) {
  std::mt19937_64 random(7);
  for (int round = 0; round < 5; ++round)
    CheckAll(MakeSample<arrow::FloatBuilder, float>(random, arrow::float32()));
}

TEST(FloatOrder, KeysOrderAsValuesDo) {
  for (double a : Specials()) {
    for (double b : Specials()) {
      const int64_t left = FloatOrderKey(a), right = FloatOrderKey(b);
      EXPECT_EQ(Order(a, b), left < right ? -1 : left > right ? 1 : 0) << a << " " << b;
    }
  }
  EXPECT_EQ(FloatOrderKey(-0.0f), FloatOrderKey(0.0f));
  EXPECT_LT(FloatOrderKey(std::numeric_limits<float>::infinity()), FloatOrderKey(std::nanf("")));
}

}  // namespace
}  // namespace pennon::expr
