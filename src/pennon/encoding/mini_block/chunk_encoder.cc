#include "pennon/encoding/mini_block/chunk_encoder.h"

#include "pennon/encoding/mini_block/fixed_chunks.h"
#include "pennon/encoding/mini_block/string_chunks.h"

namespace pennon::encoding {

uint64_t EncodedChunks::bytes() const {
  uint64_t out = 0;
  for (const auto& stream : streams) out += static_cast<uint64_t>(stream->size());
  return out;
}

arrow::Result<EncodedChunks> EncodeChunks(const LeafValues& values, const PageOptions& options,
                                          arrow::MemoryPool* pool, uint64_t max_chunk_values) {
  return values.type.kind == LeafKind::kFixed
             ? EncodeFixedChunks(values, options.hints, max_chunk_values, pool)
             : EncodeStringChunks(values, options, max_chunk_values, pool);
}

}  // namespace pennon::encoding
