#include "pennon/file/self_schema.h"

#include <algorithm>
#include <cctype>
#include <string>
#include <utility>

#include <arrow/type.h>

#include "pennon/file/container.h"
#include "pennon/schema/field_tree.h"
#include "pennon/wire/file_descriptor.h"

namespace pennon::file {

namespace {

bool IsTruthy(const Field& field, const char* key) {
  const auto entry = field.metadata.find(key);
  if (entry == field.metadata.end()) return false;
  std::string value = entry->second;
  std::transform(value.begin(), value.end(), value.begin(),
                 [](unsigned char c) { return std::tolower(c); });
  return value == "1" || value == "true" || value == "on" || value == "yes" || value == "y";
}

bool IsBlob(const Field& field) {
  const auto extension = field.metadata.find("ARROW:extension:name");
  return field.metadata.contains("lance-encoding:blob") ||
         (extension != field.metadata.end() && extension->second == "lance.blob.v2");
}

/// Columns that `field` and all below it own.
int CountColumns(const Field& field, bool is_v20) {
  if (field.is_leaf() || IsBlob(field) || IsTruthy(field, "packed") ||
      IsTruthy(field, "lance-encoding:packed")) {
    return 1;
  }
  // Structs and lists own a column of their own in 2.0 only; lists of fixed size never do.
  int count = is_v20 && field.type->id() != arrow::Type::FIXED_SIZE_LIST ? 1 : 0;
  for (const Field& child : field.children) count += CountColumns(child, is_v20);
  return count;
}

}  // namespace

arrow::Result<SelfSchema> ReadSelfSchema(std::shared_ptr<ReadableFile> file,
                                         arrow::MemoryPool* pool) {
  ARROW_ASSIGN_OR_RAISE(const Container container, Container::Open(std::move(file), pool));
  ARROW_ASSIGN_OR_RAISE(const std::string bytes, container.ReadGlobalBuffer(0));
  ARROW_ASSIGN_OR_RAISE(wire::FileDescriptor descriptor,
                        wire::ParseFileDescriptor(bytes, container.path()));
  SelfSchema out;
  ARROW_ASSIGN_OR_RAISE(out.schema,
                        schema::BuildSchema(std::move(descriptor.fields), {}, container.path()));
  int column = 0;
  for (const Field& field : out.schema.fields) {
    out.first_columns.push_back(column);
    column += CountColumns(field, container.footer().minor == 0);
  }
  return out;
}

}  // namespace pennon::file
