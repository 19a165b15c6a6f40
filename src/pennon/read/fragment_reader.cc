#include "pennon/read/fragment_reader.h"

#include <algorithm>
#include <limits>
#include <utility>

#include <arrow/buffer.h>
#include <arrow/type.h>

#include "pennon/error.h"
#include "pennon/read/file_cache.h"

namespace pennon::read {
namespace {

// Winning values of a column up to this size are read once for all windows of a fragment.
constexpr uint64_t kLoadBytes = 32 << 20;

// The file of `fragment` that holds `field_id`, if any, and its column there.
arrow::Status FindBase(const table::Fragment& fragment, int32_t field_id,
                       overlay::ColumnRequest* request) {
  for (const table::DataFile& file : fragment.files) {
    std::optional<int> column = file.ColumnOf(field_id);
    if (!column) continue;
    if (request->base != nullptr) {
      return Corrupt(file.path, "two files of a fragment hold the same field: field ", field_id,
                     ", fragment ", fragment.id, ", files ", request->base->path, " and ",
                     file.path);
    }
    request->base = &file;
    request->base_column = *column;
  }
  return arrow::Status::OK();
}

arrow::Result<uint64_t> RowsOf(const Snapshot& snapshot, const table::Fragment& fragment) {
  uint64_t rows = fragment.physical_rows;
  if (rows == 0) {
    // The manifest of an old writer may not say; any column of any file does.
    for (const table::DataFile& file : fragment.files) {
      for (size_t i = 0; i < file.fields.size() && i < file.column_indices.size(); ++i) {
        if (file.fields[i] < 0 || file.column_indices[i] < 0) continue;
        ARROW_ASSIGN_OR_RAISE(auto reader,
                              snapshot.files->Open(snapshot.location, *snapshot.manifest, file,
                                                   snapshot.context.pool));
        if (file.column_indices[i] >= reader->num_columns()) continue;
        ARROW_ASSIGN_OR_RAISE(rows, reader->ColumnLength(file.column_indices[i]));
        break;
      }
      if (rows != 0) break;
    }
  }
  if (rows > std::numeric_limits<uint32_t>::max()) {
    return Corrupt(snapshot.manifest->path(),
                   "fragment has more rows than offsets can name: fragment ", fragment.id, ", ",
                   rows, " rows");
  }
  return rows;
}

std::shared_ptr<arrow::ArrayData> MakeUInt64(std::shared_ptr<arrow::Buffer> values,
                                             uint64_t length) {
  return arrow::ArrayData::Make(arrow::uint64(), static_cast<int64_t>(length),
                                {nullptr, std::move(values)}, 0);
}

}  // namespace

arrow::Result<std::shared_ptr<const FragmentReader>> FragmentReader::Open(
    std::shared_ptr<const Snapshot> snapshot, const table::Fragment& fragment) {
  std::shared_ptr<FragmentReader> reader(new FragmentReader());
  ARROW_ASSIGN_OR_RAISE(reader->physical_rows_, RowsOf(*snapshot, fragment));
  ARROW_ASSIGN_OR_RAISE(reader->deletions_, snapshot->results->DeletionsOf(*snapshot, fragment));
  if (reader->deletions_ != nullptr) {
    const std::vector<uint32_t>& offsets = reader->deletions_->offsets;
    if (!offsets.empty() && offsets.back() >= reader->physical_rows_) {
      return Corrupt(snapshot->manifest->path(),
                     "deletion file names an offset beyond the fragment's rows: offset ",
                     offsets.back(), " of ", reader->physical_rows_, " rows, fragment ",
                     fragment.id);
    }
    if (offsets.empty()) reader->deletions_ = nullptr;
  }
  reader->snapshot_ = std::move(snapshot);
  reader->fragment_ = &fragment;
  return std::shared_ptr<const FragmentReader>(std::move(reader));
}

arrow::Result<std::shared_ptr<ColumnReader>> FragmentReader::OpenColumn(
    const Column& column) const {
  ARROW_RETURN_NOT_OK(CheckReadable(column));
  std::shared_ptr<ColumnReader> reader(new ColumnReader());
  reader->snapshot_ = snapshot_;
  reader->column_ = column;
  overlay::ColumnRequest& request = reader->request_;
  request.fragment = fragment_;
  request.physical_rows = physical_rows_;
  request.pool = snapshot_->context.pool;
  const Snapshot* snapshot = snapshot_.get();
  request.open = [snapshot](const table::DataFile& file) {
    return snapshot->files->Open(snapshot->location, *snapshot->manifest, file,
                                 snapshot->context.pool);
  };
  if (column.kind == Column::Kind::kField) {
    request.field = column.field;
    ARROW_RETURN_NOT_OK(FindBase(*fragment_, column.field->id, &request));
    return reader;
  }
  int32_t field_id = 0;
  switch (column.kind) {
    case Column::Kind::kRowId:
      if (!snapshot_->manifest->has_stable_row_ids()) return reader;
      reader->sequence_ = &fragment_->row_ids;
      field_id = table::kRowIdField;
      break;
    case Column::Kind::kCreatedAt:
      reader->sequence_ = &fragment_->created_at;
      field_id = table::kCreatedAtField;
      break;
    case Column::Kind::kLastUpdatedAt:
      reader->sequence_ = &fragment_->last_updated_at;
      field_id = table::kLastUpdatedAtField;
      break;
    default:
      return reader;
  }
  if (reader->sequence_->kind == table::LineageSequence::Kind::kAbsent &&
      field_id == table::kRowIdField) {
    return Corrupt(snapshot_->manifest->path(),
                   "fragment of a table with stable row ids has none: fragment ", fragment_->id);
  }
  if (reader->sequence_->kind == table::LineageSequence::Kind::kColumn) {
    Field& field = reader->lineage_field_;
    field.name = column.name;
    field.id = field_id;
    field.logical_type = "uint64";
    field.nullable = false;
    field.type = arrow::uint64();
    request.field = &field;
    ARROW_RETURN_NOT_OK(FindBase(*fragment_, field_id, &request));
    if (request.base == nullptr) {
      return Corrupt(snapshot_->manifest->path(),
                     "no file of the fragment holds its spilled row column: `", column.name,
                     "`, fragment ", fragment_->id);
    }
  }
  return reader;
}

arrow::Result<std::shared_ptr<arrow::ArrayData>> ColumnReader::ReadLineage(
    std::span<const file::RowRange> ranges, uint64_t length) {
  ARROW_ASSIGN_OR_RAISE(
      std::unique_ptr<arrow::Buffer> buffer,
      arrow::AllocateBuffer(static_cast<int64_t>(length * sizeof(uint64_t)), request_.pool));
  auto* out = reinterpret_cast<uint64_t*>(buffer->mutable_data());
  std::shared_ptr<const Lineage> lineage;
  if (sequence_ != nullptr && sequence_->kind == table::LineageSequence::Kind::kInline) {
    ARROW_ASSIGN_OR_RAISE(lineage,
                          snapshot_->results->LineageOf(*snapshot_, *request_.fragment, *sequence_,
                                                        column_.kind == Column::Kind::kRowId,
                                                        request_.physical_rows));
  }
  for (const file::RowRange& range : ranges) {
    for (uint64_t i = 0; i < range.count; ++i) {
      uint64_t offset = range.first + i;
      if (lineage != nullptr) {
        out[range.out + i] = lineage->values[offset];
      } else if (sequence_ != nullptr) {
        out[range.out + i] = 1;  // an absent version sequence means version 1
      } else {
        out[range.out + i] = request_.fragment->id << 32 | offset;
      }
    }
  }
  return MakeUInt64(std::move(buffer), length);
}

arrow::Result<const overlay::LoadedSources*> ColumnReader::Load(const overlay::WinnerMap& winners) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (loaded_known_) return loaded_.get();
  if (winners.cells <= kLoadBytes / overlay::ValueBytes(*request_.field->type, 64)) {
    auto loaded = std::make_unique<overlay::LoadedSources>();
    for (const overlay::WinnerSource& source : winners.sources) {
      ARROW_ASSIGN_OR_RAISE(overlay::SourceValues values,
                            overlay::ReadSource(request_, source, 0, source.cells));
      loaded->push_back(std::move(values));
    }
    loaded_ = std::move(loaded);
  }
  loaded_known_ = true;
  return loaded_.get();
}

