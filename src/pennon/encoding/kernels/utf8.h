// Whether the values of a string array are UTF-8: writers promise it, files may break it.
#pragma once

#include <arrow/array/data.h>
#include <arrow/status.h>

namespace pennon::encoding {

/// Checks that every value of `strings` (utf8 or large_utf8, offset 0, offsets in range) that is
/// not null is valid UTF-8 on its own; else a kCorrupt error that says which slot and byte. What a
/// null slot holds does not matter. Costs one pass over the bytes if they are ASCII.
arrow::Status CheckUtf8(const arrow::ArrayData& strings);

}  // namespace pennon::encoding
