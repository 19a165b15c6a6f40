#include "pennon/expr/sql_lexer.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <unordered_map>
#include <unordered_set>

#include <arrow/util/utf8.h>

#include "pennon/error.h"
#include "pennon/expr/ast.h"

namespace pennon::expr {
namespace {

bool IsWordStart(unsigned char c) { return std::isalpha(c) || c == '_' || c >= 0x80; }
bool IsWordPart(unsigned char c) { return IsWordStart(c) || std::isdigit(c); }

std::string Lower(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return lower;
}

// Words with a place in the grammar of expressions: never a column unless backquoted.
const std::unordered_set<std::string>& GrammarWords() {
  static const std::unordered_set<std::string> words = {
      "all",      "and",  "any",       "array",  "as",     "between", "case", "cast",
      "distinct", "else", "end",       "escape", "exists", "false",   "from", "ilike",
      "in",       "is",   "isnull",    "like",   "not",    "notnull", "null", "or",
      "similar",  "some", "symmetric", "then",   "true",   "when"};
  return words;
}

// Splits the text into tokens; knows nothing of grammar.
class Scanner {
 public:
  explicit Scanner(std::string_view sql) : sql_(sql) {}

  arrow::Result<std::vector<Token>> Scan() {
    std::vector<Token> tokens;
    size_t counted = 0;  // bytes before which `character` has counted
    int character = 1;
    while (true) {
      ARROW_RETURN_NOT_OK(SkipBlank());
      if (at_ == sql_.size()) return tokens;
      ARROW_ASSIGN_OR_RAISE(Token token, Next());
      character += CharacterAt(sql_.substr(counted), token.begin - counted) - 1;
      counted = token.begin;
      token.character = character;
      tokens.push_back(std::move(token));
    }
  }

 private:
  arrow::Status Error(size_t byte, const std::string& message) const {
    return ErrorAt(sql_, CharacterAt(sql_, byte), message);
  }

  bool StartsWith(std::string_view text) const { return sql_.substr(at_, text.size()) == text; }

  arrow::Status SkipBlank() {
    while (at_ < sql_.size()) {
      if (std::isspace(static_cast<unsigned char>(sql_[at_]))) {
        ++at_;
      } else if (StartsWith("--")) {
        at_ = std::min(sql_.find('\n', at_), sql_.size());
      } else if (StartsWith("/*")) {
        ARROW_RETURN_NOT_OK(SkipComment());
      } else {
        break;
      }
    }
    return arrow::Status::OK();
  }

  arrow::Status SkipComment() {
    const size_t begin = at_;
    int depth = 0;
    do {
      if (StartsWith("/*")) {
        ++depth;
        at_ += 2;
      } else if (StartsWith("*/")) {
        --depth;
        at_ += 2;
      } else if (at_ < sql_.size()) {
        ++at_;
      } else {
        return Error(begin, "this comment has no end; close it with */");
      }
    } while (depth > 0);
    return arrow::Status::OK();
  }

  arrow::Result<Token> Next() {
    const char c = sql_[at_];
    if (c == '\'' || c == '"') return Quoted(TokenKind::kString, c);
    if (c == '`') return Quoted(TokenKind::kName, c);
    if (IsWordStart(static_cast<unsigned char>(c))) return Word();
    const bool point = c == '.' && at_ + 1 < sql_.size() &&
                       std::isdigit(static_cast<unsigned char>(sql_[at_ + 1]));
    if (point || std::isdigit(static_cast<unsigned char>(c))) return Number();
    return Symbol();
  }

  arrow::Result<Token> Quoted(TokenKind kind, char quote) {
    Token token{.kind = kind, .begin = at_};
    for (++at_; at_ < sql_.size(); ++at_) {
      if (sql_[at_] != quote) {
        token.text += sql_[at_];
      } else if (at_ + 1 < sql_.size() && sql_[at_ + 1] == quote) {
        token.text += sql_[at_++];
      } else {
        ++at_;
        if (kind == TokenKind::kName && token.text.empty()) {
          return Error(token.begin, "a name in backquotes is empty");
        }
        return token;
      }
    }
    return Error(token.begin, std::string("this quote has no end; close it with ") + quote);
  }

  arrow::Result<Token> Word() {
    Token token{.kind = TokenKind::kWord, .begin = at_};
    while (at_ < sql_.size() && IsWordPart(static_cast<unsigned char>(sql_[at_])))
      token.text += sql_[at_++];
    if (at_ == sql_.size() || sql_[at_] != '\'' || token.text.size() != 1) return token;
    const char prefix = static_cast<char>(std::tolower(static_cast<unsigned char>(token.text[0])));
    if (prefix == 'x') {
      const size_t begin = token.begin;
      ARROW_ASSIGN_OR_RAISE(token, Quoted(TokenKind::kPrefixedString, '\''));
      token.begin = begin;
    } else if (prefix == 'e' || prefix == 'b' || prefix == 'n' || prefix == 'u') {
      return Error(token.begin,
                   "only the prefix X (bytes in hexadecimal) is known before a string");
    }
    return token;
  }

