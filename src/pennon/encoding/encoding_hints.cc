#include "pennon/encoding/encoding_hints.h"

#include <charconv>
#include <string_view>

namespace pennon::encoding {
namespace {

using Metadata = std::map<std::string, std::string>;

// The text of a hint; empty if it is absent.
std::string_view Find(const Metadata& metadata, const std::string& name) {
  const auto at = metadata.find("lance-encoding:" + name);
  return at == metadata.end() ? std::string_view() : std::string_view(at->second);
}

template <typename Number>
std::optional<Number> FindNumber(const Metadata& metadata, const std::string& name) {
  const std::string_view text = Find(metadata, name);
  Number number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (text.empty() || error != std::errc() || end != text.data() + text.size()) return {};
  return number;
}

CompressionHint CompressionOf(std::string_view text) {
  if (text == "none") return CompressionHint::kNone;
  if (text == "lz4") return CompressionHint::kLz4;
  if (text == "zstd") return CompressionHint::kZstd;
  return text == "fsst" ? CompressionHint::kFsst : CompressionHint::kAuto;
}

}  // namespace

EncodingHints EncodingHints::FromMetadata(const Metadata& leaf, const Metadata& top_level) {
  EncodingHints out;
  out.compression = CompressionOf(Find(leaf, "compression"));
  out.compression_level = FindNumber<int>(leaf, "compression-level").value_or(0);
  const std::string_view split = Find(leaf, "bss");
  if (split == "on") out.byte_stream_split = SwitchHint::kOn;
  if (split == "off") out.byte_stream_split = SwitchHint::kOff;
  out.rle_threshold = FindNumber<double>(leaf, "rle-threshold");
  // At least two values must fit; more than 2.1's chunks hold is cut by the page writer.
  if (const auto bytes = FindNumber<uint64_t>(leaf, "minichunk-size"); bytes && *bytes >= 64) {
    out.minichunk_bytes = *bytes;
  }
  if (const auto divisor = FindNumber<uint64_t>(leaf, "dict-divisor"); divisor && *divisor > 0) {
    out.dictionary_divisor = *divisor;
  }
  out.dictionary_size_ratio =
      FindNumber<double>(leaf, "dict-size-ratio").value_or(out.dictionary_size_ratio);
  out.dictionary_max_bytes =
      FindNumber<uint64_t>(leaf, "dict-max-size").value_or(out.dictionary_max_bytes);
  out.dictionary_compression = CompressionOf(Find(leaf, "dict-values-compression"));
  out.dictionary_compression_level =
      FindNumber<int>(leaf, "dict-values-compression-level").value_or(0);
  const std::string_view layout = Find(top_level, "structural-encoding");
  if (layout == "miniblock") out.layout = LayoutHint::kMiniBlock;
  if (layout == "fullzip") out.layout = LayoutHint::kFullZip;
  return out;
}

}  // namespace pennon::encoding
