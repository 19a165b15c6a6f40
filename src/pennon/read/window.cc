#include "pennon/read/window.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include <arrow/array/array_primitive.h>
#include <arrow/buffer.h>
#include <arrow/compute/api_vector.h>
#include <arrow/compute/exec.h>
#include <arrow/datum.h>
#include <arrow/record_batch.h>
#include <arrow/type.h>
#include <arrow/util/bit_util.h>
#include <arrow/util/bitmap_ops.h>

#include "pennon/error.h"

namespace pennon::read {
namespace {

// With fewer kept rows than one in this many, the other columns are read row by row.
constexpr uint64_t kSelective = 16;

arrow::Result<std::shared_ptr<arrow::ArrayData>> NewMask(int64_t rows, bool value,
                                                         arrow::MemoryPool* pool) {
  ARROW_ASSIGN_OR_RAISE(std::unique_ptr<arrow::Buffer> bits,
                        arrow::AllocateBuffer(arrow::bit_util::BytesForBits(rows), pool));
  std::memset(bits->mutable_data(), value ? 0xff : 0, static_cast<size_t>(bits->size()));
  return arrow::ArrayData::Make(arrow::boolean(), rows,
                                {nullptr, std::shared_ptr<arrow::Buffer>(std::move(bits))}, 0);
}

int64_t CountTrue(const arrow::ArrayData& mask) {
  return arrow::internal::CountSetBits(mask.buffers[1]->data(), mask.offset, mask.length);
}

}  // namespace

void Window::Start() {
  if (plan_->filter == nullptr) {
    Submit(0, plan_->columns.size(), &Window::AfterAllColumns);
  } else {
    Submit(0, plan_->filter_columns, &Window::AfterFilterColumns);
  }
}

void Window::Submit(size_t begin, size_t end, void (Window::*next)()) {
  if (begin == end) {
    queue_->Submit([self = shared_from_this(), next] { (self.get()->*next)(); });
    return;
  }
  remaining_.store(end - begin);
  for (size_t i = begin; i < end; ++i) {
    queue_->Submit([self = shared_from_this(), i, next] {
      self->ReadOne(i);
      if (self->remaining_.fetch_sub(1) == 1) (self.get()->*next)();
    });
  }
}

void Window::Fail(arrow::Status status) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (status_.ok()) status_ = std::move(status);
}

bool Window::failed() {
  std::lock_guard<std::mutex> lock(mutex_);
  return !status_.ok();
}

void Window::ReadOne(size_t column) {
  if (failed()) return;
  ColumnReader& reader = *fragment_->columns[column];
  auto read = by_rows_ ? reader.ReadRows(chosen_) : reader.ReadWindow(first_, end_);
  if (read.ok()) {
    arrays_[column] = std::move(read).ValueUnsafe();
  } else {
    Fail(read.status());
  }
}

arrow::Result<std::shared_ptr<arrow::ArrayData>> Window::LiveMask() const {
  const Deletions* deletions = fragment_->reader->deletions();
  if (deletions == nullptr) return nullptr;
  auto begin = std::lower_bound(deletions->offsets.begin(), deletions->offsets.end(), first_);
  auto end = std::lower_bound(begin, deletions->offsets.end(), end_);
  if (begin == end) return nullptr;
  ARROW_ASSIGN_OR_RAISE(auto mask, NewMask(static_cast<int64_t>(end_ - first_), true, pool_));
  uint8_t* bits = mask->buffers[1]->mutable_data();
  for (; begin != end; ++begin)
    arrow::bit_util::ClearBit(bits, static_cast<int64_t>(*begin - first_));
  return mask;
}

arrow::Status Window::KeepOnly(const std::shared_ptr<arrow::ArrayData>& mask, size_t begin,
                               size_t end) {
  arrow::compute::ExecContext context(pool_);
  context.set_use_threads(false);
  for (size_t i = begin; i < end; ++i) {
    ARROW_ASSIGN_OR_RAISE(
        arrow::Datum kept,
        arrow::compute::Filter(arrow::Datum(arrays_[i]), arrow::Datum(mask),
                               arrow::compute::FilterOptions::Defaults(), &context));
    arrays_[i] = kept.array();
  }
  return arrow::Status::OK();
}

arrow::Status Window::DropDeleted(size_t begin, size_t end) {
  ARROW_ASSIGN_OR_RAISE(keep_, LiveMask());
  rows_ = static_cast<int64_t>(end_ - first_);
  if (keep_ == nullptr) return arrow::Status::OK();
  rows_ = CountTrue(*keep_);
  return KeepOnly(keep_, begin, end);
}

arrow::Status Window::ApplyFilter() {
  ARROW_RETURN_NOT_OK(DropDeleted(0, plan_->filter_columns));
  ARROW_ASSIGN_OR_RAISE(auto hits_array, plan_->EvaluateFilter(arrays_, rows_, pool_));
  const std::shared_ptr<arrow::ArrayData>& mask = hits_array->data();
  int64_t kept = CountTrue(*mask);
  if (kept == rows_) return arrow::Status::OK();
  const bool more = plan_->columns.size() > plan_->filter_columns && kept != 0;
  if (more) {
    // From rows that live to rows of the window.
    ARROW_ASSIGN_OR_RAISE(auto whole, NewMask(static_cast<int64_t>(end_ - first_), false, pool_));
    uint8_t* bits = whole->buffers[1]->mutable_data();
    const uint8_t* live = keep_ ? keep_->buffers[1]->data() : nullptr;
    const uint8_t* hits = mask->buffers[1]->data();
    by_rows_ = static_cast<uint64_t>(kept) * kSelective < end_ - first_;
    int64_t row = 0;
    for (int64_t i = 0; i < whole->length; ++i) {
      if (live != nullptr && !arrow::bit_util::GetBit(live, i)) continue;
      if (!arrow::bit_util::GetBit(hits, mask->offset + row++)) continue;
      arrow::bit_util::SetBit(bits, i);
      if (by_rows_) chosen_.push_back(static_cast<uint32_t>(first_ + static_cast<uint64_t>(i)));
    }
    keep_ = std::move(whole);
  }
  rows_ = kept;
  return KeepOnly(mask, 0, plan_->filter_columns);
}

void Window::AfterFilterColumns() {
  if (!failed()) {
    arrow::Status status = ApplyFilter();
    if (!status.ok()) Fail(std::move(status));
  }
  if (failed()) return FinishFailed();
  if (rows_ == 0) return Finish(plan_->MakeOutput({}, 0, pool_));
  Submit(plan_->filter_columns, plan_->columns.size(), &Window::AfterAllColumns);
}

void Window::AfterAllColumns() {
  if (failed()) return FinishFailed();
  arrow::Status status;
  if (plan_->filter == nullptr) {
    status = DropDeleted(0, arrays_.size());
  } else if (!by_rows_ && keep_ != nullptr) {
    status = KeepOnly(keep_, plan_->filter_columns, arrays_.size());
  }
  if (!status.ok()) return Finish(status);
  Finish(plan_->MakeOutput(arrays_, rows_, pool_));
}

void Window::FinishFailed() {
  std::unique_lock<std::mutex> lock(mutex_);
  arrow::Status status = status_;
  lock.unlock();
  Finish(std::move(status));
}

void Window::Finish(arrow::Result<std::shared_ptr<arrow::RecordBatch>> result) {
  result_ = std::move(result);
  arrays_.clear();
  done_.store(true, std::memory_order_release);
}

}  // namespace pennon::read
