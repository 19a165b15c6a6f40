#include "pennon/encoding/kernels/general.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <optional>
#include <string>

#include <arrow/buffer.h>
#include <arrow/util/compression.h>

#include "pennon/error.h"

namespace pennon::encoding {
namespace {

// What one byte can expand to at most: a zstd block of 4 bytes stands for up to 128 KiB, an lz4
// length byte for 255 bytes.
constexpr uint64_t kZstdMaxRatio = 32768;
constexpr uint64_t kLz4MaxRatio = 255;
constexpr int kZstdLevel = 3;
constexpr int64_t kStreamStep = 64 * 1024;

const char* NameOf(GeneralScheme scheme) {
  switch (scheme) {
    case GeneralScheme::kNone:
      return "none";
    case GeneralScheme::kLz4:
      return "lz4";
    case GeneralScheme::kZstd:
      return "zstd";
  }
  return "?";
}

// A compressed buffer taken apart; without `size` it is a bare zstd frame.
struct Compressed {
  std::optional<uint64_t> size;
  std::span<const uint8_t> body;
};

bool IsBareZstd(std::span<const uint8_t> in) {
  constexpr uint8_t kMagic[4] = {0x28, 0xB5, 0x2F, 0xFD};
  return in.size() < 8 || (std::memcmp(in.data(), kMagic, 4) == 0 && (in[4] & 0x10) == 0);
}

arrow::Result<Compressed> TakeApart(GeneralScheme scheme, std::span<const uint8_t> in) {
  if (in.empty()) return Compressed{.size = 0, .body = in};
  if (scheme == GeneralScheme::kNone) return Compressed{.size = in.size(), .body = in};
  if (scheme == GeneralScheme::kZstd && IsBareZstd(in)) return Compressed{.size = {}, .body = in};
  const size_t prefix = scheme == GeneralScheme::kZstd ? 8 : 4;
  if (in.size() < prefix) {
    return Corrupt("", "compressed buffer is too short for its size prefix: expected ", prefix,
                   " bytes or more, found ", in.size());
  }
  uint64_t size = 0;
  std::memcpy(&size, in.data(), prefix);
  const auto body = in.subspan(prefix);
  const uint64_t ratio = scheme == GeneralScheme::kZstd ? kZstdMaxRatio : kLz4MaxRatio;
  if (size / ratio > body.size()) {
    return Corrupt("", "compressed buffer claims an impossible size: ", size, " bytes out of ",
                   body.size(), " bytes of ", NameOf(scheme));
  }
  return Compressed{.size = size, .body = body};
}

arrow::Result<std::unique_ptr<arrow::util::Codec>> MakeCodec(GeneralScheme scheme, int level = 0) {
  const auto type =
      scheme == GeneralScheme::kZstd ? arrow::Compression::ZSTD : arrow::Compression::LZ4;
  if (level == 0 || scheme == GeneralScheme::kLz4) return arrow::util::Codec::Create(type);
  return arrow::util::Codec::Create(type, level);
}

arrow::Status Undecodable(GeneralScheme scheme, const arrow::Status& cause) {
  return Corrupt("", "compressed buffer cannot be decompressed with ", NameOf(scheme), ": ",
                 cause.message());
}

// Decompresses one zstd frame, with a context that the thread keeps: making one costs more than a
// short text. Returns the bytes written, or -1 if the frame does not end where
// its bytes do.
arrow::Result<int64_t> DecompressZstd(std::span<const uint8_t> body, std::span<uint8_t> out) {
  thread_local std::shared_ptr<arrow::util::Decompressor> stream;
  if (stream == nullptr) {
    ARROW_ASSIGN_OR_RAISE(auto codec, MakeCodec(GeneralScheme::kZstd));
    ARROW_ASSIGN_OR_RAISE(stream, codec->MakeDecompressor());
  } else {
    ARROW_RETURN_NOT_OK(stream->Reset());
  }
  int64_t read = 0;
  int64_t written = 0;
  const auto in_size = static_cast<int64_t>(body.size());
  const auto out_size = static_cast<int64_t>(out.size());
  while (!stream->IsFinished()) {
    ARROW_ASSIGN_OR_RAISE(const auto step,
                          stream->Decompress(in_size - read, body.data() + read, out_size - written,
                                             out.data() + written));
    read += step.bytes_read;
    written += step.bytes_written;
    if (step.bytes_read == 0 && step.bytes_written == 0) break;
  }
  return stream->IsFinished() && read == in_size ? written : -1;
}

// Decompresses `body` to exactly `out`.
arrow::Status DecompressBody(GeneralScheme scheme, std::span<const uint8_t> body,
                             std::span<uint8_t> out) {
  if (out.empty()) return arrow::Status::OK();
  constexpr size_t kLz4Limit = std::numeric_limits<int32_t>::max();
  if (scheme == GeneralScheme::kLz4 && (body.size() > kLz4Limit || out.size() > kLz4Limit)) {
    return Corrupt("", "lz4 block is larger than 2 GiB: ", body.size(), " bytes for ", out.size());
  }
  arrow::Result<int64_t> written = 0;
  if (scheme == GeneralScheme::kZstd) {
    written = DecompressZstd(body, out);
  } else {
    ARROW_ASSIGN_OR_RAISE(auto codec, MakeCodec(scheme));
    written = codec->Decompress(static_cast<int64_t>(body.size()), body.data(),
                                static_cast<int64_t>(out.size()), out.data());
  }
  if (!written.ok()) return Undecodable(scheme, written.status());
  if (*written != static_cast<int64_t>(out.size())) {
    return Corrupt("", "compressed buffer has the wrong size: expected ", out.size(),
                   " bytes, found ", *written);
  }
  return arrow::Status::OK();
}

// Decompresses a frame of unknown size, step by step up to `max_bytes`.
arrow::Status DecompressFrame(std::span<const uint8_t> in, int64_t max_bytes,
                              std::vector<uint8_t>* out) {
  ARROW_ASSIGN_OR_RAISE(auto codec, MakeCodec(GeneralScheme::kZstd));
  ARROW_ASSIGN_OR_RAISE(auto stream, codec->MakeDecompressor());
  size_t used = 0;
  size_t read = 0;
  while (!stream->IsFinished()) {
    if (out->size() == used) {
      const size_t grown = used + std::max<size_t>(kStreamStep, used);
      // One byte above the limit is room to see that the content exceeds it.
      out->resize(std::min(grown, static_cast<size_t>(max_bytes) + 1));
    }
    auto step = stream->Decompress(static_cast<int64_t>(in.size() - read), in.data() + read,
                                   static_cast<int64_t>(out->size() - used), out->data() + used);
    if (!step.ok()) return Undecodable(GeneralScheme::kZstd, step.status());
    read += static_cast<size_t>(step->bytes_read);
    used += static_cast<size_t>(step->bytes_written);
    if (used > static_cast<size_t>(max_bytes)) {
      return Corrupt("", "compressed buffer holds more than its values need: limit ", max_bytes,
                     " bytes");
    }
    if (step->bytes_read == 0 && step->bytes_written == 0 && !stream->IsFinished()) {
      return Corrupt("", "zstd frame ends early after bytes: ", in.size());
    }
  }
  out->resize(used);
  return arrow::Status::OK();
}

arrow::Status CheckLimit(uint64_t size, int64_t max_bytes) {
  if (max_bytes >= 0 && size <= static_cast<uint64_t>(max_bytes)) return arrow::Status::OK();
  return Corrupt("", "compressed buffer claims more than its values need: limit ", max_bytes,
                 " bytes, found ", size);
}

}  // namespace

arrow::Result<GeneralScheme> GeneralSchemeOf(uint64_t number) {
  if (number == 1) return GeneralScheme::kLz4;
  if (number == 2) return GeneralScheme::kZstd;
  return Unsupported(
      "", "Compression scheme is not supported; known are 1 (lz4) and 2 (zstd): ", number);
}

arrow::Result<GeneralScheme> GeneralSchemeOf(std::string_view name) {
  if (name.empty() || name == "none") return GeneralScheme::kNone;
  if (name == "lz4") return GeneralScheme::kLz4;
  if (name == "zstd") return GeneralScheme::kZstd;
  return Unsupported("", "Compression scheme is not supported; known are none, lz4 and zstd: ",
                     name.substr(0, 40));
}

arrow::Result<std::shared_ptr<arrow::Buffer>> Decompress(GeneralScheme scheme,
                                                         std::span<const uint8_t> in,
                                                         int64_t max_bytes,
                                                         arrow::MemoryPool* pool) {
  ARROW_ASSIGN_OR_RAISE(const Compressed parts, TakeApart(scheme, in));
  if (!parts.size) {
    std::vector<uint8_t> content;
    ARROW_RETURN_NOT_OK(DecompressFrame(parts.body, max_bytes, &content));
    ARROW_ASSIGN_OR_RAISE(auto buffer,
                          arrow::AllocateBuffer(static_cast<int64_t>(content.size()), pool));
    std::copy(content.begin(), content.end(), buffer->mutable_data());
    return std::shared_ptr<arrow::Buffer>(std::move(buffer));
  }
  ARROW_RETURN_NOT_OK(CheckLimit(*parts.size, max_bytes));
  ARROW_ASSIGN_OR_RAISE(auto buffer,
                        arrow::AllocateBuffer(static_cast<int64_t>(*parts.size), pool));
  const std::span<uint8_t> out(buffer->mutable_data(), static_cast<size_t>(buffer->size()));
  if (scheme == GeneralScheme::kNone) {
    std::copy(parts.body.begin(), parts.body.end(), out.begin());
  } else {
    ARROW_RETURN_NOT_OK(DecompressBody(scheme, parts.body, out));
  }
  return std::shared_ptr<arrow::Buffer>(std::move(buffer));
}

arrow::Status DecompressInto(GeneralScheme scheme, std::span<const uint8_t> in,
                             std::span<uint8_t> out) {
  ARROW_ASSIGN_OR_RAISE(const Compressed parts, TakeApart(scheme, in));
  if (parts.size && *parts.size != out.size()) {
    return Corrupt("", "compressed buffer has the wrong size: expected ", out.size(),
                   " bytes, found ", *parts.size);
  }
  if (scheme == GeneralScheme::kNone) {
    std::copy(parts.body.begin(), parts.body.end(), out.begin());
    return arrow::Status::OK();
  }
  return DecompressBody(scheme, parts.body, out);
}

arrow::Status DecompressTo(GeneralScheme scheme, std::span<const uint8_t> in, int64_t max_bytes,
                           std::vector<uint8_t>* scratch) {
  ARROW_ASSIGN_OR_RAISE(const Compressed parts, TakeApart(scheme, in));
  if (!parts.size) return DecompressFrame(parts.body, max_bytes, scratch);
  ARROW_RETURN_NOT_OK(CheckLimit(*parts.size, max_bytes));
  scratch->resize(*parts.size);
  if (scheme == GeneralScheme::kNone) {
    std::copy(parts.body.begin(), parts.body.end(), scratch->begin());
    return arrow::Status::OK();
  }
  return DecompressBody(scheme, parts.body, *scratch);
}

GeneralCompressor::GeneralCompressor(GeneralScheme scheme,
                                     std::unique_ptr<arrow::util::Codec> codec)
    : scheme_(scheme), codec_(std::move(codec)) {}
GeneralCompressor::GeneralCompressor(GeneralCompressor&&) noexcept = default;
GeneralCompressor::~GeneralCompressor() = default;

arrow::Result<GeneralCompressor> GeneralCompressor::Make(GeneralScheme scheme, int level) {
  if (scheme == GeneralScheme::kNone) return GeneralCompressor(scheme, nullptr);
  if (level == 0) level = kZstdLevel;
  if (scheme == GeneralScheme::kZstd) {
    // What the codec does not know is an error of its own: a hint must not be one.
    ARROW_ASSIGN_OR_RAISE(const int low,
                          arrow::util::Codec::MinimumCompressionLevel(arrow::Compression::ZSTD));
    ARROW_ASSIGN_OR_RAISE(const int high,
                          arrow::util::Codec::MaximumCompressionLevel(arrow::Compression::ZSTD));
    level = std::clamp(level, low, high);
  }
  ARROW_ASSIGN_OR_RAISE(std::unique_ptr<arrow::util::Codec> codec, MakeCodec(scheme, level));
  return GeneralCompressor(scheme, std::move(codec));
}

arrow::Status GeneralCompressor::Append(std::span<const uint8_t> content,
                                        std::vector<uint8_t>* out) {
  if (codec_ == nullptr) {
    out->insert(out->end(), content.begin(), content.end());
    return arrow::Status::OK();
  }
  const size_t prefix = scheme_ == GeneralScheme::kZstd ? 8 : 4;
  // The lz4 prefix and library count in 31 bits, with some expansion of incompressible input.
  if (scheme_ == GeneralScheme::kLz4 && content.size() > 0x7E000000) {
    return InvalidInput("Lz4 blocks hold at most 2113929216 bytes, given ", content.size());
  }
  const int64_t bound =
      codec_->MaxCompressedLen(static_cast<int64_t>(content.size()), content.data());
  const size_t at = out->size();
  out->resize(at + prefix + static_cast<size_t>(bound));
  const uint64_t size = content.size();
  std::memcpy(out->data() + at, &size, prefix);
  ARROW_ASSIGN_OR_RAISE(const int64_t written,
                        codec_->Compress(static_cast<int64_t>(content.size()), content.data(),
                                         bound, out->data() + at + prefix));
  out->resize(at + prefix + static_cast<size_t>(written));
  return arrow::Status::OK();
}

arrow::Status Compress(GeneralScheme scheme, std::span<const uint8_t> content, int level,
                       std::vector<uint8_t>* out) {
  ARROW_ASSIGN_OR_RAISE(GeneralCompressor compressor, GeneralCompressor::Make(scheme, level));
  return compressor.Append(content, out);
}

}  // namespace pennon::encoding
