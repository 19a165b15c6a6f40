// Pages as fuzz inputs: a description of any kind, any bytes, and some of its rows to read.
//
//   [minor: b % 3][type: b % number of PageTypes][u16 length - 1][rows][piece: encoding]
//   [piece: buffer 0][piece: buffer 1]...                        piece = [u16 size][bytes]
//
// `rows` 0 asks for all rows only, anything else for two runs of them as well. What comes out of a
// part must be what came out of the whole.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <arrow/type_fwd.h>

#include "pennon/encoding/leaf_type.h"

namespace pennon::fuzz {

/// What a target wants its pages to be: 2.0, or one of the page layouts of 2.1 and 2.2.
enum class PageKind { kV20, kMiniBlock, kConstant, kFullZip, kBlob };

/// A type that pages hold values of.
struct PageType {
  encoding::LeafType leaf;
  std::shared_ptr<arrow::DataType> type;  ///< what the values are read as
};

/// The types that inputs can name, by their number. Only ever add at the end: seeds hold numbers.
const std::vector<PageType>& PageTypes();

/// Reads the page in `input`. Returns 0, or -1 if it is not of `kind`: the fuzzer does not keep it.
int ReadPage(std::span<const uint8_t> input, PageKind kind);

}  // namespace pennon::fuzz
