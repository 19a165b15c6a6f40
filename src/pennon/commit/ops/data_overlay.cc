#include "pennon/commit/ops/data_overlay.h"

#include <map>
#include <memory>
#include <optional>
#include <utility>

#include <arrow/array/array_primitive.h>
#include <arrow/array/util.h>
#include <arrow/type.h>
#include <protozero/pbf_writer.hpp>

#include "pennon/error.h"
#include "pennon/file/reader.h"
#include "pennon/table/deletions.h"
#include "pennon/table/row_lineage.h"
#include "pennon/wire/transaction_fields.h"

namespace pennon::commit {
namespace {

namespace field = wire::data_overlay_operation;

// Reads the hidden column that holds a fragment's last-updated versions (table.md 4.5, spilled
// sequences).
arrow::Result<std::vector<uint64_t>> ReadSpilledVersions(const table::TableLocation& table,
                                                         const table::Manifest& manifest,
                                                         const table::Fragment& fragment) {
  for (const table::DataFile& data_file : fragment.files) {
    const auto column = data_file.ColumnOf(table::kLastUpdatedAtField);
    if (!column) continue;
    ARROW_ASSIGN_OR_RAISE(const std::string path, table::DataFilePath(table, manifest, data_file));
    std::optional<uint64_t> size;
    if (data_file.size_bytes != 0) size = data_file.size_bytes;
    ARROW_ASSIGN_OR_RAISE(auto bytes, table.store->Open(path, size));
    ARROW_ASSIGN_OR_RAISE(auto reader, file::FileReader::Open(bytes, arrow::default_memory_pool()));
    ARROW_ASSIGN_OR_RAISE(const uint64_t length, reader->ColumnLength(*column));
    if (length != fragment.physical_rows) {
      return Corrupt(path, "Column of row versions has the wrong length: expected ",
                     fragment.physical_rows, ", found ", length);
    }
    Field versions;
    versions.name = "_row_last_updated_at_version";
    versions.id = table::kLastUpdatedAtField;
    versions.logical_type = "uint64";
    versions.nullable = false;
    versions.type = arrow::uint64();
    const file::RowRange all{0, length, 0};
    ARROW_ASSIGN_OR_RAISE(auto data, reader->Read(versions, *column, {&all, 1}, length));
    const arrow::UInt64Array values(data);
    return std::vector<uint64_t>(values.raw_values(), values.raw_values() + length);
  }
  return Corrupt(
      manifest.path(),
      "Fragment says that a column holds its row versions, but none of its files has one: "
      "fragment ",
      fragment.id);
}

// The last-updated sequence with `version` at the covered rows. A spilled one becomes inline: data
// files are never rewritten in place, so its column is left behind unread.
arrow::Result<std::string> StampFragment(const table::TableLocation& table,
                                         const table::Manifest& manifest,
                                         const table::Fragment& fragment, const Bitmap& covered,
                                         uint64_t version) {
  if (fragment.last_updated_at.kind == table::LineageSequence::Kind::kColumn) {
    ARROW_ASSIGN_OR_RAISE(const std::vector<uint64_t> versions,
                          ReadSpilledVersions(table, manifest, fragment));
    return table::StampRowVersions(table::EncodeRowVersions(versions), fragment.physical_rows,
                                   covered, version);
  }
  return table::StampRowVersions(fragment.last_updated_at.bytes, fragment.physical_rows, covered,
                                 version);
}

}  // namespace

DataOverlay::DataOverlay(std::vector<OverlayGroup> groups, std::vector<int32_t> read_fields)
    : groups_(std::move(groups)) {
  for (const OverlayGroup& group : groups_) footprint_.covered[group.fragment_id] |= group.covered;
  footprint_.read_fields = std::move(read_fields);
}

std::string DataOverlay::EncodeMessage() const {
  std::string bytes;
  protozero::pbf_writer writer(bytes);
  for (const OverlayGroup& group : groups_) {
    protozero::pbf_writer message(writer, field::kGroups);
    if (group.fragment_id != 0) message.add_uint64(field::kFragmentId, group.fragment_id);
    for (const table::NewOverlay& overlay : group.overlays) {
      message.add_message(field::kOverlays, table::EncodeOverlay(overlay, 0));
    }
  }
  return bytes;
}

arrow::Status DataOverlay::CheckAgainst(const NewerVersion& newer) const {
  ARROW_ASSIGN_OR_RAISE(const Footprint theirs,
                        ReadFootprint(newer.transaction, newer.after.path()));
  const auto deleted_rows = [&newer](uint64_t fragment_id) -> arrow::Result<Bitmap> {
    const table::Fragment* before = newer.before.FindFragment(fragment_id);
    const table::Fragment* after = newer.after.FindFragment(fragment_id);
    if (before == nullptr || after == nullptr) return Bitmap::OfRange(0, uint64_t{1} << 32);
    ARROW_ASSIGN_OR_RAISE(Bitmap now, table::ReadDeletions(newer.table, newer.after, *after));
    ARROW_ASSIGN_OR_RAISE(const Bitmap then,
                          table::ReadDeletions(newer.table, newer.before, *before));
    now -= then;
    return now;
  };
  ARROW_ASSIGN_OR_RAISE(const Finding finding,
                        CheckOverlayConflict(footprint_, theirs, deleted_rows));
  if (finding.verdict == Verdict::kCompatible) return arrow::Status::OK();
  const bool retry = finding.verdict == Verdict::kRetry;
  return CommitConflict(retry, "Cannot commit over a concurrent ", OperationName(theirs.kind), ": ",
                        finding.reason, retry ? "; plan the write anew on the newest version" : "",
                        "; version ", newer.after.version());
}

arrow::Result<table::ManifestEdit> DataOverlay::Apply(const table::TableLocation& table,
                                                      const table::Manifest& current,
                                                      uint64_t version) const {
  std::map<uint64_t, std::vector<std::string>> overlays;
  for (const OverlayGroup& group : groups_) {
    for (const table::NewOverlay& overlay : group.overlays) {
      overlays[group.fragment_id].push_back(table::EncodeOverlay(overlay, version));
    }
  }
  table::ManifestEdit edit;
  for (const auto& [id, encoded] : overlays) {
    const table::Fragment* fragment = current.FindFragment(id);
    if (fragment == nullptr) {
      return CommitConflict(true, "Fragment of the overlay is not in the newest version: fragment ",
                            id, ", version ", current.version());
    }
    if (!fragment->overlays.empty() && fragment->overlays.back().committed_version >= version) {
      return Corrupt(current.path(), "Fragment has an overlay from the future: fragment ", id,
                     ", overlay of version ", fragment->overlays.back().committed_version,
                     " in version ", current.version());
    }
    const Bitmap& covered = footprint_.covered.at(id);
    if (const auto last = covered.Max(); last && *last >= fragment->physical_rows) {
      return InvalidInput("Overlay covers a row beyond its fragment: fragment ", id, " has ",
                          fragment->physical_rows, " rows, offset ", *last);
    }
    std::optional<std::string> stamped;
    if (current.has_stable_row_ids()) {
      ARROW_ASSIGN_OR_RAISE(stamped, StampFragment(table, current, *fragment, covered, version));
    }
    edit.replaced_fragments[id] = table::SpliceFragment(*fragment, encoded, stamped);
  }
  return edit;
}

}  // namespace pennon::commit
