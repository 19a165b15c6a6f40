#include "pennon/write/staging.h"

#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include <arrow/util/base64.h>
#include <nlohmann/json.hpp>

#include "pennon/base/bitmap.h"
#include "pennon/error.h"
#include "pennon/read/file_cache.h"
#include "pennon/write/overlay_writer.h"

namespace pennon {
namespace {

constexpr char kKind[] = "pennon staged overlay 1";

}  // namespace

std::string StagedOverlay::ToJson() const {
  nlohmann::ordered_json json;
  json["kind"] = kKind;
  json["fragment"] = fragment_id;
  json["read_version"] = read_version;
  json["path"] = path;
  json["bytes"] = size_bytes;
  json["cells"] = cells;
  json["data_version"] = data_version;
  json["fields"] = fields;
  json["columns"] = column_indices;
  json["dense"] = dense;
  json["coverage"] = nlohmann::ordered_json::array();
  for (const std::string& bitmap : coverage) {
    json["coverage"].push_back(arrow::util::base64_encode(bitmap));
  }
  return json.dump();
}

arrow::Result<StagedOverlay> StagedOverlay::FromJson(std::string_view text) {
  const auto json = nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object() || json.value("kind", nlohmann::json()) != kKind) {
    return InvalidInput(
        "text is no staged overlay; expected what StagedOverlay gave as JSON, of "
        "kind `",
        kKind, "`");
  }
  auto number = [&](const char* key, uint64_t* out) {
    const bool fits = json.contains(key) && json[key].is_number_unsigned();
    if (fits) *out = json[key].get<uint64_t>();
    return fits;
  };
  auto word = [&](const char* key, std::string* out) {
    const bool fits = json.contains(key) && json[key].is_string();
    if (fits) *out = json[key].get<std::string>();
    return fits;
  };
  auto ids = [&](const char* key, std::vector<int32_t>* out) {
    if (!json.contains(key) || !json[key].is_array()) return false;
    for (const auto& item : json[key]) {
      if (!item.is_number_unsigned() || item.get<uint64_t>() > INT32_MAX) return false;
      out->push_back(item.get<int32_t>());
    }
    return true;
  };
  StagedOverlay staged;
  bool sound = number("fragment", &staged.fragment_id) &&
               number("read_version", &staged.read_version) && word("path", &staged.path) &&
               number("bytes", &staged.size_bytes) && number("cells", &staged.cells) &&
               word("data_version", &staged.data_version) && ids("fields", &staged.fields) &&
               ids("columns", &staged.column_indices) && json.contains("dense") &&
               json["dense"].is_boolean() && json.contains("coverage") &&
               json["coverage"].is_array();
  if (sound) {
    staged.dense = json["dense"].get<bool>();
    for (const auto& item : json["coverage"]) {
      if (!item.is_string()) {
        sound = false;
        break;
      }
      ARROW_ASSIGN_OR_RAISE(std::string bitmap,
                            arrow::util::base64_decode(item.get_ref<const std::string&>()));
      staged.coverage.push_back(std::move(bitmap));
    }
  }
  if (!sound) return InvalidInput("staged overlay lacks a member or has one of a wrong type");
  return staged;
}

}  // namespace pennon

