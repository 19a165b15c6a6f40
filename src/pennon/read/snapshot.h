// One version of a table, open: the manifest and what reading it needs. Shared by every operation on a Dataset.
#pragma once

#include <memory>
#include <string>

#include "pennon/context.h"
#include "pennon/table/layout.h"
#include "pennon/table/manifest.h"

namespace pennon::read {

class FileCache;    // open data files by path, bounded (file_cache.h)
class ResultCache;  // winner maps, deletion bitmaps, row ids, bounded (result_cache.h)

/// Immutable but for its caches, which are thread-safe. Checkout of another version shares the file cache.
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

}  // namespace pennon::read
