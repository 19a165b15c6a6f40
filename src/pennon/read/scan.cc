#include "pennon/read/scan.h"

#include <algorithm>
#include <deque>
#include <utility>
#include <vector>

#include <arrow/record_batch.h>
#include <arrow/type.h>
#include <arrow/util/thread_pool.h>

#include "pennon/error.h"
#include "pennon/read/window.h"

namespace pennon::read {
namespace {

// Decoded bytes of the widest column of a window.
constexpr uint64_t kWindowBytes = 16 << 20;
// A table that is but a few windows is cut into smaller ones, not below this, for all threads to
// have some.
constexpr uint64_t kSharedWindowBytes = 4 << 20;
constexpr uint64_t kWindowsPerThread = 2;
// Decoded bytes of all columns of a window.
constexpr uint64_t kWindowRowBytes = 24 << 20;
constexpr uint64_t kMinWindowRows = 1024;
constexpr uint64_t kWideRowBytes = 64 << 10;
// With a filter and a limit a scan often ends early: start with fewer rows.
constexpr uint64_t kLimitedWindowRows = 128 << 10;

class ScanReader : public arrow::RecordBatchReader {
 public:
  ScanReader(std::shared_ptr<const Snapshot> snapshot, std::shared_ptr<const ReadPlan> plan,
             ScanOptions options, std::vector<const table::Fragment*> fragments)
      : snapshot_(std::move(snapshot)),
        plan_(std::move(plan)),
        options_(std::move(options)),
        fragments_(std::move(fragments)),
        skip_(static_cast<uint64_t>(options_.offset)),
        left_(options_.limit ? static_cast<uint64_t>(*options_.limit) : UINT64_MAX) {
    arrow::internal::Executor* executor = nullptr;
    if (options_.use_threads) {
      executor = snapshot_->context.executor ? snapshot_->context.executor
                                             : arrow::internal::GetCpuThreadPool();
      threads_ = static_cast<size_t>(executor->GetCapacity());
      ahead_ = threads_ + 1;
    }
    for (const table::Fragment* fragment : fragments_) rows_ += fragment->physical_rows;
    if (plan_->filter != nullptr && options_.limit) ahead_ = std::min<size_t>(ahead_, 2);
    to_plan_ = left_;
    queue_ = TaskQueue::Make(executor);
  }

  ~ScanReader() override { queue_->Stop(); }

  std::shared_ptr<arrow::Schema> schema() const override { return plan_->schema; }

  arrow::Status Close() override {
    queue_->Stop();
    windows_.clear();
    batch_ = nullptr;
    left_ = 0;
    return arrow::Status::OK();
  }

  arrow::Status ReadNext(std::shared_ptr<arrow::RecordBatch>* out) override {
    *out = nullptr;
    if (error_.ok()) error_ = ReadBatch(out);
    return error_;
  }

 private:
  arrow::Status ReadBatch(std::shared_ptr<arrow::RecordBatch>* out) {
    while (left_ > 0) {
      if (batch_ != nullptr && position_ < batch_->num_rows()) {
        int64_t rows = std::min(options_.batch_size, batch_->num_rows() - position_);
        if (static_cast<uint64_t>(rows) > left_) rows = static_cast<int64_t>(left_);
        *out = rows == batch_->num_rows() ? batch_ : batch_->Slice(position_, rows);
        position_ += rows;
        left_ -= static_cast<uint64_t>(rows);
        return arrow::Status::OK();
      }
      batch_ = nullptr;
      ARROW_ASSIGN_OR_RAISE(bool more, NextBatch());
      if (!more) break;
    }
    return Close();
  }

  // Waits for the next window and makes its rows current; false at the end.
  arrow::Result<bool> NextBatch() {
    Pump();
    if (windows_.empty()) {
      ARROW_RETURN_NOT_OK(plan_error_);
      return false;
    }
    std::shared_ptr<Window> window = std::move(windows_.front());
    windows_.pop_front();
    ARROW_RETURN_NOT_OK(queue_->WaitFor([&] { return window->done(); }));
    in_flight_bytes_ -= window->bytes();
    Pump();
    ARROW_ASSIGN_OR_RAISE(batch_, window->result());
    position_ = 0;
    if (plan_->filter != nullptr && skip_ > 0) {
      uint64_t skipped = std::min(skip_, static_cast<uint64_t>(batch_->num_rows()));
      skip_ -= skipped;
      position_ = static_cast<int64_t>(skipped);
    }
    return true;
  }