arrow::Result<std::shared_ptr<arrow::ArrayData>> ColumnReader::ReadWindow(uint64_t first,
                                                                          uint64_t end) {
  if (request_.field == nullptr) {
    file::RowRange range{first, end - first, 0};
    return ReadLineage({&range, 1}, end - first);
  }
  std::shared_ptr<const overlay::WinnerMap> winners;
  if (column_.kind == Column::Kind::kField) {
    std::lock_guard<std::mutex> lock(mutex_);
    if (!winners_known_) {
      ARROW_ASSIGN_OR_RAISE(
          winners_,
          snapshot_->results->Winners(*request_.fragment, *request_.field, request_.physical_rows));
      winners_known_ = true;
    }
    winners = winners_;
  }
  overlay::ColumnPlan plan = overlay::PlanWindow(winners, first, end);
  const overlay::LoadedSources* loaded = nullptr;
  bool whole = first == 0 && end == request_.physical_rows;
  if (!plan.sources.empty() && !whole) {
    ARROW_ASSIGN_OR_RAISE(loaded, Load(*winners));
  }
  return overlay::ReadColumn(request_, plan, loaded);
}

arrow::Result<std::shared_ptr<arrow::ArrayData>> ColumnReader::ReadRows(
    std::span<const uint32_t> rows) {
  if (request_.field == nullptr) {
    overlay::ColumnPlan plan = overlay::PlanRows(nullptr, rows);
    return ReadLineage(plan.base, rows.size());
  }
  std::shared_ptr<const overlay::WinnerMap> winners;
  if (column_.kind == Column::Kind::kField) {
    ARROW_ASSIGN_OR_RAISE(winners,
                          snapshot_->results->WinnersOf(*request_.fragment, *request_.field,
                                                        request_.physical_rows, rows));
  }
  overlay::ColumnPlan plan = overlay::PlanRows(std::move(winners), rows);
  return overlay::ReadColumn(request_, plan);
}

