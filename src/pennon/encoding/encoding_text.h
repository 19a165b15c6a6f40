// Encodings in words, for people: "mini-block", "Fsst(Variable(Flat32))".
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <arrow/result.h>

namespace pennon::encoding {

/// A page description in words; the members are those of PageInfo (include/pennon/data_file.h).
struct PageText {
  std::string layout;
  std::string encoding;
  std::string levels;
  std::string dictionary;
};

/// Puts the description of a page of `num_buffers` buffers, in a file of version 2.`minor`, into
/// words.
arrow::Result<PageText> DescribePage(std::string_view encoding, size_t num_buffers, uint16_t minor,
                                     std::string_view path);

}  // namespace pennon::encoding
