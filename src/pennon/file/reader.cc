#include "pennon/file/reader.h"

#include <mutex>
#include <unordered_map>
#include <utility>

#include "pennon/error.h"
#include "pennon/file/column.h"
#include "pennon/file/container.h"

namespace pennon::file {

namespace {

class Reader : public FileReader {
 public:
  explicit Reader(Container container) : container_(std::move(container)) {}

  FileVersion version() const override { return {2, container_.footer().minor}; }
  int num_columns() const override { return static_cast<int>(container_.footer().num_columns); }

  arrow::Result<uint64_t> ColumnLength(int column) const override {
    ARROW_ASSIGN_OR_RAISE(const auto opened, OpenColumn(column));
    return opened->length();
  }
  arrow::Result<uint64_t> ColumnBytes(int column) const override {
    ARROW_ASSIGN_OR_RAISE(const auto opened, OpenColumn(column));
    return opened->page_bytes();
  }

  using FileReader::Read;
  arrow::Result<std::shared_ptr<arrow::ArrayData>> Read(const Field& field,
                                                        std::span<const int> columns,
                                                        std::span<const RowRange> ranges,
                                                        uint64_t out_length) const override {
    if (!field.is_leaf()) {
      return MakeError(ErrorKind::kUnsupported, {.path = container_.path(), .field = field.id},
                       JoinParts("columns of nested types are not supported yet: column '",
                                 field.name, "', type ", field.logical_type));
    }
    if (columns.size() != 1) {
      return InvalidInput(
          "a field needs a column number for each column it owns: expected 1, found ",
          columns.size(), ", column '", field.name, "'");
    }
    ARROW_ASSIGN_OR_RAISE(const auto opened, OpenColumn(columns[0]));
    return opened->Read(container_, field, ranges, out_length);
  }

  size_t MemoryBytes() const override {
    size_t bytes = sizeof(*this) + container_.MemoryBytes();
    const std::lock_guard lock(mutex_);
    for (const auto& [number, column] : columns_) bytes += sizeof(number) + column->MemoryBytes();
    return bytes;
  }

 private:
  arrow::Result<std::shared_ptr<const Column>> OpenColumn(int column) const {
    if (column < 0 || static_cast<uint32_t>(column) >= container_.footer().num_columns) {
      return Corrupt(container_.path(), "a column number is not in the file: expected less than ",
                     container_.footer().num_columns, ", found ", column);
    }
    {
      const std::lock_guard lock(mutex_);
      const auto known = columns_.find(column);
      if (known != columns_.end()) return known->second;
    }
    // Two threads may read the same metadata; the first one's is kept.
    ARROW_ASSIGN_OR_RAISE(auto opened, Column::Open(container_, static_cast<uint32_t>(column)));
    const std::lock_guard lock(mutex_);
    return columns_.emplace(column, std::move(opened)).first->second;
  }

  Container container_;
  mutable std::mutex mutex_;
  mutable std::unordered_map<int, std::shared_ptr<const Column>> columns_;
};

}  // namespace

arrow::Result<std::shared_ptr<const FileReader>> FileReader::Open(
    std::shared_ptr<ReadableFile> file, arrow::MemoryPool* pool) {
  ARROW_ASSIGN_OR_RAISE(Container container, Container::Open(std::move(file), pool));
  if (container.footer().num_columns > static_cast<uint32_t>(INT32_MAX)) {
    return Corrupt(container.path(), "the file has more columns than can be numbered: ",
                   container.footer().num_columns);
  }
  return std::make_shared<const Reader>(std::move(container));
}

}  // namespace pennon::file
