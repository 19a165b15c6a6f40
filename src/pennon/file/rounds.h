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

/// Rounds of reads that depend on each other, once the footer is known: a directory, then values;
/// blobs, which lie elsewhere, have a third.
inline constexpr int kMostRounds = 2;
inline constexpr int kMostBlobRounds = 3;

/// Fetches what `reads` want until they want nothing more; in each round the bytes for all of them
/// together. More rounds than `most` are a fault of the decoder, and an error. The result is the
/// memory that they use. PageReadType has Next(), as encoding::PageRead.
template <typename PageReadType>
arrow::Result<io::RangeBuffers> FetchInRounds(const Container& container,
                                              std::span<const std::unique_ptr<PageReadType>> reads,
                                              int most) {
  io::RangeBuffers kept;
  std::vector<io::RangeRead*> wanted;
  do {
    wanted.clear();
    for (const auto& read : reads) {
      ARROW_ASSIGN_OR_RAISE(const std::span<io::RangeRead> next, read->Next());
      for (io::RangeRead& range : next) wanted.push_back(&range);
    }
    if (!wanted.empty()) {
      if (most-- == 0) return arrow::Status::Invalid("a page is read in more rounds than it may");
      ARROW_ASSIGN_OR_RAISE(auto buffers, container.Read(wanted));
      kept.insert(kept.end(), buffers.begin(), buffers.end());
    }
  } while (!wanted.empty());
  return kept;
}

/// Adds file and column to an error that does not name them.
arrow::Status Located(const arrow::Status& status, const std::string& path, const Field& field);

}  // namespace pennon::file
