#include "pennon/overlay/coverage.h"

#include <algorithm>

#include "pennon/error.h"

namespace pennon::overlay {
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

// The position in `file` that stands for the atomic field whose node and leaf ids are `ids`.
arrow::Result<std::optional<Layer>> FindLayer(const table::Fragment& fragment, size_t overlay,
                                              const std::vector<int32_t>& ids) {
  const table::DataFile& file = fragment.overlays[overlay].data_file;
  std::optional<Layer> found;
  for (size_t i = 0; i < file.fields.size(); ++i) {
    if (file.fields[i] < 0 || std::find(ids.begin(), ids.end(), file.fields[i]) == ids.end())
      continue;
    if (found && file.fields[found->position] == file.fields[i]) {
      return CoverageError(
          fragment, Layer{overlay, i, 0},
          JoinParts("overlay lists a field twice: field ", file.fields[i], " in ", file.path));
    }
    if (found) continue;
    int column = i < file.column_indices.size() ? file.column_indices[i] : -1;
    // A parent may be listed beside its leaves without a column of its own.
    if (column < 0 && ids.size() > 1) continue;
    found = Layer{overlay, i, column};
  }
  if (found && found->column < 0) {
    return CoverageError(fragment, *found,
                         JoinParts("overlay gives no column for a field that it lists: field ",
                                   file.fields[found->position], " in ", file.path));
  }
  return found;
}

}  // namespace

arrow::Result<std::vector<Layer>> LayersOf(const table::Fragment& fragment, const Field& field) {
  std::vector<Layer> layers;
  if (fragment.overlays.empty()) return layers;
  std::vector<int32_t> ids = {field.id};
  if (!field.is_leaf()) AppendLeafIds(field, &ids);
  for (size_t i = 0; i < fragment.overlays.size(); ++i) {
    ARROW_ASSIGN_OR_RAISE(std::optional<Layer> layer, FindLayer(fragment, i, ids));
    if (layer) layers.push_back(*layer);
  }
  // Stable on the reversed list, so that among equal versions the later one comes first.
  std::reverse(layers.begin(), layers.end());
  std::stable_sort(layers.begin(), layers.end(), [&](const Layer& a, const Layer& b) {
    return fragment.overlays[a.overlay].committed_version >
           fragment.overlays[b.overlay].committed_version;
  });
  return layers;
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
