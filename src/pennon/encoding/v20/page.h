// Decodes pages of file version 2.0: a tree of array encodings over the page's buffers.
//
//   fixed width   Nullable(Flat) with Nullable(FixedSizeList(...)) around it, once a dimension
//   v20/fixed.cc strings       Binary, Fsst, FixedSizeBinary, alone or in a Nullable v20/binary.cc
//                 Dictionary of strings (type utf8 only) v20/dictionary.cc
//
// Lists, structs, blobs and declared dictionaries are kUnsupported errors.
// Source: docs/format-notes.md, "2.0 encodings".
#pragma once

#include <memory>

#include <arrow/result.h>

#include "pennon/encoding/leaf_type.h"
#include "pennon/encoding/page.h"
#include "pennon/wire/array_encoding.h"

namespace pennon::encoding {

/// Makes the decoder of a 2.0 page (page.minor == 0) whose values are of `type`. All of the page's
/// description is checked here; what the buffers hold is checked when it is read.
arrow::Result<std::unique_ptr<PageDecoder>> MakeV20Decoder(const PageDescription& page,
                                                           const LeafType& type);

/// The parts of MakeV20Decoder, each for one kind of values.
arrow::Result<std::unique_ptr<PageDecoder>> MakeV20FixedDecoder(const PageDescription& page,
                                                                const wire::ArrayEncoding& root,
                                                                const LeafType& type);
arrow::Result<std::unique_ptr<PageDecoder>> MakeV20BinaryDecoder(const PageDescription& page,
                                                                 const wire::ArrayEncoding& root);
arrow::Result<std::unique_ptr<PageDecoder>> MakeV20DictionaryDecoder(
    const PageDescription& page, const wire::ArrayEncoding& root);

}  // namespace pennon::encoding