  // Starts windows until enough rows are on their way. An error waits until the rows before it are
  // given.
  void Pump() {
    while (plan_error_.ok() && windows_.size() < ahead_ &&
           (windows_.empty() || in_flight_bytes_ < snapshot_->context.scan_bytes)) {
      auto started = StartWindow();
      if (!started.ok()) plan_error_ = started.status();
      if (!started.ok() || !*started) return;
    }
  }

  // Starts the next window; false if there is none.
  arrow::Result<bool> StartWindow() {
    while (fragment_ == nullptr || next_row_ >= end_row_) {
      if (next_fragment_ == fragments_.size() || to_plan_ == 0) return false;
      ARROW_RETURN_NOT_OK(OpenFragment(*fragments_[next_fragment_++]));
    }
    uint64_t end = std::min(end_row_, next_row_ + window_rows_);
    auto window =
        std::make_shared<Window>(plan_, fragment_, next_row_, end, queue_, snapshot_->context.pool);
    next_row_ = end;
    in_flight_bytes_ += window->bytes();
    windows_.push_back(window);
    window->Start();
    return true;
  }

  arrow::Status OpenFragment(const table::Fragment& fragment) {
    fragment_ = nullptr;
    if (plan_->filter == nullptr && skip_ > 0) {
      ARROW_ASSIGN_OR_RAISE(uint64_t live, CountLiveRows(snapshot_, fragment));
      if (skip_ >= live) {
        skip_ -= live;
        return arrow::Status::OK();
      }
    }
    auto opened = std::make_shared<ScanFragment>();
    ARROW_ASSIGN_OR_RAISE(opened->reader, FragmentReader::Open(snapshot_, fragment));
    for (const Column& column : plan_->columns) {
      ARROW_ASSIGN_OR_RAISE(std::shared_ptr<ColumnReader> reader,
                            opened->reader->OpenColumn(column));
      ARROW_ASSIGN_OR_RAISE(uint64_t bytes, reader->RowBytes());
      opened->row_bytes += bytes;
      opened->widest_bytes = std::max(opened->widest_bytes, bytes);
      opened->columns.push_back(std::move(reader));
    }
    next_row_ = 0;
    end_row_ = opened->reader->physical_rows();
    if (plan_->filter == nullptr) CutToLimit(*opened->reader);
    ChooseWindowRows(*opened);
    fragment_ = std::move(opened);
    return arrow::Status::OK();
  }

  // Without a filter offset and limit name rows: read no others.
  void CutToLimit(const FragmentReader& reader) {
    uint64_t live = reader.live_rows();
    uint64_t first = std::min(skip_, live);
    skip_ -= first;
    uint64_t count = std::min(live - first, to_plan_);
    if (to_plan_ != UINT64_MAX) to_plan_ -= count;
    if (count == 0) {
      end_row_ = 0;
      return;
    }
    if (first > 0) next_row_ = reader.LiveOffset(first);
    if (first + count < live) end_row_ = reader.LiveOffset(first + count - 1) + 1;
  }

  void ChooseWindowRows(const ScanFragment& fragment) {
    uint64_t rows = std::min(kWindowBytes / std::max<uint64_t>(1, fragment.widest_bytes),
                             kWindowRowBytes / std::max<uint64_t>(1, fragment.row_bytes));
    uint64_t share = snapshot_->context.scan_bytes / 4 / std::max<uint64_t>(1, fragment.row_bytes);
    // Wide values come a page or chunk each: few of them at a time cost no more.
    const uint64_t least = fragment.row_bytes > kWideRowBytes ? 1 : kMinWindowRows;
    if (threads_ > 1) {
      const uint64_t enough = kSharedWindowBytes / std::max<uint64_t>(1, fragment.widest_bytes);
      rows = std::min(rows, std::max(enough, rows_ / (threads_ * kWindowsPerThread)));
    }
    rows = std::max(std::min(rows, share), least);
    if (plan_->filter != nullptr && options_.limit) rows = std::min(rows, kLimitedWindowRows);
    uint64_t batch = static_cast<uint64_t>(options_.batch_size);
    if (rows > batch) rows -= rows % batch;
    window_rows_ = rows;
  }

