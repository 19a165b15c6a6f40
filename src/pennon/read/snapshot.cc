#include "pennon/read/snapshot.h"

#include <algorithm>
#include <utility>

#include "pennon/read/file_cache.h"
#include "pennon/read/result_cache.h"

namespace pennon::read {
namespace {

// Each file costs a handle; programs commonly may hold 1024.
constexpr size_t kMaxOpenFiles = 600;

}  // namespace

arrow::Result<std::shared_ptr<const Snapshot>> OpenSnapshot(std::string uri, std::string root,
                                                            std::optional<uint64_t> version,
                                                            Context context) {
  auto snapshot = std::make_shared<Snapshot>();
  if (context.store == nullptr) context.store = MakeLocalStore({.map_files = context.map_files});
  snapshot->uri = std::move(uri);
  snapshot->location = {context.store, std::move(root)};
  ARROW_ASSIGN_OR_RAISE(snapshot->manifest,
                        table::OpenManifest(snapshot->location, version, &snapshot->naming));
  snapshot->counter = std::make_shared<IoCounter>();
  snapshot->files =
      std::make_shared<FileCache>(context.cache_bytes / 2, kMaxOpenFiles, snapshot->counter);
  snapshot->results = std::make_shared<ResultCache>(context.cache_bytes / 2);
  snapshot->context = std::move(context);
  return std::shared_ptr<const Snapshot>(std::move(snapshot));
}

std::shared_ptr<const Snapshot> WithManifest(const Snapshot& from,
                                             std::shared_ptr<const table::Manifest> manifest) {
  auto snapshot = std::make_shared<Snapshot>(from);
  snapshot->manifest = std::move(manifest);
  return snapshot;
}

arrow::Result<std::shared_ptr<const Snapshot>> CheckoutSnapshot(const Snapshot& from,
                                                                std::optional<uint64_t> version) {
  auto snapshot = std::make_shared<Snapshot>(from);
  ARROW_ASSIGN_OR_RAISE(snapshot->manifest,
                        table::OpenManifest(snapshot->location, version, &snapshot->naming));
  return std::shared_ptr<const Snapshot>(std::move(snapshot));
}

}  // namespace pennon::read
