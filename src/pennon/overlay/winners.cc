#include "pennon/overlay/winners.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

namespace pennon::overlay {
namespace {

// Below this many cells a run on average, plain offsets are smaller and faster.
constexpr uint64_t kCellsPerRun = 8;

// Chooses the form of a source from its ascending offsets and their ranks (empty: cell i has rank
// i).
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

// What a layer wins: ascending offsets, and their ranks unless all of the coverage wins.
struct Wins {
  std::vector<uint32_t> offsets;
  std::vector<uint32_t> ranks;
};

// The rows that have no winner yet, in three forms with the same two questions. Any rows:
struct WantedSet {
  Bitmap left;
  bool empty() const { return left.empty(); }
  Wins Take(const Bitmap& covers, uint64_t covered, size_t) {
    Bitmap win = left & covers;
    left -= win;
    Wins wins{win.ToVector(), {}};
    if (wins.offsets.size() != covered) wins.ranks = covers.RanksOfMembers(wins.offsets);
    return wins;
  }
};

// A few rows: each is asked for by itself.
struct WantedRows {
  std::vector<uint32_t> left;
  bool empty() const { return left.empty(); }
  Wins Take(const Bitmap& covers, uint64_t covered, size_t) {
    Wins wins{covers.TakeMembers(&left), {}};
    if (wins.offsets.size() != covered) wins.ranks = covers.RanksOfMembers(wins.offsets);
    return wins;
  }
};

// All rows: an array says who has which, so a layer costs what it covers.
struct WantedAll {
  std::vector<uint16_t> owner;
  uint64_t left;
  bool empty() const { return left == 0; }
  Wins Take(const Bitmap& covers, uint64_t covered, size_t source) {
    Wins wins{covers.ToVector(), std::vector<uint32_t>(covered)};
    const uint16_t name = static_cast<uint16_t>(source + 1);
    size_t kept = 0;
    for (size_t i = 0; i < covered; ++i) {
      const uint32_t offset = wins.offsets[i];
      const bool won = owner[offset] == 0;
      owner[offset] = won ? name : owner[offset];
      wins.offsets[kept] = offset;
      wins.ranks[kept] = static_cast<uint32_t>(i);
      kept += won ? 1 : 0;
    }
    left -= kept;
    wins.offsets.resize(kept);
    wins.ranks.resize(kept == covered ? 0 : kept);
    wins.ranks.shrink_to_fit();
    return wins;
  }
};

/// Rows that a map keeps the owners of: 256 MiB.
constexpr uint64_t kMostOwners = uint64_t{1} << 27;

// The law: newest first, each layer takes what it covers of what is left.
template <typename Wanted>
arrow::Result<WinnerMap> Decide(Wanted* want, std::span<const Layer> layers,
                                const CoverageProvider& coverage) {
  WinnerMap map;
  for (const Layer& layer : layers) {
    if (want->empty()) break;
    ARROW_ASSIGN_OR_RAISE(std::shared_ptr<const Bitmap> covers, coverage(layer));
    WinnerSource source;
    source.layer = layer;
    source.covered = covers->cardinality();
    Wins wins = want->Take(*covers, source.covered, map.sources.size());
    if (wins.offsets.empty()) continue;
    FillSource(std::move(wins.offsets), std::move(wins.ranks), &source);
    map.cells += source.cells;
    map.sources.push_back(std::move(source));
  }
  return map;
}

void KeepLongRuns(uint64_t min_skip, std::vector<BitmapRun>* runs) {
  std::erase_if(*runs, [&](const BitmapRun& run) { return run.count < min_skip; });
  runs->shrink_to_fit();
}

// The runs of owned rows of at least `min_skip`. One holds a row of each stride of that length, so
// few rows are looked at where runs are short.
std::vector<BitmapRun> OwnedRuns(const std::vector<uint16_t>& owner, uint64_t min_skip) {
  std::vector<BitmapRun> runs;
  uint64_t from = 0;  // no run begins before
  for (uint64_t at = min_skip - 1; at < owner.size();) {
    uint64_t first = at + 1;
    while (first > from && owner[first - 1] != 0) --first;
    uint64_t end = at;
    if (first <= at) {
      while (end < owner.size() && owner[end] != 0) ++end;
      if (end - first >= min_skip) {
        runs.push_back({static_cast<uint32_t>(first), static_cast<uint32_t>(end - first)});
      }
    }
    from = std::max(end, at + (first > at ? 1 : 0));
    at = from + min_skip - 1;
  }
  return runs;
}

// The rank of `row`, which `source` wins.
uint32_t RankOfRow(const WinnerSource& source, uint32_t row) {
  if (source.by_runs()) {
    auto run = std::upper_bound(source.runs.begin(), source.runs.end(), row,
                                [](uint32_t r, const WinnerRun& of) { return r < of.first; });
    --run;
    return run->rank + (row - run->first);
  }
  auto at = std::lower_bound(source.offsets.begin(), source.offsets.end(), row);
  size_t cell = static_cast<size_t>(at - source.offsets.begin());
  return source.ranks.empty() ? static_cast<uint32_t>(cell) : source.ranks[cell];
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
  size_t bytes = sizeof(*this) + overlaid.MemoryBytes() + owner.capacity() * sizeof(uint16_t) +
                 skippable.capacity() * sizeof(BitmapRun);
  for (const WinnerSource& source : sources) bytes += source.MemoryBytes();
  return bytes;
}

arrow::Result<WinnerMap> FindWinners(Bitmap want, std::span<const Layer> layers,
                                     const CoverageProvider& coverage, uint64_t min_skip) {
  WantedSet wanted{want};
  ARROW_ASSIGN_OR_RAISE(WinnerMap map, Decide(&wanted, layers, coverage));
  map.overlaid = std::move(want);
  map.overlaid -= wanted.left;
  if (map.cells >= min_skip) {
    map.skippable = map.overlaid.Runs(0, uint64_t{1} << 32);
    KeepLongRuns(min_skip, &map.skippable);
  }
  return map;
}

arrow::Result<WinnerMap> FindAllWinners(uint64_t rows, std::span<const Layer> layers,
                                        const CoverageProvider& coverage, uint64_t min_skip) {
  // More sources than an owner can name, or more rows than a manifest can make us spend memory on
  // by its word alone: the slower form answers the same.
  if (layers.size() >= std::numeric_limits<uint16_t>::max() || rows > kMostOwners) {
    return FindWinners(Bitmap::OfRange(0, rows), layers, coverage, min_skip);
  }
  WantedAll wanted{std::vector<uint16_t>(rows), rows};
  ARROW_ASSIGN_OR_RAISE(WinnerMap map, Decide(&wanted, layers, coverage));
  map.owner = std::move(wanted.owner);
  if (map.cells >= min_skip) map.skippable = OwnedRuns(map.owner, min_skip);
  return map;
}

arrow::Result<WinnerMap> FindWinners(std::vector<uint32_t> want, std::span<const Layer> layers,
                                     const CoverageProvider& coverage) {
  WantedRows wanted{want};
  ARROW_ASSIGN_OR_RAISE(WinnerMap map, Decide(&wanted, layers, coverage));
  map.overlaid = Bitmap::Of(want);
  map.overlaid -= Bitmap::Of(wanted.left);
  map.skippable = map.overlaid.Runs(0, uint64_t{1} << 32);
  return map;
}

WinnerMap RestrictWinners(const WinnerMap& full, std::span<const uint32_t> rows) {
  std::vector<std::vector<uint32_t>> won(full.sources.size());
  std::vector<uint32_t> overlaid;
  for (uint32_t row : rows) {
    if (row >= full.owner.size() || full.owner[row] == 0) continue;
    won[full.owner[row] - 1].push_back(row);
    overlaid.push_back(row);
  }
  WinnerMap map;
  for (size_t i = 0; i < won.size(); ++i) {
    if (won[i].empty()) continue;
    const WinnerSource& from = full.sources[i];
    std::vector<uint32_t> ranks;
    if (won[i].size() != from.covered) {
      for (uint32_t row : won[i]) ranks.push_back(RankOfRow(from, row));
    }
    WinnerSource source;
    source.layer = from.layer;
    source.covered = from.covered;
    FillSource(std::move(won[i]), std::move(ranks), &source);
    map.cells += source.cells;
    map.sources.push_back(std::move(source));
  }
  map.overlaid = Bitmap::Of(overlaid);
  map.skippable = map.overlaid.Runs(0, uint64_t{1} << 32);
  return map;
}

}  // namespace pennon::overlay
