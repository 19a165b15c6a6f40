// Fragments, data files, overlays and deletion files from and to their messages (package
// lance.table).
#pragma once

#include <string>
#include <string_view>

#include <arrow/result.h>

#include "pennon/table/fragment.h"

namespace pennon::table {

/// Decodes a DataFragment. Checks what one fragment shows on its own: list lengths, row counts
/// below 2^32, overlays with a file and coverage for each of its fields, no field twice in one file
/// (all kCorrupt). Overlays are put in order. Views point into `bytes`; `path` is for messages.
arrow::Result<Fragment> ParseFragment(std::string_view bytes, std::string_view path);

/// Decodes a DataFile with the same checks; an overlay's must state its columns.
arrow::Result<DataFile> ParseDataFile(std::string_view bytes, std::string_view path);

/// Decodes a DataOverlayFile with the same checks. `committed_version` may be 0, as in
/// transactions.
arrow::Result<OverlayFile> ParseOverlay(std::string_view bytes, std::string_view path);

std::string EncodeDataFile(const DataFile& file);
std::string EncodeDeletionFile(const DeletionFile& file);

/// Encodes all of `fragment` but its `bytes`: for new fragments. Overlays keep their
/// committed_version.
std::string EncodeFragment(const Fragment& fragment);

}  // namespace pennon::table
