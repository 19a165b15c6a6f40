// Reads the bytes that many page reads want, in rounds.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <arrow/result.h>

#include "pennon/file/container.h"
#include "pennon/io/read_ranges.h"
#include "pennon/schema.h"

namespace pennon::file {

/// Page bytes fetched before they are decoded; what bounds the memory of a scan beside its result.
inline constexpr uint64_t kBatchBytes = 4 << 20;

/// Fetches what `reads` want until they want nothing more; in each round the bytes for all of them
/// together. The result is the memory that they use. PageReadType has Next(), as
/// encoding::PageRead.
template <typename PageReadType>
arrow::Result<io::RangeBuffers> FetchInRounds(
    const Container& container, std::span<const std::unique_ptr<PageReadType>> reads) {
  io::RangeBuffers kept;
  std::vector<io::RangeRead*> wanted;
  do {
    wanted.clear();
    for (const auto& read : reads) {
      ARROW_ASSIGN_OR_RAISE(const std::span<io::RangeRead> next, read->Next());
      for (io::RangeRead& range : next) wanted.push_back(&range);
    }
    if (!wanted.empty()) {
      ARROW_ASSIGN_OR_RAISE(auto buffers, container.Read(wanted));
      kept.insert(kept.end(), buffers.begin(), buffers.end());
    }
  } while (!wanted.empty());
  return kept;
}

/// Adds file and column to an error that does not name them.
arrow::Status Located(const arrow::Status& status, const std::string& path, const Field& field);

}  // namespace pennon::file
