#include "pennon/read/fragment_reader.h"

#include <algorithm>
#include <limits>
#include <utility>

#include <arrow/array/array_nested.h>
#include <arrow/buffer.h>
#include <arrow/type.h>

#include "pennon/error.h"
#include "pennon/read/file_cache.h"

namespace pennon::read {
namespace {

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
  std::shared_ptr<ColumnReader> reader(new ColumnReader());
  reader->snapshot_ = snapshot_;
  reader->column_ = column;
  reader->fragment_ = fragment_;
  reader->physical_rows_ = physical_rows_;
  if (column.kind == Column::Kind::kField) {
    ARROW_ASSIGN_OR_RAISE(reader->values_, FieldReader::Open(snapshot_.get(), *fragment_,
                                                             physical_rows_, *column.field));
  } else {
    ARROW_RETURN_NOT_OK(reader->OpenLineage(*this));
  }
  return reader;
}

arrow::Status ColumnReader::OpenLineage(const FragmentReader& fragment) {
  int32_t field_id = 0;
  switch (column_.kind) {
    case Column::Kind::kRowId:
      if (!snapshot_->manifest->has_stable_row_ids()) return arrow::Status::OK();
      sequence_ = &fragment_->row_ids;
      field_id = table::kRowIdField;
      break;
    case Column::Kind::kCreatedAt:
      sequence_ = &fragment_->created_at;
      field_id = table::kCreatedAtField;
      break;
    case Column::Kind::kLastUpdatedAt:
      sequence_ = &fragment_->last_updated_at;
      field_id = table::kLastUpdatedAtField;
      break;
    default:
      return arrow::Status::OK();
  }
  if (sequence_->kind == table::LineageSequence::Kind::kAbsent && field_id == table::kRowIdField) {
    return Corrupt(snapshot_->manifest->path(),
                   "fragment of a table with stable row ids has none: fragment ", fragment_->id);
  }
  if (sequence_->kind != table::LineageSequence::Kind::kColumn) return arrow::Status::OK();
  lineage_field_.name = column_.name;
  lineage_field_.id = field_id;
  lineage_field_.logical_type = "uint64";
  lineage_field_.nullable = false;
  lineage_field_.type = arrow::uint64();
  overlay::ColumnRequest request =
      MakeRequest(snapshot_.get(), *fragment_, fragment.physical_rows());
  request.field = &lineage_field_;
  bool several = false;
  ARROW_ASSIGN_OR_RAISE(request.base, FindBaseFile(*fragment_, lineage_field_, &several));
  if (request.base == nullptr) {
    return Corrupt(snapshot_->manifest->path(),
                   "no file of the fragment holds its spilled row column: `", column_.name,
                   "`, fragment ", fragment_->id);
  }
  spilled_ = std::make_unique<PartReader>(snapshot_.get(), std::move(request), nullptr);
  return arrow::Status::OK();
}

arrow::Result<std::shared_ptr<arrow::ArrayData>> ColumnReader::ReadLineage(
    const RowChoice& rows) const {
  const uint64_t length = rows.length();
  ARROW_ASSIGN_OR_RAISE(std::unique_ptr<arrow::Buffer> buffer,
                        arrow::AllocateBuffer(static_cast<int64_t>(length * sizeof(uint64_t)),
                                              snapshot_->context.pool));
  auto* out = reinterpret_cast<uint64_t*>(buffer->mutable_data());
  std::shared_ptr<const Lineage> lineage;
  if (sequence_ != nullptr && sequence_->kind == table::LineageSequence::Kind::kInline) {
    ARROW_ASSIGN_OR_RAISE(lineage, snapshot_->results->LineageOf(
                                       *snapshot_, *fragment_, *sequence_,
                                       column_.kind == Column::Kind::kRowId, physical_rows_));
  }
  for (uint64_t i = 0; i < length; ++i) {
    const uint64_t offset = rows.listed ? rows.rows[i] : rows.first + i;
    if (lineage != nullptr) {
      out[i] = lineage->values[offset];
    } else if (sequence_ != nullptr) {
      out[i] = 1;  // an absent version sequence means version 1
    } else {
      out[i] = fragment_->id << 32 | offset;
    }
  }
  return MakeUInt64(std::move(buffer), length);
}

arrow::Result<std::shared_ptr<arrow::ArrayData>> ColumnReader::Read(const RowChoice& rows) {
  if (spilled_ != nullptr) return spilled_->Read(rows, nullptr);
  if (values_ == nullptr) return ReadLineage(rows);
  ARROW_ASSIGN_OR_RAISE(std::shared_ptr<arrow::ArrayData> data, values_->Read(rows));
  for (const int position : column_.path) {
    const arrow::StructArray parent(std::move(data));
    ARROW_ASSIGN_OR_RAISE(auto child, parent.GetFlattenedField(position, snapshot_->context.pool));
    data = child->data();
  }
  return data;
}

arrow::Result<std::shared_ptr<arrow::ArrayData>> ColumnReader::ReadWindow(uint64_t first,
                                                                          uint64_t end) {
  return Read({.first = first, .end = end, .rows = {}, .listed = false});
}

arrow::Result<std::shared_ptr<arrow::ArrayData>> ColumnReader::ReadRows(
    std::span<const uint32_t> rows) {
  return Read({.first = 0, .end = 0, .rows = rows, .listed = true});
}

arrow::Result<uint64_t> ColumnReader::RowBytes() {
  if (values_ == nullptr) return sizeof(uint64_t);
  return values_->RowBytes();
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