  const std::shared_ptr<const Snapshot> snapshot_;
  const std::shared_ptr<const ReadPlan> plan_;
  const ScanOptions options_;
  const std::vector<const table::Fragment*> fragments_;
  std::shared_ptr<TaskQueue> queue_;
  size_t threads_ = 1;
  size_t ahead_ = 1;
  uint64_t rows_ = 0;  ///< of all fragments, as far as the manifest says

  size_t next_fragment_ = 0;
  std::shared_ptr<const ScanFragment> fragment_;
  uint64_t next_row_ = 0;
  uint64_t end_row_ = 0;
  uint64_t window_rows_ = 0;
  uint64_t skip_;         ///< rows still to leave out at the front
  uint64_t left_;         ///< rows still to give
  uint64_t to_plan_ = 0;  ///< without a filter: rows still to plan
  arrow::Status plan_error_;
  arrow::Status error_;  ///< what the read failed with; there is nothing after it

  std::deque<std::shared_ptr<Window>> windows_;
  uint64_t in_flight_bytes_ = 0;
  std::shared_ptr<arrow::RecordBatch> batch_;
  int64_t position_ = 0;
};

arrow::Status CheckOptions(const ScanOptions& options) {
  if (options.batch_size <= 0) {
    return InvalidInput("batch size must be at least 1: ", options.batch_size);
  }
  if (options.offset < 0) return InvalidInput("offset must not be negative: ", options.offset);
  if (options.limit && *options.limit < 0)
    return InvalidInput("limit must not be negative: ", *options.limit);
  return arrow::Status::OK();
}

arrow::Result<std::vector<const table::Fragment*>> ChooseFragments(
    const table::Manifest& manifest, const std::vector<uint64_t>& ids) {
  std::vector<const table::Fragment*> chosen;
  for (uint64_t id : ids) {
    if (manifest.FindFragment(id) == nullptr) {
      return InvalidInput("no such fragment in version ", manifest.version(), ": ", id);
    }
  }
  for (const table::Fragment& fragment : manifest.fragments()) {
    if (ids.empty() || std::find(ids.begin(), ids.end(), fragment.id) != ids.end())
      chosen.push_back(&fragment);
  }
  return chosen;
}

}  // namespace

arrow::Result<std::shared_ptr<arrow::RecordBatchReader>> Scan(
    std::shared_ptr<const Snapshot> snapshot, const ScanOptions& options) {
  ARROW_RETURN_NOT_OK(CheckOptions(options));
  ARROW_ASSIGN_OR_RAISE(auto fragments, ChooseFragments(*snapshot->manifest, options.fragments));
  ARROW_ASSIGN_OR_RAISE(ReadPlan plan, PlanRead(*snapshot->manifest, options.columns, options.where,
                                                options.with_row_id, options.with_row_address));
  return std::make_shared<ScanReader>(std::move(snapshot),
                                      std::make_shared<const ReadPlan>(std::move(plan)), options,
                                      std::move(fragments));
}

arrow::Result<int64_t> CountRows(const std::shared_ptr<const Snapshot>& snapshot,
                                 const Filter& where) {
  if (where.empty()) {
    uint64_t rows = 0;
    for (const table::Fragment& fragment : snapshot->manifest->fragments()) {
      ARROW_ASSIGN_OR_RAISE(uint64_t live, CountLiveRows(snapshot, fragment));
      rows += live;
    }
    return static_cast<int64_t>(rows);
  }
  ScanOptions options;
  options.columns = Columns(std::vector<Projection>{});
  options.where = where;
  options.batch_size = int64_t{1} << 40;
  ARROW_ASSIGN_OR_RAISE(auto reader, Scan(snapshot, options));
  int64_t rows = 0;
  std::shared_ptr<arrow::RecordBatch> batch;
  for (;;) {
    ARROW_RETURN_NOT_OK(reader->ReadNext(&batch));
    if (batch == nullptr) return rows;
    rows += batch->num_rows();
  }
}

}  // namespace pennon::read
