// What the metadata of a field asks of the writer: keys `lance-encoding:<name>`.
//
//   compression                    zstd, lz4, fsst, none             on the leaf
//   compression-level              a number                          on the leaf
//   bss                            on, off, auto                     byte stream split
//   rle-threshold                  0 to 1: runs a value              on the leaf
//   minichunk-size                 bytes of a chunk of strings       on the leaf
//   dict-divisor, dict-size-ratio  how much fewer and smaller the items of a dictionary must be
//   dict-max-size                  bytes of the strings of a dictionary
//   dict-values-compression        lz4, zstd, none (2.2)             with -level
//   structural-encoding            miniblock, fullzip                on the top-level field
//
// Hints never change what is read back, so one that is not understood is left out. Source:
// docs/format-notes.md, "Hints".
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

namespace pennon::encoding {

enum class CompressionHint { kAuto, kNone, kLz4, kZstd, kFsst };
enum class SwitchHint { kAuto, kOff, kOn };
enum class LayoutHint { kAuto, kMiniBlock, kFullZip };

/// What the writer is asked for; the defaults are those of the reference writer.
struct EncodingHints {
  CompressionHint compression = CompressionHint::kAuto;
  int compression_level = 0;  ///< 0: the default of the scheme
  SwitchHint byte_stream_split = SwitchHint::kAuto;
  std::optional<double> rle_threshold;
  uint64_t minichunk_bytes = 4096;  ///< of offsets and bytes in a chunk of strings
  uint64_t dictionary_divisor = 2;
  double dictionary_size_ratio = 0.8;
  uint64_t dictionary_max_bytes = 8 << 20;
  CompressionHint dictionary_compression = CompressionHint::kAuto;  ///< kFsst is not used
  int dictionary_compression_level = 0;
  LayoutHint layout = LayoutHint::kAuto;

  bool operator==(const EncodingHints&) const = default;

  /// Reads the hints of a column: `leaf` is the metadata of the field that owns it, `top_level` of
  /// the field at top level above or at it.
  static EncodingHints FromMetadata(const std::map<std::string, std::string>& leaf,
                                    const std::map<std::string, std::string>& top_level);
};

/// How a page is to be written.
struct PageOptions {
  int minor = 2;  ///< 0, 1 or 2: the version of the file
  EncodingHints hints;
};

}  // namespace pennon::encoding
