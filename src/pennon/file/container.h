// The container of a data file: footer, tables, column metadata, and reads of its bytes (all 2.x
// versions). Byte layout: wire/file_footer.h and wire/column_metadata.h.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <arrow/buffer.h>
#include <arrow/memory_pool.h>
#include <arrow/result.h>

#include "pennon/encoding/page.h"
#include "pennon/io/read_ranges.h"
#include "pennon/store.h"
#include "pennon/wire/file_footer.h"

namespace pennon::file {

/// An open file whose footer and tables have been checked. Immutable, thread-safe.
class Container {
 public:
  /// Reads the end of `file`: one request if footer, tables and metadata are in the last 4 KiB,
  /// else two.
  static arrow::Result<Container> Open(std::shared_ptr<ReadableFile> file, arrow::MemoryPool* pool);

  const std::string& path() const { return file_->path(); }
  uint64_t file_size() const { return file_->size(); }
  const wire::FileFooter& footer() const { return footer_; }
  arrow::MemoryPool* pool() const { return pool_; }
  /// The whole file, if its store maps files, else null.
  std::shared_ptr<arrow::Buffer> Mapped() const { return file_->Mapped(); }
  /// The files beside this one, or null.
  const std::shared_ptr<const encoding::SideFiles>& side_files() const { return side_files_; }
  void set_side_files(std::shared_ptr<const encoding::SideFiles> files) {
    side_files_ = std::move(files);
  }

  /// The serialised metadata of column `column` < footer().num_columns.
  arrow::Result<std::string> ReadColumnMetadata(uint32_t column) const;

  /// Global buffer `index` < footer().num_global_buffers; 0 is the file descriptor.
  arrow::Result<std::string> ReadGlobalBuffer(uint32_t index) const;

  /// Fills `reads` as io::ReadRanges does; what lies in the part of the file kept in memory costs
  /// no request.
  arrow::Result<io::RangeBuffers> Read(std::span<io::RangeRead* const> reads) const;

  size_t MemoryBytes() const { return sizeof(*this) + static_cast<size_t>(tail_->size()); }

 private:
  Container(std::shared_ptr<ReadableFile> file, arrow::MemoryPool* pool)
      : file_(std::move(file)), pool_(pool) {}
  arrow::Status ReadTail(uint64_t start);
  arrow::Result<std::string> ReadBytes(const wire::BufferLocation& at) const;
  /// The bytes [position, position + size), which lie in the tail.
  std::span<const uint8_t> Tail(uint64_t position, uint64_t size) const;

  std::shared_ptr<ReadableFile> file_;
  arrow::MemoryPool* pool_;
  std::shared_ptr<const encoding::SideFiles> side_files_;
  wire::FileFooter footer_;
  uint64_t tail_start_ = 0;
  std::shared_ptr<arrow::Buffer> tail_;  ///< the file from tail_start_ on
};

}  // namespace pennon::file
