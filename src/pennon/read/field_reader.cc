#include "pennon/read/field_reader.h"

#include <algorithm>
#include <utility>

#include <arrow/buffer.h>
#include <arrow/type.h>
#include <arrow/util/bitmap_ops.h>
#include <arrow/util/byte_size.h>

#include "pennon/error.h"
#include "pennon/file/column_owners.h"
#include "pennon/overlay/coverage.h"
#include "pennon/read/file_cache.h"
#include "pennon/read/result_cache.h"
#include "pennon/schema/field_marks.h"
#include "pennon/schema/prune.h"

namespace pennon::read {
namespace {

using ArrayPtr = std::shared_ptr<arrow::ArrayData>;

// Winning values of a part up to this size are read once for all windows of a fragment.
constexpr uint64_t kLoadBytes = 32 << 20;

// Values grow when they are decoded: strings by about this much, lists of small numbers by more.
constexpr uint64_t kStringGrowth = 3;
constexpr uint64_t kListGrowth = 4;

bool IsFixedWidth(const arrow::DataType& type) {
  return overlay::ValueBytes(type, 1000) == overlay::ValueBytes(type, 2000);
}

// The validity bitmap that booleans stand for, NULL as false; null if all are true.
arrow::Result<std::shared_ptr<arrow::Buffer>> BitmapOf(const arrow::ArrayData& booleans,
                                                       arrow::MemoryPool* pool) {
  std::shared_ptr<arrow::Buffer> bits = booleans.buffers[1];
  if (booleans.GetNullCount() != 0) {
    if (bits == nullptr) bits = booleans.buffers[0];
    ARROW_ASSIGN_OR_RAISE(bits, arrow::internal::BitmapAnd(pool, bits->data(), booleans.offset,
                                                           booleans.buffers[0]->data(),
                                                           booleans.offset, booleans.length, 0));
  } else if (booleans.offset != 0) {
    ARROW_ASSIGN_OR_RAISE(
        bits, arrow::internal::CopyBitmap(pool, bits->data(), booleans.offset, booleans.length));
  }
  const bool all =
      arrow::internal::CountSetBits(bits->data(), 0, booleans.length) == booleans.length;
  return all ? nullptr : bits;
}

}  // namespace

overlay::ColumnRequest MakeRequest(const Snapshot* snapshot, const table::Fragment& fragment,
                                   uint64_t physical_rows) {
  overlay::ColumnRequest request;
  request.fragment = &fragment;
  request.physical_rows = physical_rows;
  request.pool = snapshot->context.pool;
  request.open = [snapshot](const table::DataFile& file) {
    return snapshot->files->Open(snapshot->location, *snapshot->manifest, file,
                                 snapshot->context.pool);
  };
  return request;
}

arrow::Result<const table::DataFile*> FindBaseFile(const table::Fragment& fragment,
                                                   const Field& field, bool* several) {
  *several = false;
  const table::DataFile* found = nullptr;
  std::vector<int32_t> held;
  for (const table::DataFile& file : fragment.files) {
    bool here = false;
    for (const int32_t id : file::ValueOwners(field, overlay::VersionOf(file))) {
      if (!file.ColumnOf(id)) continue;
      if (std::find(held.begin(), held.end(), id) != held.end()) {
        return Corrupt(file.path, "two files of a fragment hold the same field: field ", id,
                       ", fragment ", fragment.id, ", files ", found->path, " and ", file.path);
      }
      held.push_back(id);
      here = true;
    }
    if (!here) continue;
    if (found == nullptr) {
      found = &file;
    } else {
      *several = true;
    }
  }
  return found;
}

bool PartReader::keeps_values() const {
  return request_.root == nullptr && request_.validity_level < 0 && request_.field->is_leaf() &&
         overlaid_->is_leaf() && !schema::IsBlob(*request_.field);
}

arrow::Result<std::shared_ptr<const overlay::LoadedSources>> PartReader::Load(
    const std::shared_ptr<const overlay::WinnerMap>& winners) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (loaded_known_) return loaded_;
  if (winners->cells <= kLoadBytes / overlay::ValueBytes(*request_.type(), 64)) {
    if (keeps_values()) loaded_ = snapshot_->results->Values(winners);
    if (loaded_ == nullptr) {
      auto loaded = std::make_shared<overlay::LoadedSources>();
      uint64_t bytes = 0;
      for (const overlay::WinnerSource& source : winners->sources) {
        ARROW_ASSIGN_OR_RAISE(overlay::SourceValues values,
                              overlay::ReadSource(request_, source, 0, source.cells));
        bytes += static_cast<uint64_t>(arrow::util::TotalBufferSize(*values.values));
        loaded->push_back(std::move(values));
      }
      loaded_ = std::move(loaded);
      // Text may be longer than it was taken for.
      if (keeps_values() && bytes <= kLoadBytes)
        snapshot_->results->KeepValues(winners, loaded_, bytes);
    }
  }
  loaded_known_ = true;
  return loaded_;
}

