// Which slots of an Arrow array count, as runs: below a list, the items of lists that are there,
// without what Arrow allows to lie unused between them and under null lists. Stateless,
// thread-safe.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include <arrow/array/data.h>
#include <arrow/memory_pool.h>
#include <arrow/result.h>

namespace pennon::encoding {

/// `length` consecutive slots of an array from `first`, counted from the array's own offset.
struct SlotRun {
  int64_t first = 0;
  int64_t length = 0;
  bool operator==(const SlotRun&) const = default;
};

/// Slots of one array in their order, neighbours joined.
class SlotRuns {
 public:
  SlotRuns() = default;
  SlotRuns(int64_t first, int64_t length) { Append(first, length); }

  /// Adds slots [first, first + length) behind the others.
  void Append(int64_t first, int64_t length) {
    if (length == 0) return;
    total_ += length;
    if (!runs_.empty() && runs_.back().first + runs_.back().length == first) {
      runs_.back().length += length;
    } else {
      runs_.push_back({first, length});
    }
  }
  /// Adds `by` to every slot.
  void Shift(int64_t by) {
    for (SlotRun& run : runs_) run.first += by;
  }
  /// The slots of `dimension` children for each slot.
  void Multiply(int64_t dimension);

  const std::vector<SlotRun>& runs() const { return runs_; }
  int64_t total() const { return total_; }

 private:
  std::vector<SlotRun> runs_;
  int64_t total_ = 0;
};

/// Walks the slots of runs one by one.
class SlotCursor {
 public:
  explicit SlotCursor(const SlotRuns& slots) : run_(slots.runs().data()) {}
  /// The next slot; there must be one.
  int64_t Next() {
    if (at_ == run_->length) {
      ++run_;
      at_ = 0;
    }
    return run_->first + at_++;
  }

 private:
  const SlotRun* run_;
  int64_t at_ = 0;
};

/// The items of one list: `length` slots of the child from `first`.
using ListExtent = SlotRun;

/// Gives where the items of a list, large_list or map lie, without checks.
class ListOffsets {
 public:
  /// Takes the offsets of `list`; it must outlive this.
  explicit ListOffsets(const arrow::ArrayData& list);
  /// The items of list `slot`, null or not.
  ListExtent Extent(int64_t slot) const {
    if (is_large_) return {large_[slot], large_[slot + 1] - large_[slot]};
    return {small_[slot], small_[slot + 1] - small_[slot]};
  }

 private:
  bool is_large_;
  const int32_t* small_ = nullptr;
  const int64_t* large_ = nullptr;
};

/// Fails with kInvalidInput unless the lists in `slots` of `list` (list, large_list or map) have
/// offsets that ascend and stay inside the child.
arrow::Status CheckOffsets(const arrow::ArrayData& list, const SlotRuns& slots);

/// The items of those lists in `slots` that are not null; their offsets have been checked.
SlotRuns ListItems(const arrow::ArrayData& list, const SlotRuns& slots);

/// Slots of `array`, put together; shares its buffers if they are one run.
arrow::Result<std::shared_ptr<arrow::ArrayData>> GatherSlots(const arrow::ArrayData& array,
                                                             const SlotRuns& slots,
                                                             arrow::MemoryPool* pool);

}  // namespace pennon::encoding
