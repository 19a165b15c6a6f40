#include "pennon/file/leaf_field.h"

#include <arrow/type.h>

#include "pennon/schema/field_marks.h"

namespace pennon::file {

bool OwnsOneColumn(const Field& field) {
  return field.is_leaf() || schema::IsPackedStruct(field) || schema::IsBlob(field);
}

arrow::Result<encoding::LeafType> LeafTypeOf(const Field& field) {
  if (schema::IsBlob(field)) return encoding::LeafType::Blob();
  return encoding::LeafType::Make(*field.type);
}

std::shared_ptr<arrow::DataType> LeafArrowType(const Field& field) {
  return schema::IsBlob(field) ? arrow::large_binary() : field.type;
}

}  // namespace pennon::file
