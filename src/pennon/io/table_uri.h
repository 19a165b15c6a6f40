// What a user may write for a table's place, made absolute.
#pragma once

#include <string>
#include <string_view>

#include <arrow/result.h>

namespace pennon::io {

/// Turns a path or `file://` URI into an absolute path without trailing slash, `.` and `..`; a
/// relative path is taken from the working directory. Another scheme is a kUnsupported error, an
/// empty text a kInvalidInput one.
arrow::Result<std::string> ResolveTableUri(std::string_view uri);

}  // namespace pennon::io