arrow::Result<uint64_t> ColumnReader::RowBytes() {
  if (request_.field == nullptr) return sizeof(uint64_t);
  uint64_t fixed = overlay::ValueBytes(*request_.field->type, 0);
  if (fixed > 1 || request_.base == nullptr || request_.physical_rows == 0)
    return std::max<uint64_t>(fixed, 16);
  ARROW_ASSIGN_OR_RAISE(auto reader, request_.open(*request_.base));
  if (request_.base_column >= reader->num_columns()) return 16;
  // Strings grow when they are decoded; compressed ones by more than this, but then few windows are
  // affected.
  ARROW_ASSIGN_OR_RAISE(uint64_t bytes, reader->ColumnBytes(request_.base_column));
  return std::max<uint64_t>(16, bytes / request_.physical_rows * 2);
}

arrow::Result<uint64_t> CountLiveRows(const std::shared_ptr<const Snapshot>& snapshot,
                                      const table::Fragment& fragment) {
  bool known = fragment.physical_rows != 0 &&
               (!fragment.deletion_file || fragment.deletion_file->num_deleted_rows != 0);
  if (known && fragment.num_deleted_rows() <= fragment.physical_rows) {
    return fragment.physical_rows - fragment.num_deleted_rows();
  }
  ARROW_ASSIGN_OR_RAISE(auto reader, FragmentReader::Open(snapshot, fragment));
  return reader->live_rows();
}

}  // namespace pennon::read
