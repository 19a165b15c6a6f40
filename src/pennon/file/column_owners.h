// Which fields of a schema own a column of a data file (docs/format-notes.md, "Columns").
#pragma once

#include <cstdint>
#include <vector>

#include "pennon/file/reader.h"
#include "pennon/schema.h"

namespace pennon::file {

/// The ids of the fields at or below `field` that own a column in a file of `version`, in the order
/// of their columns. In 2.0 structs and lists own one each; later only what has no fields below it
/// does. Packed structs and blobs own one, and nothing below them does.
std::vector<int32_t> ColumnOwners(const Field& field, FileVersion version);

/// Those of them that values depend on: all but the plain structs of 2.0, whose columns say
/// nothing.
std::vector<int32_t> ValueOwners(const Field& field, FileVersion version);

}  // namespace pennon::file
