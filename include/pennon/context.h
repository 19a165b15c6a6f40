// What a dataset works with: passed in, never global. Cheap to copy; the parts are shared and
// thread-safe.
#pragma once

#include <cstdint>
#include <memory>

#include <arrow/memory_pool.h>

#include "pennon/store.h"

namespace arrow::internal {
class Executor;
}

namespace pennon {

/// Executor, memory, store and cache limits. The defaults suit a program that opens local tables.
struct Context {
  arrow::MemoryPool* pool = arrow::default_memory_pool();
  /// Runs fragment and page work; null = Arrow's CPU thread pool.
  arrow::internal::Executor* executor = nullptr;
  /// null = the local file system.
  std::shared_ptr<ObjectStore> store;
  /// Without a store: map files instead of reading them (LocalStoreOptions::map_files).
  bool map_files = false;
  /// Open files (footers, column metadata), winner maps with small winning values, and deletion
  /// bitmaps kept by a handle, in bytes.
  uint64_t cache_bytes = uint64_t{256} << 20;
  /// Decoded rows in flight in a scan, in bytes: the bound on a scan's memory beyond its batches.
  uint64_t scan_bytes = uint64_t{256} << 20;
};

}  // namespace pennon
