// Constant pages of nested columns: the forms of constant.h, with the levels of all entries.
//
//   levels   raw u16 each; without a scalar also in block form (block_values.h) if the page's
//            description names one, with the number of levels beside it
//
// Source: docs/format-notes.md, "ConstantLayout". All input is untrusted.
#pragma once

#include <memory>

#include <arrow/result.h>

#include "pennon/encoding/page.h"
#include "pennon/wire/page_layout.h"

namespace pennon::encoding {

/// Makes the decoder of a constant page of a nested column.
arrow::Result<std::shared_ptr<const PageDecoder>> MakeConstantNestedDecoder(
    const PageDescription& page, const wire::ConstantLayout& layout, const LeafType& type);

}  // namespace pennon::encoding
