#include "row_output.h"

#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <iostream>
#include <utility>
#include <vector>

#include <arrow/api.h>
#include <arrow/io/file.h>
#include <arrow/io/stdio.h>
#include <arrow/ipc/writer.h>
#include <parquet/arrow/writer.h>

#include "cell_text.h"
#include "pennon/error.h"
#include "table_output.h"

namespace pennon::cli {
namespace {

constexpr size_t kMostCellWidth = 48;

bool ToStdout(const std::string& path) { return path.empty() || path == "-"; }

bool IsNumber(arrow::Type::type id) {
  return arrow::is_integer(id) || arrow::is_floating(id) || arrow::is_decimal(id);
}

// Text formats share the stream: the standard output or a file.
class TextSink : public RowSink {
 public:
  arrow::Status Open(const std::string& path) {
    if (ToStdout(path)) {
      out_ = &std::cout;
      return arrow::Status::OK();
    }
    file_.open(path, std::ios::binary | std::ios::trunc);
    out_ = &file_;
    return Check(path);
  }
  arrow::Status Check(const std::string& path) {
    if (*out_) return arrow::Status::OK();
    return MakeError(ErrorKind::kIo, {.path = path}, "cannot write the output file");
  }
  arrow::Status Finish() override {
    out_->flush();
    return Check("output");
  }

 protected:
  std::ostream& out() { return *out_; }

 private:
  std::ofstream file_;
  std::ostream* out_ = nullptr;
};

class TableSink : public TextSink {
 public:
  TableSink(std::shared_ptr<arrow::Schema> schema, bool markdown)
      : schema_(std::move(schema)), markdown_(markdown) {}

  arrow::Status Write(const arrow::RecordBatch& batch) override {
    Start();
    for (int64_t row = 0; row < batch.num_rows(); ++row) {
      std::vector<std::string> cells;
      cells.reserve(batch.num_columns());
      for (const auto& column : batch.columns()) cells.push_back(CellToText(*column, row, "NULL"));
      table_->Add(std::move(cells));
    }
    return arrow::Status::OK();
  }
  arrow::Status Finish() override {
    Start();
    table_.reset();
    return TextSink::Finish();
  }

 private:
  void Start() {
    if (table_ != nullptr) return;
    std::vector<TextColumn> columns;
    for (const auto& field : schema_->fields())
      columns.push_back({field->name(), IsNumber(field->type()->id())});
    table_ = std::make_unique<TextTable>(std::move(columns), &out(), markdown_, kMostCellWidth);
  }

  std::shared_ptr<arrow::Schema> schema_;
  bool markdown_;
  std::unique_ptr<TextTable> table_;
};

// `jsonl`: one object a line; `json`: the same inside one array.
class JsonSink : public TextSink {
 public:
  JsonSink(std::shared_ptr<arrow::Schema> schema, bool lines)
      : schema_(std::move(schema)), lines_(lines) {}

  arrow::Status Write(const arrow::RecordBatch& batch) override {
    for (int64_t row = 0; row < batch.num_rows(); ++row) {
      Json object = Json::object();
      for (int i = 0; i < batch.num_columns(); ++i) {
        object[schema_->field(i)->name()] = CellToJson(*batch.column(i), row);
      }
      if (!lines_) out() << (any_ ? ",\n " : "[");
      out() << DumpJson(object);
      if (lines_) out() << "\n";
      any_ = true;
    }
    return arrow::Status::OK();
  }
  arrow::Status Finish() override {
    if (!lines_) out() << (any_ ? "]\n" : "[]\n");
    return TextSink::Finish();
  }

 private:
  std::shared_ptr<arrow::Schema> schema_;
  bool lines_;
  bool any_ = false;
};

// RFC 4180, header first; NULL is an empty field and the empty string is "". Arrow's CSV writer
// knows no lists.
class CsvSink : public TextSink {
 public:
  explicit CsvSink(std::shared_ptr<arrow::Schema> schema) : schema_(std::move(schema)) {}

  arrow::Status Write(const arrow::RecordBatch& batch) override {
    Start();
    for (int64_t row = 0; row < batch.num_rows(); ++row) {
      for (int i = 0; i < batch.num_columns(); ++i) {
        if (i > 0) out() << ',';
        const auto& column = *batch.column(i);
        if (column.IsValid(row)) out() << Quoted(CellToText(column, row, ""));
      }
      out() << "\n";
    }
    return arrow::Status::OK();
  }
  arrow::Status Finish() override {
    Start();
    return TextSink::Finish();
  }

 private:
  static std::string Quoted(const std::string& text) {
    if (!text.empty() && text.find_first_of(",\"\r\n") == std::string::npos) return text;
    std::string quoted = "\"";
    for (char c : text) {
      if (c == '"') quoted += '"';
      quoted += c;
    }
    return quoted + '"';
  }
  void Start() {
    if (started_) return;
    started_ = true;
    for (int i = 0; i < schema_->num_fields(); ++i) {
      out() << (i > 0 ? "," : "") << Quoted(schema_->field(i)->name());
    }
    out() << "\n";
  }

