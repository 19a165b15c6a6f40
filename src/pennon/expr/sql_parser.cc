#include "pennon/expr/sql_parser.h"

#include <algorithm>

extern "C" {
#include <pg_query.h>
}

#include "pennon/expr/sql_lexer.h"
#include "pennon/expr/sql_tree.h"
#include "pennon/expr/stack_thread.h"

namespace pennon::expr {
namespace {

// PostgreSQL's grammar recurses on nested and left-deep text: measured below 100 bytes of stack a
// byte.
size_t StackFor(const std::string& statement) { return (size_t{1} << 20) + 128 * statement.size(); }

struct ParserAnswer {
  std::string tree;
  std::string error;
  int error_character = 0;  // 1-based, in the statement; 0 where unknown
};

ParserAnswer AskParser(const std::string& statement) {
  ParserAnswer answer;
  PgQueryParseResult result = pg_query_parse(statement.c_str());
  if (result.error) {
    answer.error = result.error->message ? result.error->message : "unknown fault";
    answer.error_character = result.error->cursorpos;
  } else if (result.parse_tree) {
    answer.tree = result.parse_tree;
  }
  pg_query_free_parse_result(result);
  return answer;
}

// The first byte of the 1-based `character` of `text`.
size_t ByteAt(std::string_view text, int character) {
  size_t byte = 0;
  for (int seen = 0; byte < text.size(); ++byte) {
    if ((static_cast<unsigned char>(text[byte]) & 0xC0) != 0x80 && ++seen == character) break;
  }
  return byte;
}

arrow::Status SyntaxError(std::string_view sql, const LexedSql& lexed, const ParserAnswer& answer) {
  const size_t token = lexed.TokenAt(ByteAt(lexed.statement, answer.error_character));
  if (answer.error_character <= 0 || token == lexed.tokens.size()) {
    const bool at_end = answer.error.rfind("syntax error", 0) == 0;
    return ErrorAt(sql, CharacterAt(sql, sql.size()),
                   at_end ? "the text ends too early" : answer.error);
  }
  return ErrorAt(sql, lexed.tokens[token].character,
                 answer.error.rfind("syntax error", 0) == 0 ? "syntax error" : answer.error);
}

}  // namespace

arrow::Result<Ast> ParseSqlText(std::string_view sql, const std::vector<std::string>& columns) {
  ARROW_ASSIGN_OR_RAISE(LexedSql lexed, LexSql(sql, columns));
  ParserAnswer answer;
  ARROW_RETURN_NOT_OK(
      RunOnLargeStack(StackFor(lexed.statement), [&] { answer = AskParser(lexed.statement); }));
  if (!answer.error.empty()) return SyntaxError(sql, lexed, answer);
  return ReadSqlTree(answer.tree, sql, lexed);
}

}  // namespace pennon::expr
