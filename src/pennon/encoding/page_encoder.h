// Encodes the values of one page: chooses the layout and writes buffers and description.
//
//   2.0          a tree of array encodings (v20/page_writer.h)
//   2.1, 2.2     all null                     -> constant, no buffers
//                2.2, all values equal        -> constant with a scalar
//                values below 256 bytes       -> mini-block (chunks of a few KiB, decoded as a
//                unit) larger ones                  -> full-zip (one record a value, addressable by
//                row)
// Source: docs/format-notes.md, "Writing".
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <arrow/array/data.h>
#include <arrow/buffer.h>
#include <arrow/memory_pool.h>
#include <arrow/result.h>

#include "pennon/encoding/encoding_hints.h"
#include "pennon/encoding/leaf_type.h"

namespace pennon::encoding {

struct LeafValues;
struct PageNesting;

/// A page ready to be placed in a file.
struct EncodedPage {
  std::vector<std::shared_ptr<arrow::Buffer>>
      buffers;           ///< in the order of the page; may borrow the values
  std::string encoding;  ///< serialised PageLayout, or ArrayEncoding in 2.0
  uint64_t length = 0;   ///< values in the page
};

/// Encodes `values`, an array of `type` with 1 to 2^32 - 1 values, as `options` say. Values that no
/// layout of the version can hold are a kUnsupported error.
arrow::Result<EncodedPage> EncodePage(const LeafType& type, const arrow::ArrayData& values,
                                      const PageOptions& options, arrow::MemoryPool* pool);

/// Encodes the values of `nesting`'s visible entries (2.1, 2.2). Nothing, if the rows, more than
/// one, must be split because their levels do not fit one page.
arrow::Result<std::optional<EncodedPage>> EncodeNestedPage(const LeafValues& values,
                                                           const PageNesting& nesting,
                                                           const PageOptions& options,
                                                           arrow::MemoryPool* pool);

}  // namespace pennon::encoding