namespace pennon::write {
namespace {

// Checks a staged overlay against the version it was planned on and gives it the form of one that
// was written just now.
arrow::Result<StagedOverlay> Restore(const read::Snapshot& snapshot,
                                     const pennon::StagedOverlay& staged) {
  const table::Manifest& manifest = *snapshot.manifest;
  const table::Fragment* fragment = manifest.FindFragment(staged.fragment_id);
  if (fragment == nullptr) {
    return InvalidInput("Staged overlay is for a fragment that version ", manifest.version(),
                        " does not have: fragment ", staged.fragment_id);
  }
  const bool is_name = !staged.path.empty() && staged.path.find('/') == std::string::npos;
  if (!is_name || staged.fields.empty() || staged.fields.size() != staged.column_indices.size() ||
      staged.coverage.size() != (staged.dense ? 1 : staged.fields.size())) {
    return InvalidInput("Staged overlay contradicts itself: file ", staged.path, ", ",
                        staged.fields.size(), " fields, ", staged.column_indices.size(),
                        " columns, ", staged.coverage.size(), " coverages");
  }
  if (staged.data_version != manifest.data_version()) {
    return InvalidInput("Staged overlay is of another storage version than the table: ",
                        staged.data_version, ", expected ", manifest.data_version());
  }
  StagedOverlay restored;
  restored.fragment_id = staged.fragment_id;
  restored.cells = staged.cells;
  for (const std::string& bytes : staged.coverage) {
    ARROW_ASSIGN_OR_RAISE(const Bitmap coverage, Bitmap::Parse(bytes));
    const std::optional<uint32_t> last = coverage.Max();
    if (!last || *last >= fragment->physical_rows) {
      return InvalidInput("Staged overlay covers no row, or one beyond its fragment: file ",
                          staged.path, ", fragment ", fragment->id, " has ",
                          fragment->physical_rows, " rows");
    }
    restored.covered |= coverage;
  }
  for (const int32_t id : staged.fields) {
    if (manifest.schema().FindId(id) == nullptr) {
      return InvalidInput("Staged overlay is for a field that version ", manifest.version(),
                          " does not have: field ", id, ", file ", staged.path);
    }
  }
  table::DataFile& file = restored.overlay.data_file;
  file.path = staged.path;
  file.fields = staged.fields;
  file.column_indices = staged.column_indices;
  file.major_version = 2;
  file.minor_version = static_cast<uint32_t>(staged.data_version.back() - '0');
  file.size_bytes = staged.size_bytes;
  restored.overlay.dense = staged.dense;
  restored.overlay.coverage = staged.coverage;
  restored.path = snapshot.location.root + "/data/" + staged.path;
  return snapshot.files->Open(snapshot.location, manifest, file, snapshot.context.pool)
      .Map([&](const auto&) { return restored; });
}

}  // namespace

arrow::Result<std::optional<pennon::StagedOverlay>> Stage(
    const std::shared_ptr<const read::Snapshot>& snapshot, uint64_t fragment_id,
    std::span<const OverlayColumn> columns) {
  ARROW_RETURN_NOT_OK(table::CheckWritable(*snapshot->manifest));
  ARROW_ASSIGN_OR_RAISE(std::optional<StagedOverlay> written,
                        WriteOverlayFile(snapshot, fragment_id, columns));
  if (!written) return std::nullopt;
  pennon::StagedOverlay staged;
  staged.fragment_id = fragment_id;
  staged.read_version = snapshot->manifest->version();
  table::DataFile& file = written->overlay.data_file;
  staged.path = std::move(file.path);
  staged.size_bytes = file.size_bytes;
  staged.cells = written->cells;
  staged.data_version = snapshot->manifest->data_version();
  staged.fields = std::move(file.fields);
  staged.column_indices = std::move(file.column_indices);
  staged.dense = written->overlay.dense;
  staged.coverage = std::move(written->overlay.coverage);
  return staged;
}

arrow::Result<WriteResult> CommitStaged(const std::shared_ptr<const read::Snapshot>& snapshot,
                                        std::span<const pennon::StagedOverlay> staged,
                                        const commit::RetryPolicy& policy) {
  if (staged.empty()) {
    WriteResult unchanged;
    unchanged.info.version = snapshot->manifest->version();
    unchanged.snapshot = snapshot;
    return unchanged;
  }
  uint64_t oldest = staged[0].read_version;
  for (const pennon::StagedOverlay& one : staged) oldest = std::min(oldest, one.read_version);
  std::shared_ptr<const read::Snapshot> read = snapshot;
  if (oldest != snapshot->manifest->version()) {
    ARROW_ASSIGN_OR_RAISE(read, read::CheckoutSnapshot(*snapshot, oldest));
  }
  ARROW_RETURN_NOT_OK(table::CheckWritable(*read->manifest));
  StagedFiles files(read->location);
  std::set<std::string> paths;
  std::vector<StagedOverlay> restored;
  for (const pennon::StagedOverlay& one : staged) {
    if (!paths.insert(one.path).second) {
      return InvalidInput("Staged overlay is given twice: file ", one.path);
    }
    ARROW_ASSIGN_OR_RAISE(StagedOverlay whole, Restore(*read, one));
    restored.push_back(std::move(whole));
  }
  for (StagedOverlay& one : restored) files.Add(std::move(one));
  return CommitOverlays(read, files, {}, policy, /*keep_files=*/true);
}

}  // namespace pennon::write
