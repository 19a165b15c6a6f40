// What a field's metadata says of how it is stored (docs/format-notes.md, "Columns").
#pragma once

#include "pennon/schema.h"

namespace pennon::schema {

/// Whether `field` is a struct whose children share one column: metadata `packed` or
/// `lance-encoding:packed` is true.
bool IsPackedStruct(const Field& field);
/// Whether the values of `field` lie outside its pages: metadata `lance-encoding:blob`, or the
/// extension `lance.blob.v2`.
bool IsBlob(const Field& field);

}  // namespace pennon::schema
