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
#include "pennon/write/lossless_cast.h"

namespace pennon::write {
namespace {

constexpr std::array<std::string_view, 5> kSystemColumns = {
    "_rowid", "_rowaddr", "_rowoffset", "_row_created_at_version", "_row_last_updated_at_version"};

// One checked column: values in the field's type, in ascending order of offset.
struct Cells {
  const Field* field = nullptr;
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

bool IsTrue(const std::map<std::string, std::string>& metadata, const char* key) {
  const auto entry = metadata.find(key);
  return entry != metadata.end() && entry->second == "true";
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
arrow::Status SortByOffset(const OverlayColumn& column, Cells* cells) {
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

arrow::Result<Cells> CheckColumn(const table::Manifest& manifest, const table::Fragment& fragment,
                                 const OverlayColumn& column) {
  Cells cells;
  ARROW_ASSIGN_OR_RAISE(cells.field, FindOverlayField(manifest, column.name));
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
  cells.coverage = Bitmap::Of(cells.offsets);
  return cells;
}

// The checked columns that have cells, in schema order.
arrow::Result<std::vector<Cells>> CheckColumns(const table::Manifest& manifest,
                                               const table::Fragment& fragment,
                                               std::span<const OverlayColumn> columns) {
  std::map<const Field*, Cells>
      by_field;  // fields stand in one vector: pointers are in schema order
  for (const OverlayColumn& column : columns) {
    ARROW_ASSIGN_OR_RAISE(Cells cells, CheckColumn(manifest, fragment, column));
    const Field* field = cells.field;
    if (!by_field.emplace(field, std::move(cells)).second) {
      return InvalidInput("Column is given twice: ", column.name);
    }
  }
  std::vector<Cells> result;
  for (auto& [field, cells] : by_field) {
    if (!cells.offsets.empty()) result.push_back(std::move(cells));
  }
  return result;
}

arrow::Result<file::WrittenFile> Encode(const std::vector<Cells>& columns,
                                        file::FileVersion version) {
  std::vector<Field> fields;
  for (const Cells& cells : columns) fields.push_back(*cells.field);
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
      return candidate.field == top;
    });
    if (cells == columns.end())
      return arrow::Status::UnknownError("Value file has a column nobody gave: field ", id);
    overlay.coverage.push_back(cells->coverage.Serialize());
  }
  return overlay;
}

}  // namespace

arrow::Result<const Field*> FindOverlayField(const table::Manifest& manifest,
                                             const std::string& name) {
  if (std::find(kSystemColumns.begin(), kSystemColumns.end(), name) != kSystemColumns.end()) {
    return InvalidInput("System columns cannot be set: ", name);
  }
  const Field* field = manifest.schema().FindName(name);
  if (field == nullptr) {
    const size_t dot = name.find('.');
    if (dot != std::string::npos && manifest.schema().FindName(name.substr(0, dot)) != nullptr) {
      return Unsupported(
          manifest.path(),
          "Fields inside a nested column cannot be set yet, only whole columns that are "
          "not nested: ",
          name);
    }
    return InvalidInput("Table has no such column: ", name, "; its columns are ",
                        ColumnNames(manifest.schema()));
  }
  if (!field->is_leaf()) {
    return Unsupported(manifest.path(), "Overlays on nested columns cannot be written yet: column ",
                       name, " is ", field->type->ToString());
  }
  if (IsTrue(field->metadata, "lance-encoding:blob") || IsExtension(*field, "lance.blob.v2")) {
    return Unsupported(manifest.path(), "Overlays on blob columns cannot be written: column ",
                       name);
  }
  if (IsExtension(*field, "lance.json")) {
    return Unsupported(manifest.path(), "Overlays on JSON columns cannot be written yet: column ",
                       name);
  }
  return field;
}

arrow::Result<std::optional<StagedOverlay>> WriteOverlayFile(
    const table::TableLocation& table, const table::Manifest& manifest, uint64_t fragment_id,
    std::span<const OverlayColumn> columns) {
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
                        CheckColumns(manifest, *fragment, columns));
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
