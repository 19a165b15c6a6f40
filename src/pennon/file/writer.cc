#include "pennon/file/writer.h"

#include <algorithm>
#include <utility>

#include <arrow/array/array_base.h>
#include <arrow/array/concatenate.h>
#include <arrow/extension_type.h>
#include <arrow/memory_pool.h>
#include <arrow/type.h>

#include "pennon/encoding/leaf_type.h"
#include "pennon/encoding/leaf_values.h"
#include "pennon/encoding/page_encoder.h"
#include "pennon/error.h"
#include "pennon/file/container_writer.h"

namespace pennon::file {
namespace {

// A column's values are encoded once they take this much.
constexpr uint64_t kPageBytes = 8 << 20;

// Values of one column that wait for their page.
struct Column {
  encoding::LeafType type;
  encoding::PageOptions options;
  arrow::ArrayVector pending;
  uint64_t pending_bytes = 0;
  uint64_t pending_rows = 0;
  uint64_t written_rows = 0;
};

const arrow::DataType& StorageOf(const arrow::DataType& type) {
  return type.id() == arrow::Type::EXTENSION
             ? *static_cast<const arrow::ExtensionType&>(type).storage_type()
             : type;
}

arrow::Result<encoding::LeafType> LeafTypeOf(const Field& field) {
  if (field.type == nullptr) {
    return InvalidInput("A field to write has no Arrow type, field: ", field.name);
  }
  const auto refuse = [&](const std::string& why) {
    return Unsupported("", why, ", column: ", field.name, ", type: ", field.type->ToString());
  };
  if (field.parent_id >= 0 || !field.children.empty()) {
    return refuse("pennon does not write columns with fields below them yet");
  }
  if (field.metadata.contains("lance-encoding:blob"))
    return refuse("pennon does not write blob columns yet");
  arrow::Result<encoding::LeafType> made = encoding::LeafType::Make(StorageOf(*field.type));
  if (!made.ok()) return refuse("pennon cannot write this column: " + made.status().message());
  return made;
}

class Writer final : public FileWriter {
 public:
  Writer(std::vector<Field> fields, std::vector<Column> columns, FileVersion version)
      : fields_(std::move(fields)),
        columns_(std::move(columns)),
        version_(version),
        container_(columns_.size(), version) {}

  arrow::Status Append(int index, const arrow::Array& values) override {
    if (index < 0 || static_cast<size_t>(index) >= fields_.size()) {
      return InvalidInput("There is no field to append to at this position: expected 0 to ",
                          static_cast<int64_t>(fields_.size()) - 1, ", found ", index);
    }
    const Field& field = fields_[static_cast<size_t>(index)];
    if (!values.type()->Equals(*field.type)) {
      return InvalidInput("Values to write have not the type of their column ", field.name,
                          ": expected ", field.type->ToString(), ", found ",
                          values.type()->ToString());
    }
    ARROW_RETURN_NOT_OK(values.Validate());
    if (!field.nullable && values.null_count() > 0) {
      return InvalidInput("Values to write have nulls, but their column is not nullable, column: ",
                          field.name, ", nulls: ", values.null_count());
    }
    if (values.length() == 0) return arrow::Status::OK();
    return AppendPieces(static_cast<size_t>(index), values);
  }

  arrow::Result<WrittenFile> Finish() override {
    WrittenFile out;
    uint64_t length = 0;
    for (size_t i = 0; i < columns_.size(); ++i) {
      ARROW_RETURN_NOT_OK(Flush(i));
      length = std::max(length, columns_[i].written_rows);
      out.fields.push_back(fields_[i].id);
      out.column_indices.push_back(static_cast<int32_t>(i));
    }
    out.version = version_;
    out.bytes = container_.Finish(fields_, length);
    return out;
  }

 private:
  // Cuts `values` into pieces of about a page and queues them.
  arrow::Status AppendPieces(size_t index, const arrow::Array& values) {
    Column& column = columns_[index];
    const uint64_t rows = static_cast<uint64_t>(values.length());
    const uint64_t bytes = encoding::ValueBytes(column.type, *values.data(), 0, values.length());
    const uint64_t pages = std::max<uint64_t>(1, (bytes + kPageBytes - 1) / kPageBytes);
    const uint64_t piece = (rows + pages - 1) / pages;
    for (uint64_t at = 0; at < rows; at += piece) {
      const int64_t count = static_cast<int64_t>(std::min(piece, rows - at));
      const int64_t first = static_cast<int64_t>(at);
      const uint64_t size = encoding::ValueBytes(column.type, *values.data(), first, count);
      // Keeps a page near its size, and offsets of 32 bits from overflowing.
      if (column.pending_bytes + size > 2 * kPageBytes) ARROW_RETURN_NOT_OK(Flush(index));
      column.pending.push_back(values.Slice(first, count));
      column.pending_bytes += size;
      column.pending_rows += static_cast<uint64_t>(count);
      if (column.pending_bytes >= kPageBytes) ARROW_RETURN_NOT_OK(Flush(index));
    }
    return arrow::Status::OK();
  }

  // Encodes what waits of a column as one page.
  arrow::Status Flush(size_t index) {
    Column& column = columns_[index];
    if (column.pending_rows == 0) return arrow::Status::OK();
    arrow::MemoryPool* pool = arrow::default_memory_pool();
    std::shared_ptr<arrow::Array> values = column.pending[0];
    if (column.pending.size() > 1) {
      ARROW_ASSIGN_OR_RAISE(values, arrow::Concatenate(column.pending, pool));
    }
    arrow::Result<encoding::EncodedPage> page =
        encoding::EncodePage(column.type, *values->data(), column.options, pool);
    if (!page.ok()) {
      return page.status().WithMessage(page.status().message(), ", column: ", fields_[index].name);
    }
    container_.AddPage(index, *page, column.written_rows);
    column.written_rows += column.pending_rows;
    column.pending.clear();
    column.pending_bytes = 0;
    column.pending_rows = 0;
    return arrow::Status::OK();
  }

  std::vector<Field> fields_;
  std::vector<Column> columns_;
  FileVersion version_;
  ContainerWriter container_;
};

}  // namespace

arrow::Result<std::unique_ptr<FileWriter>> FileWriter::Make(std::vector<Field> fields,
                                                            FileVersion version) {
  if (version.major != 2 || version.minor > 2) {
    return Unsupported("", "pennon writes data files of versions 2.0, 2.1 and 2.2; asked for ",
                       version.major, ".", version.minor);
  }
  std::vector<Column> columns;
  for (const Field& field : fields) {
    ARROW_ASSIGN_OR_RAISE(encoding::LeafType type, LeafTypeOf(field));
    encoding::PageOptions options{
        .minor = version.minor,
        .hints = encoding::EncodingHints::FromMetadata(field.metadata, field.metadata)};
    columns.push_back({.type = std::move(type), .options = options});
  }
  return std::make_unique<Writer>(std::move(fields), std::move(columns), version);
}

}  // namespace pennon::file
