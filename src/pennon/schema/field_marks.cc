#include "pennon/schema/field_marks.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <string>
#include <string_view>

#include <arrow/type.h>

namespace pennon::schema {
namespace {

// The values that the format reads as yes.
bool IsTrue(std::string value) {
  std::transform(value.begin(), value.end(), value.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  constexpr std::array<std::string_view, 5> kTrue = {"1", "true", "on", "yes", "y"};
  return std::find(kTrue.begin(), kTrue.end(), value) != kTrue.end();
}

bool HasTrue(const Field& field, const char* key) {
  const auto found = field.metadata.find(key);
  return found != field.metadata.end() && IsTrue(found->second);
}

}  // namespace

bool IsPackedStruct(const Field& field) {
  return field.type != nullptr && field.type->id() == arrow::Type::STRUCT &&
         (HasTrue(field, "packed") || HasTrue(field, "lance-encoding:packed"));
}

bool IsBlob(const Field& field) {
  if (field.metadata.contains("lance-encoding:blob")) return true;
  const auto extension = field.metadata.find("ARROW:extension:name");
  return extension != field.metadata.end() && extension->second == "lance.blob.v2";
}

}  // namespace pennon::schema
