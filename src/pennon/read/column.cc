#include "pennon/read/column.h"

#include <algorithm>
#include <cctype>

#include <arrow/type.h>

#include "pennon/error.h"

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
  size_t dot = name.find('.');
  if (dot != std::string_view::npos) {
    const Field* top = manifest.schema().FindName(name.substr(0, dot));
    if (top != nullptr && !top->is_leaf()) {
      return Unsupported("", "fields inside nested columns are not read yet: `", name, "`");
    }
  }
  return UnknownColumn(manifest, name);
}

arrow::Status CheckReadable(const Column& column) {
  if (column.field == nullptr) return arrow::Status::OK();
  const Field& field = *column.field;
  if (!field.is_leaf()) {
    return Unsupported("", "nested columns are not read yet: `", field.name, "` is ",
                       field.type->ToString());
  }
  if (auto blob = field.metadata.find("lance-encoding:blob");
      blob != field.metadata.end() && blob->second == "true") {
    return Unsupported("", "blob columns are not read yet: `", field.name, "`");
  }
  if (field.type->id() == arrow::Type::DICTIONARY) {
    return Unsupported("", "dictionary columns are not read yet: `", field.name, "` is ",
                       field.type->ToString());
  }
  return arrow::Status::OK();
}

}  // namespace pennon::read
