// Finds rows and values among level entries.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

#include "pennon/encoding/nested/levels.h"

namespace pennon::encoding {

/// Walks forward over a run of level entries, such as those of a chunk. The levels must outlive it.
class EntryCursor {
 public:
  /// `repetition` is empty if there are no lists, `definition` if all its levels are 0.
  EntryCursor(const LevelLimits& limits, std::span<const uint16_t> repetition,
              std::span<const uint16_t> definition, uint64_t entries)
      : limits_(limits), repetition_(repetition), definition_(definition), entries_(entries) {}

  /// Goes to the entry that starts the run's row `row` (0 = the first that starts inside the run),
  /// or to the end if fewer rows start. Rows must not decrease.
  void SeekRow(uint64_t row) {
    if (repetition_.empty()) return MoveTo(std::min(row, entries_));
    constexpr uint64_t kStep = 64;
    uint64_t at = entry_;
    while (entries_ - at >= kStep) {
      const uint64_t starts = CountEqual(repetition_.subspan(at, kStep), limits_.max_rep);
      if (passed_ + starts > row) break;
      passed_ += starts;
      at += kStep;
    }
    for (; at < entries_; ++at) {
      if (repetition_[at] != limits_.max_rep) continue;
      if (passed_ == row) break;
      ++passed_;
    }
    MoveTo(at);
  }
  void SeekEnd() { MoveTo(entries_); }

  /// The entry come to, and the values before it.
  uint64_t entry() const { return entry_; }
  uint64_t values() const { return values_; }

 private:
  void MoveTo(uint64_t entry) {
    const uint64_t count = entry - entry_;
    values_ += definition_.empty() || limits_.all_visible()
                   ? count
                   : CountAtMost(definition_.subspan(entry_, count), limits_.max_visible_def);
    entry_ = entry;
  }

  LevelLimits limits_;
  std::span<const uint16_t> repetition_;
  std::span<const uint16_t> definition_;
  uint64_t entries_;
  uint64_t entry_ = 0;
  uint64_t values_ = 0;
  uint64_t passed_ = 0;  ///< rows that start before entry_
};

}  // namespace pennon::encoding