  std::shared_ptr<arrow::Schema> schema_;
  bool started_ = false;
};

arrow::Result<std::shared_ptr<arrow::io::OutputStream>> OpenBinary(const std::string& path) {
  if (!ToStdout(path)) return arrow::io::FileOutputStream::Open(path);
  if (isatty(STDOUT_FILENO) != 0) {
    return InvalidInput(
        "a binary format does not go to a terminal: name a file with -o or redirect the output");
  }
  return std::make_shared<arrow::io::StdoutStream>();
}

class ArrowSink : public RowSink {
 public:
  arrow::Status Open(const std::string& path, const std::shared_ptr<arrow::Schema>& schema) {
    ARROW_ASSIGN_OR_RAISE(stream_, OpenBinary(path));
    return arrow::ipc::MakeStreamWriter(stream_, schema).Value(&writer_);
  }
  arrow::Status Write(const arrow::RecordBatch& batch) override {
    return writer_->WriteRecordBatch(batch);
  }
  arrow::Status Finish() override {
    ARROW_RETURN_NOT_OK(writer_->Close());
    return stream_->Flush();
  }

 private:
  std::shared_ptr<arrow::io::OutputStream> stream_;
  std::shared_ptr<arrow::ipc::RecordBatchWriter> writer_;
};

class ParquetSink : public RowSink {
 public:
  arrow::Status Open(const std::string& path, const std::shared_ptr<arrow::Schema>& schema) {
    ARROW_ASSIGN_OR_RAISE(stream_, OpenBinary(path));
    auto properties =
        parquet::WriterProperties::Builder().compression(arrow::Compression::ZSTD)->build();
    ARROW_ASSIGN_OR_RAISE(writer_, parquet::arrow::FileWriter::Open(
                                       *schema, arrow::default_memory_pool(), stream_, properties));
    return arrow::Status::OK();
  }
  arrow::Status Write(const arrow::RecordBatch& batch) override {
    return writer_->WriteRecordBatch(batch);
  }
  arrow::Status Finish() override {
    ARROW_RETURN_NOT_OK(writer_->Close());
    return stream_->Flush();
  }

 private:
  std::shared_ptr<arrow::io::OutputStream> stream_;
  std::unique_ptr<parquet::arrow::FileWriter> writer_;
};

template <typename Sink, typename... Arguments>
arrow::Result<std::unique_ptr<RowSink>> OpenText(const std::string& path,
                                                 Arguments&&... arguments) {
  auto sink = std::make_unique<Sink>(std::forward<Arguments>(arguments)...);
  ARROW_RETURN_NOT_OK(sink->Open(path));
  return sink;
}

template <typename Sink>
arrow::Result<std::unique_ptr<RowSink>> OpenBinarySink(
    const std::string& path, const std::shared_ptr<arrow::Schema>& schema) {
  auto sink = std::make_unique<Sink>();
  ARROW_RETURN_NOT_OK(sink->Open(path, schema));
  return sink;
}

}  // namespace

arrow::Result<std::string> ChooseFormat(const std::string& asked, const std::string& path) {
  if (!asked.empty()) return asked;
  static const std::pair<const char*, const char*> kSuffixes[] = {
      {".csv", "csv"},      {".json", "json"},       {".jsonl", "jsonl"},
      {".ndjson", "jsonl"}, {".md", "markdown"},     {".arrow", "arrow"},
      {".arrows", "arrow"}, {".parquet", "parquet"}, {".txt", "table"}};
  for (const auto& [suffix, format] : kSuffixes) {
    if (path.ends_with(suffix)) return format;
  }
  if (ToStdout(path)) return "table";
  return InvalidInput("cannot tell the format from the file name: give --format ", kFormats,
                      "; found ", path);
}

arrow::Result<std::unique_ptr<RowSink>> OpenSink(const std::string& format, const std::string& path,
                                                 std::shared_ptr<arrow::Schema> schema) {
  if (format == "table") return OpenText<TableSink>(path, std::move(schema), /*markdown=*/false);
  if (format == "markdown") return OpenText<TableSink>(path, std::move(schema), /*markdown=*/true);
  if (format == "csv") return OpenText<CsvSink>(path, std::move(schema));
  if (format == "json") return OpenText<JsonSink>(path, std::move(schema), /*lines=*/false);
  if (format == "jsonl") return OpenText<JsonSink>(path, std::move(schema), /*lines=*/true);
  if (format == "arrow") return OpenBinarySink<ArrowSink>(path, schema);
  if (format == "parquet") return OpenBinarySink<ParquetSink>(path, schema);
  return InvalidInput("unknown format: expected one of ", kFormats, ", found ", format);
}

arrow::Status WriteRows(arrow::RecordBatchReader* reader, const std::string& format,
                        const std::string& path, const std::function<void(int64_t)>& on_rows) {
  auto write = [&]() -> arrow::Status {
    ARROW_ASSIGN_OR_RAISE(auto sink, OpenSink(format, path, reader->schema()));
    for (;;) {
      std::shared_ptr<arrow::RecordBatch> batch;
      ARROW_RETURN_NOT_OK(reader->ReadNext(&batch));
      if (batch == nullptr) return sink->Finish();
      ARROW_RETURN_NOT_OK(sink->Write(*batch));
      on_rows(batch->num_rows());
    }
  };
  arrow::Status status = write();
  if (!status.ok() && !ToStdout(path)) std::remove(path.c_str());
  return status;
}

}  // namespace pennon::cli
