// The one table of encodings: which of them pages may have, where they may stand, what decodes
// them.
#pragma once

#include <memory>
#include <span>
#include <string_view>

#include <arrow/result.h>

#include "pennon/encoding/page.h"

namespace pennon::encoding {

/// Where an encoding may stand in a page of 2.1 or 2.2.
struct CatalogEntry {
  std::string_view name;     ///< of the message
  std::string_view file;     ///< header that draws its layout
  bool mini_block = false;   ///< values of a mini-block chunk
  bool per_value = false;    ///< values of full-zip records
  bool block = false;        ///< levels and dictionary items
  bool inside_only = false;  ///< only inside another encoding there
};

/// The encodings of 2.1 and 2.2 that pennon reads.
std::span<const CatalogEntry> Catalog();

/// Makes the decoder of `page`, whose values are of `type`, by the page's layout. Checks what can
/// be checked without reading the page: a defect is a kCorrupt error, a layout or encoding that is
/// not read yet a kUnsupported one.
arrow::Result<std::shared_ptr<const PageDecoder>> MakePageDecoder(const PageDescription& page,
                                                                  const LeafType& type);

}  // namespace pennon::encoding
