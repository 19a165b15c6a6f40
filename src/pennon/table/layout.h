// Paths inside a table's folder and the names of its manifests (format: table.md section 1).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <arrow/result.h>

#include "pennon/store.h"
#include "pennon/table/manifest.h"

namespace pennon::table {

/// V1: `<version>.manifest`; V2: 20 digits of 2^64-1 minus the version.
enum class ManifestNaming { kV1, kV2 };

/// A manifest file that a listing shows.
struct ManifestName {
  uint64_t version = 0;
  ManifestNaming naming = ManifestNaming::kV2;
  bool detached = false;
  std::string name;
};

/// Reads a file name of _versions/; anything that is no manifest gives nullopt.
std::optional<ManifestName> ParseManifestName(std::string_view name);
std::string FormatManifestName(uint64_t version, ManifestNaming naming);

/// A table folder in a store.
struct TableLocation {
  std::shared_ptr<ObjectStore> store;
  std::string root;  ///< absolute, no trailing slash
};

/// Attached versions in ascending order; kNotFound if there is no table. Both naming schemes at
/// once is an error.
arrow::Result<std::vector<ManifestName>> ListVersions(const TableLocation& table);

/// Reads and parses the manifest of `version`, or of the newest version if none is given.
arrow::Result<std::shared_ptr<const Manifest>> OpenManifest(const TableLocation& table,
                                                            std::optional<uint64_t> version,
                                                            ManifestNaming* naming = nullptr);

/// Absolute path of a data file, honouring base_id; kInvalid-named errors for a path that leaves
/// data/.
arrow::Result<std::string> DataFilePath(const TableLocation& table, const Manifest& manifest,
                                        const DataFile& file);
/// Absolute path of a fragment's deletion file.
arrow::Result<std::string> DeletionFilePath(const TableLocation& table, const Manifest& manifest,
                                            uint64_t fragment_id, const DeletionFile& file);

/// Writes _versions/latest_version_hint.json (best effort, after each commit).
void WriteVersionHint(const TableLocation& table, uint64_t version);

/// A fresh data file name: 24 binary digits, 26 hex digits, `.lance`.
std::string NewDataFileName();
/// A fresh UUIDv4 as hyphenated text.
std::string NewUuid();

}  // namespace pennon::table