  // 12, 1.5, .5, 1., 1e10, 1.5E-3
  arrow::Result<Token> Number() {
    Token token{.kind = TokenKind::kNumber, .begin = at_};
    auto digits = [&] {
      while (at_ < sql_.size() && std::isdigit(static_cast<unsigned char>(sql_[at_])))
        token.text += sql_[at_++];
    };
    digits();
    if (at_ < sql_.size() && sql_[at_] == '.') {
      token.text += sql_[at_++];
      digits();
    }
    if (at_ < sql_.size() && (sql_[at_] == 'e' || sql_[at_] == 'E')) {
      token.text += sql_[at_++];
      if (at_ < sql_.size() && (sql_[at_] == '+' || sql_[at_] == '-')) token.text += sql_[at_++];
      digits();
      if (!std::isdigit(static_cast<unsigned char>(token.text.back()))) {
        return Error(token.begin, "the exponent of a number has no digits");
      }
    }
    if (at_ < sql_.size() && IsWordPart(static_cast<unsigned char>(sql_[at_]))) {
      return Error(token.begin, "a number runs into a word");
    }
    return token;
  }

  arrow::Result<Token> Symbol() {
    static constexpr std::array<std::string_view, 10> kPairs = {
        "<=", ">=", "<>", "!=", "==", "||", "::", "<<", ">>", "!~"};
    static constexpr std::string_view kSingles = "()[],.;+-*/%<>=:&|^~#";
    Token token{.kind = TokenKind::kSymbol, .begin = at_};
    for (std::string_view pair : kPairs) {
      if (StartsWith(pair)) {
        token.text = pair;
        at_ += pair.size();
        return token;
      }
    }
    if (kSingles.find(sql_[at_]) == std::string_view::npos) {
      return Error(at_, "this character has no meaning here");
    }
    token.text = sql_[at_++];
    return token;
  }

  std::string_view sql_;
  size_t at_ = 0;
};

// Finds columns by the words that mean them.
class ColumnWords {
 public:
  explicit ColumnWords(const std::vector<std::string>& columns) {
    for (const std::string& column : columns) {
      exact_.insert(column);
      auto [entry, is_new] = folded_.emplace(Lower(column), column);
      if (!is_new && entry->second != column) entry->second.clear();  // several: no fallback
    }
  }

  // The column that a bare word means, or "" when there is none, or several differ only in case.
  std::string Resolve(const std::string& word) const {
    if (exact_.count(word)) return word;
    auto entry = folded_.find(Lower(word));
    return entry == folded_.end() ? "" : entry->second;
  }

 private:
  std::unordered_set<std::string> exact_;
  std::unordered_map<std::string, std::string> folded_;
};

std::string Quote(std::string_view text, char quote) {
  std::string quoted(1, quote);
  for (char c : text) {
    if (c == quote) quoted += quote;
    quoted += c;
  }
  return quoted + quote;
}

// Writes the tokens again as PostgreSQL spells them.
class Rewriter {
 public:
  Rewriter(std::vector<Token> tokens, const std::vector<std::string>& columns) : columns_(columns) {
    lexed_.tokens = std::move(tokens);
  }

  LexedSql Run() {
    lexed_.statement = "SELECT (";
    for (size_t i = 0; i < lexed_.tokens.size(); ++i) {
      lexed_.statement += ' ';
      const std::string text = Spell(i);
      lexed_.tokens[i].emitted = lexed_.statement.size();
      lexed_.statement += text;
    }
    lexed_.statement += " )";
    return std::move(lexed_);
  }

 private:
  const Token* At(size_t i) const { return i < lexed_.tokens.size() ? &lexed_.tokens[i] : nullptr; }
  bool IsSymbol(size_t i, std::string_view text) const {
    const Token* token = At(i);
    return token && token->kind == TokenKind::kSymbol && token->text == text;
  }
  bool IsWord(size_t i, std::string_view lower) const {
    const Token* token = At(i);
    return token && token->kind == TokenKind::kWord && Lower(token->text) == lower;
  }

  std::string Spell(size_t i) {
    Token& token = lexed_.tokens[i];
    switch (token.kind) {
      case TokenKind::kString:
        return Quote(token.text, '\'');
      case TokenKind::kPrefixedString:
        return "X" + Quote(token.text, '\'');
      case TokenKind::kName:
        token.is_name = true;
        return Quote(token.text, '"');
      case TokenKind::kNumber:
        return token.text;
      case TokenKind::kSymbol:
        if (token.text == "==") return "=";
        return token.text == "[" && !IsSubscript(i) ? "ARRAY [" : token.text;
      case TokenKind::kWord:
        return SpellWord(i);
    }
    return token.text;
  }

