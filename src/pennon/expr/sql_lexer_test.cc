#include "pennon/expr/sql_lexer.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace pennon::expr {
namespace {

std::string Rewrite(const std::string& sql, const std::vector<std::string>& columns = {}) {
  auto lexed = LexSql(sql, columns);
  return lexed.ok() ? lexed->statement : lexed.status().message();
}

TEST(SqlLexer, RewritesQuotesNamesAndLists) {
  EXPECT_EQ(Rewrite("s = \"it's\""), "SELECT ( s = 'it''s' )");
  EXPECT_EQ(Rewrite("`odd \"name` = 1"), "SELECT ( \"odd \"\"name\" = 1 )");
  EXPECT_EQ(Rewrite("f(x, [1, 2])"), "SELECT ( f ( x , ARRAY [ 1 , 2 ] ) )");
  EXPECT_EQ(Rewrite("l[1] IN ([2])"), "SELECT ( l [ 1 ] IN ( ARRAY [ 2 ] ) )");
  EXPECT_EQ(Rewrite("a == -1 -- remark\n;;"), "SELECT ( a = - 1 )");
  EXPECT_EQ(Rewrite("CAST(a AS int unsigned)"), "SELECT ( CAST ( a AS uint32  ) )");
}

TEST(SqlLexer, QuotesColumnsThatWordsMean) {
  const std::vector<std::string> columns = {"Up", "select", "date", "X", "x", "Ärger"};
  EXPECT_EQ(Rewrite("UP + up", columns), "SELECT ( \"Up\" + \"Up\" )");
  EXPECT_EQ(Rewrite("select = date", columns), "SELECT ( \"select\" = \"date\" )");
  EXPECT_EQ(Rewrite("date '2021-01-01'", columns), "SELECT ( date '2021-01-01' )");
  EXPECT_EQ(Rewrite("CAST(x AS date)", columns), "SELECT ( CAST ( \"x\" AS date ) )");
  EXPECT_EQ(Rewrite("X", columns), "SELECT ( \"X\" )");
  EXPECT_EQ(Rewrite("Up.A.upper", columns), "SELECT ( \"Up\" . \"A\" . \"upper\" )");
  EXPECT_EQ(Rewrite("Ärger", columns), "SELECT ( \"Ärger\" )");
}

TEST(SqlLexer, NamesThePlaceOfAFault) {
  EXPECT_NE(Rewrite("ä = 'x").find("at position 5, near `'x`"), std::string::npos)
      << Rewrite("ä = 'x");
  EXPECT_NE(Rewrite("a = 1 ; b").find("at position 7"), std::string::npos);
  EXPECT_NE(Rewrite("a = (1").find("at position 5"), std::string::npos);
  EXPECT_NE(Rewrite("a = 1)").find("at position 6"), std::string::npos);
  EXPECT_NE(Rewrite("a = $1").find("at position 5"), std::string::npos);
  EXPECT_NE(Rewrite("a = 1x").find("at position 5"), std::string::npos);
  EXPECT_NE(Rewrite("a /* b").find("at position 3"), std::string::npos);
  EXPECT_NE(Rewrite(" ; ").find("empty"), std::string::npos);
  EXPECT_NE(Rewrite("a = '\xff'").find("UTF-8"), std::string::npos);
  EXPECT_NE(Rewrite(std::string(kMaxSqlBytes + 1, 'a')).find("too long"), std::string::npos);
}

}  // namespace
}  // namespace pennon::expr
