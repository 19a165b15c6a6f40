#include "pennon/overlay/winners.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace pennon::overlay {
namespace {

// Below this many cells a run on average, plain offsets are smaller and faster.
constexpr uint64_t kCellsPerRun = 8;

// Chooses the form of a source from its ascending offsets and their ranks (empty: cell i has rank i).
void FillSource(std::vector<uint32_t> offsets, std::vector<uint32_t> ranks, WinnerSource* source) {
  source->cells = offsets.size();
  auto rank = [&](size_t i) { return ranks.empty() ? static_cast<uint32_t>(i) : ranks[i]; };
  size_t breaks = 0;
  for (size_t i = 1; i < offsets.size(); ++i) {
    breaks += offsets[i] != offsets[i - 1] + 1 || rank(i) != rank(i - 1) + 1 ? 1 : 0;
  }
  if ((breaks + 1) * kCellsPerRun > offsets.size() && offsets.size() > kCellsPerRun) {
    source->offsets = std::move(offsets);
    source->ranks = std::move(ranks);
    return;
  }
  source->runs.reserve(breaks + 1);
  for (size_t i = 0; i < offsets.size(); ++i) {
    if (!source->runs.empty()) {
      WinnerRun& last = source->runs.back();
      if (last.first + last.count == offsets[i] && last.rank + last.count == rank(i)) {
        ++last.count;
        continue;
      }
    }
    source->runs.push_back({offsets[i], 1, rank(i), static_cast<uint32_t>(i)});
  }
}

// The rank in `covered` of each value of `wins`, both ascending, wins a subset of covered.
std::vector<uint32_t> RanksOf(const std::vector<uint32_t>& wins, const Bitmap& coverage,
                              uint64_t covered) {
  std::vector<uint32_t> ranks(wins.size());
  // A few rows of a large coverage: ask for each; otherwise walk both.
  if (wins.size() * 16 < covered) {
    for (size_t i = 0; i < wins.size(); ++i) ranks[i] = static_cast<uint32_t>(coverage.RankBelow(wins[i]));
    return ranks;
  }
  std::vector<uint32_t> all = coverage.ToVector();
  size_t at = 0;
  for (size_t i = 0; i < wins.size(); ++i) {
    while (all[at] != wins[i]) ++at;
    ranks[i] = static_cast<uint32_t>(at);
  }
  return ranks;
}

}  // namespace

size_t WinnerSource::MemoryBytes() const {
  return sizeof(*this) + runs.capacity() * sizeof(WinnerRun) +
         (offsets.capacity() + ranks.capacity()) * sizeof(uint32_t);
}

std::vector<uint32_t> WinnerSource::AllOffsets() const {
  if (!by_runs()) return offsets;
  std::vector<uint32_t> all(cells);
  for (const WinnerRun& run : runs) {
    std::iota(all.begin() + run.cell, all.begin() + run.cell + run.count, run.first);
  }
  return all;
}

size_t WinnerMap::MemoryBytes() const {
  size_t bytes = sizeof(*this) + overlaid.MemoryBytes() + skippable.capacity() * sizeof(BitmapRun);
  for (const WinnerSource& source : sources) bytes += source.MemoryBytes();
  return bytes;
}

arrow::Result<WinnerMap> FindWinners(Bitmap want, std::span<const Layer> layers,
                                     const CoverageProvider& coverage, uint64_t min_skip) {
  WinnerMap map;
  for (const Layer& layer : layers) {
    if (want.empty()) break;
    ARROW_ASSIGN_OR_RAISE(std::shared_ptr<const Bitmap> covers, coverage(layer));
    Bitmap win = want & *covers;
    if (win.empty()) continue;
    want -= win;
    WinnerSource source;
    source.layer = layer;
    source.covered = covers->cardinality();
    std::vector<uint32_t> offsets = win.ToVector();
    std::vector<uint32_t> ranks;
    if (offsets.size() != source.covered) ranks = RanksOf(offsets, *covers, source.covered);
    FillSource(std::move(offsets), std::move(ranks), &source);
    map.cells += source.cells;
    map.overlaid |= win;
    map.sources.push_back(std::move(source));
  }
  if (map.cells >= min_skip) {
    map.skippable = map.overlaid.Runs(0, uint64_t{1} << 32);
    std::erase_if(map.skippable, [&](const BitmapRun& run) { return run.count < min_skip; });
    map.skippable.shrink_to_fit();
  }
  return map;
}

WinnerMap RestrictWinners(const WinnerMap& full, std::span<const uint32_t> rows) {
  WinnerMap map;
  std::vector<uint32_t> overlaid;
  for (const WinnerSource& from : full.sources) {
    std::vector<uint32_t> offsets;
    std::vector<uint32_t> ranks;
    if (from.by_runs()) {
      auto run = from.runs.begin();
      for (uint32_t row : rows) {
        while (run != from.runs.end() && row >= uint64_t{run->first} + run->count) ++run;
        if (run == from.runs.end()) break;
        if (row < run->first) continue;
        offsets.push_back(row);
        ranks.push_back(run->rank + (row - run->first));
      }
    } else {
      auto at = from.offsets.begin();
      for (uint32_t row : rows) {
        at = std::lower_bound(at, from.offsets.end(), row);
        if (at == from.offsets.end()) break;
        if (*at != row) continue;
        size_t cell = static_cast<size_t>(at - from.offsets.begin());
        offsets.push_back(row);
        ranks.push_back(from.ranks.empty() ? static_cast<uint32_t>(cell) : from.ranks[cell]);
      }
    }
    if (offsets.empty()) continue;
    overlaid.insert(overlaid.end(), offsets.begin(), offsets.end());
    WinnerSource source;
    source.layer = from.layer;
    source.covered = from.covered;
    if (offsets.size() == from.covered) ranks.clear();
    FillSource(std::move(offsets), std::move(ranks), &source);
    map.cells += source.cells;
    map.sources.push_back(std::move(source));
  }
  map.overlaid = Bitmap::Of(overlaid);
  map.skippable = map.overlaid.Runs(0, uint64_t{1} << 32);
  return map;
}

}  // namespace pennon::overlay
