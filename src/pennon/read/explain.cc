#include "pennon/read/explain.h"

#include <map>
#include <optional>
#include <utility>

#include <arrow/array/array_base.h>
#include <arrow/array/util.h>
#include <arrow/scalar.h>
#include <arrow/type.h>

#include "pennon/error.h"
#include "pennon/file/column_owners.h"
#include "pennon/read/file_cache.h"
#include "pennon/read/fragment_reader.h"
#include "pennon/read/take.h"
#include "pennon/schema/prune.h"

namespace pennon {
namespace {

void AppendValueFields(const Field& field, const std::string& path, std::vector<ValueField>* out) {
  if (!schema::IsPlainStruct(field)) return out->push_back({&field, path});
  for (const Field& child : field.children) {
    const bool plain = child.name.find_first_of(".`") == std::string::npos && !child.name.empty();
    std::string name;
    for (const char c : child.name) name += c == '`' ? "``" : std::string(1, c);
    AppendValueFields(child, path + "." + (plain ? name : "`" + name + "`"), out);
  }
}

}  // namespace

std::vector<ValueField> ValueFields(const Field& field) {
  std::vector<ValueField> fields;
  AppendValueFields(field, field.name, &fields);
  return fields;
}

}  // namespace pennon

namespace pennon::read {
namespace {

// The field that a column names, which must resolve as one value.
arrow::Result<const Field*> FieldOf(const Column& column) {
  if (column.field == nullptr) {
    return InvalidInput("only columns of the table can be explained, not row columns: `",
                        column.name, "`");
  }
  const Field* field = column.field;
  for (const int position : column.path) {
    if (!schema::IsPlainStruct(*field)) {
      return InvalidInput("column is part of a value that is stored as one, explain that: `",
                          column.name, "` is part of `", field->name, "`");
    }
    field = &field->children[static_cast<size_t>(position)];
  }
  if (!schema::IsPlainStruct(*field)) return field;
  std::string paths;
  for (const ValueField& below : ValueFields(*field)) {
    paths += (paths.empty() ? "" : ", ") + column.name + below.path.substr(field->name.size());
  }
  return InvalidInput(
      "the fields of a struct come from places of their own, explain one of them: `", column.name,
      "` has ", paths);
}

// Reads the one value at row `row` of a file's column of `length` values.
arrow::Result<std::shared_ptr<arrow::Scalar>> ReadValue(const overlay::ColumnRequest& request,
                                                        uint64_t row) {
  uint32_t offset = static_cast<uint32_t>(row);
  overlay::ColumnPlan plan = overlay::PlanRows(nullptr, {&offset, 1});
  ARROW_ASSIGN_OR_RAISE(auto data, overlay::ReadColumn(request, plan));
  return arrow::MakeArray(data)->GetScalar(0);
}

// The file's column of the first owner of `field`; nullopt if the file does not hold the field.
std::optional<int> ColumnIn(const table::DataFile& file, const Field& field) {
  for (const int32_t id : file::ValueOwners(field, overlay::VersionOf(file))) {
    if (std::optional<int> column = file.ColumnOf(id)) return column;
  }
  return std::nullopt;
}

}  // namespace

FileInfo DescribeFile(const table::DataFile& file) {
  FileInfo info;
  info.path = file.path;
  info.fields = file.fields;
  info.column_indices = file.column_indices;
  // A 2.0 file may go by 0.3.
  info.version =
      file.major_version == 0 && file.minor_version == 3
          ? "2.0"
          : std::to_string(file.major_version) + "." + std::to_string(file.minor_version);
  info.size_bytes = file.size_bytes;
  return info;
}

arrow::Result<CellExplanation> ExplainCell(const std::shared_ptr<const Snapshot>& snapshot,
                                           uint64_t row, const std::string& name) {
  ARROW_ASSIGN_OR_RAISE(Column column, FindColumn(*snapshot->manifest, name));
  ARROW_ASSIGN_OR_RAISE(const Field* field, FieldOf(column));
  if (row > static_cast<uint64_t>(INT64_MAX))
    return InvalidInput("row position is out of range: ", row);
  int64_t position = static_cast<int64_t>(row);
  ARROW_ASSIGN_OR_RAISE(std::vector<RowPlace> places, FindPositions(snapshot, {&position, 1}));
  const table::Fragment& fragment = snapshot->manifest->fragments()[places[0].fragment];
  const uint32_t offset = places[0].offset;
  ARROW_ASSIGN_OR_RAISE(auto reader, FragmentReader::Open(snapshot, fragment));

  CellExplanation cell;
  cell.row = row;
  cell.fragment = fragment.id;
  cell.offset = offset;
  cell.column = name;
  cell.field = field->id;
  std::vector<CellExplanation::Source> sources;
  ARROW_ASSIGN_OR_RAISE(auto layers, overlay::LayersOf(fragment, *field));
  for (const overlay::Layer& layer : layers) {
    ARROW_ASSIGN_OR_RAISE(auto coverage,
                          snapshot->results->Coverage(fragment, layer, reader->physical_rows()));
    if (!coverage->Contains(offset)) continue;
    const table::OverlayFile& file = fragment.overlays[layer.overlay];
    CellExplanation::Source source;
    source.overlay = true;
    source.path = file.data_file.path;
    source.version = file.committed_version;
    source.rank = coverage->RankBelow(offset);
    source.column = layer.column;
    overlay::ColumnRequest request = MakeRequest(snapshot.get(), fragment, coverage->cardinality());
    request.field = field;
    request.root = column.field;
    request.base = &file.data_file;
    ARROW_ASSIGN_OR_RAISE(source.value, ReadValue(request, *source.rank));
    sources.push_back(std::move(source));
  }
  CellExplanation::Source base;
  for (const table::DataFile& file : fragment.files) {
    std::optional<int> file_column = ColumnIn(file, *field);
    if (!file_column) continue;
    base.path = file.path;
    base.rank = offset;
    base.column = *file_column;
    overlay::ColumnRequest request = MakeRequest(snapshot.get(), fragment, reader->physical_rows());
    request.field = field;
    request.root = column.field;
    request.base = &file;
    ARROW_ASSIGN_OR_RAISE(base.value, ReadValue(request, offset));
  }
  if (base.path.empty()) base.value = arrow::MakeNullScalar(field->type);
  if (!base.path.empty() || sources.empty()) sources.push_back(std::move(base));
  cell.winner = sources.front();
  cell.shadowed.assign(sources.begin() + 1, sources.end());
  // Not always what the winner holds: a NULL struct above makes it NULL.
  ARROW_ASSIGN_OR_RAISE(auto values, reader->OpenColumn(column));
  ARROW_ASSIGN_OR_RAISE(auto data, values->ReadRows({&offset, 1}));
  ARROW_ASSIGN_OR_RAISE(cell.value, arrow::MakeArray(data)->GetScalar(0));
  return cell;
}

namespace {

// A field of a fragment that some overlay holds: which do, and who wins what.
struct UnitLayers {
  ValueField unit;
  std::vector<overlay::Layer> layers;
  std::shared_ptr<const overlay::WinnerMap> winners;
};

arrow::Result<std::vector<UnitLayers>> FindUnitLayers(const Snapshot& snapshot,
                                                      const FragmentReader& reader) {
  std::vector<UnitLayers> found;
  for (const Field& top : snapshot.manifest->schema().fields) {
    for (ValueField& unit : ValueFields(top)) {
      UnitLayers layers;
      ARROW_ASSIGN_OR_RAISE(layers.layers, overlay::LayersOf(reader.fragment(), *unit.field));
      if (layers.layers.empty()) continue;
      ARROW_ASSIGN_OR_RAISE(
          layers.winners,
          snapshot.results->Winners(reader.fragment(), *unit.field, reader.physical_rows()));
      layers.unit = std::move(unit);
      found.push_back(std::move(layers));
    }
  }
  return found;
}

// Live rows that `layer` gives a value to.
uint64_t CountWinning(const overlay::WinnerMap& winners, const overlay::Layer& layer,
                      const Deletions* deletions) {
  for (const overlay::WinnerSource& source : winners.sources) {
    if (source.layer.overlay != layer.overlay) continue;
    uint64_t winning = source.cells;
    if (deletions != nullptr) {
      for (uint32_t offset : source.AllOffsets())
        winning -= deletions->set.Contains(offset) ? 1 : 0;
    }
    return winning;
  }
  return 0;
}

arrow::Result<OverlayInfo> DescribeOverlay(const Snapshot& snapshot, const FragmentReader& reader,
                                           const std::vector<UnitLayers>& units, size_t overlay) {
  const table::OverlayFile& file = reader.fragment().overlays[overlay];
  OverlayInfo info;
  info.fragment = reader.fragment().id;
  info.position = overlay;
  info.committed_version = file.committed_version;
  info.dense = file.dense;
  info.file = DescribeFile(file.data_file);
  std::map<size_t, OverlayInfo::FieldCoverage> by_position;
  auto add = [&](const overlay::Layer& layer, int32_t id) -> arrow::Result<uint64_t*> {
    OverlayInfo::FieldCoverage& entry = by_position[layer.position];
    ARROW_ASSIGN_OR_RAISE(
        auto bitmap, snapshot.results->Coverage(reader.fragment(), layer, reader.physical_rows()));
    entry.field = id;
    entry.cells = bitmap->cardinality();
    return &entry.winning;
  };
  for (const UnitLayers& unit : units) {
    for (const overlay::Layer& layer : unit.layers) {
      if (layer.overlay != overlay) continue;
      ARROW_ASSIGN_OR_RAISE(uint64_t* winning, add(layer, unit.unit.field->id));
      *winning = CountWinning(*unit.winners, layer, reader.deletions());
      by_position[layer.position].name = unit.unit.path;
    }
  }
  // Fields that are gone from the schema are listed without a name.
  for (size_t position = 0; position < file.data_file.fields.size(); ++position) {
    const int32_t id = file.data_file.fields[position];
    if (id < 0 || snapshot.manifest->schema().FindId(id) != nullptr) continue;
    ARROW_RETURN_NOT_OK(add(overlay::Layer{overlay, position, -1}, id).status());
  }
  for (auto& [position, entry] : by_position) {
    info.cells += entry.cells;
    info.winning += entry.winning;
    info.fields.push_back(std::move(entry));
  }
  return info;
}

}  // namespace

arrow::Result<std::vector<OverlayInfo>> ListOverlays(
    const std::shared_ptr<const Snapshot>& snapshot) {
  std::vector<OverlayInfo> list;
  for (const table::Fragment& fragment : snapshot->manifest->fragments()) {
    if (fragment.overlays.empty()) continue;
    ARROW_ASSIGN_OR_RAISE(auto reader, FragmentReader::Open(snapshot, fragment));
    ARROW_ASSIGN_OR_RAISE(const auto units, FindUnitLayers(*snapshot, *reader));
    for (size_t i = 0; i < fragment.overlays.size(); ++i) {
      ARROW_ASSIGN_OR_RAISE(OverlayInfo info, DescribeOverlay(*snapshot, *reader, units, i));
      list.push_back(std::move(info));
    }
  }
  return list;
}

}  // namespace pennon::read
