#include "pennon/schema/prune.h"

#include <algorithm>
#include <utility>
#include <vector>

#include <arrow/type.h>

#include "pennon/schema/field_marks.h"

namespace pennon::schema {
namespace {

bool Holds(const Field& field, std::span<const int32_t> ids) {
  if (std::find(ids.begin(), ids.end(), field.id) != ids.end()) return true;
  return std::any_of(field.children.begin(), field.children.end(),
                     [ids](const Field& child) { return Holds(child, ids); });
}

}  // namespace

bool IsPlainStruct(const Field& field) {
  return field.type != nullptr && field.type->id() == arrow::Type::STRUCT &&
         !field.children.empty() && !IsPackedStruct(field) && !IsBlob(field);
}

Field Prune(const Field& field, std::span<const int32_t> ids) {
  const bool asked = std::find(ids.begin(), ids.end(), field.id) != ids.end();
  if (asked || !IsPlainStruct(field) || !Holds(field, ids)) return field;
  Field pruned;
  pruned.name = field.name;
  pruned.id = field.id;
  pruned.parent_id = field.parent_id;
  pruned.logical_type = field.logical_type;
  pruned.nullable = field.nullable;
  pruned.metadata = field.metadata;
  arrow::FieldVector types;
  for (const Field& child : field.children) {
    if (!Holds(child, ids)) continue;
    pruned.children.push_back(Prune(child, ids));
    types.push_back(ToArrowField(pruned.children.back()));
  }
  pruned.type = arrow::struct_(std::move(types));
  return pruned;
}

}  // namespace pennon::schema
