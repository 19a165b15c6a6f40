// Text and bytes from anywhere give a result or an error, never a crash.
#include <cstdlib>
#include <fstream>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <arrow/array.h>
#include <arrow/buffer.h>
#include <arrow/builder.h>
#include <arrow/compute/api_scalar.h>
#include <arrow/compute/expression.h>
#include <arrow/io/file.h>
#include <arrow/ipc/reader.h>
#include <arrow/record_batch.h>
#include <arrow/type.h>

#include <nlohmann/json.hpp>

#include "pennon/error.h"
#include "pennon/expr/expression.h"

namespace pennon::expr {
namespace {

std::string DataFile(const std::string& name) {
  const char* source = std::getenv("PENNON_SOURCE_DIR");
  return std::string(source ? source : ".") + "/testdata/filter_dialect/" + name;
}

std::shared_ptr<arrow::RecordBatch> Rows() {
  auto file = arrow::io::ReadableFile::Open(DataFile("expected.arrow")).ValueOrDie();
  return arrow::ipc::RecordBatchFileReader::Open(file)
      .ValueOrDie()
      ->ReadRecordBatch(0)
      .ValueOrDie();
}

std::vector<std::string> Filters() {
  std::ifstream file(DataFile("filters.json"));
  const nlohmann::json entries = nlohmann::json::parse(file);
  std::vector<std::string> filters;
  for (const auto& entry : entries) filters.push_back(entry["filter"]);
  return filters;
}

// Parses and evaluates; every error must say that the input is at fault.
void Try(const std::string& sql, const arrow::RecordBatch& rows) {
  auto expression = Expression::ParseSql(sql, *rows.schema());
  arrow::Status status = expression.status();
  if (expression.ok()) {
    auto value = expression->Evaluate(rows, arrow::default_memory_pool());
    status = value.status();
    if (value.ok()) {
      EXPECT_EQ((*value)->length(), rows.num_rows()) << sql;
      EXPECT_TRUE((*value)->ValidateFull().ok()) << sql;
    }
  }
  if (status.ok()) return;
  const ErrorDetail* detail = GetErrorDetail(status);
  ASSERT_NE(detail, nullptr) << sql << ": " << status.ToString();
  EXPECT_EQ(detail->kind(), ErrorKind::kInvalidInput) << sql << ": " << status.ToString();
}

TEST(Hostile, TruncatedFilters) {
  const auto rows = Rows();
  for (const std::string& filter : Filters()) {
    for (size_t size = 0; size < filter.size(); size += 1 + filter.size() / 8)
      Try(filter.substr(0, size), *rows);
  }
}

TEST(Hostile, FiltersCutAndJoinedByChance) {
  const auto rows = Rows();
  const std::vector<std::string> filters = Filters();
  std::mt19937 random(42);
  for (int i = 0; i < 1500; ++i) {
    const std::string& a = filters[random() % filters.size()];
    const std::string& b = filters[random() % filters.size()];
    std::string sql = a.substr(0, random() % (a.size() + 1)) + b.substr(random() % (b.size() + 1));
    if (random() % 3 == 0)
      sql.insert(random() % (sql.size() + 1), 1, "()[]'\"`,;.-+*/%<>=|X1e"[random() % 22]);
    Try(sql, *rows);
  }
}

TEST(Hostile, RandomBytes) {
  const auto rows = Rows();
  std::mt19937 random(1);
  for (int i = 0; i < 1500; ++i) {
    std::string sql;
    for (size_t size = random() % 40; sql.size() < size;)
      sql += static_cast<char>(random() % (i % 2 ? 128 : 256));
    Try(sql, *rows);
  }
}

std::string Repeat(const std::string& part, int times) {
  std::string text;
  for (int i = 0; i < times; ++i) text += part;
  return text;
}

TEST(Hostile, LongAndDeepText) {
  const auto rows = Rows();
  Try(Repeat("(", 100000) + "b" + Repeat(")", 100000), *rows);
  Try(Repeat("NOT ", 100000) + "b", *rows);
  Try("i32 = 0" + Repeat("+1", 30000), *rows);
  Try("s" + Repeat(" || s", 30000), *rows);
  Try("i32" + Repeat("::int", 30000), *rows);
  Try(Repeat("- ", 100000) + "i32 = 1", *rows);
  Try(Repeat("CASE WHEN b THEN ", 20000) + "1" + Repeat(" END", 20000), *rows);
  Try("l" + Repeat("[1]", 30000), *rows);
  Try("st" + Repeat(".a", 30000), *rows);
  Try(Repeat("(", 200) + "b" + Repeat(" BETWEEN b AND b)", 200), *rows);
  Try(Repeat("(", 200) + "b" + Repeat(" IS DISTINCT FROM b)", 200), *rows);
  Try("i32 = 1" + Repeat("0", 500000), *rows);
  Try("f64 = 1e" + Repeat("9", 500000), *rows);
  Try("s LIKE '" + Repeat("%_", 2000) + "'", *rows);
  Try(Repeat("x", 500000) + " = 1", *rows);
  Try(Repeat("(id = 3) AND ", 500000) + "b", *rows);
}

TEST(Hostile, ManyTermsAreEvaluated) {
  const auto rows = Rows();
  auto all = Expression::ParseFilter(Repeat("id<99 AND ", 20000) + "id=3", *rows->schema());
  ASSERT_TRUE(all.ok()) << all.status().ToString();
  EXPECT_EQ((*all->EvaluateFilter(*rows, arrow::default_memory_pool()))->true_count(), 1);
  auto any = Expression::ParseFilter("id IN (" + Repeat("77,", 100000) + "5)", *rows->schema());
  ASSERT_TRUE(any.ok()) << any.status().ToString();
  EXPECT_EQ((*any->EvaluateFilter(*rows, arrow::default_memory_pool()))->true_count(), 1);
}

TEST(Hostile, SerializedExpressionsWithChangedBytes) {
  namespace cp = arrow::compute;
  const auto rows = Rows();
  arrow::Int32Builder builder;
  ASSERT_TRUE(builder.AppendValues({10, 20}).ok());
  const cp::Expression expression = cp::or_(
      cp::call("is_in", {cp::field_ref("i32")},
               cp::SetLookupOptions(builder.Finish().ValueOrDie())),
      cp::and_(cp::greater(cp::field_ref("f64"), cp::literal(1.5)),
               cp::call("match_like", {cp::field_ref("s")}, cp::MatchSubstringOptions("a%"))));
  const std::string bytes = cp::Serialize(expression).ValueOrDie()->ToString();
  ASSERT_TRUE(Expression::FromArrow(arrow::Buffer::FromString(bytes), *rows->schema()).ok());
  std::mt19937 random(3);
  for (int i = 0; i < 2000; ++i) {
    std::string changed = bytes;
    if (i % 4 == 0) {
      changed.resize(random() % bytes.size());
    } else {
      for (int k = 0; k < 1 + i % 3; ++k)
        changed[random() % changed.size()] = static_cast<char>(random());
    }
    auto read = Expression::FromArrow(arrow::Buffer::FromString(changed), *rows->schema());
    if (read.ok()) (void)read->Evaluate(*rows, arrow::default_memory_pool());
  }
}

}  // namespace
}  // namespace pennon::expr
