// Collects the rows of one column of a file under construction and encodes them page by page.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include <arrow/array/data.h>
#include <arrow/memory_pool.h>
#include <arrow/status.h>
#include <arrow/type_fwd.h>

#include "pennon/encoding/leaf_values.h"
#include "pennon/file/column_plan.h"
#include "pennon/file/container_writer.h"

namespace pennon::file {

/// One column. Not thread-safe.
class ColumnWriter {
 public:
  /// Writes column `column` of `container`, which must outlive this.
  ColumnWriter(ColumnPlan plan, size_t column, ContainerWriter* container);

  const ColumnPlan& plan() const { return plan_; }
  /// Top-level rows written so far.
  uint64_t rows() const { return written_rows_; }

  /// Appends rows of the top-level field, of any number; pages are written as they fill up.
  arrow::Status Append(const arrow::Array& rows);
  /// Writes what waits. Called once, at the end.
  arrow::Status Finish();

 private:
  arrow::Status Flush();
  arrow::Status WriteRows(const std::shared_ptr<arrow::ArrayData>& rows);
  arrow::Status WriteV20(const arrow::ArrayData& rows);
  arrow::Status WriteLevels(const std::shared_ptr<arrow::ArrayData>& rows);
  arrow::Status WriteBlobs(const arrow::ArrayData& rows);
  arrow::Status WriteV20Blobs(const arrow::ArrayData& rows);
  std::vector<uint64_t> PlaceBlobs(const encoding::LeafValues& values,
                                   const std::vector<uint64_t>& null_places);
  void AddPage(const encoding::EncodedPage& page, uint64_t rows);

  ColumnPlan plan_;
  size_t column_;
  ContainerWriter* container_;
  arrow::MemoryPool* pool_ = arrow::default_memory_pool();
  arrow::ArrayVector pending_;
  uint64_t pending_bytes_ = 0;
  uint64_t written_rows_ = 0;
  uint64_t header_slots_ = 0;  // kStructHeader: slots so far
};

}  // namespace pennon::file
