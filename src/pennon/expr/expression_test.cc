#include "pennon/expr/expression.h"

#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <arrow/array.h>
#include <arrow/builder.h>
#include <arrow/record_batch.h>
#include <arrow/scalar.h>
#include <arrow/type.h>

#include "pennon/error.h"

namespace pennon::expr {
namespace {

std::shared_ptr<arrow::RecordBatch> Rows() {
  arrow::Int32Builder i;
  arrow::Int8Builder t;
  arrow::StringBuilder s;
  arrow::TimestampBuilder ny(arrow::timestamp(arrow::TimeUnit::MICRO, "America/New_York"),
                             arrow::default_memory_pool());
  EXPECT_TRUE(i.AppendValues({300, 0, -7}).ok());
  EXPECT_TRUE(t.AppendValues({127, 1, -128}).ok());
  EXPECT_TRUE(s.AppendValues({"12", "naïve", "x"}).ok());
  EXPECT_TRUE(ny.AppendValues({1609504200000000, 0, 0}).ok());
  auto schema = arrow::schema({arrow::field("i", arrow::int32()), arrow::field("t", arrow::int8()),
                               arrow::field("s", arrow::utf8()), arrow::field("ny", ny.type())});
  return arrow::RecordBatch::Make(schema, 3,
                                  {i.Finish().ValueOrDie(), t.Finish().ValueOrDie(),
                                   s.Finish().ValueOrDie(), ny.Finish().ValueOrDie()});
}

std::string Values(const std::string& sql) {
  const auto rows = Rows();
  auto expression = Expression::ParseSql(sql, *rows->schema());
  if (!expression.ok()) return expression.status().message();
  auto value = expression->Evaluate(*rows, arrow::default_memory_pool());
  if (!value.ok()) return value.status().message();
  std::string text = expression->type()->ToString() + ":";
  for (int64_t row = 0; row < 3; ++row)
    text += " " + (*value)->GetScalar(row).ValueOrDie()->ToString();
  return text;
}

std::string Stored(const std::string& sql, const std::shared_ptr<arrow::DataType>& type,
                   bool nullable = true) {
  const auto rows = Rows();
  auto expression =
      Expression::ParseSqlAs(sql, *rows->schema(), *arrow::field("target", type, nullable));
  if (!expression.ok()) return expression.status().message();
  EXPECT_TRUE(expression->type()->Equals(*type)) << sql;
  auto value = expression->Evaluate(*rows, arrow::default_memory_pool());
  return value.ok() ? (*value)->GetScalar(0).ValueOrDie()->ToString() : value.status().message();
}

bool Has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(Expression, ComputesExactlyOrFails) {
  EXPECT_EQ(Values("t + t"), "int64: 254 2 -256");
  EXPECT_EQ(Values("-t"), "int64: -127 -1 128");
  EXPECT_EQ(Values("i / 2"), "int64: 150 0 -3");
  EXPECT_EQ(Values("i % 4"), "int64: 0 0 -3");
  EXPECT_EQ(Values("i * 1.5"), "double: 450 0 -10.5");
  EXPECT_TRUE(Has(Values("1 / i"), "divide by zero"));
  EXPECT_TRUE(Has(Values("i + 9223372036854775807"), "overflow"));
  EXPECT_TRUE(Has(Values("CAST(i AS tinyint)"), "fails on a row"));
  EXPECT_TRUE(Has(Values("CAST(s AS int)"), "fails on a row")) << Values("CAST(s AS int)");
  EXPECT_EQ(Values("CAST(i * 0.5 AS int)"), "int32: 150 0 -3");
}

TEST(Expression, KnowsFunctionsOfText) {
  EXPECT_EQ(Values("length(s)"), "int32: 2 5 1");
  EXPECT_EQ(Values("octet_length(s)"), "int32: 2 6 1");
  EXPECT_EQ(Values("strpos(s, 'v')"), "int64: 0 4 0");
  EXPECT_EQ(Values("substr(s, 3, 2)"), "string:  ïv ");
  EXPECT_EQ(Values("substr(s, 0, 2)"), "string: 1 n x");
  EXPECT_EQ(Values("s LIKE '__'"), "bool: true false false");
  EXPECT_EQ(Values("s LIKE '%ï%e'"), "bool: false true false");
  EXPECT_EQ(Values("s ILIKE 'NAÏVE'"), "bool: false true false");
  EXPECT_EQ(Values("concat(s, i)"), "string: 12300 naïve0 x-7");
  EXPECT_EQ(Values("CAST(i / 2.0 AS string)"), "string: 150.0 0.0 -3.5");
  EXPECT_EQ(Values("CAST(1e16 AS string)"), "string: 1e16 1e16 1e16");
}

TEST(Expression, ReadsWallTimeInTheZoneOfTheColumn) {
  EXPECT_EQ(Values("ny = timestamp '2021-01-01 07:30:00'"), "bool: true false false");
  EXPECT_EQ(Values("ny = '2021-01-01T12:30:00Z'"), "bool: true false false");
}

TEST(Expression, ListsTheColumnsItReadsInSchemaOrder) {
  const auto rows = Rows();
  auto expression = Expression::ParseSql("s = 'x' OR t > i AND t = 1 OR s = ''", *rows->schema());
  ASSERT_TRUE(expression.ok());
  EXPECT_EQ(expression->columns(), (std::vector<std::string>{"i", "t", "s"}));
  EXPECT_EQ(Expression::ParseSql("1 = 1", *rows->schema())->columns().size(), 0u);
}

TEST(Expression, NamesThePlaceOfAFault) {
  EXPECT_TRUE(
      Has(Values("i = 1 AND nothere = 2"),
          "there is no column nothere among i, t, s, ny, at position 11, near `nothere = 2`"));
  EXPECT_TRUE(Has(Values("i = 'ten'"), "at position 5, near `'ten'`"));
  EXPECT_TRUE(Has(Values("i = (SELECT 1)"), "at position 5"));
  EXPECT_TRUE(Has(Values("i = 1 AND"), "at position 10, the end of the text"));
  EXPECT_TRUE(Has(Values("sum(i) > 1"),
                  "an aggregate is not supported in an expression: sum, at position 1"));
  EXPECT_TRUE(Has(Values("frob(i)"), "there is no function frob, at position 1"));
  EXPECT_TRUE(Has(Values("s = 'ï' AND i ~ 2"), "the operator ~ is not supported"));
  EXPECT_TRUE(Has(Values("CAST(i AS frob)"), "at position 11"));
  EXPECT_TRUE(Has(Values("i = 1, 2"), "a row of values is not supported"));
}

TEST(Expression, TellsAFilterFromAValue) {
  const auto rows = Rows();
  auto value = Expression::ParseSql("i + 1", *rows->schema());
  ASSERT_TRUE(value.ok());
  EXPECT_FALSE(value->EvaluateFilter(*rows, arrow::default_memory_pool()).ok());
  auto filter = Expression::ParseFilter("i", *rows->schema());
  ASSERT_FALSE(filter.ok());
  EXPECT_EQ(GetErrorDetail(filter.status())->kind(), ErrorKind::kInvalidInput);
  EXPECT_TRUE(Has(filter.status().message(), "found a value of type int32"));
  EXPECT_FALSE(Expression::ParseFilter("NULL", *rows->schema()).ok());
}

TEST(Expression, ConvertsValuesToStoreOrFails) {
  EXPECT_EQ(Stored("i + 1", arrow::int32()), "301");
  EXPECT_TRUE(Has(Stored("i", arrow::int8()), "a value does not fit column target"));
  EXPECT_TRUE(Has(Stored("300", arrow::int8()), "cannot set column target"));
  EXPECT_TRUE(Has(Stored("1.5", arrow::int32()), "does not fit the type int32"));
  EXPECT_EQ(Stored("2.0", arrow::int32()), "2");
  EXPECT_EQ(Stored("0.1", arrow::float32()), "0.1");
  EXPECT_TRUE(Has(Stored("16777217", arrow::float32()), "does not fit the type float"));
  EXPECT_EQ(Stored("1.5", arrow::decimal128(8, 2)), "1.50");
  EXPECT_TRUE(Has(Stored("1.555", arrow::decimal128(8, 2)), "does not fit"));
  EXPECT_TRUE(
      Has(Stored("i", arrow::utf8()), "the types do not fit: expected string, found int32"));
  EXPECT_TRUE(Has(Stored("'x'", arrow::int32()), "cannot set column target"));
  EXPECT_EQ(Stored("s", arrow::large_utf8()), "12");
  EXPECT_EQ(Stored("'2021-01-01'", arrow::date32()), "2021-01-01");
  EXPECT_EQ(Stored("CASE WHEN i > 0 THEN 1 ELSE 2 END", arrow::int8()), "1");
  EXPECT_EQ(Stored("NULL", arrow::int8()), "null");
  EXPECT_TRUE(Has(Stored("NULL", arrow::int8(), false), "not nullable: target"));
  EXPECT_EQ(Stored("i > 5", arrow::boolean()), "true");
}

TEST(Expression, RefusesABatchWithoutItsColumns) {
  const auto rows = Rows();
  auto expression = Expression::ParseSql("i = 1", *rows->schema());
  auto value =
      expression->Evaluate(*rows->RemoveColumn(0).ValueOrDie(), arrow::default_memory_pool());
  ASSERT_FALSE(value.ok());
  EXPECT_TRUE(Has(value.status().message(), "lacks a column"));
}

}  // namespace
}  // namespace pennon::expr
