#include "pennon/read/result_cache.h"

#include <algorithm>
#include <utility>

#include <arrow/type.h>

#include "pennon/table/deletions.h"
#include "pennon/table/row_lineage.h"

namespace pennon::read {
namespace {

// A take through this many layers makes the full map, if the fragment has no more rows than that.
constexpr size_t kManyLayers = 8;
constexpr uint64_t kMapRows = 4 << 20;

// Everything that decides a winner map: fragment, field, and the overlays that hold the field.
std::string WinnersKey(const table::Fragment& fragment, const Field& field,
                       const std::vector<overlay::Layer>& layers) {
  std::string key = "w/" + std::to_string(fragment.id) + "/" + std::to_string(field.id);
  for (const overlay::Layer& layer : layers) {
    const table::OverlayFile& file = fragment.overlays[layer.overlay];
    // Layers point into the fragment's list, so the index is part of what is cached.
    key += '/' + std::to_string(layer.overlay) + ':' + std::to_string(layer.position) + '@' +
           std::to_string(file.committed_version) + '=' + file.data_file.path;
  }
  return key;
}

std::string CoverageKey(const table::Fragment& fragment, const overlay::Layer& layer) {
  const table::OverlayFile& file = fragment.overlays[layer.overlay];
  return "c/" + std::to_string(fragment.id) + "/" +
         std::to_string(file.dense ? 0 : layer.position) + "/" + file.data_file.path;
}

// Values of a winner map. They hold the map, so that no other can come to lie at its address, which
// is their key.
struct KeptValues {
  std::shared_ptr<const overlay::WinnerMap> map;
  std::shared_ptr<const overlay::LoadedSources> values;
};

std::string ValuesKey(const overlay::WinnerMap* map) {
  return "v/" + std::to_string(reinterpret_cast<uintptr_t>(map));
}

}  // namespace

uint64_t Deletions::LiveOffset(uint64_t position) const {
  // The first k such that offsets[k] - k > position: that many deleted rows lie below the answer.
  size_t low = 0;
  size_t high = offsets.size();
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (offsets[middle] - middle > position) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return position + low;
}

uint64_t Deletions::LiveBelow(uint64_t offset) const {
  auto at = std::lower_bound(offsets.begin(), offsets.end(), offset);
  return offset - static_cast<uint64_t>(at - offsets.begin());
}

arrow::Result<std::shared_ptr<const Bitmap>> ResultCache::ParseCoverage(
    const table::Fragment& fragment, const overlay::Layer& layer, uint64_t physical_rows,
    bool keep) {
  std::string key = CoverageKey(fragment, layer);
  if (auto found = Get<Bitmap>(key)) return found;
  bitmaps_parsed_.fetch_add(1, std::memory_order_relaxed);
  ARROW_ASSIGN_OR_RAISE(Bitmap parsed, overlay::ParseCoverage(fragment, layer, physical_rows));
  auto bitmap = std::make_shared<const Bitmap>(std::move(parsed));
  if (keep) cache_.Put(key, bitmap, bitmap->MemoryBytes());
  return bitmap;
}

arrow::Result<std::shared_ptr<const Bitmap>> ResultCache::Coverage(const table::Fragment& fragment,
                                                                   const overlay::Layer& layer,
                                                                   uint64_t physical_rows) {
  return ParseCoverage(fragment, layer, physical_rows, true);
}

arrow::Result<std::shared_ptr<const overlay::WinnerMap>> ResultCache::Winners(
    const table::Fragment& fragment, const Field& field, uint64_t physical_rows) {
  ARROW_ASSIGN_OR_RAISE(std::vector<overlay::Layer> layers, overlay::LayersOf(fragment, field));
  if (layers.empty()) return nullptr;
  std::string key = WinnersKey(fragment, field, layers);
  if (auto found = Get<overlay::WinnerMap>(key)) return found;
  winner_maps_built_.fetch_add(1, std::memory_order_relaxed);
  // The map holds all that a coverage says, so the coverages themselves are not kept.
  auto coverage = [&](const overlay::Layer& layer) {
    return ParseCoverage(fragment, layer, physical_rows, false);
  };
  ARROW_ASSIGN_OR_RAISE(overlay::WinnerMap built,
                        overlay::FindAllWinners(physical_rows, layers, coverage,
                                                overlay::MinSkippableRows(*field.type)));
  auto map = std::make_shared<const overlay::WinnerMap>(std::move(built));
  cache_.Put(key, map, map->MemoryBytes());
  return map;
}

std::shared_ptr<const overlay::LoadedSources> ResultCache::Values(
    const std::shared_ptr<const overlay::WinnerMap>& map) {
  const auto kept = Get<KeptValues>(ValuesKey(map.get()));
  return kept == nullptr ? nullptr : kept->values;
}

void ResultCache::KeepValues(const std::shared_ptr<const overlay::WinnerMap>& map,
                             std::shared_ptr<const overlay::LoadedSources> values, uint64_t bytes) {
  auto kept = std::make_shared<const KeptValues>(KeptValues{map, std::move(values)});
  // The map may not be in the cache (any more), and is held by this entry then.
  const uint64_t held = bytes + map->MemoryBytes();
  cache_.Put(ValuesKey(map.get()), std::move(kept), held);
}

arrow::Result<std::shared_ptr<const overlay::WinnerMap>> ResultCache::WinnersOf(
    const table::Fragment& fragment, const Field& field, uint64_t physical_rows,
    std::span<const uint32_t> rows) {
  ARROW_ASSIGN_OR_RAISE(std::vector<overlay::Layer> layers, overlay::LayersOf(fragment, field));
  if (layers.empty() || rows.empty()) return nullptr;
  overlay::WinnerMap map;
  auto full = Get<overlay::WinnerMap>(WinnersKey(fragment, field, layers));
  if (full == nullptr && layers.size() >= kManyLayers && physical_rows <= kMapRows) {
    // Asking every layer for every row costs more than one look at who owns each row.
    ARROW_ASSIGN_OR_RAISE(full, Winners(fragment, field, physical_rows));
  }
  if (full != nullptr && !full->owner.empty()) {
    map = overlay::RestrictWinners(*full, rows);
  } else {
    auto coverage = [&](const overlay::Layer& layer) {
      return ParseCoverage(fragment, layer, physical_rows, true);
    };
    ARROW_ASSIGN_OR_RAISE(map, overlay::FindWinners(std::vector<uint32_t>(rows.begin(), rows.end()),
                                                    layers, coverage));
  }
  if (map.sources.empty()) return nullptr;
  return std::make_shared<const overlay::WinnerMap>(std::move(map));
}

arrow::Result<std::shared_ptr<const Deletions>> ResultCache::DeletionsOf(
    const Snapshot& snapshot, const table::Fragment& fragment) {
  if (!fragment.deletion_file) return nullptr;
  const table::DeletionFile& file = *fragment.deletion_file;
  std::string key =
      "d/" + std::to_string(fragment.id) + "/" + std::to_string(file.read_version) + "/" +
      std::to_string(file.id) + "/" + std::to_string(static_cast<int>(file.kind)) + "/" +
      (file.base_id ? std::to_string(*file.base_id) : "-") + "/" +
      std::to_string(fragment.physical_rows) + "/" + std::to_string(file.num_deleted_rows);
  if (auto found = Get<Deletions>(key)) return found;
  deletions_read_.fetch_add(1, std::memory_order_relaxed);
  ARROW_ASSIGN_OR_RAISE(Bitmap set,
                        table::ReadDeletions(snapshot.location, *snapshot.manifest, fragment));
  auto deletions = std::make_shared<Deletions>();
  deletions->offsets = set.ToVector();
  deletions->set = std::move(set);
  cache_.Put(key, deletions,
             deletions->set.MemoryBytes() + deletions->offsets.size() * sizeof(uint32_t));
  return std::shared_ptr<const Deletions>(std::move(deletions));
}

arrow::Result<std::shared_ptr<const Lineage>> ResultCache::LineageOf(
    const Snapshot& snapshot, const table::Fragment& fragment,
    const table::LineageSequence& sequence, bool ids, uint64_t physical_rows) {
  // The sequence lies in the manifest itself; its place there names it.
  std::string key = "l/" + snapshot.manifest->path() + "/" + std::to_string(fragment.id) + "/" +
                    std::to_string(sequence.bytes.data() - snapshot.manifest->message().data());
  if (auto found = Get<Lineage>(key)) return found;
  auto lineage = std::make_shared<Lineage>();
  if (ids) {
    ARROW_ASSIGN_OR_RAISE(lineage->values, table::DecodeRowIds(sequence.bytes, physical_rows));
  } else {
    ARROW_ASSIGN_OR_RAISE(lineage->values, table::DecodeRowVersions(sequence.bytes, physical_rows));
  }
  lineage->ascending = std::adjacent_find(lineage->values.begin(), lineage->values.end(),
                                          std::greater_equal<uint64_t>()) == lineage->values.end();
  cache_.Put(key, lineage, lineage->values.size() * sizeof(uint64_t));
  return std::shared_ptr<const Lineage>(std::move(lineage));
}

ResultCounters ResultCache::counters() const {
  return {bitmaps_parsed_.load(), winner_maps_built_.load(), deletions_read_.load()};
}

}  // namespace pennon::read
