// General around the encoding of a mini-block page: the first value buffer of every chunk is
// compressed by itself.
#pragma once

#include <arrow/status.h>

#include "pennon/encoding/encoding_hints.h"
#include "pennon/encoding/kernels/general.h"
#include "pennon/encoding/mini_block/chunk_encoder.h"

namespace pennon::encoding {

/// Whether the hint names a general scheme.
constexpr bool IsGeneral(CompressionHint hint) {
  return hint == CompressionHint::kLz4 || hint == CompressionHint::kZstd;
}

/// The scheme of a hint for which IsGeneral holds.
constexpr GeneralScheme SchemeOf(CompressionHint hint) {
  return hint == CompressionHint::kLz4 ? GeneralScheme::kLz4 : GeneralScheme::kZstd;
}

/// Compresses the first stream of `chunks` by the scheme that `hints` name, unless it has less than
/// 4 KiB or would not become smaller.
arrow::Status CompressChunks(const EncodingHints& hints, EncodedChunks* chunks);

}  // namespace pennon::encoding
