#include "pennon/table/fragment.h"

namespace pennon::table {

std::optional<int> DataFile::ColumnOf(int32_t field_id) const {
  for (size_t i = 0; i < fields.size() && i < column_indices.size(); ++i) {
    if (fields[i] == field_id && column_indices[i] >= 0) return column_indices[i];
  }
  return std::nullopt;
}

}  // namespace pennon::table
