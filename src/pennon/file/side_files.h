// The files beside a data file that hold its larger blobs.
//
//   <data file without .lance>/<32 digits>.blob      digit i (0 = the first) is bit i of the blob
//   id
//
// Source: docs/format-notes.md, "Blobs".
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "pennon/encoding/page.h"
#include "pennon/file/reader.h"

namespace pennon::file {

/// The path of the side file `blob_id` of the data file at `data_path`.
std::string SideFilePath(std::string_view data_path, uint32_t blob_id);

/// The side files of the data file at `data_path`, opened by `open` at each read.
std::shared_ptr<const encoding::SideFiles> MakeSideFiles(std::string data_path, FileOpener open);

}  // namespace pennon::file
