// One window of a scan: rows [first, end) of a fragment on their way to a batch. The body is the
// law in order: base and overlays (ColumnReader), deletions, filter, projection.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include <arrow/array/data.h>
#include <arrow/result.h>
#include <arrow/type_fwd.h>

#include "pennon/read/fragment_reader.h"
#include "pennon/read/read_plan.h"
#include "pennon/read/task_queue.h"

namespace pennon::read {

/// A fragment open for a scan, shared by its windows.
struct ScanFragment {
  std::shared_ptr<const FragmentReader> reader;
  std::vector<std::shared_ptr<ColumnReader>> columns;  ///< parallel to ReadPlan::columns
  uint64_t row_bytes = 0;                              ///< guess, all columns
  uint64_t widest_bytes = 0;                           ///< guess, the widest column
};

/// Runs as tasks of a queue, one a column; the last of a step does what comes next. Nothing here
/// waits.
class Window : public std::enable_shared_from_this<Window> {
 public:
  Window(std::shared_ptr<const ReadPlan> plan, std::shared_ptr<const ScanFragment> fragment,
         uint64_t first, uint64_t end, std::shared_ptr<TaskQueue> queue, arrow::MemoryPool* pool)
      : plan_(std::move(plan)),
        fragment_(std::move(fragment)),
        first_(first),
        end_(end),
        queue_(std::move(queue)),
        pool_(pool),
        arrays_(plan_->columns.size()) {}

  /// Queues the first step.
  void Start();
  /// Whether result() may be asked.
  bool done() const { return done_.load(std::memory_order_acquire); }
  /// The output rows of the window, or the first error.
  const arrow::Result<std::shared_ptr<arrow::RecordBatch>>& result() const { return result_; }
  uint64_t bytes() const { return (end_ - first_) * fragment_->row_bytes; }

 private:
  void Submit(size_t begin, size_t end, void (Window::*next)());
  void ReadOne(size_t column);
  void AfterFilterColumns();
  void AfterAllColumns();
  void Finish(arrow::Result<std::shared_ptr<arrow::RecordBatch>> result);
  void FinishFailed();
  void Fail(arrow::Status status);
  bool failed();
  arrow::Status DropDeleted(size_t begin, size_t end);
  arrow::Status ApplyFilter();
  arrow::Status KeepOnly(const std::shared_ptr<arrow::ArrayData>& mask, size_t begin, size_t end);
  arrow::Result<std::shared_ptr<arrow::ArrayData>> LiveMask() const;  ///< null: no row is deleted

  const std::shared_ptr<const ReadPlan> plan_;
  const std::shared_ptr<const ScanFragment> fragment_;
  const uint64_t first_;
  const uint64_t end_;
  const std::shared_ptr<TaskQueue> queue_;
  arrow::MemoryPool* const pool_;

  std::vector<std::shared_ptr<arrow::ArrayData>> arrays_;
  std::atomic<size_t> remaining_{0};
  int64_t rows_ = 0;              ///< rows of the filter columns after the filter
  bool by_rows_ = false;          ///< read the other columns by chosen_ instead of whole
  std::vector<uint32_t> chosen_;  ///< offsets that the filter keeps
  std::shared_ptr<arrow::ArrayData>
      keep_;  ///< mask over the window for whole columns; null: all rows
  std::mutex mutex_;
  arrow::Status status_;
  std::atomic<bool> done_{false};
  arrow::Result<std::shared_ptr<arrow::RecordBatch>> result_{
      arrow::Status::UnknownError("window is not done")};
};

}  // namespace pennon::read