  // Whether the bracket at token i reaches into the value before it.
  bool IsSubscript(size_t i) const {
    if (i == 0) return false;
    const Token& before = lexed_.tokens[i - 1];
    if (before.kind == TokenKind::kName) return true;
    if (before.kind == TokenKind::kWord) {
      const std::string word = Lower(before.text);
      return before.is_name || word == "array" || GrammarWords().count(word) == 0;
    }
    return before.kind == TokenKind::kSymbol && (before.text == "]" || before.text == ")");
  }

  std::string SpellWord(size_t i) {
    static const std::unordered_map<std::string, std::string> kUnsigned = {{"tinyint", "uint8"},
                                                                           {"smallint", "uint16"},
                                                                           {"int", "uint32"},
                                                                           {"integer", "uint32"},
                                                                           {"bigint", "uint64"}};
    Token& token = lexed_.tokens[i];
    const std::string lower = Lower(token.text);
    if (IsWord(i, "unsigned") && i > 0 && kUnsigned.count(Lower(lexed_.tokens[i - 1].text)))
      return "";
    if (auto entry = kUnsigned.find(lower); entry != kUnsigned.end() && IsWord(i + 1, "unsigned")) {
      return entry->second;
    }
    const bool is_call = IsSymbol(i + 1, "(");
    if (i > 0 && IsSymbol(i - 1, ".") && !is_call) {
      token.is_name = true;
      return Quote(token.text, '"');
    }
    const Token* next = At(i + 1);
    const bool is_type = (next && next->kind == TokenKind::kString) ||
                         (i > 0 && (IsSymbol(i - 1, "::") || IsWord(i - 1, "as")));
    const bool is_part = i > 1 && IsSymbol(i - 1, "(") && IsWord(i - 2, "extract");
    if (is_call || is_type || is_part || GrammarWords().count(lower)) return token.text;
    const std::string column = columns_.Resolve(token.text);
    if (column.empty()) return token.text;
    token.text = column;
    token.is_name = true;
    return Quote(column, '"');
  }

  LexedSql lexed_;
  ColumnWords columns_;
};

arrow::Status CheckBrackets(std::string_view sql, const std::vector<Token>& tokens) {
  std::vector<const Token*> open;
  for (const Token& token : tokens) {
    if (token.kind != TokenKind::kSymbol) continue;
    if (token.text == "(" || token.text == "[") {
      open.push_back(&token);
      if (open.size() > kMaxOpenBrackets) {
        return ErrorAt(sql, token.character,
                       "brackets are nested deeper than " + std::to_string(kMaxOpenBrackets));
      }
    } else if (token.text == ")" || token.text == "]") {
      if (open.empty() || (open.back()->text == "(") != (token.text == ")")) {
        return ErrorAt(sql, token.character, "this bracket closes nothing");
      }
      open.pop_back();
    } else if (token.text == ";") {
      return ErrorAt(sql, token.character, "one expression is expected, found several statements");
    }
  }
  if (!open.empty()) {
    return ErrorAt(sql, open.back()->character, "this bracket is not closed");
  }
  return arrow::Status::OK();
}

}  // namespace

size_t LexedSql::TokenAt(size_t emitted) const {
  return std::lower_bound(tokens.begin(), tokens.end(), emitted,
                          [](const Token& token, size_t byte) { return token.emitted < byte; }) -
         tokens.begin();
}

int CharacterAt(std::string_view sql, size_t byte) {
  return 1 + static_cast<int>(std::count_if(
                 sql.begin(), sql.begin() + std::min(byte, sql.size()),
                 [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

arrow::Result<LexedSql> LexSql(std::string_view sql, const std::vector<std::string>& columns) {
  if (sql.size() > kMaxSqlBytes) {
    return InvalidInput("expression text is too long; at most ", kMaxSqlBytes,
                        " bytes are read, found ", sql.size(),
                        " (for long lists give a pyarrow expression with isin)");
  }
  arrow::util::InitializeUTF8();
  if (!arrow::util::ValidateUTF8(sql) || sql.find('\0') != std::string_view::npos) {
    return InvalidInput("expression text is not UTF-8 without zero bytes");
  }
  ARROW_ASSIGN_OR_RAISE(std::vector<Token> tokens, Scanner(sql).Scan());
  while (!tokens.empty() && tokens.back().kind == TokenKind::kSymbol && tokens.back().text == ";") {
    tokens.pop_back();
  }
  if (tokens.empty())
    return InvalidInput("expression text is empty; give a condition such as a > 1");
  ARROW_RETURN_NOT_OK(CheckBrackets(sql, tokens));
  return Rewriter(std::move(tokens), columns).Run();
}

}  // namespace pennon::expr
