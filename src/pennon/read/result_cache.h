// What reading a version works out and other reads can use: winner maps and small winning values,
// coverages, deletions, row lineage. Keys name the files that a value was made from, so that later
// versions share what did not change. Thread-safe.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <arrow/result.h>

#include "pennon/base/bitmap.h"
#include "pennon/overlay/resolve.h"
#include "pennon/overlay/winners.h"
#include "pennon/read/lru_cache.h"
#include "pennon/read/snapshot.h"
#include "pennon/schema.h"
#include "pennon/table/fragment.h"

namespace pennon::read {

/// The deleted offsets of a fragment, both as a set and in order.
struct Deletions {
  Bitmap set;
  std::vector<uint32_t> offsets;

  /// The offset of the `position`-th row that is not deleted. There must be that many.
  uint64_t LiveOffset(uint64_t position) const;
  /// Rows below `offset` that are not deleted.
  uint64_t LiveBelow(uint64_t offset) const;
};

/// Row ids or row versions of a fragment, one a row.
struct Lineage {
  std::vector<uint64_t> values;
  bool ascending = false;  ///< strictly
};

/// Work done so far, for tests and tuning.
struct ResultCounters {
  uint64_t bitmaps_parsed = 0;
  uint64_t winner_maps_built = 0;
  uint64_t deletions_read = 0;
};

class ResultCache {
 public:
  explicit ResultCache(uint64_t max_bytes) : cache_(max_bytes) {}

  /// The full winner map of `field` in `fragment`; null if no overlay holds the field.
  arrow::Result<std::shared_ptr<const overlay::WinnerMap>> Winners(const table::Fragment& fragment,
                                                                   const Field& field,
                                                                   uint64_t physical_rows);
  /// The winners of the ascending `rows` alone: from the full map if it is at hand, else from as
  /// many coverages as it takes, newest first. Null if no overlay gives any of them.
  arrow::Result<std::shared_ptr<const overlay::WinnerMap>> WinnersOf(
      const table::Fragment& fragment, const Field& field, uint64_t physical_rows,
      std::span<const uint32_t> rows);
  /// All winning values of a whole field, as `map` (of Winners) has them; null if they are not at
  /// hand.
  std::shared_ptr<const overlay::LoadedSources> Values(
      const std::shared_ptr<const overlay::WinnerMap>& map);
  /// Keeps them, `bytes` in all, for reads to come if there is room for them and the map.
  void KeepValues(const std::shared_ptr<const overlay::WinnerMap>& map,
                  std::shared_ptr<const overlay::LoadedSources> values, uint64_t bytes);
  /// The coverage of one layer.
  arrow::Result<std::shared_ptr<const Bitmap>> Coverage(const table::Fragment& fragment,
                                                        const overlay::Layer& layer,
                                                        uint64_t physical_rows);
  /// The deletions of `fragment`; null if it has no deletion file.
  arrow::Result<std::shared_ptr<const Deletions>> DeletionsOf(const Snapshot& snapshot,
                                                              const table::Fragment& fragment);
  /// An inline sequence of `fragment`, decoded; `ids` tells row ids from versions.
  arrow::Result<std::shared_ptr<const Lineage>> LineageOf(const Snapshot& snapshot,
                                                          const table::Fragment& fragment,
                                                          const table::LineageSequence& sequence,
                                                          bool ids, uint64_t physical_rows);

  ResultCounters counters() const;
  uint64_t bytes() const { return cache_.bytes(); }

 private:
  template <typename T>
  std::shared_ptr<const T> Get(const std::string& key) {
    return std::static_pointer_cast<const T>(cache_.Get(key));
  }
  arrow::Result<std::shared_ptr<const Bitmap>> ParseCoverage(const table::Fragment& fragment,
                                                             const overlay::Layer& layer,
                                                             uint64_t physical_rows, bool keep);

  LruCache cache_;
  std::atomic<uint64_t> bitmaps_parsed_{0};
  std::atomic<uint64_t> winner_maps_built_{0};
  std::atomic<uint64_t> deletions_read_{0};
};

}  // namespace pennon::read
