#include "pennon/encoding/catalog.h"

#include <utility>
#include <variant>
#include <vector>

#include "pennon/encoding/blob.h"
#include "pennon/encoding/constant/constant.h"
#include "pennon/encoding/full_zip/full_zip.h"
#include "pennon/encoding/mini_block/mini_block.h"
#include "pennon/encoding/v20/page.h"
#include "pennon/error.h"
#include "pennon/wire/page_layout.h"

namespace pennon::encoding {

namespace {

constexpr CatalogEntry kCatalog[] = {
    {.name = "Flat",
     .file = "mini_block/chunk_values.h",
     .mini_block = true,
     .per_value = true,
     .block = true},
    {.name = "Variable",
     .file = "kernels/variable.h",
     .mini_block = true,
     .per_value = true,
     .block = true},
    {.name = "Constant", .file = "full_zip/full_zip.h", .per_value = true, .inside_only = true},
    {.name = "OutOfLineBitpacking", .file = "kernels/bitpacking.h", .block = true},
    {.name = "InlineBitpacking", .file = "kernels/bitpacking.h", .mini_block = true, .block = true},
    {.name = "Fsst", .file = "kernels/fsst.h", .mini_block = true, .per_value = true},
    {.name = "Rle", .file = "kernels/rle.h", .mini_block = true, .block = true},
    {.name = "ByteStreamSplit", .file = "kernels/byte_stream_split.h", .mini_block = true},
    {.name = "General",
     .file = "kernels/general.h",
     .mini_block = true,
     .per_value = true,
     .block = true},
    {.name = "FixedSizeList",
     .file = "mini_block/chunk_values.h",
     .mini_block = true,
     .per_value = true,
     .block = true},
    {.name = "PackedStruct",
     .file = "packed_struct/packed_struct.h",
     .mini_block = true,
     .per_value = true},
    {.name = "VariablePackedStruct", .file = "packed_struct/packed_struct.h", .per_value = true},
};

}  // namespace

arrow::Result<std::unique_ptr<NestedPageRead>> PageDecoder::StartNested(
    std::span<const PageRows>) const {
  return Unsupported("", "pages of nested columns are not supported yet");
}

std::span<const CatalogEntry> Catalog() { return kCatalog; }

namespace {

using DecoderResult = arrow::Result<std::shared_ptr<const PageDecoder>>;

DecoderResult MakeLayoutDecoder(const PageDescription& page, const wire::PageLayout& layout,
                                const LeafType& type) {
  if (const auto* mini_block = std::get_if<wire::MiniBlockLayout>(&layout.layout)) {
    return MakeMiniBlockDecoder(page, *mini_block, type);
  }
  if (const auto* constant = std::get_if<wire::ConstantLayout>(&layout.layout)) {
    return MakeConstantDecoder(page, *constant, type);
  }
  if (const auto* full_zip = std::get_if<wire::FullZipLayout>(&layout.layout)) {
    return MakeFullZipDecoder(page, *full_zip, type);
  }
  return Corrupt(page.path, "a blob page in a column that is not a blob column or in another one");
}

DecoderResult MakeBlobLayoutDecoder(const PageDescription& page, const wire::PageLayout& layout) {
  const auto* const positions = std::get_if<wire::BlobLayout>(&layout.layout);
  const BlobForm form = positions != nullptr ? BlobForm::kPositions : BlobForm::kDescriptors;
  ARROW_ASSIGN_OR_RAISE(auto descriptors,
                        MakeLayoutDecoder(page, positions != nullptr ? *positions->inner : layout,
                                          DescriptorType(form)));
  auto layers = std::visit([](const auto& of_kind) { return of_kind.layers; }, layout.layout);
  return MakeBlobDecoder(page, std::move(descriptors), form, std::move(layers));
}

}  // namespace

arrow::Result<std::shared_ptr<const PageDecoder>> MakePageDecoder(const PageDescription& page,
                                                                  const LeafType& type) {
  if (page.minor == 0) return MakeV20Decoder(page, type);
  ARROW_ASSIGN_OR_RAISE(const wire::PageLayout layout,
                        wire::ParsePageLayout(page.encoding, page.path));
  return type.is_blob ? MakeBlobLayoutDecoder(page, layout) : MakeLayoutDecoder(page, layout, type);
}

}  // namespace pennon::encoding
