#include "pennon/table/deletions.h"

#include <algorithm>

#include <arrow/array/array_primitive.h>
#include <arrow/buffer.h>
#include <arrow/io/memory.h>
#include <arrow/ipc/reader.h>
#include <arrow/memory_pool.h>
#include <arrow/record_batch.h>
#include <arrow/type.h>

#include "pennon/error.h"

namespace pennon::table {
namespace {

/// Bytes that a deletion file of `rows` rows (0 = unknown) may take in memory while it is read.
/// Compressed, it claims how long its offsets are: they are at most 4 bytes a row, and no codec
/// makes lists of distinct numbers 256 times smaller.
int64_t MostBytes(uint64_t file_bytes, uint64_t rows) {
  constexpr uint64_t kMessages = 1 << 20;
  const uint64_t expanded = file_bytes * 256;
  return static_cast<int64_t>(kMessages + (rows == 0 ? expanded : std::min(expanded, rows * 16)));
}

/// Reads the Arrow kind: one batch of one column `row_id` of uint32, no nulls, any order.
arrow::Result<Bitmap> ParseArrowDeletions(const std::shared_ptr<arrow::Buffer>& bytes,
                                          uint64_t physical_rows, const std::string& path) {
  const auto fail = [&path](const arrow::Status& status) {
    return Corrupt(path, "Cannot read the Arrow deletion file (", status.message(), "): ", path);
  };
  // The limit is for what the cap's own pool gave out, so that pool is not that of the process.
  arrow::ProxyMemoryPool own(arrow::default_memory_pool());
  arrow::CappedMemoryPool pool(&own,
                               MostBytes(static_cast<uint64_t>(bytes->size()), physical_rows));
  auto options = arrow::ipc::IpcReadOptions::Defaults();
  options.memory_pool = &pool;
  arrow::io::BufferReader input(bytes);
  const auto reader = arrow::ipc::RecordBatchFileReader::Open(&input, options);
  if (!reader.ok()) return fail(reader.status());
  if ((*reader)->num_record_batches() != 1) {
    return Corrupt(path, "An Arrow deletion file must hold one batch: found ",
                   (*reader)->num_record_batches(), ": ", path);
  }
  const auto schema = (*reader)->schema();
  if (schema->num_fields() != 1 || schema->field(0)->name() != "row_id" ||
      schema->field(0)->type()->id() != arrow::Type::UINT32) {
    return Corrupt(path, "An Arrow deletion file must hold one column, row_id of uint32: found ",
                   schema->ToString(), ": ", path);
  }
  const auto batch = (*reader)->ReadRecordBatch(0);
  if (!batch.ok()) return fail(batch.status());
  if (const auto status = (*batch)->ValidateFull(); !status.ok()) return fail(status);
  const auto& column = static_cast<const arrow::UInt32Array&>(*(*batch)->column(0));
  if (column.null_count() != 0) return Corrupt(path, "An Arrow deletion file holds a null: ", path);
  return Bitmap::Of({column.raw_values(), static_cast<size_t>(column.length())});
}

arrow::Result<Bitmap> ParseBitmapDeletions(const arrow::Buffer& bytes, const std::string& path) {
  auto deleted = Bitmap::Parse(
      {reinterpret_cast<const char*>(bytes.data()), static_cast<size_t>(bytes.size())});
  if (deleted.ok()) return deleted;
  return Corrupt(path, "Cannot read the deletion bitmap (", deleted.status().message(),
                 "): ", path);
}

}  // namespace

arrow::Result<Bitmap> ReadDeletions(const TableLocation& table, const Manifest& manifest,
                                    const Fragment& fragment) {
  if (!fragment.deletion_file) return Bitmap();
  const DeletionFile& entry = *fragment.deletion_file;
  ARROW_ASSIGN_OR_RAISE(const std::string path,
                        DeletionFilePath(table, manifest, fragment.id, entry));
  ARROW_ASSIGN_OR_RAISE(const auto file, table.store->Open(path));
  ARROW_ASSIGN_OR_RAISE(auto unique, arrow::AllocateBuffer(static_cast<int64_t>(file->size())));
  std::shared_ptr<arrow::Buffer> bytes = std::move(unique);
  ARROW_RETURN_NOT_OK(file->ReadAt(0, {bytes->mutable_data(), static_cast<size_t>(bytes->size())}));
  ARROW_ASSIGN_OR_RAISE(Bitmap deleted,
                        entry.kind == DeletionFile::Kind::kBitmap
                            ? ParseBitmapDeletions(*bytes, path)
                            : ParseArrowDeletions(bytes, fragment.physical_rows, path));
  const auto last = deleted.Max();
  if (fragment.physical_rows != 0 && last && *last >= fragment.physical_rows) {
    return Corrupt(path, "A deletion file names an offset beyond the fragment's rows: offset ",
                   *last, ", fragment ", fragment.id, " of ", fragment.physical_rows,
                   " rows: ", path);
  }
  if (entry.num_deleted_rows != 0 && deleted.cardinality() != entry.num_deleted_rows) {
    return Corrupt(path,
                   "A deletion file does not hold as many rows as the manifest says: expected ",
                   entry.num_deleted_rows, ", found ", deleted.cardinality(), ", fragment ",
                   fragment.id, ": ", path);
  }
  return deleted;
}

}  // namespace pennon::table
