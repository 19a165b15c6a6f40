// Reads many byte ranges of one file in few requests.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <arrow/buffer.h>
#include <arrow/memory_pool.h>
#include <arrow/result.h>

#include "pennon/store.h"

namespace pennon::io {

/// One range to read. `into`, if given, is where the bytes go; otherwise ReadRanges finds a place.
struct RangeRead {
  uint64_t offset = 0;
  uint64_t size = 0;
  uint8_t* into = nullptr;
  const uint8_t* data = nullptr;  ///< set by ReadRanges: where the bytes are
};

/// How ranges are joined and cut.
struct CoalesceOptions {
  uint64_t hole = 8 << 10;  ///< ranges at most this many bytes apart are read in one request
  uint64_t max_request = 16 << 20;  ///< a longer request is cut
};

/// Memory that RangeRead::data points into; it must live as long as that is used.
using RangeBuffers = std::vector<std::shared_ptr<arrow::Buffer>>;

/// Fills every read of `reads`, given in any order; they may overlap. A read with `into` goes
/// straight there and is joined only with reads that continue it in the file. In a mapped file the
/// others point into it.
/// Fails if a range is not inside the file.
arrow::Result<RangeBuffers> ReadRanges(const ReadableFile& file, std::span<RangeRead* const> reads,
                                       arrow::MemoryPool* pool,
                                       const CoalesceOptions& options = {});

}  // namespace pennon::io
