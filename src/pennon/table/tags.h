// Tags: names for versions, one small JSON file each in _refs/tags/ (format: table.md section 9.1).
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include <arrow/result.h>

#include "pennon/table/layout.h"

namespace pennon::table {

/// Whether a tag can have this name: letters, digits, `.`, `-`, `_`; no dot at an end, no `..`, no
/// `.lock` at the end.
bool IsTagName(std::string_view name);

/// Returns the version that tag `name` names, or nullopt if the table has no such tag. A tag on a
/// version of a branch is a kUnsupported error, a tag file that cannot be read as one a kCorrupt
/// error.
arrow::Result<std::optional<uint64_t>> FindTag(const TableLocation& table, std::string_view name);

}  // namespace pennon::table
