#include "pennon/dataset.h"

#include <charconv>
#include <set>
#include <utility>

#include <arrow/compute/initialize.h>
#include <arrow/record_batch.h>
#include <arrow/table.h>

#include "pennon/error.h"
#include "pennon/io/table_uri.h"
#include "pennon/read/explain.h"
#include "pennon/read/index_list.h"
#include "pennon/read/scan.h"
#include "pennon/read/snapshot.h"
#include "pennon/read/take.h"
#include "pennon/table/tags.h"

namespace pennon {
namespace {

// A table and a version of it, as a URI and the options name them.
struct Target {
  std::string path;
  std::string root;
  std::optional<uint64_t> version;
  std::string_view maybe_tag;  // what may have been meant as a tag, but belongs to the path
};

// Takes `path@7` and `path@tag` apart; a suffix that is neither belongs to the path.
arrow::Result<Target> ParseUri(const std::string& uri, const std::shared_ptr<ObjectStore>& store) {
  Target target{.path = uri};
  const size_t at = uri.rfind('@');
  if (at != std::string::npos && at != 0 && at + 1 != uri.size()) {
    Target before{.path = uri.substr(0, at)};
    const std::string_view suffix = std::string_view(uri).substr(at + 1);
    uint64_t number = 0;
    const auto [stop, error] = std::from_chars(suffix.begin(), suffix.end(), number);
    const bool is_number = error == std::errc() && stop == suffix.end();
    if (is_number || table::IsTagName(suffix)) {
      ARROW_ASSIGN_OR_RAISE(before.root, io::ResolveTableUri(before.path));
      before.version = number;
      if (!is_number) {
        ARROW_ASSIGN_OR_RAISE(before.version, table::FindTag({store, before.root}, suffix));
      }
      if (before.version) return before;
      target.maybe_tag = suffix;
    }
  }
  ARROW_ASSIGN_OR_RAISE(target.root, io::ResolveTableUri(uri));
  return target;
}

arrow::Result<uint64_t> VersionOfTag(const table::TableLocation& table, const std::string& tag) {
  ARROW_ASSIGN_OR_RAISE(const std::optional<uint64_t> version, table::FindTag(table, tag));
  if (version) return *version;
  ARROW_RETURN_NOT_OK(table::ListVersions(table).status());  // tells a missing table
  return NotFound(table.root, "no version of the table has the tag `", tag, "`: ", table.root);
}

// Files of a table version, each counted once.
struct FileTotals {
  std::set<std::string> seen;
  uint64_t files = 0;
  uint64_t bytes = 0;

