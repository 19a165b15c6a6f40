// Test tool: reads rows of columns of a Lance data file.
//
//   read_file FILE.lance SCHEMA.arrow OUT < JOBS
//
// SCHEMA.arrow is an Arrow IPC file whose fields give names and types. Each line of JOBS is
//
//   FIELD COLUMNS LENGTH [FIRST:COUNT:SLOT]...
//
// the number of the field, that of its first column in the file (or all of its columns, with
// commas; -1 for one that is to be taken as missing), slots of the result (or `all` for all rows),
// ranges. `*` for FIELD means all fields, whose columns follow each other from COLUMNS on. The
// result of line i goes to OUT.<i>, an Arrow IPC file; stdout gets a line `i ok` or `i KIND
// message`. At the end stdout gets a line `requests N bytes N`.
#include <cstdint>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

#include <arrow/array/array_base.h>
#include <arrow/array/util.h>
#include <arrow/io/file.h>
#include <arrow/ipc/reader.h>
#include <arrow/ipc/writer.h>
#include <arrow/record_batch.h>
#include <arrow/type.h>
#include <arrow/util/key_value_metadata.h>

#include "pennon/error.h"
#include "pennon/file/column_owners.h"
#include "pennon/file/reader.h"
#include "pennon/schema/field_tree.h"