arrow::Result<PartReader::Planned> PartReader::Plan(const RowChoice& rows) {
  Planned planned;
  std::shared_ptr<const overlay::WinnerMap> winners;
  if (rows.listed) {
    if (overlaid_ != nullptr) {
      ARROW_ASSIGN_OR_RAISE(winners,
                            snapshot_->results->WinnersOf(*request_.fragment, *overlaid_,
                                                          request_.physical_rows, rows.rows));
    }
    planned.plan = overlay::PlanRows(std::move(winners), rows.rows);
    return planned;
  }
  if (overlaid_ != nullptr) {
    std::lock_guard<std::mutex> lock(mutex_);
    if (!winners_known_) {
      ARROW_ASSIGN_OR_RAISE(winners_, snapshot_->results->Winners(*request_.fragment, *overlaid_,
                                                                  request_.physical_rows));
      winners_known_ = true;
    }
    winners = winners_;
  }
  planned.plan = overlay::PlanWindow(winners, rows.first, rows.end);
  const bool whole = rows.first == 0 && rows.end == request_.physical_rows;
  if (!planned.plan.sources.empty() && (!whole || keeps_values())) {
    ARROW_ASSIGN_OR_RAISE(planned.loaded, Load(winners));
  }
  return planned;
}

arrow::Result<ArrayPtr> PartReader::Read(const RowChoice& rows,
                                         std::vector<ArrayPtr>* base_validity) {
  ARROW_ASSIGN_OR_RAISE(Planned planned, Plan(rows));
  if (!keeps_base_) return overlay::ReadColumn(request_, planned.plan, planned.loaded.get());
  if (rows.listed) {
    overlay::ReadAllOfBase(rows.rows, &planned.plan);
  } else {
    overlay::ReadAllOfBase(rows.first, &planned.plan);
  }
  ARROW_ASSIGN_OR_RAISE(overlay::BaseValues base, overlay::ReadBase(request_, planned.plan));
  *base_validity = std::move(base.validity);
  return overlay::PutSources(request_, planned.plan, planned.loaded.get(), std::move(base.values));
}

arrow::Result<ArrayPtr> PartReader::ReadOver(const RowChoice& rows, ArrayPtr base) {
  ARROW_ASSIGN_OR_RAISE(Planned planned, Plan(rows));
  if (base == nullptr) return overlay::ReadColumn(request_, planned.plan, planned.loaded.get());
  return overlay::PutSources(request_, planned.plan, planned.loaded.get(), std::move(base));
}

arrow::Result<uint64_t> PartReader::RowBytes() const {
  const arrow::DataType& type = *request_.type();
  if (IsFixedWidth(type) || request_.base == nullptr || request_.physical_rows == 0) {
    return overlay::ValueBytes(type, 16);
  }
  // What lies outside the pages is not counted by columns.
  if (schema::IsBlob(*request_.field)) {
    return std::max<uint64_t>(16, request_.base->size_bytes / request_.physical_rows);
  }
  ARROW_ASSIGN_OR_RAISE(auto reader, request_.open(*request_.base));
  uint64_t bytes = 0;
  for (const int32_t id : file::ValueOwners(*request_.field, reader->version())) {
    const std::optional<int> column = request_.base->ColumnOf(id);
    if (!column || *column >= reader->num_columns()) continue;
    ARROW_ASSIGN_OR_RAISE(const uint64_t here, reader->ColumnBytes(*column));
    bytes += here;
  }
  const uint64_t growth = request_.field->is_leaf() ? kStringGrowth : kListGrowth;
  return std::max<uint64_t>(16, bytes / request_.physical_rows * growth);
}

arrow::Result<std::unique_ptr<FieldReader>> FieldReader::Open(const Snapshot* snapshot,
                                                              const table::Fragment& fragment,
                                                              uint64_t physical_rows,
                                                              const Field& field) {
  std::unique_ptr<FieldReader> reader(new FieldReader());
  reader->snapshot_ = snapshot;
  reader->fragment_ = &fragment;
  reader->physical_rows_ = physical_rows;
  reader->top_ = &field;
  ARROW_ASSIGN_OR_RAISE(reader->root_, reader->Build(field, 0));
  return reader;
}

