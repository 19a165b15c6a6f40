#include "pennon/file/reader.h"

#include <mutex>
#include <unordered_map>
#include <utility>

#include <arrow/type.h>

#include "pennon/error.h"
#include "pennon/file/column.h"
#include "pennon/file/column_owners.h"
#include "pennon/file/container.h"
#include "pennon/file/leaf_field.h"
#include "pennon/file/nested.h"
#include "pennon/file/nested_v20.h"
#include "pennon/file/side_files.h"

namespace pennon::file {

namespace {

/// Columns' metadata and decoders that are kept; measured at every `kMeasureEvery`th column.
constexpr size_t kMetadataBytes = 64 << 20;
constexpr size_t kMeasureEvery = 32;

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
    ARROW_ASSIGN_OR_RAISE(const auto opened, OpenColumns(field, columns));
    if (container_.footer().minor == 0) {
      return ReadV20(container_, field, opened, ranges, out_length);
    }
    if (OwnsOneColumn(field) && opened[0] != nullptr)
      return opened[0]->Read(container_, field, ranges, out_length);
    return ReadNested(container_, field, opened, ranges, out_length);
  }

  arrow::Result<uint64_t> Rows(const Field& field, std::span<const int> columns) const override {
    ARROW_ASSIGN_OR_RAISE(const auto opened, OpenColumns(field, columns));
    if (container_.footer().minor > 0) return CountNestedRows(container_, field, opened);
    // The first column of the field is its own.
    return opened[0] != nullptr ? opened[0]->length() : 0;
  }

  size_t MemoryBytes() const override {
    const std::lock_guard lock(mutex_);
    return sizeof(*this) + container_.MemoryBytes() + CachedBytes();
  }

 private:
  using ColumnPtr = std::shared_ptr<const Column>;

  arrow::Result<std::vector<ColumnPtr>> OpenColumns(const Field& field,
                                                    std::span<const int> columns) const {
    const size_t expected = ColumnOwners(field, version()).size();
    if (columns.size() != expected) {
      return InvalidInput("a field needs a column number for each column it owns: expected ",
                          expected, ", found ", columns.size(), ", column '", field.name, "'");
    }
    std::vector<ColumnPtr> opened(columns.size());
    for (size_t i = 0; i < columns.size(); ++i) {
      if (columns[i] == -1) continue;
      ARROW_ASSIGN_OR_RAISE(opened[i], OpenColumn(columns[i]));
    }
    return opened;
  }

  arrow::Result<ColumnPtr> OpenColumn(int column) const {
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
    // Reads that go on keep the columns they use.
    if (columns_.size() % kMeasureEvery == kMeasureEvery - 1 && CachedBytes() > kMetadataBytes)
      columns_.clear();
    return columns_.emplace(column, std::move(opened)).first->second;
  }

  /// Memory of the known columns; the mutex is held.
  size_t CachedBytes() const {
    size_t bytes = 0;
    for (const auto& [number, column] : columns_) bytes += sizeof(number) + column->MemoryBytes();
    return bytes;
  }

  Container container_;
  mutable std::mutex mutex_;
  mutable std::unordered_map<int, std::shared_ptr<const Column>> columns_;
};

}  // namespace

arrow::Result<std::shared_ptr<const FileReader>> FileReader::Open(
    std::shared_ptr<ReadableFile> file, arrow::MemoryPool* pool, FileOpener open_other) {
  ARROW_ASSIGN_OR_RAISE(Container container, Container::Open(std::move(file), pool));
  if (container.footer().num_columns > static_cast<uint32_t>(INT32_MAX)) {
    return Corrupt(container.path(), "the file has more columns than can be numbered: ",
                   container.footer().num_columns);
  }
  if (open_other) container.set_side_files(MakeSideFiles(container.path(), std::move(open_other)));
  return std::make_shared<const Reader>(std::move(container));
}

}  // namespace pennon::file
