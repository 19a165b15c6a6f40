#include "pennon/table/fragment.h"

namespace pennon::table {

std::optional<int> DataFile::ColumnOf(int32_t field_id) const {
  for (size_t i = 0; i < fields.size() && i < column_indices.size(); ++i) {
    if (fields[i] == field_id && column_indices[i] >= 0) return column_indices[i];
  }
  return std::nullopt;
}

std::string DataFile::StorageVersion() const {
  if (major_version == 0) return minor_version == 3 ? "2.0" : "0.1";
  return std::to_string(major_version) + "." + std::to_string(minor_version);
}

}  // namespace pennon::table
