#include "pennon/commit/test_table.h"

#include <numeric>
#include <utility>

#include <arrow/array/array_base.h>
#include <arrow/type.h>
#include <protozero/pbf_writer.hpp>

#include "pennon/error.h"
#include "pennon/file/writer.h"
#include "pennon/schema/field_tree.h"
#include "pennon/table/deletions.h"
#include "pennon/table/fragment_wire.h"
#include "pennon/table/row_lineage.h"
#include "pennon/wire/field_message.h"
#include "pennon/wire/manifest_fields.h"
#include "pennon/wire/manifest_file.h"
#include "pennon/wire/transaction_fields.h"

namespace pennon::commit {
namespace {

using protozero::pbf_writer;

std::string FirstTransaction(const std::vector<std::string>& fragments) {
  Transaction transaction;
  transaction.uuid = table::NewUuid();
  transaction.kind = OperationKind::kOverwrite;
  pbf_writer overwrite(transaction.operation);
  for (const std::string& fragment : fragments) overwrite.add_message(1, fragment);
  return EncodeTransaction(transaction);
}

std::string FirstManifest(const Schema& schema, const std::vector<std::string>& fragments,
                          const TestTableOptions& options, uint64_t rows, uint64_t flags) {
  namespace field = wire::manifest;
  std::string bytes;
  pbf_writer manifest(bytes);
  for (const wire::FieldMessage& node : schema::FlattenFields(schema.fields)) {
    manifest.add_message(field::kFields, wire::EncodeFieldMessage(node));
  }
  for (const std::string& fragment : fragments) manifest.add_message(field::kFragments, fragment);
  manifest.add_uint64(field::kVersion, 1);
  {
    pbf_writer timestamp(manifest, field::kTimestamp);
    timestamp.add_int64(wire::timestamp::kSeconds, 1700000000);
  }
  if (flags != 0) {
    manifest.add_uint64(field::kReaderFlags, flags);
    manifest.add_uint64(field::kWriterFlags, flags);
  }
  if (options.stable_row_ids) manifest.add_uint64(field::kNextRowId, rows);
  {
    pbf_writer writer(manifest, field::kWriterVersion);
    writer.add_string(wire::writer_version::kLibrary, "pennon-test");
    writer.add_string(wire::writer_version::kVersion, "0.1.0");
  }
  {
    pbf_writer format(manifest, field::kDataFormat);
    format.add_string(wire::data_format::kFileFormat, "lance");
    format.add_string(wire::data_format::kVersion, options.data_version);
  }
  if (!fragments.empty())
    manifest.add_uint32(field::kMaxFragmentId, static_cast<uint32_t>(fragments.size() - 1));
  manifest.add_uint64(field::kTransactionSection, 0);
  return bytes + options.more_manifest_fields;
}

arrow::Status Refuse(const NewerVersion& newer, const char* what) {
  return CommitConflict(true, "Test operation cannot be rebased: ", what, ", version ",
                        newer.after.version());
}

}  // namespace

arrow::Result<std::shared_ptr<const table::Manifest>> CreateTestTable(
    const table::TableLocation& table, const arrow::Schema& schema,
    const std::vector<std::string>& fragments, const TestTableOptions& options) {
  ARROW_ASSIGN_OR_RAISE(const Schema tree, schema::FromArrow(schema));
  uint64_t rows = 0;
  uint64_t flags = options.stable_row_ids ? table::kStableRowIdsFlag : 0;
  for (const std::string& bytes : fragments) {
    ARROW_ASSIGN_OR_RAISE(const table::Fragment fragment, table::ParseFragment(bytes, "fragment"));
    rows += fragment.physical_rows;
    if (!fragment.overlays.empty()) flags |= table::kOverlaysFlag;
  }
  std::string file;
  wire::AppendSection(FirstTransaction(fragments), &file);
  const uint64_t position = file.size();
  wire::AppendSection(FirstManifest(tree, fragments, options, rows, flags), &file);
  wire::AppendManifestFooter(position, &file);
  ARROW_RETURN_NOT_OK(table.store->PutIfAbsent(
      table.root + "/_versions/" + table::FormatManifestName(1, options.naming), file));
  return table::OpenManifest(table, 1);
}

table::Fragment TestFragment(uint64_t id, uint64_t rows, std::vector<int32_t> fields) {
  table::Fragment fragment;
  fragment.id = id;
  fragment.physical_rows = rows;
  table::DataFile file;
  file.path = JoinParts("base-", id, ".lance");
  file.column_indices.resize(fields.size());
  std::iota(file.column_indices.begin(), file.column_indices.end(), 0);
  file.fields = std::move(fields);
  file.major_version = 2;
  file.minor_version = 1;
  fragment.files = {std::move(file)};
  return fragment;
}

arrow::Result<table::Fragment> WriteTestFragment(
    const table::TableLocation& table, const table::Manifest& manifest,
    const std::vector<std::shared_ptr<arrow::Array>>& columns) {
  const std::string& version = manifest.data_version();
  const file::FileVersion file_version{2, static_cast<uint16_t>(version.back() - '0')};
  ARROW_ASSIGN_OR_RAISE(auto writer,
                        file::FileWriter::Make(manifest.schema().fields, file_version));
  for (size_t i = 0; i < columns.size(); ++i) {
    ARROW_RETURN_NOT_OK(writer->Append(static_cast<int>(i), *columns[i]));
  }
  ARROW_ASSIGN_OR_RAISE(const file::WrittenFile written, writer->Finish());
  table::DataFile data_file;
  data_file.path = table::NewDataFileName();
  data_file.fields = written.fields;
  data_file.column_indices = written.column_indices;
  data_file.major_version = written.version.major;
  data_file.minor_version = written.version.minor;
  data_file.size_bytes = written.bytes.size();
  ARROW_RETURN_NOT_OK(table.store->Put(table.root + "/data/" + data_file.path, written.bytes));
  table::Fragment fragment;
  fragment.physical_rows = static_cast<uint64_t>(columns.front()->length());
  fragment.files = {std::move(data_file)};
  return fragment;
}

std::string TestAppend::EncodeMessage() const {
  std::string bytes;
  pbf_writer writer(bytes);
  for (const table::Fragment& fragment : fragments_) {
    writer.add_message(wire::append_operation::kFragments, table::EncodeFragment(fragment));
  }
  return bytes;
}

arrow::Status TestAppend::CheckAgainst(const NewerVersion& newer) const {
  const OperationKind theirs = newer.transaction.kind;
  const bool ok = theirs == OperationKind::kAppend || theirs == OperationKind::kDelete ||
                  theirs == OperationKind::kDataOverlay;
  return ok ? arrow::Status::OK() : Refuse(newer, "append");
}

arrow::Result<table::ManifestEdit> TestAppend::Apply(const table::TableLocation&,
                                                     const table::Manifest& current,
                                                     uint64_t version) const {
  table::ManifestEdit edit;
  uint64_t id = current.max_fragment_id() ? *current.max_fragment_id() + uint64_t{1} : 0;
  uint64_t next_row_id = current.next_row_id();
  for (table::Fragment fragment : fragments_) {
    fragment.id = id;
    std::vector<uint64_t> ids(fragment.physical_rows);
    std::iota(ids.begin(), ids.end(), next_row_id);
    const std::string id_bytes = table::EncodeRowIds(ids);
    const std::string versions =
        table::EncodeRowVersions(std::vector<uint64_t>(fragment.physical_rows, version));
    if (current.has_stable_row_ids()) {
      using Kind = table::LineageSequence::Kind;
      fragment.row_ids = {Kind::kInline, id_bytes};
      fragment.created_at = {Kind::kInline, versions};
      fragment.last_updated_at = {Kind::kInline, versions};
      next_row_id += fragment.physical_rows;
    }
    edit.new_fragments.push_back(table::EncodeFragment(fragment));
    edit.max_fragment_id = static_cast<uint32_t>(id++);
  }
  if (current.has_stable_row_ids()) edit.next_row_id = next_row_id;
  return edit;
}

std::string TestDelete::EncodeMessage() const {
  std::string bytes;
  pbf_writer writer(bytes);
  for (const auto& [id, rows] : rows_) {
    table::Fragment fragment = TestFragment(id, 1, {0});
    writer.add_message(wire::delete_operation::kUpdatedFragments, table::EncodeFragment(fragment));
  }
  return bytes;
}

arrow::Status TestDelete::CheckAgainst(const NewerVersion& newer) const {
  const OperationKind theirs = newer.transaction.kind;
  const bool ok = theirs == OperationKind::kAppend || theirs == OperationKind::kDataOverlay;
  return ok ? arrow::Status::OK() : Refuse(newer, "delete");
}

arrow::Result<table::ManifestEdit> TestDelete::Apply(const table::TableLocation& table,
                                                     const table::Manifest& current,
                                                     uint64_t version) const {
  table::ManifestEdit edit;
  for (const auto& [id, rows] : rows_) {
    const table::Fragment* found = current.FindFragment(id);
    if (found == nullptr) return InvalidInput("Test deletes from a fragment that is gone: ", id);
    ARROW_ASSIGN_OR_RAISE(Bitmap deleted, table::ReadDeletions(table, current, *found));
    deleted |= rows;
    if (deleted.cardinality() == found->physical_rows) {
      edit.removed_fragments.push_back(id);
      continue;
    }
    table::Fragment fragment = *found;
    table::DeletionFile file;
    file.kind = table::DeletionFile::Kind::kBitmap;
    file.read_version = version - 1;
    file.id = version;
    file.num_deleted_rows = deleted.cardinality();
    fragment.deletion_file = file;
    ARROW_ASSIGN_OR_RAISE(const std::string path,
                          table::DeletionFilePath(table, current, id, file));
    ARROW_RETURN_NOT_OK(table.store->Put(path, deleted.Serialize(false)));
    edit.replaced_fragments[id] = table::EncodeFragment(fragment);
  }
  return edit;
}

}  // namespace pennon::commit
