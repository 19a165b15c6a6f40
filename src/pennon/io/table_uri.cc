#include "pennon/io/table_uri.h"

#include <cctype>
#include <filesystem>
#include <system_error>

#include "pennon/error.h"

namespace pennon::io {
namespace {

int HexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

/// Replaces %xx by its byte; anything else stays.
std::string PercentDecode(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '%' && i + 2 < text.size() && HexDigit(text[i + 1]) >= 0 &&
        HexDigit(text[i + 2]) >= 0) {
      out.push_back(static_cast<char>(HexDigit(text[i + 1]) * 16 + HexDigit(text[i + 2])));
      i += 2;
    } else {
      out.push_back(text[i]);
    }
  }
  return out;
}

/// The scheme before `://`, or empty if `uri` is a plain path.
std::string_view SchemeOf(std::string_view uri) {
  const size_t end = uri.find("://");
  if (end == std::string_view::npos || end == 0) return {};
  for (size_t i = 0; i < end; ++i) {
    const unsigned char c = static_cast<unsigned char>(uri[i]);
    if (std::isalnum(c) == 0 && c != '+' && c != '-' && c != '.') return {};
  }
  return uri.substr(0, end);
}

}  // namespace

arrow::Result<std::string> ResolveTableUri(std::string_view uri) {
  if (uri.empty()) return InvalidInput("The path of the table is empty");
  if (uri.find('\0') != std::string_view::npos)
    return InvalidInput("The path of the table holds a NUL byte");
  std::string path(uri);
  const std::string_view scheme = SchemeOf(uri);
  if (scheme == "file") {
    std::string_view rest = uri.substr(7);
    if (rest.starts_with("localhost/")) rest.remove_prefix(9);
    if (!rest.starts_with('/')) {
      return InvalidInput(
          "A file URI needs an absolute path, as in file:///home/me/t.lance, found: ", uri);
    }
    path = PercentDecode(rest);
  } else if (!scheme.empty()) {
    return Unsupported(uri,
                       "Tables are read from local paths and file:// URIs only, found the scheme ",
                       scheme, ": ", uri);
  }
  std::error_code error;
  std::filesystem::path absolute = std::filesystem::absolute(path, error);
  if (error) {
    return MakeError(ErrorKind::kIo, {.path = path},
                     JoinParts("Cannot make the path absolute: ", error.message(), ": ", path));
  }
  std::string text = absolute.lexically_normal().string();
  while (text.size() > 1 && text.back() == '/') text.pop_back();
  return text;
}

}  // namespace pennon::io
