#include "pennon/encoding/mini_block/general_chunks.h"

#include <utility>
#include <vector>

#include "pennon/wire/page_layout_writer.h"

namespace pennon::encoding {
namespace {

constexpr int64_t kMinBytes = 4096;

}  // namespace

arrow::Status CompressChunks(const EncodingHints& hints, EncodedChunks* chunks) {
  const auto& plain = *chunks->streams[0];
  if (plain.size() < kMinBytes) return arrow::Status::OK();
  const GeneralScheme scheme = SchemeOf(hints.compression);
  ARROW_ASSIGN_OR_RAISE(GeneralCompressor compressor,
                        GeneralCompressor::Make(scheme, hints.compression_level));
  std::vector<uint8_t> stream;
  std::vector<uint32_t> sizes;
  size_t at = 0;
  for (size_t i = 0; i < chunks->sizes.size(); i += chunks->streams.size()) {
    const size_t start = stream.size(), size = chunks->sizes[i];
    ARROW_RETURN_NOT_OK(compressor.Append({plain.data() + at, size}, &stream));
    if (stream.size() >= static_cast<size_t>(plain.size())) return arrow::Status::OK();
    sizes.push_back(static_cast<uint32_t>(stream.size() - start));
    at += size;
  }
  for (size_t i = 0; i < sizes.size(); ++i) chunks->sizes[i * chunks->streams.size()] = sizes[i];
  chunks->streams[0] = arrow::Buffer::FromVector(std::move(stream));
  chunks->encoding =
      wire::WriteGeneral(GeneralSchemeNumber(scheme), hints.compression_level, chunks->encoding);
  return arrow::Status::OK();
}

}  // namespace pennon::encoding
