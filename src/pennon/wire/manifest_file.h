// The frame of a manifest file. A file is a row of sections, each `u32 length, message`, and a
// footer:
//
//   [u32 n][IndexSection]   if there is an index, at Manifest.index_section
//   [u32 n][Transaction]    inline copy, at Manifest.transaction_section (0 is a valid offset)
//   [u32 n][Manifest]       at offset P; always the last section
//   i64 P | i16 0 | i16 2 | "LANC"
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <arrow/result.h>

namespace pennon::wire {

inline constexpr size_t kManifestFooterBytes = 16;

/// Finds the Manifest message of a whole file; kCorrupt if the frame is broken.
arrow::Result<std::string_view> FindManifestMessage(std::string_view file, std::string_view path);

/// The message of the section at `offset`, for offsets that the manifest states; kCorrupt if it
/// leaves the file.
arrow::Result<std::string_view> SectionAt(std::string_view file, uint64_t offset, const char* what,
                                          std::string_view path);

/// Appends `u32 length, message`; the message must be shorter than 4 GiB.
void AppendSection(std::string_view message, std::string* file);

/// Appends the footer for a manifest section that starts at `position`.
void AppendManifestFooter(uint64_t position, std::string* file);

}  // namespace pennon::wire
