// The dialect against a table of filters with the rows that each keeps (testdata/filter_dialect).
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <arrow/array.h>
#include <arrow/io/file.h>
#include <arrow/ipc/reader.h>
#include <arrow/record_batch.h>
#include <arrow/type.h>

#include <nlohmann/json.hpp>

#include "pennon/expr/expression.h"

namespace pennon::expr {
namespace {

using Ids = std::vector<int64_t>;

std::string DataFile(const std::string& name) {
  const char* source = std::getenv("PENNON_SOURCE_DIR");
  return std::string(source ? source : ".") + "/testdata/filter_dialect/" + name;
}

std::shared_ptr<arrow::RecordBatch> Rows() {
  auto file = arrow::io::ReadableFile::Open(DataFile("expected.arrow")).ValueOrDie();
  auto reader = arrow::ipc::RecordBatchFileReader::Open(file).ValueOrDie();
  EXPECT_EQ(reader->num_record_batches(), 1);
  return reader->ReadRecordBatch(0).ValueOrDie();
}

nlohmann::json ReadJson(const std::string& name) {
  std::ifstream file(DataFile(name));
  return nlohmann::json::parse(file);
}

arrow::Result<Ids> Keep(const std::string& filter, const arrow::RecordBatch& rows) {
  ARROW_ASSIGN_OR_RAISE(Expression expression, Expression::ParseFilter(filter, *rows.schema()));
  ARROW_ASSIGN_OR_RAISE(auto kept, expression.EvaluateFilter(rows, arrow::default_memory_pool()));
  EXPECT_EQ(kept->length(), rows.num_rows()) << filter;
  EXPECT_EQ(kept->null_count(), 0) << filter;
  const auto& id = static_cast<const arrow::Int64Array&>(*rows.GetColumnByName("id"));
  Ids ids;
  for (int64_t i = 0; i < kept->length(); ++i) {
    if (kept->Value(i)) ids.push_back(id.Value(i));
  }
  return ids;
}

TEST(FilterDialect, KeepsTheRowsThatLanceKeeps) {
  const auto rows = Rows();
  ASSERT_EQ(rows->num_rows(), 24);
  const nlohmann::json exact = ReadJson("exact.json");
  int agree = 0, accepted = 0, refused = 0, answered = 0;
  for (const auto& entry : ReadJson("filters.json")) {
    const std::string filter = entry["filter"];
    auto ids = Keep(filter, *rows);
    // What Lance refuses, or answers by wrapping numbers, has its exact answer in exact.json, or
    // must fail.
    if (entry.contains("refused") || entry.contains("note")) {
      ++refused;
      if (!ids.ok()) continue;
      ++answered;
      ASSERT_TRUE(exact.contains(filter))
          << "no exact answer is known, yet there is one: " << filter;
      EXPECT_EQ(*ids, exact[filter].get<Ids>()) << filter;
      continue;
    }
    ++accepted;
    EXPECT_TRUE(ids.ok()) << filter << ": " << ids.status().ToString();
    if (!ids.ok()) continue;
    EXPECT_EQ(*ids, entry["ids"].get<Ids>()) << filter;
    agree += *ids == entry["ids"].get<Ids>();
  }
  std::cout << "filters that Lance answers: " << agree << " of " << accepted
            << " agree; filters that it refuses: " << answered << " of " << refused
            << " answered exactly, the rest are errors\n";
  EXPECT_GT(accepted, 200);
}

TEST(FilterDialect, AnswersWhatIsExactAlthoughLanceRefuses) {
  const auto rows = Rows();
  const nlohmann::json exact = ReadJson("exact.json");
  for (const auto& [filter, ids] : exact.items()) {
    auto kept = Keep(filter, *rows);
    ASSERT_TRUE(kept.ok()) << filter << ": " << kept.status().ToString();
    EXPECT_EQ(*kept, ids.get<Ids>()) << filter;
  }
}

TEST(FilterDialect, WritesTheSameTreeForEqualSpellings) {
  const auto rows = Rows();
  auto text = [&](const std::string& sql) {
    auto expression = Expression::ParseSql(sql, *rows->schema());
    return expression.ok() ? expression->ToString() : expression.status().ToString();
  };
  EXPECT_EQ(text("UP = 1"), text("`Up` == 1 -- remark"));
  EXPECT_EQ(text("s = \"alpha\""), text("s='alpha';"));
  EXPECT_EQ(text("st.a = 1"), text("st['a'] = 1"));
}

TEST(FilterDialect, GivesNoRowsOfAnEmptyBatch) {
  const auto rows = Rows();
  for (const char* filter :
       {"i32 = 10", "true", "f64 > 0 OR l[1] = 2", "CASE WHEN b THEN true ELSE i8 > 1 END",
        "array_has(tags, 'r')", "s LIKE 'a%'", "f64 IN (1.5, 2)"}) {
    auto ids = Keep(filter, *rows->Slice(3, 0));
    ASSERT_TRUE(ids.ok()) << filter << ids.status().ToString();
    EXPECT_TRUE(ids->empty()) << filter;
  }
}

TEST(FilterDialect, TakesSlicesOfArrays) {
  const auto rows = Rows();
  for (const auto& entry : ReadJson("filters.json")) {
    if (!entry.contains("ids") || entry.contains("note")) continue;
    Ids expected;
    for (int64_t id : entry["ids"].get<Ids>()) {
      if (id >= 5 && id < 16) expected.push_back(id);
    }
    auto ids = Keep(entry["filter"], *rows->Slice(5, 11));
    ASSERT_TRUE(ids.ok()) << entry["filter"] << ids.status().ToString();
    EXPECT_EQ(*ids, expected) << entry["filter"];
  }
}

}  // namespace
}  // namespace pennon::expr
