#include "pennon/commit/footprint.h"

#include <string>
#include <utility>

#include "pennon/error.h"
#include "pennon/wire/fragment_fields.h"
#include "pennon/wire/message_reader.h"
#include "pennon/wire/transaction_fields.h"

namespace pennon::commit {
namespace {

using wire::kBytes;
using wire::kVarint;
using wire::pbf_reader;
using wire::Tag;

uint64_t ReadFragmentId(pbf_reader message) {
  uint64_t id = 0;
  while (message.next()) {
    if (static_cast<uint32_t>(message.tag_and_type()) == Tag(wire::data_fragment::kId, kVarint)) {
      id = message.get_uint64();
    } else {
      message.skip();
    }
  }
  return id;
}

std::vector<int32_t> ReadDataFileFields(pbf_reader message) {
  std::vector<int32_t> fields;
  while (message.next()) {
    switch (static_cast<uint32_t>(message.tag_and_type())) {
      case Tag(wire::data_file::kFields, kVarint):
      case Tag(wire::data_file::kFields, kBytes):
        wire::AppendInt32(message, &fields);
        break;
      default:
        message.skip();
    }
  }
  return fields;
}

void ReadDelete(pbf_reader message, Footprint* out) {
  namespace op = wire::delete_operation;
  while (message.next()) {
    switch (static_cast<uint32_t>(message.tag_and_type())) {
      case Tag(op::kUpdatedFragments, kBytes):
        out->updated_fragments.push_back(ReadFragmentId(message.get_message()));
        break;
      case Tag(op::kDeletedFragmentIds, kVarint):
      case Tag(op::kDeletedFragmentIds, kBytes):
        wire::AppendUnsigned(message, &out->removed_fragments);
        break;
      default:
        message.skip();
    }
  }
}

void ReadRewriteGroup(pbf_reader message, Footprint* out) {
  while (message.next()) {
    if (static_cast<uint32_t>(message.tag_and_type()) ==
        Tag(wire::rewrite_operation::kGroupOldFragments, kBytes)) {
      out->removed_fragments.push_back(ReadFragmentId(message.get_message()));
    } else {
      message.skip();
    }
  }
}

void ReadRewrite(pbf_reader message, Footprint* out) {
  namespace op = wire::rewrite_operation;
  while (message.next()) {
    switch (static_cast<uint32_t>(message.tag_and_type())) {
      case Tag(op::kOldFragments, kBytes):  // the old form, one group
        out->removed_fragments.push_back(ReadFragmentId(message.get_message()));
        break;
      case Tag(op::kGroups, kBytes):
        ReadRewriteGroup(message.get_message(), out);
        break;
      default:
        message.skip();
    }
  }
}

void ReadUpdate(pbf_reader message, Footprint* out) {
  namespace op = wire::update_operation;
  bool has_new_fragments = false;
  uint64_t mode = 0;
  std::vector<int32_t> fields;
  while (message.next()) {
    switch (static_cast<uint32_t>(message.tag_and_type())) {
      case Tag(op::kRemovedFragmentIds, kVarint):
      case Tag(op::kRemovedFragmentIds, kBytes):
        wire::AppendUnsigned(message, &out->removed_fragments);
        break;
      case Tag(op::kUpdatedFragments, kBytes):
        out->updated_fragments.push_back(ReadFragmentId(message.get_message()));
        break;
      case Tag(op::kNewFragments, kBytes):
        has_new_fragments = true;
        message.skip();
        break;
      case Tag(op::kFieldsModified, kVarint):
      case Tag(op::kFieldsModified, kBytes):
        wire::AppendInt32(message, &fields);
        break;
      case Tag(op::kMode, kVarint):
        mode = message.get_uint64();
        break;
      default:
        message.skip();
    }
  }
  out->moves_rows = mode != op::kRewriteColumns && has_new_fragments;
  if (mode == op::kRewriteColumns) {
    for (const uint64_t id : out->updated_fragments) out->cells.push_back({id, fields, {}});
  }
}

bool ReadFlag(pbf_reader message, uint32_t number) {
  bool flag = false;
  while (message.next()) {
    if (static_cast<uint32_t>(message.tag_and_type()) == Tag(number, kVarint)) {
      flag = message.get_uint64() != 0;
    } else {
      message.skip();
    }
  }
  return flag;
}

void ReadReplacement(pbf_reader group, Footprint* out) {
  namespace op = wire::data_replacement_operation;
  ChangedCells cells;
  while (group.next()) {
    switch (static_cast<uint32_t>(group.tag_and_type())) {
      case Tag(op::kFragmentId, kVarint):
        cells.fragment_id = group.get_uint64();
        break;
      case Tag(op::kNewFile, kBytes):
        cells.fields = ReadDataFileFields(group.get_message());
        break;
      default:
        group.skip();
    }
  }
  out->cells.push_back(std::move(cells));
}

std::vector<std::string_view> ReadFieldCoverage(pbf_reader message) {
  std::vector<std::string_view> bitmaps;
  while (message.next()) {
    if (static_cast<uint32_t>(message.tag_and_type()) ==
        Tag(wire::overlay_file::kOffsetBitmaps, kBytes)) {
      bitmaps.push_back(wire::ViewOf(message));
    } else {
      message.skip();
    }
  }
  return bitmaps;
}

// A sparse overlay gives one entry a field, so that the cells are exact.
arrow::Status ReadOverlay(pbf_reader message, uint64_t fragment_id, Footprint* out) {
  namespace overlay = wire::overlay_file;
  std::vector<int32_t> fields;
  std::vector<std::string_view> coverage;
  bool dense = false;
  while (message.next()) {
    switch (static_cast<uint32_t>(message.tag_and_type())) {
      case Tag(overlay::kDataFile, kBytes):
        fields = ReadDataFileFields(message.get_message());
        break;
      case Tag(overlay::kSharedOffsetBitmap, kBytes):
        coverage.assign(1, wire::ViewOf(message));
        dense = true;
        break;
      case Tag(overlay::kFieldCoverage, kBytes):
        coverage = ReadFieldCoverage(message.get_message());
        dense = false;
        break;
      default:
        message.skip();
    }
  }
  for (size_t i = 0; i < coverage.size() && (dense || i < fields.size()); ++i) {
    ChangedCells cells;
    cells.fragment_id = fragment_id;
    cells.fields = dense ? fields : std::vector<int32_t>{fields[i]};
    ARROW_ASSIGN_OR_RAISE(cells.offsets, Bitmap::Parse(coverage[i]));
    out->cells.push_back(std::move(cells));
  }
  return arrow::Status::OK();
}

arrow::Status ReadOverlayGroup(pbf_reader group, Footprint* out) {
  namespace op = wire::data_overlay_operation;
  uint64_t fragment_id = 0;
  std::vector<pbf_reader> overlays;
  while (group.next()) {
    switch (static_cast<uint32_t>(group.tag_and_type())) {
      case Tag(op::kFragmentId, kVarint):
        fragment_id = group.get_uint64();
        break;
      case Tag(op::kOverlays, kBytes):
        overlays.push_back(group.get_message());
        break;
      default:
        group.skip();
    }
  }
  for (const pbf_reader& overlay : overlays)
    ARROW_RETURN_NOT_OK(ReadOverlay(overlay, fragment_id, out));
  return arrow::Status::OK();
}

// Reads an operation that is a list of groups, field 1 of its message.
template <typename ReadGroup>
arrow::Status ReadGroups(pbf_reader message, ReadGroup&& read_group) {
  while (message.next()) {
    if (static_cast<uint32_t>(message.tag_and_type()) == Tag(1, kBytes)) {
      ARROW_RETURN_NOT_OK(read_group(message.get_message()));
    } else {
      message.skip();
    }
  }
  return arrow::Status::OK();
}

arrow::Status ReadOperation(const Transaction& transaction, Footprint* out) {
  const pbf_reader message = wire::ReaderOf(transaction.operation);
  switch (transaction.kind) {
    case OperationKind::kDelete:
      ReadDelete(message, out);
      break;
    case OperationKind::kRewrite:
      ReadRewrite(message, out);
      break;
    case OperationKind::kUpdate:
      ReadUpdate(message, out);
      break;
    case OperationKind::kMerge:
      out->preserves_nullability = ReadFlag(message, wire::merge_operation::kPreservesNullability);
      break;
    case OperationKind::kProject:
      out->preserves_nullability =
          ReadFlag(message, wire::project_operation::kPreservesNullability);
      break;
    case OperationKind::kDataReplacement:
      return ReadGroups(message, [out](pbf_reader group) {
        ReadReplacement(group, out);
        return arrow::Status::OK();
      });
    case OperationKind::kDataOverlay:
      return ReadGroups(message, [out](pbf_reader group) { return ReadOverlayGroup(group, out); });
    default:
      break;
  }
  return arrow::Status::OK();
}

}  // namespace

arrow::Result<Footprint> ReadFootprint(const Transaction& transaction, std::string_view path) {
  Footprint result;
  result.kind = transaction.kind;
  ARROW_RETURN_NOT_OK(wire::Decode(path, "operation of the transaction",
                                   [&] { return ReadOperation(transaction, &result); }));
  return result;
}

}  // namespace pennon::commit
