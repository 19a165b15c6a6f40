#include "pennon/table/layout.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <random>

#include <arrow/buffer.h>

#include "pennon/error.h"

namespace pennon::table {
namespace {

constexpr std::string_view kManifestSuffix = ".manifest";
constexpr size_t kV2NameLength = 29;  // 20 digits and the suffix
constexpr uint64_t kDetachedBit = uint64_t{1} << 63;

std::string VersionsFolder(const TableLocation& table) { return table.root + "/_versions"; }

/// All of `text` as a decimal number.
std::optional<uint64_t> ToNumber(std::string_view text) {
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::array<uint8_t, 16> RandomUuidBytes() {
  static thread_local std::random_device device;
  std::array<uint8_t, 16> bytes;
  for (size_t i = 0; i < bytes.size(); i += 4) {
    const uint32_t word = device();
    for (size_t j = 0; j < 4; ++j) bytes[i + j] = static_cast<uint8_t>(word >> (8 * j));
  }
  bytes[6] = (bytes[6] & 0x0F) | 0x40;  // version 4
  bytes[8] = (bytes[8] & 0x3F) | 0x80;  // RFC 4122 variant
  return bytes;
}

void AppendHex(uint8_t byte, std::string* out) {
  constexpr char kDigits[] = "0123456789abcdef";
  out->push_back(kDigits[byte >> 4]);
  out->push_back(kDigits[byte & 15]);
}

/// The folder that holds `base_id`'s files of one kind: `folder` under a table's root, or the path
/// itself.
arrow::Result<std::string> FolderOf(const TableLocation& table, const Manifest& manifest,
                                    std::optional<uint32_t> base_id, const char* folder,
                                    bool root_only) {
  if (!base_id) return table.root + "/" + folder;
  const auto& bases = manifest.base_paths();
  const auto base =
      std::find_if(bases.begin(), bases.end(), [&](const BasePath& b) { return b.id == *base_id; });
  if (base == bases.end()) {
    return Corrupt(manifest.path(),
                   "A file names a base path that the manifest does not list: base id ", *base_id,
                   ": ", manifest.path());
  }
  std::string path = base->path;
  if (path.starts_with("file://")) path.erase(0, 7);
  if (path.find("://") != std::string::npos) {
    return Unsupported(manifest.path(),
                       "A base path lies in a store that pennon does not read: ", base->path, ": ",
                       manifest.path());
  }
  while (path.size() > 1 && path.back() == '/') path.pop_back();
  if (!path.starts_with('/')) {
    return Corrupt(manifest.path(), "A base path is not absolute: ", base->path, ": ",
                   manifest.path());
  }
  if (base->is_dataset_root) return path + "/" + folder;
  if (root_only) {
    return Corrupt(manifest.path(),
                   "A deletion file lies in a base path that is no table: base id ", *base_id, ": ",
                   manifest.path());
  }
  return path;
}

arrow::Result<std::shared_ptr<const Manifest>> ReadManifest(const TableLocation& table,
                                                            const std::string& name) {
  const std::string path = VersionsFolder(table) + "/" + name;
  ARROW_ASSIGN_OR_RAISE(auto file, table.store->Open(path));
  ARROW_ASSIGN_OR_RAISE(auto buffer, arrow::AllocateBuffer(static_cast<int64_t>(file->size())));
  ARROW_RETURN_NOT_OK(
      file->ReadAt(0, {buffer->mutable_data(), static_cast<size_t>(buffer->size())}));
  return Manifest::Parse(std::move(buffer), path);
}

arrow::Status NoSuchVersion(const TableLocation& table, uint64_t version) {
  return NotFound(table.root, "the table has no version ", version,
                  "; pick one of its versions, or none for the newest: ", table.root);
}

}  // namespace

std::optional<ManifestName> ParseManifestName(std::string_view name) {
  if (!name.ends_with("manifest")) return std::nullopt;
  ManifestName out;
  out.name = name;
  out.detached = name.starts_with('d');
  const bool v2 = out.detached || name.size() == kV2NameLength;
  out.naming = v2 ? ManifestNaming::kV2 : ManifestNaming::kV1;
  const size_t dot = name.find('.');
  if (dot == std::string_view::npos || name.substr(dot) != kManifestSuffix) return std::nullopt;
  const auto number = ToNumber(name.substr(out.detached ? 1 : 0, dot - (out.detached ? 1 : 0)));
  if (!number) return std::nullopt;
  out.version = v2 && !out.detached ? UINT64_MAX - *number : *number;
  // Bit 63 is what tells detached versions apart.
  if (out.detached != ((out.version & kDetachedBit) != 0)) return std::nullopt;
  return out;
}

std::string FormatManifestName(uint64_t version, ManifestNaming naming) {
  char name[48];
  if ((version & kDetachedBit) != 0) {
    std::snprintf(name, sizeof(name), "d%llu.manifest", static_cast<unsigned long long>(version));
  } else if (naming == ManifestNaming::kV1) {
    std::snprintf(name, sizeof(name), "%llu.manifest", static_cast<unsigned long long>(version));
  } else {
    std::snprintf(name, sizeof(name), "%020llu.manifest",
                  static_cast<unsigned long long>(UINT64_MAX - version));
  }
  return name;
}

arrow::Result<std::vector<ManifestName>> ListVersions(const TableLocation& table) {
  std::vector<ManifestName> versions;
  auto names = table.store->List(VersionsFolder(table));
  if (!names.ok()) {
    const ErrorDetail* detail = GetErrorDetail(names.status());
    if (detail == nullptr || detail->kind() != ErrorKind::kNotFound) return names.status();
  } else {
    for (const std::string& name : *names) {
      auto parsed = ParseManifestName(name);
      if (parsed && !parsed->detached) versions.push_back(*std::move(parsed));
    }
  }
  if (versions.empty()) {
    return NotFound(table.root, "There is no table here (no manifest in _versions): ", table.root);
  }
  std::sort(versions.begin(), versions.end(),
            [](const ManifestName& a, const ManifestName& b) { return a.version < b.version; });
  for (const ManifestName& version : versions) {
    if (version.naming != versions.front().naming) {
      return Corrupt(table.root,
                     "The table has manifest names of both schemes: ", versions.front().name,
                     " and ", version.name, ": ", table.root);
    }
  }
  return versions;
}

arrow::Result<std::shared_ptr<const Manifest>> OpenManifest(const TableLocation& table,
                                                            std::optional<uint64_t> version,
                                                            ManifestNaming* naming) {
  if (!version) {
    ARROW_ASSIGN_OR_RAISE(auto versions, ListVersions(table));
    if (naming != nullptr) *naming = versions.back().naming;
    return ReadManifest(table, versions.back().name);
  }
  for (const ManifestNaming scheme : {ManifestNaming::kV2, ManifestNaming::kV1}) {
    auto manifest = ReadManifest(table, FormatManifestName(*version, scheme));
    if (!manifest.ok()) {
      const ErrorDetail* detail = GetErrorDetail(manifest.status());
      if (detail != nullptr && detail->kind() == ErrorKind::kNotFound) continue;
    } else if (naming != nullptr) {
      *naming = scheme;
    }
    return manifest;
  }
  // Tell a missing table from a missing version.
  if ((*version & kDetachedBit) == 0) ARROW_RETURN_NOT_OK(ListVersions(table).status());
  return NoSuchVersion(table, *version);
}

arrow::Result<std::string> DataFilePath(const TableLocation& table, const Manifest& manifest,
                                        const DataFile& file) {
  if (file.path.empty() || file.path == "." || file.path == ".." ||
      file.path.find_first_of(std::string_view("/\\\0", 3)) != std::string::npos) {
    return Corrupt(manifest.path(), "A data file's path must be a plain file name: found ",
                   file.path, ": ", manifest.path());
  }
  ARROW_ASSIGN_OR_RAISE(std::string folder,
                        FolderOf(table, manifest, file.base_id, "data", /*root_only=*/false));
  return folder + "/" + file.path;
}

arrow::Result<std::string> DeletionFilePath(const TableLocation& table, const Manifest& manifest,
                                            uint64_t fragment_id, const DeletionFile& file) {
  ARROW_ASSIGN_OR_RAISE(std::string folder,
                        FolderOf(table, manifest, file.base_id, "_deletions", /*root_only=*/true));
  return JoinParts(folder, "/", fragment_id, "-", file.read_version, "-", file.id,
                   file.kind == DeletionFile::Kind::kBitmap ? ".bin" : ".arrow");
}

void WriteVersionHint(const TableLocation& table, uint64_t version) {
  const std::string path = VersionsFolder(table) + "/latest_version_hint.json";
  // Best effort, but a hint that stays too low loses commits of readers that trust it: then none is
  // better.
  if (!table.store->Put(path, JoinParts("{\"version\":", version, "}")).ok()) {
    (void)table.store->Delete(path);
  }
}

std::string NewDataFileName() {
  const auto bytes = RandomUuidBytes();
  std::string name;
  for (size_t i = 0; i < 3; ++i) {
    for (int bit = 7; bit >= 0; --bit) name.push_back((bytes[i] >> bit & 1) != 0 ? '1' : '0');
  }
  for (size_t i = 3; i < bytes.size(); ++i) AppendHex(bytes[i], &name);
  return name + ".lance";
}

std::string NewUuid() {
  const auto bytes = RandomUuidBytes();
  std::string text;
  for (size_t i = 0; i < bytes.size(); ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) text.push_back('-');
    AppendHex(bytes[i], &text);
  }
  return text;
}

}  // namespace pennon::table
