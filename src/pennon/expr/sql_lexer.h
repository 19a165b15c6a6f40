// The lexical step before PostgreSQL's parser: the filter dialect spells some things differently.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <arrow/result.h>

namespace pennon::expr {

/// The longest SQL text that is read, in bytes.
inline constexpr size_t kMaxSqlBytes = size_t{1} << 20;
/// The most brackets that may be open at one place.
inline constexpr int kMaxOpenBrackets = 300;

enum class TokenKind { kWord, kName, kString, kPrefixedString, kNumber, kSymbol };

struct Token {
  TokenKind kind;
  std::string text;      ///< as written; of names and strings the value between the quotes
  size_t begin = 0;      ///< first byte in the text as given
  int character = 1;     ///< 1-based character of `begin`
  size_t emitted = 0;    ///< first byte in LexedSql::statement
  bool is_name = false;  ///< a column or field name: `text` is its exact spelling
};

/// SQL text as PostgreSQL's parser takes it, with the way back to the text as given.
struct LexedSql {
  std::string statement;      ///< SELECT (…)
  std::vector<Token> tokens;  ///< in order

  /// Returns the index of the token at or after byte `emitted` of `statement`; tokens.size() if
  /// none.
  size_t TokenAt(size_t emitted) const;
};

/// Returns the 1-based character of byte `byte` of `sql`.
int CharacterAt(std::string_view sql, size_t byte);

/// Rewrites one expression of the dialect into a statement:
/// - `"x"` is a string like 'x'; a backquoted word is a name; comments and trailing `;` go away;
/// - a bare word that is a column (exactly, or else but for case) becomes the quoted name;
/// - `[…]` where a value is expected becomes ARRAY[…]; `==` becomes `=`; `int unsigned` becomes
/// uint32. Errors (kInvalidInput) name the position.
arrow::Result<LexedSql> LexSql(std::string_view sql, const std::vector<std::string>& columns);

}  // namespace pennon::expr
