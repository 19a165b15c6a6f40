#include "pennon/expr/ast.h"

#include "pennon/error.h"

namespace pennon::expr {
namespace {

constexpr int kExcerptCharacters = 24;

// The characters of `sql` from the 1-based `position` on, cut after kExcerptCharacters.
std::string Excerpt(std::string_view sql, int position) {
  size_t begin = 0;
  auto is_start = [&](size_t i) { return (static_cast<unsigned char>(sql[i]) & 0xC0) != 0x80; };
  int character = 0;
  for (; begin < sql.size(); ++begin) {
    if (is_start(begin) && ++character == position) break;
  }
  size_t end = begin;
  for (int taken = 0; end < sql.size(); ++end) {
    if (is_start(end) && ++taken > kExcerptCharacters) break;
  }
  return std::string(sql.substr(begin, end - begin)) + (end < sql.size() ? "…" : "");
}

}  // namespace

arrow::Status ErrorAt(std::string_view sql, int position, const std::string& message) {
  if (sql.empty() || position <= 0) return InvalidInput("invalid expression: ", message);
  std::string excerpt = Excerpt(sql, position);
  if (excerpt.empty()) {
    return InvalidInput("invalid expression: ", message, ", at position ", position,
                        ", the end of the text");
  }
  return InvalidInput("invalid expression: ", message, ", at position ", position, ", near `",
                      excerpt, "`");
}

}  // namespace pennon::expr
