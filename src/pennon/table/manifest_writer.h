// Builds the next manifest by splicing: every top-level piece that the operation does not change is
// copied as bytes, so unknown fields of manifest, fragment and overlay messages survive
// (table.md 2.3).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <arrow/result.h>

#include "pennon/table/manifest.h"

namespace pennon::table {

/// What a commit changes. Fragments that it does not name are copied.
struct ManifestEdit {
  uint64_t version = 0;
  int64_t timestamp_ns = 0;
  std::string transaction_file;
  std::string inline_transaction;  ///< Transaction message bytes; left out above 20 MiB
  std::map<uint64_t, std::string> replaced_fragments;  ///< id -> DataFragment message bytes
  std::vector<std::string>
      new_fragments;  ///< DataFragment messages, ascending id, above all others
  std::vector<uint64_t> removed_fragments;
  std::optional<uint64_t> next_row_id;
  std::optional<uint32_t> max_fragment_id;   ///< raised to what the fragments need; never lowered
  std::optional<std::string> index_section;  ///< replaces the IndexSection; empty drops it
};

/// Gives the whole manifest file: index section (copied unless replaced), transaction, message,
/// footer. Flags are recomputed exactly from the result (table.md 2.5). Refuses what CheckWritable
/// refuses; an edit that does not fit `current` (a fragment that is not there, ids out of order, no
/// transaction at all) is a kInvalidInput error.
arrow::Result<std::string> BuildNextManifest(const Manifest& current, const ManifestEdit& edit);

/// An overlay to append to a fragment.
struct NewOverlay {
  DataFile data_file;
  bool dense = true;
  std::vector<std::string> coverage;  ///< serialized bitmaps: one if dense, else one a field
};

/// DataOverlayFile message bytes; `committed_version` 0 as transactions have it.
std::string EncodeOverlay(const NewOverlay& overlay, uint64_t committed_version);

/// `fragment`'s message with `overlays` (encoded DataOverlayFile messages) appended and, if given,
/// last_updated_at replaced (spilled or not) by that inline sequence; all else is copied byte for
/// byte. Overlays that stood out of order are put in order.
std::string SpliceFragment(const Fragment& fragment, const std::vector<std::string>& overlays,
                           const std::optional<std::string>& last_updated_at);

}  // namespace pennon::table
