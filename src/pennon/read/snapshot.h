// One version of a table, open: the manifest and what reading it needs. Shared by every operation
// on a Dataset.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include <arrow/result.h>

#include "pennon/context.h"
#include "pennon/table/layout.h"
#include "pennon/table/manifest.h"

namespace pennon::read {

class FileCache;    // open data files by path, bounded (file_cache.h)
class ResultCache;  // winner maps, deletion bitmaps, row ids, bounded (result_cache.h)

/// Immutable but for its caches, which are thread-safe. Checkout of another version shares the file
/// cache.
struct Snapshot {
  std::string uri;
  table::TableLocation location;
  table::ManifestNaming naming = table::ManifestNaming::kV2;
  std::shared_ptr<const table::Manifest> manifest;
  Context context;
  std::shared_ptr<IoCounter> counter;  ///< reads of data files
  std::shared_ptr<FileCache> files;
  std::shared_ptr<ResultCache> results;
};

/// Opens the table in folder `root`, at `version` or the newest, with caches of its own.
arrow::Result<std::shared_ptr<const Snapshot>> OpenSnapshot(std::string uri, std::string root,
                                                            std::optional<uint64_t> version,
                                                            Context context);

/// Another version of the same table; shares caches and counters with `from`.
arrow::Result<std::shared_ptr<const Snapshot>> CheckoutSnapshot(const Snapshot& from,
                                                                std::optional<uint64_t> version);

/// The same table with a manifest that is at hand, as after a commit.
std::shared_ptr<const Snapshot> WithManifest(const Snapshot& from,
                                             std::shared_ptr<const table::Manifest> manifest);

}  // namespace pennon::read
