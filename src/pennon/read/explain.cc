#include "pennon/read/explain.h"

#include <algorithm>
#include <utility>

#include <arrow/array/array_base.h>
#include <arrow/array/util.h>
#include <arrow/scalar.h>
#include <arrow/type.h>

#include "pennon/error.h"
#include "pennon/read/file_cache.h"
#include "pennon/read/fragment_reader.h"
#include "pennon/read/take.h"

namespace pennon::read {
namespace {

// The dotted path of the node with `id`, or an empty text.
std::string PathOf(const std::vector<Field>& fields, int32_t id) {
  for (const Field& field : fields) {
    if (field.id == id) return field.name;
    std::string below = PathOf(field.children, id);
    if (!below.empty()) return field.name + "." + below;
  }
  return {};
}

// Reads the one value at row `row` of a file's column of `length` values.
arrow::Result<std::shared_ptr<arrow::Scalar>> ReadValue(const overlay::ColumnRequest& request,
                                                        uint64_t row) {
  uint32_t offset = static_cast<uint32_t>(row);
  overlay::ColumnPlan plan = overlay::PlanRows(nullptr, {&offset, 1});
  ARROW_ASSIGN_OR_RAISE(auto data, overlay::ReadColumn(request, plan));
  return arrow::MakeArray(data)->GetScalar(0);
}

overlay::ColumnRequest MakeRequest(const Snapshot* snapshot, const table::Fragment& fragment,
                                   const Field& field) {
  overlay::ColumnRequest request;
  request.field = &field;
  request.fragment = &fragment;
  request.pool = snapshot->context.pool;
  request.open = [snapshot](const table::DataFile& file) {
    return snapshot->files->Open(snapshot->location, *snapshot->manifest, file,
                                 snapshot->context.pool);
  };
  return request;
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
  if (column.field == nullptr) {
    return InvalidInput("only columns of the table can be explained, not row columns: `", name,
                        "`");
  }
  ARROW_RETURN_NOT_OK(CheckReadable(column));
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
  cell.field = column.field->id;
  std::vector<CellExplanation::Source> sources;
  ARROW_ASSIGN_OR_RAISE(auto layers, overlay::LayersOf(fragment, *column.field));
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
    overlay::ColumnRequest request = MakeRequest(snapshot.get(), fragment, *column.field);
    request.base = &file.data_file;
    request.base_column = layer.column;
    request.physical_rows = coverage->cardinality();
    ARROW_ASSIGN_OR_RAISE(source.value, ReadValue(request, *source.rank));
    sources.push_back(std::move(source));
  }
  CellExplanation::Source base;
  for (const table::DataFile& file : fragment.files) {
    std::optional<int> file_column = file.ColumnOf(column.field->id);
    if (!file_column) continue;
    base.path = file.path;
    base.rank = offset;
    base.column = *file_column;
    overlay::ColumnRequest request = MakeRequest(snapshot.get(), fragment, *column.field);
    request.base = &file;
    request.base_column = *file_column;
    request.physical_rows = reader->physical_rows();
    ARROW_ASSIGN_OR_RAISE(base.value, ReadValue(request, offset));
  }
  if (base.path.empty()) base.value = arrow::MakeNullScalar(column.field->type);
  if (!base.path.empty() || sources.empty()) sources.push_back(std::move(base));
  cell.winner = sources.front();
  cell.value = cell.winner.value;
  cell.shadowed.assign(sources.begin() + 1, sources.end());
  return cell;
}

arrow::Result<std::vector<OverlayInfo>> ListOverlays(
    const std::shared_ptr<const Snapshot>& snapshot) {
  std::vector<OverlayInfo> list;
  const Schema& schema = snapshot->manifest->schema();
  for (const table::Fragment& fragment : snapshot->manifest->fragments()) {
    if (fragment.overlays.empty()) continue;
    ARROW_ASSIGN_OR_RAISE(auto reader, FragmentReader::Open(snapshot, fragment));
    const Deletions* deletions = reader->deletions();
    for (size_t i = 0; i < fragment.overlays.size(); ++i) {
      const table::OverlayFile& overlay = fragment.overlays[i];
      OverlayInfo info;
      info.fragment = fragment.id;
      info.position = i;
      info.committed_version = overlay.committed_version;
      info.dense = overlay.dense;
      info.file = DescribeFile(overlay.data_file);
      for (size_t position = 0; position < overlay.data_file.fields.size(); ++position) {
        int32_t id = overlay.data_file.fields[position];
        if (id < 0) continue;
        OverlayInfo::FieldCoverage coverage;
        coverage.field = id;
        coverage.name = PathOf(schema.fields, id);
        overlay::Layer layer{i, position, -1};
        ARROW_ASSIGN_OR_RAISE(
            auto bitmap, snapshot->results->Coverage(fragment, layer, reader->physical_rows()));
        coverage.cells = bitmap->cardinality();
        bool own_column = position < overlay.data_file.column_indices.size() &&
                          overlay.data_file.column_indices[position] >= 0;
        if (const Field* field = schema.FindId(id); field != nullptr && own_column) {
          ARROW_ASSIGN_OR_RAISE(
              auto winners, snapshot->results->Winners(fragment, *field, reader->physical_rows()));
          for (const overlay::WinnerSource& source : winners->sources) {
            if (source.layer.overlay != i || source.layer.position != position) continue;
            coverage.winning = source.cells;
            if (deletions != nullptr) {
              for (uint32_t offset : source.AllOffsets()) {
                coverage.winning -= deletions->set.Contains(offset) ? 1 : 0;
              }
            }
          }
        }
        info.cells += coverage.cells;
        info.winning += coverage.winning;
        info.fields.push_back(std::move(coverage));
      }
      list.push_back(std::move(info));
    }
  }
  return list;
}

}  // namespace pennon::read
