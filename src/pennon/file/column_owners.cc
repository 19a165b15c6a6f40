#include "pennon/file/column_owners.h"

#include "pennon/file/leaf_field.h"
#include "pennon/schema/prune.h"

namespace pennon::file {
namespace {

void AppendOwners(const Field& field, bool parents_own, std::vector<int32_t>* ids) {
  const bool whole = OwnsOneColumn(field);
  if (whole || parents_own) ids->push_back(field.id);
  if (whole) return;
  for (const Field& child : field.children) AppendOwners(child, parents_own, ids);
}

}  // namespace

std::vector<int32_t> ColumnOwners(const Field& field, FileVersion version) {
  std::vector<int32_t> ids;
  AppendOwners(field, version.minor == 0, &ids);
  return ids;
}

std::vector<int32_t> ValueOwners(const Field& field, FileVersion version) {
  if (!schema::IsPlainStruct(field)) return ColumnOwners(field, version);
  std::vector<int32_t> ids;
  for (const Field& child : field.children) {
    const std::vector<int32_t> below = ValueOwners(child, version);
    ids.insert(ids.end(), below.begin(), below.end());
  }
  return ids;
}

}  // namespace pennon::file
