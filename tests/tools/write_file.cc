// Test tool: writes the columns of Arrow IPC files into one Lance data file.
//
//   write_file VERSION SKIP OUT.lance IN.arrow...
//
// Prints the fields that own a column and their columns: one line `FIELD COLUMN` each. Each IN
// gives its columns, of its own length. SKIP rows are cut off both ends of every column, so that
// the writer gets slices.
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>

#include <arrow/array/array_base.h>
#include <arrow/io/file.h>
#include <arrow/ipc/reader.h>
#include <arrow/table.h>
#include <arrow/type.h>

#include "pennon/file/writer.h"
#include "pennon/schema/field_tree.h"

namespace {

arrow::Status AddColumns(const std::string& path, int64_t skip, std::vector<pennon::Field>* fields,
                         arrow::ChunkedArrayVector* sources) {
  ARROW_ASSIGN_OR_RAISE(auto file, arrow::io::ReadableFile::Open(path));
  ARROW_ASSIGN_OR_RAISE(auto reader, arrow::ipc::RecordBatchFileReader::Open(file));
  ARROW_ASSIGN_OR_RAISE(auto table, reader->ToTable());
  // Ids go on where the last file ended, in pre-order over all fields.
  const auto used = pennon::schema::FlattenFields(*fields).size();
  ARROW_ASSIGN_OR_RAISE(pennon::Schema schema,
                        pennon::schema::FromArrow(*table->schema(), static_cast<int32_t>(used)));
  for (int i = 0; i < table->num_columns(); ++i) {
    fields->push_back(std::move(schema.fields[static_cast<size_t>(i)]));
    sources->push_back(table->column(i)->Slice(skip, table->num_rows() - 2 * skip));
  }
  return arrow::Status::OK();
}

arrow::Status Run(int argc, char** argv) {
  const std::string version_text = argv[1];
  const int64_t skip = std::strtoll(argv[2], nullptr, 10);
  std::vector<pennon::Field> fields;
  arrow::ChunkedArrayVector sources;
  for (int i = 4; i < argc; ++i) ARROW_RETURN_NOT_OK(AddColumns(argv[i], skip, &fields, &sources));
  const pennon::file::FileVersion version{2, static_cast<uint16_t>(version_text.back() - '0')};
  ARROW_ASSIGN_OR_RAISE(auto writer, pennon::file::FileWriter::Make(std::move(fields), version));
  for (size_t i = 0; i < sources.size(); ++i) {
    for (const auto& chunk : sources[i]->chunks()) {
      ARROW_RETURN_NOT_OK(writer->Append(static_cast<int>(i), *chunk));
    }
  }
  ARROW_ASSIGN_OR_RAISE(pennon::file::WrittenFile written, writer->Finish());
  for (size_t i = 0; i < written.fields.size(); ++i)
    std::cout << written.fields[i] << " " << written.column_indices[i] << "\n";
  std::ofstream out(argv[3], std::ios::binary);
  out.write(written.bytes.data(), static_cast<std::streamsize>(written.bytes.size()));
  return out.good() ? arrow::Status::OK() : arrow::Status::IOError("cannot write ", argv[3]);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 5) {
    std::cerr << "usage: write_file VERSION SKIP OUT.lance IN.arrow...\n";
    return 2;
  }
  const arrow::Status status = Run(argc, argv);
  if (status.ok()) return 0;
  std::cerr << status.ToString() << "\n";
  return 1;
}
