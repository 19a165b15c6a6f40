#include "pennon/read/column.h"

#include <algorithm>
#include <cctype>

#include <arrow/type.h>

#include "pennon/error.h"
#include "pennon/schema/field_marks.h"
#include "pennon/schema/prune.h"

namespace pennon::read {
namespace {

struct RowColumn {
  std::string_view name;
  Column::Kind kind;
  bool needs_row_ids;
};

constexpr RowColumn kRowColumns[] = {
    {kRowIdName, Column::Kind::kRowId, false},
    {kRowAddressName, Column::Kind::kRowAddress, false},
    {kCreatedAtName, Column::Kind::kCreatedAt, true},
    {kLastUpdatedAtName, Column::Kind::kLastUpdatedAt, true},
};

Column MakeRowColumn(const RowColumn& row) {
  Column column;
  column.kind = row.kind;
  column.name = std::string(row.name);
  column.arrow_field = arrow::field(column.name, arrow::uint64(),
                                    /*nullable=*/row.kind != Column::Kind::kRowAddress);
  return column;
}

Column MakeFieldColumn(const Field& field) {
  Column column;
  column.field = &field;
  column.name = field.name;
  column.arrow_field = ToArrowField(field);
  // Blobs are read as their bytes, whatever the schema says of descriptors.
  if (schema::IsBlob(field))
    column.arrow_field = column.arrow_field->WithType(arrow::large_binary());
  return column;
}

// Edits to get from `a` to `b`, letters of either case alike.
size_t Distance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      bool same = std::tolower(static_cast<unsigned char>(a[i - 1])) ==
                  std::tolower(static_cast<unsigned char>(b[j - 1]));
      size_t best = std::min({row[j] + 1, row[j - 1] + 1, diagonal + (same ? 0 : 1)});
      diagonal = row[j];
      row[j] = best;
    }
  }
  return row[b.size()];
}

arrow::Status UnknownColumn(const table::Manifest& manifest, std::string_view name) {
  std::string list;
  std::string nearest;
  size_t nearest_distance = std::max<size_t>(2, name.size() / 3) + 1;
  size_t listed = 0;
  for (const Column& column : AllColumns(manifest)) {
    size_t distance = Distance(name, column.name);
    if (distance < nearest_distance) {
      nearest_distance = distance;
      nearest = column.name;
    }
    if (++listed <= 40) list += (list.empty() ? "" : ", ") + column.name;
  }
  if (listed > 40) list += ", ...";
  return InvalidInput("no such column: `", name, "`; ",
                      nearest.empty() ? std::string() : "did you mean `" + nearest + "`? ",
                      "the table has: ", list);
}

// Takes the first name off a path: up to a dot, or what stands between backquotes (two stand for
// one).
std::string NextName(std::string_view* path) {
  std::string name;
  bool quoted = false;
  size_t i = 0;
  for (; i < path->size(); ++i) {
    const char c = (*path)[i];
    if (c == '`') {
      if (quoted && i + 1 < path->size() && (*path)[i + 1] == '`')
        name += (*path)[i++];
      else
        quoted = !quoted;
    } else if (c == '.' && !quoted) {
      break;
    } else {
      name += c;
    }
  }
  path->remove_prefix(std::min(i + 1, path->size()));
  return name;
}

std::string ChildNames(const Field& field) {
  std::string names;
  for (const Field& child : field.children) names += (names.empty() ? "" : ", ") + child.name;
  return names;
}

// A field inside structs, by its path.
arrow::Result<Column> FindPath(const table::Manifest& manifest, std::string_view path) {
  std::string_view rest = path;
  const Field* field = manifest.schema().FindName(NextName(&rest));
  if (field == nullptr) return UnknownColumn(manifest, path);
  const Field* top = field;
  bool nullable = field->nullable;
  std::vector<int32_t> ids;
  while (!rest.empty()) {
    const std::string name = NextName(&rest);
    if (field->type->id() != arrow::Type::STRUCT) {
      return InvalidInput("only a struct has fields that can be read by themselves: `", path,
                          "`, but `", field->name, "` is ", field->type->ToString());
    }
    auto child = std::find_if(field->children.begin(), field->children.end(),
                              [&](const Field& candidate) { return candidate.name == name; });
    if (child == field->children.end()) {
      return InvalidInput("no such column: `", path, "`; `", field->name, "` has no field `", name,
                          "`, it has: ", ChildNames(*field));
    }
    field = &*child;
    nullable |= field->nullable;
    ids.push_back(field->id);
  }
  Column column = PrunedColumn(*top, {&field->id, 1});
  column.name = std::string(path);
  const Field* at = column.field;
  for (const int32_t id : ids) {
    auto child = std::find_if(at->children.begin(), at->children.end(),
                              [id](const Field& candidate) { return candidate.id == id; });
    column.path.push_back(static_cast<int>(child - at->children.begin()));
    at = &*child;
  }
  column.arrow_field = ToArrowField(*field)->WithName(column.name)->WithNullable(nullable);
  return column;
}

}  // namespace

std::vector<Column> AllColumns(const table::Manifest& manifest) {
  std::vector<Column> columns;
  for (const Field& field : manifest.schema().fields) columns.push_back(MakeFieldColumn(field));
  for (const RowColumn& row : kRowColumns) {
    if (!row.needs_row_ids || manifest.has_stable_row_ids()) columns.push_back(MakeRowColumn(row));
  }
  return columns;
}

arrow::Result<Column> FindColumn(const table::Manifest& manifest, std::string_view name) {
  if (const Field* field = manifest.schema().FindName(name)) return MakeFieldColumn(*field);
  for (const RowColumn& row : kRowColumns) {
    if (name != row.name) continue;
    if (row.needs_row_ids && !manifest.has_stable_row_ids()) {
      return InvalidInput("column needs a table with stable row ids, which this one is not: `",
                          name, "`");
    }
    return MakeRowColumn(row);
  }
  return FindPath(manifest, name);
}

Column PrunedColumn(const Field& field, std::span<const int32_t> ids) {
  auto own = std::make_shared<const Field>(schema::Prune(field, ids));
  Column column = MakeFieldColumn(*own);
  column.own = std::move(own);
  return column;
}

}  // namespace pennon::read
