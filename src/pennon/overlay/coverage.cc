#include "pennon/overlay/coverage.h"

#include <algorithm>

#include "pennon/error.h"
#include "pennon/file/column_owners.h"
#include "pennon/schema/prune.h"

namespace pennon::overlay {

file::FileVersion VersionOf(const table::DataFile& file) {
  const bool is_2_0 = file.major_version == 0 || file.minor_version == 0;
  return {2, static_cast<uint16_t>(is_2_0 ? 0 : file.minor_version)};
}

namespace {

arrow::Status CoverageError(const table::Fragment& fragment, const Layer& layer,
                            std::string message) {
  const table::OverlayFile& file = fragment.overlays[layer.overlay];
  ErrorPlace place;
  place.path = file.data_file.path;
  place.fragment = fragment.id;
  place.field = file.data_file.fields[layer.position];
  return MakeError(ErrorKind::kCorrupt, place, std::move(message));
}

// Whether two positions of an overlay cover the same rows.
arrow::Result<bool> SameCoverage(const table::Fragment& fragment, const Layer& a, const Layer& b) {
  const table::OverlayFile& file = fragment.overlays[a.overlay];
  if (file.dense) return true;
  constexpr uint64_t kAnyRow = uint64_t{1} << 32;
  ARROW_ASSIGN_OR_RAISE(const Bitmap first, ParseCoverage(fragment, a, kAnyRow));
  if (b.position < file.coverage.size() && file.coverage[a.position] == file.coverage[b.position]) {
    return true;
  }
  ARROW_ASSIGN_OR_RAISE(const Bitmap second, ParseCoverage(fragment, b, kAnyRow));
  return first == second;
}

// What an overlay lists of a field.
struct Held {
  std::optional<Layer> first;
  size_t columns = 0;        // owners that it lists
  size_t owners = 0;         // owners that there are
  bool one_coverage = true;  // of those that it lists

  bool all() const { return columns == owners && one_coverage; }
};

// The value owners of one field, for files of the version asked last.
class Owners {
 public:
  explicit Owners(const Field& field) : field_(field) {}

  const std::vector<int32_t>& In(const table::DataFile& file) {
    const file::FileVersion version = VersionOf(file);
    if (ids_.empty() || version.minor != version_.minor) {
      version_ = version;
      ids_ = file::ValueOwners(field_, version);
    }
    return ids_;
  }

 private:
  const Field& field_;
  file::FileVersion version_;
  std::vector<int32_t> ids_;
};

arrow::Result<Held> FindHeld(const table::Fragment& fragment, size_t overlay,
                             const std::vector<int32_t>& owners) {
  const table::DataFile& file = fragment.overlays[overlay].data_file;
  Held held;
  held.owners = owners.size();
  for (size_t i = 0; i < file.fields.size(); ++i) {
    const int32_t id = file.fields[i];
    if (id < 0 || std::find(owners.begin(), owners.end(), id) == owners.end()) continue;
    const Layer layer{overlay, i, i < file.column_indices.size() ? file.column_indices[i] : -1};
    const auto here = file.fields.begin() + static_cast<std::ptrdiff_t>(i);
    if (std::find(file.fields.begin(), here, id) != here) {
      return CoverageError(fragment, layer,
                           JoinParts("overlay lists a field twice: field ", id, " in ", file.path));
    }
    if (layer.column < 0) {
      return CoverageError(fragment, layer,
                           JoinParts("overlay gives no column for a field that it lists: field ",
                                     id, " in ", file.path));
    }
    ++held.columns;
    if (!held.first) {
      held.first = layer;
    } else if (held.one_coverage) {
      ARROW_ASSIGN_OR_RAISE(held.one_coverage, SameCoverage(fragment, *held.first, layer));
    }
  }
  return held;
}

}  // namespace

arrow::Result<std::vector<Layer>> LayersOf(const table::Fragment& fragment, const Field& field) {
  std::vector<Layer> layers;
  const bool by_parts = schema::IsPlainStruct(field);
  Owners owners(field);
  for (size_t i = 0; i < fragment.overlays.size(); ++i) {
    ARROW_ASSIGN_OR_RAISE(const Held held,
                          FindHeld(fragment, i, owners.In(fragment.overlays[i].data_file)));
    if (!held.first || (by_parts && !held.all())) continue;
    if (!held.one_coverage) {
      return CoverageError(
          fragment, *held.first,
          JoinParts("overlay covers different rows for the columns of one value: column `",
                    field.name, "` in ", fragment.overlays[i].data_file.path));
    }
    layers.push_back(*held.first);
  }
  // Stable on the reversed list, so that among equal versions the later one comes first.
  std::reverse(layers.begin(), layers.end());
  std::stable_sort(layers.begin(), layers.end(), [&](const Layer& a, const Layer& b) {
    return fragment.overlays[a.overlay].committed_version >
           fragment.overlays[b.overlay].committed_version;
  });
  return layers;
}

arrow::Result<bool> ResolvesWhole(const table::Fragment& fragment, const Field& field,
                                  const Field& part) {
  Owners owners(field);
  Owners part_owners(part);
  for (size_t i = 0; i < fragment.overlays.size(); ++i) {
    const table::DataFile& file = fragment.overlays[i].data_file;
    ARROW_ASSIGN_OR_RAISE(const Held held_part, FindHeld(fragment, i, part_owners.In(file)));
    if (!held_part.first) continue;
    ARROW_ASSIGN_OR_RAISE(const Held held, FindHeld(fragment, i, owners.In(file)));
    if (!held.all()) return false;
  }
  return true;
}

arrow::Result<Bitmap> ParseCoverage(const table::Fragment& fragment, const Layer& layer,
                                    uint64_t physical_rows) {
  const table::OverlayFile& file = fragment.overlays[layer.overlay];
  if (!file.dense && layer.position >= file.coverage.size()) {
    return CoverageError(
        fragment, layer,
        JoinParts("overlay has fewer coverage bitmaps than fields: ", file.coverage.size(), " for ",
                  file.data_file.fields.size(), " in ", file.data_file.path));
  }
  if (file.coverage.empty()) {
    return CoverageError(fragment, layer,
                         JoinParts("overlay has no coverage: ", file.data_file.path));
  }
  arrow::Result<Bitmap> parsed = Bitmap::Parse(file.CoverageAt(layer.position));
  if (!parsed.ok()) {
    return CoverageError(
        fragment, layer,
        JoinParts("coverage of an overlay cannot be read: ", parsed.status().message(),
                  "; overlay ", file.data_file.path, ", fragment ", fragment.id));
  }
  std::optional<uint32_t> max = parsed->Max();
  if (max && *max >= physical_rows) {
    return CoverageError(fragment, layer,
                         JoinParts("overlay covers an offset beyond the fragment's rows: offset ",
                                   *max, " of ", physical_rows, " rows; overlay ",
                                   file.data_file.path, ", fragment ", fragment.id));
  }
  return parsed;
}

}  // namespace pennon::overlay
