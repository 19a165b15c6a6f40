#include "pennon/schema.h"

#include <arrow/type.h>
#include <arrow/util/key_value_metadata.h>

namespace pennon {
namespace {

const Field* FindBelow(const Field& field, int32_t id) {
  if (field.id == id) return &field;
  for (const Field& child : field.children) {
    if (const Field* found = FindBelow(child, id)) return found;
  }
  return nullptr;
}

std::shared_ptr<arrow::KeyValueMetadata> ToArrowMetadata(
    const std::map<std::string, std::string>& metadata) {
  if (metadata.empty()) return nullptr;
  auto out = std::make_shared<arrow::KeyValueMetadata>();
  for (const auto& [key, value] : metadata) out->Append(key, value);
  return out;
}

}  // namespace

const Field* Schema::FindId(int32_t id) const {
  for (const Field& field : fields) {
    if (const Field* found = FindBelow(field, id)) return found;
  }
  return nullptr;
}

const Field* Schema::FindName(std::string_view name) const {
  for (const Field& field : fields) {
    if (field.name == name) return &field;
  }
  return nullptr;
}

const Field* Schema::TopLevelOf(int32_t id) const {
  for (const Field& field : fields) {
    if (FindBelow(field, id) != nullptr) return &field;
  }
  return nullptr;
}

std::shared_ptr<arrow::Schema> Schema::ToArrow() const {
  arrow::FieldVector out;
  out.reserve(fields.size());
  for (const Field& field : fields) out.push_back(ToArrowField(field));
  return arrow::schema(std::move(out), ToArrowMetadata(metadata));
}

std::shared_ptr<arrow::Field> ToArrowField(const Field& field) {
  return arrow::field(field.name, field.type, field.nullable, ToArrowMetadata(field.metadata));
}

void AppendLeafIds(const Field& field, std::vector<int32_t>* ids) {
  if (field.is_leaf()) ids->push_back(field.id);
  for (const Field& child : field.children) AppendLeafIds(child, ids);
}

}  // namespace pennon