namespace {

struct Job {
  std::string field;
  std::string columns;
  std::string length;
  std::vector<pennon::file::RowRange> ranges;
};

Job ParseJob(const std::string& line) {
  Job job;
  std::istringstream in(line);
  in >> job.field >> job.columns >> job.length;
  pennon::file::RowRange range;
  char colon;
  while (in >> range.first >> colon >> range.count >> colon >> range.out)
    job.ranges.push_back(range);
  return job;
}

arrow::Result<std::shared_ptr<arrow::Schema>> ReadSchema(const std::string& path) {
  ARROW_ASSIGN_OR_RAISE(auto file, arrow::io::ReadableFile::Open(path));
  ARROW_ASSIGN_OR_RAISE(auto reader, arrow::ipc::RecordBatchFileReader::Open(file));
  return reader->schema();
}

std::vector<int> ColumnsOf(const std::string& text, size_t count) {
  std::vector<int> columns;
  std::istringstream in(text);
  for (std::string number; std::getline(in, number, ',');) columns.push_back(std::stoi(number));
  while (columns.size() < count) columns.push_back(columns.back() + 1);
  return columns;
}

/// Checks what Arrow's own validation does not: counts of nulls, bitmaps without need.
arrow::Status CheckNulls(const arrow::ArrayData& data) {
  const auto copy = data.Copy();
  const int64_t nulls = data.null_count.load();
  copy->null_count = arrow::kUnknownNullCount;
  if (data.type->id() != arrow::Type::NA && copy->GetNullCount() != nulls) {
    return arrow::Status::Invalid("null_count is wrong: ", nulls, ", counted ",
                                  copy->GetNullCount());
  }
  if (nulls == 0 && !data.buffers.empty() && data.buffers[0])
    return arrow::Status::Invalid("validity without nulls");
  for (const auto& child : data.child_data) ARROW_RETURN_NOT_OK(CheckNulls(*child));
  return arrow::Status::OK();
}

// Reads a field of `schema` and takes its columns off the front of `columns`.
arrow::Result<std::shared_ptr<arrow::Array>> ReadField(const pennon::file::FileReader& reader,
                                                       const arrow::Schema& schema, int index,
                                                       const Job& job, std::string* columns) {
  ARROW_ASSIGN_OR_RAISE(const auto converted,
                        pennon::schema::FromArrow(*arrow::schema({schema.field(index)}), index));
  const pennon::Field& field = converted.fields[0];
  const std::vector<int> own =
      ColumnsOf(*columns, pennon::file::ColumnOwners(field, reader.version()).size());
  *columns = std::to_string(own.back() + 1);
  std::vector<pennon::file::RowRange> ranges = job.ranges;
  uint64_t length = 0;
  if (job.length == "all") {
    ARROW_ASSIGN_OR_RAISE(length, reader.Rows(field, own));
    ranges = {{.first = 0, .count = length, .out = 0}};
  } else {
    length = std::stoull(job.length);
  }
  ARROW_ASSIGN_OR_RAISE(auto data, reader.Read(field, own, ranges, length));
  auto array = arrow::MakeArray(data);
  ARROW_RETURN_NOT_OK(array->ValidateFull());
  ARROW_RETURN_NOT_OK(CheckNulls(*data));
  return array;
}

arrow::Status RunJob(const pennon::file::FileReader& reader, const arrow::Schema& schema, Job job,
                     const std::string& out) {
  const bool every = job.field == "*";
  const int first = every ? 0 : std::stoi(job.field);
  const int last = every ? schema.num_fields() : first + 1;
  arrow::ArrayVector arrays;
  arrow::FieldVector fields;
  for (int i = first; i < last; ++i) {
    auto array = ReadField(reader, schema, i, job, &job.columns);
    if (!array.ok()) return array.status().WithMessage("field ", i, ": ", array.status().message());
    arrays.push_back(*array);
    fields.push_back(arrow::field(schema.field(i)->name(), arrays.back()->type()));
    if (arrays.back()->length() != arrays[0]->length())
      return arrow::Status::Invalid("field ", i, " has another length");
  }
  const auto batch_schema = arrow::schema(fields);
  const auto batch = arrow::RecordBatch::Make(batch_schema, arrays[0]->length(), arrays);
  ARROW_ASSIGN_OR_RAISE(auto stream, arrow::io::FileOutputStream::Open(out));
  ARROW_ASSIGN_OR_RAISE(auto writer, arrow::ipc::MakeFileWriter(stream, batch_schema));
  ARROW_RETURN_NOT_OK(writer->WriteRecordBatch(*batch));
  ARROW_RETURN_NOT_OK(writer->Close());
  return stream->Close();
}

std::string Describe(const arrow::Status& status) {
  if (status.ok()) return "ok";
  const auto* const detail = pennon::GetErrorDetail(status);
  const char* kind = "other";
  if (detail != nullptr) {
    kind = detail->kind() == pennon::ErrorKind::kCorrupt       ? "corrupt"
           : detail->kind() == pennon::ErrorKind::kUnsupported ? "unsupported"
           : detail->kind() == pennon::ErrorKind::kNotFound    ? "not-found"
                                                               : "invalid";
  }
  return std::string(kind) + " " + status.ToString();
}

arrow::Status Run(char** argv) {
  ARROW_ASSIGN_OR_RAISE(const auto schema, ReadSchema(argv[2]));
  const auto counter = std::make_shared<pennon::IoCounter>();
  const auto store = pennon::MakeLocalStore();
  ARROW_ASSIGN_OR_RAISE(auto file, store->Open(argv[1], {}, counter));
  const auto open_other = [&](const std::string& path) { return store->Open(path, {}, counter); };
  ARROW_ASSIGN_OR_RAISE(
      auto reader,
      pennon::file::FileReader::Open(std::move(file), arrow::default_memory_pool(), open_other));
  std::string line;
  for (size_t i = 0; std::getline(std::cin, line); ++i) {
    const arrow::Status status =
        RunJob(*reader, *schema, ParseJob(line), std::string(argv[3]) + "." + std::to_string(i));
    std::cout << i << " " << Describe(status) << "\n";
  }
  const pennon::IoStats stats = counter->Get();
  std::cout << "requests " << stats.requests << " bytes " << stats.bytes << "\n";
  return arrow::Status::OK();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) {
    std::cerr << "usage: read_file FILE.lance SCHEMA.arrow OUT < JOBS\n";
    return 2;
  }
  const arrow::Status status = Run(argv);
  if (status.ok()) return 0;
  std::cout << "open " << Describe(status) << "\n";
  return 1;
}
