// The indexes that a manifest's index section names (format: table.md 7.1).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <arrow/result.h>

namespace pennon::read {

/// One index segment, as far as listing needs it.
struct IndexEntry {
  std::string name;
  std::string
      type;  ///< such as `BTree`, from the details' type URL; empty if the table does not say
  std::vector<int32_t> fields;  ///< ids of the indexed fields
  uint64_t dataset_version = 0;
};

/// Reads the IndexSection message; `path` is for messages. Bytes that cannot be decoded are a
/// kCorrupt error.
arrow::Result<std::vector<IndexEntry>> ParseIndexList(std::string_view section,
                                                      const std::string& path);

}  // namespace pennon::read
