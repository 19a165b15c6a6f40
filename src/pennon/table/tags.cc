#include "pennon/table/tags.h"

#include <algorithm>
#include <string>

#include <nlohmann/json.hpp>

#include "pennon/error.h"

namespace pennon::table {
namespace {

// A tag with much metadata has some kilobytes.
constexpr uint64_t kMaxTagBytes = 1 << 20;

bool IsTagCharacter(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '.' ||
         c == '-' || c == '_';
}

arrow::Result<uint64_t> ParseTag(const std::string& path, const std::string& text) {
  const auto tag = nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!tag.is_object()) return Corrupt(path, "a tag file must hold a JSON object: ", path);
  const auto branch = tag.find("branch");
  if (branch != tag.end() && !branch->is_null()) {
    return Unsupported(path,
                       "the tag names a version of a branch, which pennon does not open yet: "
                       "branch ",
                       branch->is_string() ? branch->get<std::string>() : "?", ", ", path);
  }
  const auto version = tag.find("version");
  if (version == tag.end() || !version->is_number_unsigned()) {
    return Corrupt(path, "a tag file must hold the version as a number: ", path);
  }
  return version->get<uint64_t>();
}

}  // namespace

bool IsTagName(std::string_view name) {
  return !name.empty() && std::all_of(name.begin(), name.end(), IsTagCharacter) &&
         !name.starts_with('.') && !name.ends_with('.') && !name.ends_with(".lock") &&
         name.find("..") == std::string_view::npos;
}

arrow::Result<std::optional<uint64_t>> FindTag(const TableLocation& table, std::string_view name) {
  if (!IsTagName(name)) return std::nullopt;
  const std::string path = table.root + "/_refs/tags/" + std::string(name) + ".json";
  auto file = table.store->Open(path);
  if (!file.ok()) {
    const ErrorDetail* detail = GetErrorDetail(file.status());
    if (detail != nullptr && detail->kind() == ErrorKind::kNotFound) return std::nullopt;
    return file.status();
  }
  const uint64_t size = (*file)->size();
  if (size > kMaxTagBytes) {
    return Corrupt(path, "a tag file is too large to be one: ", size, " bytes, ", path);
  }
  std::string text(size, '\0');
  ARROW_RETURN_NOT_OK((*file)->ReadAt(0, {reinterpret_cast<uint8_t*>(text.data()), text.size()}));
  ARROW_ASSIGN_OR_RAISE(const uint64_t version, ParseTag(path, text));
  return version;
}

}  // namespace pennon::table
