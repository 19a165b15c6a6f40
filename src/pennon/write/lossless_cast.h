// Brings values into a column's type, without losing any of them.
#pragma once

#include <memory>
#include <string>

#include <arrow/result.h>
#include <arrow/type_fwd.h>

#include "pennon/schema.h"

namespace pennon::write {

/// Gives `values` in the type of `field`. Accepted besides the same type: nulls, dictionaries
/// (decoded), numbers of another width, text and binary of another offset width, times of another
/// unit, lists for fixed-size lists, plain values for a dictionary column, structs whose fields do;
/// each only if every value survives. Otherwise a kInvalidInput error that names the column and
/// both types; so is a NULL for a non-nullable column or field of a struct.
arrow::Result<std::shared_ptr<arrow::Array>> CastLossless(
    const Field& field, const std::shared_ptr<arrow::Array>& values);

}  // namespace pennon::write
