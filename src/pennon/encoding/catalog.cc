#include "pennon/encoding/catalog.h"

#include <variant>

#include "pennon/encoding/constant.h"
#include "pennon/encoding/full_zip.h"
#include "pennon/encoding/mini_block.h"
#include "pennon/encoding/v20/page.h"
#include "pennon/error.h"
#include "pennon/wire/page_layout.h"

namespace pennon::encoding {

namespace {

constexpr CatalogEntry kCatalog[] = {
    {.name = "Flat",
     .file = "chunk_values.h",
     .mini_block = true,
     .per_value = true,
     .block = true},
    {.name = "Variable",
     .file = "variable.h",
     .mini_block = true,
     .per_value = true,
     .block = true},
    {.name = "Constant", .file = "full_zip.h", .per_value = true, .inside_only = true},
    {.name = "OutOfLineBitpacking", .file = "bitpacking.h", .block = true},
    {.name = "InlineBitpacking", .file = "bitpacking.h", .mini_block = true, .block = true},
    {.name = "Fsst", .file = "fsst.h", .mini_block = true, .per_value = true},
    {.name = "Rle", .file = "rle.h", .mini_block = true, .block = true},
    {.name = "ByteStreamSplit", .file = "byte_stream_split.h", .mini_block = true},
    {.name = "General", .file = "general.h", .mini_block = true, .per_value = true, .block = true},
    {.name = "FixedSizeList",
     .file = "chunk_values.h",
     .mini_block = true,
     .per_value = true,
     .block = true},
};

}  // namespace

arrow::Result<std::unique_ptr<NestedPageRead>> PageDecoder::StartNested(
    std::span<const PageRows>) const {
  return Unsupported("", "pages of nested columns are not supported yet");
}

std::span<const CatalogEntry> Catalog() { return kCatalog; }

arrow::Result<std::shared_ptr<const PageDecoder>> MakePageDecoder(const PageDescription& page,
                                                                  const LeafType& type) {
  if (page.minor == 0) return MakeV20Decoder(page, type);
  ARROW_ASSIGN_OR_RAISE(const wire::PageLayout layout,
                        wire::ParsePageLayout(page.encoding, page.path));
  if (const auto* mini_block = std::get_if<wire::MiniBlockLayout>(&layout.layout)) {
    return MakeMiniBlockDecoder(page, *mini_block, type);
  }
  if (const auto* constant = std::get_if<wire::ConstantLayout>(&layout.layout)) {
    return MakeConstantDecoder(page, *constant, type);
  }
  if (const auto* full_zip = std::get_if<wire::FullZipLayout>(&layout.layout)) {
    return MakeFullZipDecoder(page, *full_zip, type);
  }
  return Unsupported(page.path, "blob pages are not supported yet");
}

}  // namespace pennon::encoding
