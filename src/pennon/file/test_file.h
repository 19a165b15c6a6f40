// Files in memory and their columns, for the tests and fuzz targets of data files.
#pragma once

#include <cstdint>
#include <cstring>
#include <memory>
#include <numeric>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <arrow/array/array_base.h>
#include <arrow/array/util.h>
#include <arrow/memory_pool.h>

#include "pennon/error.h"
#include "pennon/file/column_owners.h"
#include "pennon/file/reader.h"
#include "pennon/file/self_schema.h"
#include "pennon/store.h"

namespace pennon::testing {

/// Bytes as a file; counts its requests.
class BytesFile : public ReadableFile {
 public:
  explicit BytesFile(std::string bytes) : bytes_(std::move(bytes)) {}
  const std::string& path() const override { return path_; }
  uint64_t size() const override { return bytes_.size(); }
  arrow::Status ReadAt(uint64_t offset, std::span<uint8_t> out) const override {
    if (offset > bytes_.size() || out.size() > bytes_.size() - offset)
      return Corrupt(path_, "read past the end");
    counter.Add(out.size());
    std::memcpy(out.data(), bytes_.data() + offset, out.size());
    return arrow::Status::OK();
  }
  mutable IoCounter counter;

 private:
  std::string path_ = "test.lance";
  std::string bytes_;
};

/// Reads all rows, at most `max_rows`, of every column that `schema` names; the arrays or the first
/// error other than kUnsupported. What is read is checked to be a sound array.
inline arrow::Status ReadAll(const std::string& bytes, const file::SelfSchema& schema,
                             uint64_t max_rows, arrow::MemoryPool* pool,
                             std::vector<std::shared_ptr<arrow::Array>>* out = nullptr) {
  ARROW_ASSIGN_OR_RAISE(auto reader,
                        file::FileReader::Open(std::make_shared<BytesFile>(bytes), pool));
  for (size_t i = 0; i < schema.schema.fields.size(); ++i) {
    const Field& field = schema.schema.fields[i];
    std::vector<int> columns(file::ColumnOwners(field, reader->version()).size());
    std::iota(columns.begin(), columns.end(), schema.first_columns[i]);
    ARROW_ASSIGN_OR_RAISE(const uint64_t length, reader->Rows(field, columns));
    const uint64_t rows = std::min(length, max_rows);
    const file::RowRange whole[] = {{.first = 0, .count = rows, .out = 0}};
    const file::RowRange parts[] = {
        {.first = rows / 7, .count = rows / 3, .out = 1},
        {.first = rows - rows / 4, .count = rows / 4, .out = 2 + rows / 3}};
    for (const auto& ranges :
         {std::span<const file::RowRange>(whole), std::span<const file::RowRange>(parts)}) {
      const bool all = ranges.size() == 1;
      auto data = reader->Read(field, columns, ranges, all ? rows : rows + 3);
      const auto* const detail = GetErrorDetail(data.status());
      if (detail != nullptr && detail->kind() == ErrorKind::kUnsupported) {
        if (all && out != nullptr) out->push_back(nullptr);
        continue;
      }
      ARROW_RETURN_NOT_OK(data.status());
      const auto array = arrow::MakeArray(*data);
      ARROW_RETURN_NOT_OK(array->Validate());
      if (all && out != nullptr) out->push_back(array);
    }
  }
  return arrow::Status::OK();
}

}  // namespace pennon::testing
