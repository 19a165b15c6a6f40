// Buffers compressed as a whole by a general scheme.
//
//   zstd   [u64 size of the content][one zstd frame]      or a bare frame (older writers): a buffer
//   shorter
//          than 8 bytes, or one starting 28 B5 2F FD with bit 4 of byte 4 clear
//   lz4    [u32 size of the content][one raw lz4 block]   (not the lz4 frame format)
//
// An empty buffer is an empty content. The sizes are claims of untrusted bytes: nothing is
// allocated beyond the caller's limit, nor beyond what the scheme can expand the buffer to. Source:
// docs/format-notes.md, "General" and "Flat" of 2.0. Stateless, thread-safe.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include <arrow/memory_pool.h>
#include <arrow/result.h>
#include <arrow/type_fwd.h>
#include <arrow/util/type_fwd.h>

namespace pennon::encoding {

enum class GeneralScheme { kNone = 0, kLz4 = 1, kZstd = 2 };

/// The scheme a 2.1 `CompressionScheme` number names (1 lz4, 2 zstd).
arrow::Result<GeneralScheme> GeneralSchemeOf(uint64_t number);
/// The number of a scheme in 2.1.
constexpr uint64_t GeneralSchemeNumber(GeneralScheme scheme) {
  return static_cast<uint64_t>(scheme);
}
/// The scheme a 2.0 `Compression.scheme` text names ("", "none", "zstd", "lz4").
arrow::Result<GeneralScheme> GeneralSchemeOf(std::string_view name);

/// Decompresses `in` into a new buffer. A content of more than `max_bytes` bytes is an error.
arrow::Result<std::shared_ptr<arrow::Buffer>> Decompress(
    GeneralScheme scheme, std::span<const uint8_t> in, int64_t max_bytes,
    arrow::MemoryPool* pool = arrow::default_memory_pool());

/// Decompresses `in` into `out`, whose size the content must have exactly.
arrow::Status DecompressInto(GeneralScheme scheme, std::span<const uint8_t> in,
                             std::span<uint8_t> out);

/// Decompresses `in` into `scratch`, which is resized to the content (its capacity is kept between
/// calls).
arrow::Status DecompressTo(GeneralScheme scheme, std::span<const uint8_t> in, int64_t max_bytes,
                           std::vector<uint8_t>* scratch);

/// Compresses many buffers. Not thread-safe.
class GeneralCompressor {
 public:
  /// `level` 0 is the default: 3 of zstd, which is lz4's only one.
  static arrow::Result<GeneralCompressor> Make(GeneralScheme scheme, int level);
  GeneralCompressor(GeneralCompressor&&) noexcept;
  ~GeneralCompressor();

  /// Appends the compressed form of `content`, size prefix included.
  arrow::Status Append(std::span<const uint8_t> content, std::vector<uint8_t>* out);

 private:
  GeneralCompressor(GeneralScheme scheme, std::unique_ptr<arrow::util::Codec> codec);

  GeneralScheme scheme_;
  std::unique_ptr<arrow::util::Codec> codec_;  ///< null: none
};

/// Appends the compressed form of one buffer, as GeneralCompressor does.
arrow::Status Compress(GeneralScheme scheme, std::span<const uint8_t> content, int level,
                       std::vector<uint8_t>* out);

}  // namespace pennon::encoding