arrow::Result<FieldReader::Node> FieldReader::Build(const Field& field, int level) {
  Node node;
  node.field = &field;
  node.level = level;
  bool several = false;
  ARROW_ASSIGN_OR_RAISE(const table::DataFile* base, FindBaseFile(*fragment_, field, &several));
  bool one = !schema::IsPlainStruct(field);
  if (one && several) {
    return Unsupported(base->path, "the fields of a list lie in several files of a fragment: `",
                       field.name, "`, fragment ", fragment_->id);
  }
  if (!one && !several) {
    const Field* whole = snapshot_->manifest->schema().FindId(field.id);
    ARROW_ASSIGN_OR_RAISE(
        one, overlay::ResolvesWhole(*fragment_, whole != nullptr ? *whole : field, field));
  }
  if (one) {
    ARROW_RETURN_NOT_OK(AddPart(field, base, &node));
    return node;
  }
  for (const Field& child : field.children) {
    ARROW_ASSIGN_OR_RAISE(Node below, Build(child, level + 1));
    node.children.push_back(std::move(below));
  }
  if (field.nullable) ARROW_RETURN_NOT_OK(AddValidity(&node));
  return node;
}

arrow::Status FieldReader::AddPart(const Field& field, const table::DataFile* base, Node* node) {
  overlay::ColumnRequest request = MakeRequest(snapshot_, *fragment_, physical_rows_);
  request.field = &field;
  request.base = base;
  if (node->level > 0) {
    paths_.push_back(std::make_unique<Field>(schema::Prune(*top_, {&field.id, 1})));
    request.root = paths_.back().get();
    request.field = request.root;
    while (request.field->id != field.id) request.field = &request.field->children[0];
  }
  // A struct that a projection cut resolves as the whole one does.
  const Field* whole = snapshot_->manifest->schema().FindId(field.id);
  node->part = static_cast<int>(parts_.size());
  parts_.push_back(std::make_unique<PartReader>(snapshot_, std::move(request),
                                                whole != nullptr ? whole : &field));
  return arrow::Status::OK();
}

arrow::Status FieldReader::AddValidity(Node* node) {
  // The first file that holds something of the struct says whether it is NULL.
  std::vector<int> below;
  std::vector<const Node*> nodes = {node};
  while (!nodes.empty()) {
    const Node* at = nodes.back();
    nodes.pop_back();
    if (at->part >= 0) below.push_back(at->part);
    for (auto child = at->children.rbegin(); child != at->children.rend(); ++child) {
      nodes.push_back(&*child);
    }
  }
  node->base_from = below.front();
  for (const table::DataFile& file : fragment_->files) {
    auto first = std::find_if(below.begin(), below.end(), [&](int part) {
      return parts_[static_cast<size_t>(part)]->request().base == &file;
    });
    if (first == below.end()) continue;
    node->base_from = *first;
    // Structs of 2.0 are never NULL.
    if (overlay::VersionOf(file).minor == 0) return arrow::Status::OK();
    break;
  }
  PartReader& from = *parts_[static_cast<size_t>(node->base_from)];
  from.KeepBase();
  overlay::ColumnRequest request = from.request();
  request.validity_level = node->level;
  request.base = nullptr;
  node->validity = static_cast<int>(parts_.size());
  const Field* whole = snapshot_->manifest->schema().FindId(node->field->id);
  parts_.push_back(std::make_unique<PartReader>(snapshot_, std::move(request),
                                                whole != nullptr ? whole : node->field));
  return arrow::Status::OK();
}

arrow::Result<ArrayPtr> FieldReader::Read(const RowChoice& rows) {
  BaseValidity base(parts_.size());
  return Assemble(root_, rows, &base);
}

arrow::Result<ArrayPtr> FieldReader::Assemble(const Node& node, const RowChoice& rows,
                                              BaseValidity* base) {
  if (node.part >= 0) {
    const size_t part = static_cast<size_t>(node.part);
    return parts_[part]->Read(rows, &(*base)[part]);
  }
  std::vector<ArrayPtr> children;
  for (const Node& child : node.children) {
    ARROW_ASSIGN_OR_RAISE(ArrayPtr values, Assemble(child, rows, base));
    children.push_back(std::move(values));
  }
  std::shared_ptr<arrow::Buffer> validity;
  if (node.validity >= 0) {
    std::vector<ArrayPtr>& levels = (*base)[static_cast<size_t>(node.base_from)];
    const size_t level = static_cast<size_t>(node.level);
    ArrayPtr known = level < levels.size() ? std::move(levels[level]) : nullptr;
    ARROW_ASSIGN_OR_RAISE(ArrayPtr valid, parts_[static_cast<size_t>(node.validity)]->ReadOver(
                                              rows, std::move(known)));
    ARROW_ASSIGN_OR_RAISE(validity, BitmapOf(*valid, snapshot_->context.pool));
  }
  return arrow::ArrayData::Make(node.field->type, static_cast<int64_t>(rows.length()),
                                {std::move(validity)}, std::move(children));
}

arrow::Result<uint64_t> FieldReader::RowBytes() const {
  uint64_t bytes = 0;
  for (const auto& part : parts_) {
    ARROW_ASSIGN_OR_RAISE(const uint64_t here, part->RowBytes());
    bytes += here;
  }
  return std::max<uint64_t>(16, bytes);
}

}  // namespace pennon::read