  void Add(const table::DataFile& file) {
    std::string key = file.path + "#" + (file.base_id ? std::to_string(*file.base_id) : "");
    if (!seen.insert(std::move(key)).second) return;
    ++files;
    bytes += file.size_bytes;
  }
};

}  // namespace

arrow::Result<Dataset> Dataset::Open(const std::string& uri, const OpenOptions& options) {
  static const arrow::Status initialized = arrow::compute::Initialize();
  ARROW_RETURN_NOT_OK(initialized);
  Context context = options.context;
  if (context.store == nullptr) context.store = MakeLocalStore({.map_files = context.map_files});
  ARROW_ASSIGN_OR_RAISE(Target target, ParseUri(uri, context.store));
  std::optional<uint64_t> asked = options.version;
  if (!options.tag.empty()) {
    ARROW_ASSIGN_OR_RAISE(const uint64_t tagged,
                          VersionOfTag({context.store, target.root}, options.tag));
    if (asked && *asked != tagged) {
      return InvalidInput("two versions were asked for: ", *asked, " and the tag ", options.tag,
                          " of version ", tagged);
    }
    asked = tagged;
  }
  if (target.version && asked && *target.version != *asked) {
    return InvalidInput("two versions were asked for: ", uri, " and ", *asked);
  }
  if (asked) target.version = asked;
  auto snapshot = read::OpenSnapshot(target.path, target.root, target.version, context);
  const ErrorDetail* detail = GetErrorDetail(snapshot.status());
  if (detail != nullptr && detail->kind() == ErrorKind::kNotFound && !target.maybe_tag.empty()) {
    return NotFound(target.root, snapshot.status().message(),
                    "; what stands before the @ has no tag `", target.maybe_tag, "` either");
  }
  ARROW_RETURN_NOT_OK(snapshot.status());
  return Dataset(*std::move(snapshot));
}

const std::string& Dataset::uri() const { return snapshot_->uri; }
uint64_t Dataset::version() const { return snapshot_->manifest->version(); }
const Schema& Dataset::schema() const { return snapshot_->manifest->schema(); }

arrow::Result<std::shared_ptr<arrow::RecordBatchReader>> Dataset::Scan(
    const ScanOptions& options) const {
  return read::Scan(snapshot_, options);
}

arrow::Result<std::shared_ptr<arrow::Table>> Dataset::ToTable(const ScanOptions& options) const {
  ARROW_ASSIGN_OR_RAISE(auto reader, Scan(options));
  return reader->ToTable();
}

arrow::Result<int64_t> Dataset::CountRows(const Filter& where) const {
  return read::CountRows(snapshot_, where);
}

arrow::Result<std::shared_ptr<arrow::Table>> Dataset::Take(std::span<const int64_t> positions,
                                                           const TakeOptions& options) const {
  ARROW_ASSIGN_OR_RAISE(auto rows, read::FindPositions(snapshot_, positions));
  return read::TakeRows(snapshot_, rows, options);
}

arrow::Result<std::shared_ptr<arrow::Table>> Dataset::Take(std::initializer_list<int64_t> positions,
                                                           const TakeOptions& options) const {
  return Take(std::span<const int64_t>(positions.begin(), positions.size()), options);
}

arrow::Result<std::shared_ptr<arrow::Table>> Dataset::TakeAddresses(
    std::span<const uint64_t> addresses, const TakeOptions& options) const {
  ARROW_ASSIGN_OR_RAISE(auto rows,
                        read::FindAddresses(snapshot_, addresses, /*skip_missing=*/false));
  return read::TakeRows(snapshot_, rows, options);
}

arrow::Result<std::shared_ptr<arrow::Table>> Dataset::TakeRowIds(std::span<const uint64_t> ids,
                                                                 const TakeOptions& options) const {
  ARROW_ASSIGN_OR_RAISE(auto rows, read::FindRowIds(snapshot_, ids));
  return read::TakeRows(snapshot_, rows, options);
}

arrow::Result<DatasetInfo> Dataset::Info() const {
  const table::Manifest& manifest = *snapshot_->manifest;
  DatasetInfo info;
  info.uri = snapshot_->uri;
  info.version = manifest.version();
  info.timestamp_ns = manifest.timestamp_ns();
  info.data_version = manifest.data_version();
  info.stable_row_ids = manifest.has_stable_row_ids();
  ARROW_ASSIGN_OR_RAISE(int64_t rows, CountRows());
  info.rows = static_cast<uint64_t>(rows);
  info.fragments = manifest.fragments().size();
  info.manifest_bytes = manifest.file_bytes();
  info.reader_flags = manifest.reader_flags();
  info.writer_flags = manifest.writer_flags();
  FileTotals base;
  FileTotals overlays;
  for (const table::Fragment& fragment : manifest.fragments()) {
    info.physical_rows += fragment.physical_rows;
    for (const table::DataFile& file : fragment.files) base.Add(file);
    for (const table::OverlayFile& overlay : fragment.overlays) overlays.Add(overlay.data_file);
    info.overlays += fragment.overlays.size();
  }
  if (info.physical_rows < info.rows)
    info.physical_rows = info.rows;  // an old manifest may not say
  info.deleted_rows = info.physical_rows - info.rows;
  info.data_files = base.files;
  info.data_bytes = base.bytes;
  info.overlay_bytes = overlays.bytes;
  ARROW_ASSIGN_OR_RAISE(auto indexes,
                        read::ParseIndexList(manifest.index_section(), manifest.path()));
  for (read::IndexEntry& entry : indexes) {
    DatasetInfo::Index index;
    index.name = std::move(entry.name);
    index.type = std::move(entry.type);
    index.dataset_version = entry.dataset_version;
    for (int32_t id : entry.fields) {
      const Field* field = manifest.schema().FindId(id);
      index.columns.push_back(field != nullptr ? field->name : "#" + std::to_string(id));
    }
    info.indexes.push_back(std::move(index));
  }
  return info;
}

std::vector<FragmentInfo> Dataset::Fragments() const {
  std::vector<FragmentInfo> list;
  for (const table::Fragment& fragment : snapshot_->manifest->fragments()) {
    FragmentInfo info;
    info.id = fragment.id;
    info.physical_rows = fragment.physical_rows;
    info.deleted_rows = fragment.num_deleted_rows();
    for (const table::DataFile& file : fragment.files)
      info.files.push_back(read::DescribeFile(file));
    info.overlays = fragment.overlays.size();
    list.push_back(std::move(info));
  }
  return list;
}

arrow::Result<std::vector<OverlayInfo>> Dataset::Overlays() const {
  return read::ListOverlays(snapshot_);
}

arrow::Result<CellExplanation> Dataset::ExplainCell(uint64_t row, const std::string& column) const {
  return read::ExplainCell(snapshot_, row, column);
}

arrow::Result<std::vector<VersionInfo>> Dataset::Versions() const {
  ARROW_ASSIGN_OR_RAISE(std::vector<table::ManifestName> names,
                        table::ListVersions(snapshot_->location));
  std::vector<VersionInfo> versions;
  for (const table::ManifestName& name : names) {
    if (name.detached) continue;
    ARROW_ASSIGN_OR_RAISE(auto manifest, table::OpenManifest(snapshot_->location, name.version));
    versions.push_back({manifest->version(), manifest->timestamp_ns(), {}});
  }
  return versions;
}

arrow::Result<Dataset> Dataset::Checkout(std::optional<uint64_t> version) const {
  ARROW_ASSIGN_OR_RAISE(auto snapshot, read::CheckoutSnapshot(*snapshot_, version));
  return Dataset(std::move(snapshot));
}

IoStats Dataset::TakeIoStats() const { return snapshot_->counter->Take(); }

}  // namespace pennon
