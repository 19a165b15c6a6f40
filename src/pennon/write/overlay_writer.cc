#include "pennon/write/overlay_writer.h"

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <numeric>
#include <string_view>
#include <utility>
#include <vector>

#include <arrow/array/array_base.h>
#include <arrow/array/builder_primitive.h>
#include <arrow/compute/api_vector.h>
#include <arrow/type.h>

#include "pennon/error.h"
#include "pennon/file/writer.h"
#include "pennon/read/column.h"
#include "pennon/schema/field_marks.h"
#include "pennon/schema/prune.h"
#include "pennon/write/lossless_cast.h"
#include "pennon/write/struct_cells.h"

namespace pennon::write {
namespace {

constexpr std::array<std::string_view, 5> kSystemColumns = {
    "_rowid", "_rowaddr", "_rowoffset", "_row_created_at_version", "_row_last_updated_at_version"};

// One column of the value file: a top-level field, or what is set of it.
struct Cells {
  Field field;
  std::vector<uint32_t> offsets;
  std::shared_ptr<arrow::Array> values;
  Bitmap coverage;
};

std::string ColumnNames(const Schema& schema) {
  constexpr size_t kMost = 20;
  std::string names;
  for (size_t i = 0; i < schema.fields.size() && i < kMost; ++i) {
    names += (i == 0 ? "" : ", ") + schema.fields[i].name;
  }
  return schema.fields.size() > kMost ? names + ", ..." : names;
}

bool IsExtension(const Field& field, std::string_view name) {
  const auto entry = field.metadata.find("ARROW:extension:name");
  return entry != field.metadata.end() && entry->second == name;
}

arrow::Result<file::FileVersion> StorageVersion(const table::Manifest& manifest) {
  const std::string& version = manifest.data_version();
  if (version == "2.0") return file::FileVersion{2, 0};
  if (version == "2.1") return file::FileVersion{2, 1};
  if (version == "2.2") return file::FileVersion{2, 2};
  return Unsupported(
      manifest.path(),
      "Overlays can be written to tables of storage version 2.0, 2.1 and 2.2; this table "
      "is of version ",
      version);
}

// Brings offsets and values into ascending order; `column` must be non-empty and its parts of one
// length.
arrow::Status SortByOffset(const OverlayColumn& column, FieldCells* cells) {
  const std::vector<uint32_t>& given = column.offsets;
  if (std::is_sorted(given.begin(), given.end())) {
    cells->offsets = given;
    return arrow::Status::OK();
  }
  std::vector<uint32_t> order(given.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(),
            [&given](uint32_t a, uint32_t b) { return given[a] < given[b]; });
  cells->offsets.reserve(given.size());
  for (const uint32_t i : order) cells->offsets.push_back(given[i]);
  arrow::UInt32Builder builder;
  ARROW_RETURN_NOT_OK(builder.AppendValues(order));
  ARROW_ASSIGN_OR_RAISE(const auto indices, builder.Finish());
  return arrow::compute::Take(*cells->values, *indices,
                              arrow::compute::TakeOptions::NoBoundsCheck())
      .Value(&cells->values);
}

arrow::Result<FieldCells> CheckColumn(const table::Manifest& manifest,
                                      const table::Fragment& fragment,
                                      const OverlayColumn& column) {
  FieldCells cells;
  ARROW_ASSIGN_OR_RAISE(const OverlayTarget target, FindOverlayField(manifest, column.name));
  cells.name = column.name;
  cells.top = target.top;
  cells.field = target.field;
  if (column.values == nullptr) return InvalidInput("Column has no values: ", column.name);
  if (static_cast<uint64_t>(column.values->length()) != column.offsets.size()) {
    return InvalidInput("Column has not as many values as offsets: ", column.name, " has ",
                        column.offsets.size(), " offsets and ", column.values->length(), " values");
  }
  ARROW_ASSIGN_OR_RAISE(cells.values, CastLossless(*cells.field, column.values));
  if (column.offsets.empty()) return cells;
  ARROW_RETURN_NOT_OK(SortByOffset(column, &cells));
  if (cells.offsets.back() >= fragment.physical_rows) {
    return InvalidInput("Offset lies beyond the fragment: column ", column.name, ", offset ",
                        cells.offsets.back(), "; fragment ", fragment.id, " has rows 0 to ",
                        fragment.physical_rows - 1);
  }
  const auto repeat = std::adjacent_find(cells.offsets.begin(), cells.offsets.end());
  if (repeat != cells.offsets.end()) {
    return InvalidInput("Offset is given twice: column ", column.name, ", offset ", *repeat);
  }
  return cells;
}

bool Holds(const Field& field, int32_t id) {
  return field.id == id || std::any_of(field.children.begin(), field.children.end(),
                                       [id](const Field& child) { return Holds(child, id); });
}

// The checked columns that have cells, one for each top-level field, in schema order.
arrow::Result<std::vector<Cells>> CheckColumns(
    const std::shared_ptr<const read::Snapshot>& snapshot, const table::Fragment& fragment,
    std::span<const OverlayColumn> columns) {
  std::map<const Field*, std::vector<FieldCells>>
      by_top;  // fields stand in one vector: pointers are in schema order
  for (const OverlayColumn& column : columns) {
    ARROW_ASSIGN_OR_RAISE(FieldCells cells, CheckColumn(*snapshot->manifest, fragment, column));
    std::vector<FieldCells>& group = by_top[cells.top];
    for (const FieldCells& other : group) {
      if (Holds(*other.field, cells.field->id) || Holds(*cells.field, other.field->id)) {
        return InvalidInput("Column is given twice: ", other.name,
                            other.name == column.name ? "" : " and " + column.name);
      }
    }
    group.push_back(std::move(cells));
  }
  std::vector<Cells> result;
  for (auto& [top, group] : by_top) {
    std::erase_if(group, [](const FieldCells& cells) { return cells.offsets.empty(); });
    if (group.empty()) continue;
    Cells joined;
    if (schema::IsPlainStruct(*top)) {
      ARROW_ASSIGN_OR_RAISE(StructCells whole, JoinStruct(snapshot, fragment, group));
      joined.field = std::move(whole.field);
      joined.values = std::move(whole.values);
    } else {
      joined.field = *top;
      joined.values = std::move(group[0].values);
    }
    joined.offsets = std::move(group[0].offsets);
    joined.coverage = Bitmap::Of(joined.offsets);
    result.push_back(std::move(joined));
  }
  return result;
}

arrow::Result<file::WrittenFile> Encode(const std::vector<Cells>& columns,
                                        file::FileVersion version) {
  std::vector<Field> fields;
  for (const Cells& cells : columns) fields.push_back(cells.field);
  ARROW_ASSIGN_OR_RAISE(auto writer, file::FileWriter::Make(std::move(fields), version));
  for (size_t i = 0; i < columns.size(); ++i) {
    ARROW_RETURN_NOT_OK(writer->Append(static_cast<int>(i), *columns[i].values));
  }
  return writer->Finish();
}

// The manifest's side of the file: one bitmap, or one for each field that owns a column.
arrow::Result<table::NewOverlay> Describe(const table::Manifest& manifest,
                                          const std::vector<Cells>& columns,
                                          const file::WrittenFile& file, std::string name) {
  table::NewOverlay overlay;
  overlay.data_file.path = std::move(name);
  overlay.data_file.fields = file.fields;
  overlay.data_file.column_indices = file.column_indices;
  overlay.data_file.major_version = file.version.major;
  overlay.data_file.minor_version = file.version.minor;
  overlay.data_file.size_bytes = file.bytes.size();
  const Bitmap& first = columns.front().coverage;
  overlay.dense = std::all_of(columns.begin(), columns.end(),
                              [&first](const Cells& cells) { return cells.coverage == first; });
  if (overlay.dense) {
    overlay.coverage = {first.Serialize()};
    return overlay;
  }
  for (const int32_t id : file.fields) {
    const Field* top = manifest.schema().TopLevelOf(id);
    const auto cells = std::find_if(columns.begin(), columns.end(), [top](const Cells& candidate) {
      return candidate.field.id == top->id;
    });
    if (cells == columns.end())
      return arrow::Status::UnknownError("Value file has a column nobody gave: field ", id);
    overlay.coverage.push_back(cells->coverage.Serialize());
  }
  return overlay;
}

// Refuses what pennon cannot write, at any depth.
arrow::Status CheckKind(const table::Manifest& manifest, const std::string& name,
                        const Field& field) {
  if (schema::IsBlob(field)) {
    return Unsupported(manifest.path(), "Overlays on blob columns cannot be written: column ",
                       name);
  }
  if (IsExtension(field, "lance.json")) {
    return Unsupported(manifest.path(), "Overlays on JSON columns cannot be written yet: column ",
                       name);
  }
  for (const Field& child : field.children) {
    ARROW_RETURN_NOT_OK(CheckKind(manifest, name, child));
  }
  return arrow::Status::OK();
}

}  // namespace

arrow::Result<OverlayTarget> FindOverlayField(const table::Manifest& manifest,
                                              const std::string& name) {
  if (std::find(kSystemColumns.begin(), kSystemColumns.end(), name) != kSystemColumns.end()) {
    return InvalidInput("System columns cannot be set: ", name);
  }
  const auto found = read::FindColumn(manifest, name);
  if (!found.ok()) {
    return InvalidInput("Table has no such column: ", name, "; its columns are ",
                        ColumnNames(manifest.schema()), " (", found.status().message(), ")");
  }
  OverlayTarget target;
  target.top = manifest.schema().FindId(found->field->id);
  target.field = target.top;
  const Field* node = found->field;
  for (const int position : found->path) {
    if (!schema::IsPlainStruct(*node)) {
      return Unsupported(manifest.path(),
                         "Fields inside a value that is stored as one cannot be set by "
                         "themselves, only all of it: ",
                         name, " is part of ", node->name);
    }
    node = &node->children[static_cast<size_t>(position)];
    target.field = manifest.schema().FindId(node->id);
  }
  ARROW_RETURN_NOT_OK(CheckKind(manifest, name, *target.field));
  return target;
}

arrow::Result<std::optional<StagedOverlay>> WriteOverlayFile(
    const std::shared_ptr<const read::Snapshot>& snapshot, uint64_t fragment_id,
    std::span<const OverlayColumn> columns) {
  const table::TableLocation& table = snapshot->location;
  const table::Manifest& manifest = *snapshot->manifest;
  ARROW_ASSIGN_OR_RAISE(const file::FileVersion version, StorageVersion(manifest));
  const table::Fragment* fragment = manifest.FindFragment(fragment_id);
  if (fragment == nullptr) {
    return InvalidInput("Table has no such fragment: fragment ", fragment_id, " in version ",
                        manifest.version());
  }
  if (fragment->physical_rows == 0) {
    return Unsupported(manifest.path(),
                       "Fragment does not record its number of rows, so overlays cannot be checked "
                       "against it: fragment ",
                       fragment_id);
  }
  ARROW_ASSIGN_OR_RAISE(const std::vector<Cells> checked,
                        CheckColumns(snapshot, *fragment, columns));
  if (checked.empty()) return std::nullopt;
  ARROW_ASSIGN_OR_RAISE(const file::WrittenFile file, Encode(checked, version));

  StagedOverlay staged;
  staged.fragment_id = fragment_id;
  ARROW_ASSIGN_OR_RAISE(staged.overlay,
                        Describe(manifest, checked, file, table::NewDataFileName()));
  for (const Cells& cells : checked) {
    staged.covered |= cells.coverage;
    staged.cells += cells.offsets.size();
  }
  staged.path = table.root + "/data/" + staged.overlay.data_file.path;
  const arrow::Status put = table.store->Put(staged.path, file.bytes);
  if (!put.ok()) {
    (void)table.store->Delete(staged.path);  // nobody knows the name yet
    return put;
  }
  return staged;
}

}  // namespace pennon::write
