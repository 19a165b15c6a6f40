// Decodes pages of file version 2.0: a tree of array encodings over the page's buffers.
//
//   fixed width   Nullable(Flat) with Nullable(FixedSizeList(...)) around it,        fixed.cc
//                 once a dimension; PackedStruct: whole rows
//   strings       Binary, Fsst, FixedSizeBinary, alone or in a Nullable              binary.cc
//   dictionaries  indices and the page's own items: of `string` columns 0 is null    dictionary.cc
//                 and k item k - 1, of declared dictionaries k is item k
//   lists         where the items of each list end                                   list.cc
//
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
    const PageDescription& page, const wire::ArrayEncoding& root, const LeafType& type);
arrow::Result<std::unique_ptr<PageDecoder>> MakeV20ListDecoder(const PageDescription& page,
                                                               const wire::ArrayEncoding& root);

/// As MakeV20Decoder, for a page or a part of one whose tree `root` is.
arrow::Result<std::unique_ptr<PageDecoder>> MakeV20DecoderOf(const PageDescription& page,
                                                             const wire::ArrayEncoding& root,
                                                             const LeafType& type);

/// How many items the lists of a page of a list column have, by its serialized `encoding`.
arrow::Result<uint64_t> V20ListItems(std::string_view encoding, std::string_view path);
/// Fails unless the serialized `encoding` is that of a struct's header page.
arrow::Status CheckV20StructHeader(std::string_view encoding, std::string_view path);

}  // namespace pennon::encoding
