#include "pennon/encoding/encoding_text.h"

#include <variant>

#include "pennon/wire/array_encoding.h"
#include "pennon/wire/page_layout.h"

namespace pennon::encoding {
namespace {

using wire::CompressionKind;

std::string SchemeName(uint64_t scheme) {
  switch (scheme) {
    case 0:
      return "none";
    case 1:
      return "lz4";
    case 2:
      return "zstd";
    default:
      return "scheme " + std::to_string(scheme);
  }
}

std::string Text(const wire::CompressiveEncoding& encoding);

std::string Inside(const std::vector<wire::CompressiveEncoding>& children) {
  std::string text;
  for (const auto& child : children) text += (text.empty() ? "" : ", ") + Text(child);
  return text.empty() ? text : "(" + text + ")";
}

// The name of an encoding, the figure that tells it from its like, and what is inside it.
std::string Text(const wire::CompressiveEncoding& encoding) {
  std::string text(wire::CompressionName(encoding.kind));
  switch (encoding.kind) {
    case CompressionKind::kFlat:
    case CompressionKind::kInlineBitpacking:
    case CompressionKind::kOutOfLineBitpacking:
      text += std::to_string(encoding.bits);
      break;
    case CompressionKind::kGeneral:
      text = SchemeName(encoding.scheme);
      break;
    case CompressionKind::kFixedSizeList:
      text += std::to_string(encoding.items_per_value);
      if (encoding.has_validity) text += " with validity";
      break;
    case CompressionKind::kPackedStruct:
    case CompressionKind::kVariablePackedStruct: {
      text += "[";
      for (size_t i = 0; i < encoding.child_bits.size(); ++i) {
        text += (i == 0 ? "" : ", ") + std::to_string(encoding.child_bits[i]);
      }
      text += "]";
      break;
    }
    default:
      break;
  }
  return text + Inside(encoding.children);
}

std::string Text(const wire::ArrayEncoding& encoding) {
  std::string text(wire::ArrayEncodingName(encoding.kind));
  switch (encoding.kind) {
    case wire::ArrayEncodingKind::kFlat:
      text += std::to_string(encoding.bits);
      if (!encoding.scheme.empty()) text = encoding.scheme + "(" + text + ")";
      break;
    case wire::ArrayEncodingKind::kNullable:
      text = encoding.nulls == wire::NullableKind::kNoNulls     ? "NoNulls"
             : encoding.nulls == wire::NullableKind::kSomeNulls ? "SomeNulls"
                                                                : "AllNulls";
      break;
    case wire::ArrayEncodingKind::kFixedSizeList:
      text += std::to_string(encoding.dimension);
      break;
    case wire::ArrayEncodingKind::kDictionary:
      text += " of " + std::to_string(encoding.num_items) + " items";
      break;
    default:
      break;
  }
  std::string inside;
  for (const auto& child : encoding.children) inside += (inside.empty() ? "" : ", ") + Text(child);
  return inside.empty() ? text : text + "(" + inside + ")";
}

std::string LevelText(const std::optional<wire::CompressiveEncoding>& repetition,
                      const std::optional<wire::CompressiveEncoding>& definition) {
  std::string text;
  if (repetition) text += "repetition " + Text(*repetition);
  if (definition) text += (text.empty() ? "" : ", ") + ("definition " + Text(*definition));
  return text;
}

std::string BitText(uint64_t bits_rep, uint64_t bits_def) {
  std::string text;
  if (bits_rep != 0) text += "repetition " + std::to_string(bits_rep) + " bits";
  if (bits_def != 0) {
    text += (text.empty() ? "" : ", ") + ("definition " + std::to_string(bits_def) + " bits");
  }
  return text;
}

PageText Describe(const wire::PageLayout& page, size_t num_buffers) {
  PageText out;
  if (const auto* mini = std::get_if<wire::MiniBlockLayout>(&page.layout)) {
    out.layout = "mini-block";
    out.encoding = Text(mini->values);
    out.levels = LevelText(mini->repetition, mini->definition);
    if (mini->dictionary) {
      out.dictionary =
          std::to_string(mini->num_dictionary_items) + " items, " + Text(*mini->dictionary);
    }
  } else if (const auto* zip = std::get_if<wire::FullZipLayout>(&page.layout)) {
    out.layout = "full-zip";
    out.encoding = Text(zip->values);
    out.levels = BitText(zip->bits_rep, zip->bits_def);
  } else if (const auto* constant = std::get_if<wire::ConstantLayout>(&page.layout)) {
    out.layout = "constant";
    const bool has_scalar = num_buffers == 1 || num_buffers == 3;
    out.encoding = constant->inline_value || has_scalar ? "one value" : "all null";
    out.levels = LevelText(constant->repetition, constant->definition);
  } else if (const auto* blob = std::get_if<wire::BlobLayout>(&page.layout)) {
    out = Describe(*blob->inner, num_buffers);
    out.layout = "blob, located by " + out.layout;
  }
  return out;
}

}  // namespace

arrow::Result<PageText> DescribePage(std::string_view encoding, size_t num_buffers, uint16_t minor,
                                     std::string_view path) {
  if (minor == 0) {
    ARROW_ASSIGN_OR_RAISE(const wire::ArrayEncoding array,
                          wire::ParseArrayEncoding(encoding, path));
    return PageText{.layout = "array", .encoding = Text(array)};
  }
  ARROW_ASSIGN_OR_RAISE(const wire::PageLayout page, wire::ParsePageLayout(encoding, path));
  return Describe(page, num_buffers);
}

}  // namespace pennon::encoding
