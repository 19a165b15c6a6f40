#include "pennon/file/column_writer.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <span>
#include <utility>

#include <arrow/array/array_base.h>
#include <arrow/array/concatenate.h>
#include <arrow/array/util.h>
#include <arrow/type.h>

#include "pennon/encoding/constant/constant_writer.h"
#include "pennon/encoding/dictionary/dictionary_writer.h"
#include "pennon/encoding/leaf_values.h"
#include "pennon/encoding/nested/shredding.h"
#include "pennon/encoding/packed_struct/packed_struct_writer.h"
#include "pennon/encoding/page_encoder.h"
#include "pennon/encoding/v20/nested_writer.h"
#include "pennon/error.h"
#include "pennon/file/blob_v2_writer.h"
#include "pennon/file/column_bytes.h"
#include "pennon/wire/page_layout_writer.h"

namespace pennon::file {
namespace {

using encoding::EncodedPage;
using encoding::ShreddedRows;

// A column's values are encoded once they take this much.
constexpr uint64_t kPageBytes = 8 << 20;
// The place of a null blob; of those of 2.1 and 2.2 it holds the levels.
constexpr uint64_t kNullBlobV20 = 1;
constexpr int kDefinitionShift = 16;

// The page of a column of version 2.1 or 2.2; nothing if the rows must be split.
arrow::Result<std::optional<EncodedPage>> EncodeLeaf(const ColumnPlan& plan,
                                                     const ShreddedRows& rows,
                                                     ContainerWriter* container,
                                                     arrow::MemoryPool* pool) {
  switch (plan.form) {
    case ColumnForm::kBlobV2:
      return EncodeBlobV2Page(
          rows, [&](std::span<const uint8_t> bytes) { return container->AddBytes(bytes); },
          plan.options, pool);
    case ColumnForm::kDictionary:
      return encoding::EncodeDictionaryPage(rows, plan.leaf, plan.items, plan.options, pool);
    case ColumnForm::kPackedStruct:
      if (rows.null_count != static_cast<uint64_t>(rows.values->length))
        ARROW_RETURN_NOT_OK(plan.refusal);
      return encoding::EncodePackedStructPage(rows, plan.children, plan.options, pool);
    case ColumnForm::kEmptyStruct: {
      encoding::PageNesting nesting = rows.nesting;
      nesting.layers = {wire::LayerKind::kNullableItem};  // so it is spelt, though all are valid
      return encoding::EncodeAllNull(nesting, plan.options.minor);
    }
    default: {
      ARROW_ASSIGN_OR_RAISE(const auto values,
                            encoding::LeafValues::Make(plan.leaf, *rows.values, rows.validity,
                                                       rows.null_count, pool));
      return encoding::EncodeNestedPage(values, rows.nesting, plan.options, pool);
    }
  }
}

arrow::Result<EncodedPage> EncodeV20(const ColumnPlan& plan, const encoding::FieldSlots& field,
                                     arrow::MemoryPool* pool) {
  if (plan.form == ColumnForm::kListOffsets) return encoding::EncodeV20Lists(field, pool);
  ARROW_ASSIGN_OR_RAISE(const auto values, encoding::GatherSlots(*field.array, field.slots, pool));
  if (plan.form == ColumnForm::kDictionary)
    return encoding::EncodeV20Dictionary(*values, plan.leaf, plan.items, pool);
  if (plan.form == ColumnForm::kPackedStruct) {
    ARROW_RETURN_NOT_OK(plan.refusal);
    return encoding::EncodeV20PackedStruct(*values, plan.children, pool);
  }
  return encoding::EncodePage(plan.leaf, *values, plan.options, pool);
}

// Whether `rows` is a plain value a row, which needs no levels made.
bool IsFlat(const ColumnPlan& plan) {
  return plan.form == ColumnForm::kPlain && plan.nesting.size() == 1;
}

// Dictionaries of one page must be one.
bool SharesDictionary(const arrow::ArrayData& a, const arrow::ArrayData& b,
                      const encoding::Nesting& nesting) {
  const arrow::ArrayData* x = &a;
  const arrow::ArrayData* y = &b;
  for (const encoding::NestingLayer& layer : nesting) {
    if (layer.child < 0) break;
    x = x->child_data[static_cast<size_t>(layer.child)].get();
    y = y->child_data[static_cast<size_t>(layer.child)].get();
  }
  return x->dictionary == y->dictionary ||
         (x->dictionary != nullptr && y->dictionary != nullptr &&
          arrow::MakeArray(x->dictionary)->Equals(arrow::MakeArray(y->dictionary)));
}

// `array` with the nulls among the items of its dictionary, at the end of `nesting`, moved to the
// slots.
arrow::Result<std::shared_ptr<arrow::ArrayData>> MoveDictionaryNulls(
    std::shared_ptr<arrow::ArrayData> array, const encoding::Nesting& nesting, size_t layer,
    arrow::MemoryPool* pool) {
  if (nesting[layer].child < 0) return encoding::MoveItemNulls(std::move(array), pool);
  const size_t child = static_cast<size_t>(nesting[layer].child);
  ARROW_ASSIGN_OR_RAISE(auto moved,
                        MoveDictionaryNulls(array->child_data[child], nesting, layer + 1, pool));
  if (moved == array->child_data[child]) return array;
  std::shared_ptr<arrow::ArrayData> out = array->Copy();
  out->child_data[child] = std::move(moved);
  return out;
}

}  // namespace

ColumnWriter::ColumnWriter(ColumnPlan plan, size_t column, ContainerWriter* container)
    : plan_(std::move(plan)), column_(column), container_(container) {
  if (plan_.form == ColumnForm::kBlob && plan_.options.minor == 0)
    container_->SetBlobPlaces(column);
}

arrow::Status ColumnWriter::Append(const arrow::Array& values) {
  const uint64_t rows = static_cast<uint64_t>(values.length());
  if (plan_.form == ColumnForm::kDictionary && !pending_.empty() &&
      !SharesDictionary(*pending_.back()->data(), *values.data(), plan_.nesting)) {
    ARROW_RETURN_NOT_OK(Flush());
  }
  const uint64_t bytes = ColumnBytes(*values.data(), plan_, 0, values.length());
  const uint64_t pages = std::max<uint64_t>(1, (bytes + kPageBytes - 1) / kPageBytes);
  const uint64_t piece = (rows + pages - 1) / pages;
  for (uint64_t at = 0; at < rows; at += piece) {
    const int64_t count = static_cast<int64_t>(std::min(piece, rows - at));
    const int64_t first = static_cast<int64_t>(at);
    const uint64_t size = ColumnBytes(*values.data(), plan_, first, count);
    // Keeps a page near its size, and offsets of 32 bits from overflowing.
    if (pending_bytes_ + size > 2 * kPageBytes) ARROW_RETURN_NOT_OK(Flush());
    pending_.push_back(values.Slice(first, count));
    pending_bytes_ += size;
    if (pending_bytes_ >= kPageBytes) ARROW_RETURN_NOT_OK(Flush());
  }
  return arrow::Status::OK();
}

arrow::Status ColumnWriter::Finish() {
  ARROW_RETURN_NOT_OK(Flush());
  if (plan_.form != ColumnForm::kStructHeader) return arrow::Status::OK();
  ARROW_ASSIGN_OR_RAISE(const EncodedPage page, encoding::EncodeV20StructHeader(header_slots_));
  AddPage(page, 0);
  return arrow::Status::OK();
}

// Encodes what waits as one page, or as few as hold it.
arrow::Status ColumnWriter::Flush() {
  if (pending_.empty()) return arrow::Status::OK();
  std::shared_ptr<arrow::Array> rows = pending_[0];
  if (pending_.size() > 1) {
    ARROW_ASSIGN_OR_RAISE(rows, arrow::Concatenate(pending_, pool_));
  }
  pending_.clear();
  pending_bytes_ = 0;
  const arrow::Status status = WriteRows(rows->data());
  if (status.ok() || status.message().find(", column: ") != std::string::npos) return status;
  return status.WithMessage(status.message(), ", column: ", plan_.name);
}

arrow::Status ColumnWriter::WriteRows(const std::shared_ptr<arrow::ArrayData>& rows) {
  if (plan_.form == ColumnForm::kBlob)
    return plan_.options.minor == 0 ? WriteV20Blobs(*rows) : WriteBlobs(*rows);
  if (plan_.options.minor == 0) return WriteV20(*rows);
  if (plan_.form != ColumnForm::kDictionary) return WriteLevels(rows);
  ARROW_ASSIGN_OR_RAISE(const auto moved, MoveDictionaryNulls(rows, plan_.nesting, 0, pool_));
  return WriteLevels(moved);
}

arrow::Status ColumnWriter::WriteV20(const arrow::ArrayData& rows) {
  ARROW_ASSIGN_OR_RAISE(const encoding::FieldSlots field, encoding::FindSlots(rows, plan_.nesting));
  const uint64_t count = static_cast<uint64_t>(rows.length);
  if (plan_.form == ColumnForm::kStructHeader) {
    header_slots_ += static_cast<uint64_t>(field.slots.total());
    written_rows_ += count;
    return arrow::Status::OK();
  }
  // The reference reader looks for the first page of a packed struct, even if that has no row.
  const bool needs_page = plan_.form == ColumnForm::kPackedStruct && plan_.refusal.ok();
  if (field.slots.total() == 0 && !needs_page) {
    written_rows_ += count;
    return arrow::Status::OK();
  }
  ARROW_ASSIGN_OR_RAISE(const EncodedPage page, EncodeV20(plan_, field, pool_));
  AddPage(page, count);
  return arrow::Status::OK();
}

arrow::Status ColumnWriter::WriteLevels(const std::shared_ptr<arrow::ArrayData>& rows) {
  if (IsFlat(plan_)) {
    ARROW_ASSIGN_OR_RAISE(const EncodedPage page,
                          encoding::EncodePage(plan_.leaf, *rows, plan_.options, pool_));
    AddPage(page, page.length);
    return arrow::Status::OK();
  }
  ARROW_ASSIGN_OR_RAISE(const ShreddedRows shredded,
                        encoding::Shred(*rows, plan_.nesting, plan_.declare_all, pool_));
  ARROW_ASSIGN_OR_RAISE(const std::optional<EncodedPage> page,
                        EncodeLeaf(plan_, shredded, container_, pool_));
  if (page) {
    AddPage(*page, shredded.nesting.rows);
    return arrow::Status::OK();
  }
  if (rows->length < 2) {
    return Unsupported("", "One row has more nulls and empty lists than a page can hold, entries: ",
                       shredded.nesting.entries);
  }
  const int64_t half = rows->length / 2;
  ARROW_RETURN_NOT_OK(WriteLevels(rows->Slice(0, half)));
  return WriteLevels(rows->Slice(half, rows->length - half));
}

// Writes the values themselves and gives position and size of each. A null has `null_places` for a
// position.
std::vector<uint64_t> ColumnWriter::PlaceBlobs(const encoding::LeafValues& values,
                                               const std::vector<uint64_t>& null_places) {
  std::vector<uint64_t> places;
  places.reserve(2 * values.length);
  for (uint64_t i = 0; i < values.length; ++i) {
    const bool valid = !values.all_null() && values.is_valid(i);
    const std::string_view value = valid ? values.value(i) : std::string_view();
    uint64_t place = valid ? 0 : null_places[i];
    if (!value.empty())
      place = container_->AddBytes({reinterpret_cast<const uint8_t*>(value.data()), value.size()});
    places.push_back(place);
    places.push_back(value.size());
  }
  return places;
}

arrow::Status ColumnWriter::WriteV20Blobs(const arrow::ArrayData& rows) {
  ARROW_ASSIGN_OR_RAISE(const encoding::FieldSlots field, encoding::FindSlots(rows, plan_.nesting));
  ARROW_ASSIGN_OR_RAISE(const auto array, encoding::GatherSlots(*field.array, field.slots, pool_));
  ARROW_ASSIGN_OR_RAISE(const auto values, encoding::LeafValues::Make(plan_.leaf, *array, pool_));
  if (values.length > 0) {
    const std::vector<uint64_t> null_places(values.length, kNullBlobV20);
    ARROW_ASSIGN_OR_RAISE(
        const EncodedPage page,
        encoding::EncodeV20BlobPlaces(arrow::Buffer::FromVector(PlaceBlobs(values, null_places)),
                                      values.length));
    AddPage(page, 0);
  }
  written_rows_ += static_cast<uint64_t>(rows.length);
  return arrow::Status::OK();
}

arrow::Status ColumnWriter::WriteBlobs(const arrow::ArrayData& rows) {
  ARROW_ASSIGN_OR_RAISE(const ShreddedRows shredded,
                        encoding::Shred(rows, plan_.nesting, false, pool_));
  ARROW_ASSIGN_OR_RAISE(const auto values,
                        encoding::LeafValues::Make(plan_.leaf, *shredded.values, shredded.validity,
                                                   shredded.null_count, pool_));
  std::vector<uint64_t> null_places(values.length);
  for (size_t i = 0; i < shredded.nesting.definition.size(); ++i)
    null_places[i] = uint64_t{shredded.nesting.definition[i]} << kDefinitionShift;
  encoding::PageNesting inner;
  inner.layers = {wire::LayerKind::kAllValidItem};
  inner.entries = inner.rows = inner.slots = values.length;
  ARROW_ASSIGN_OR_RAISE(
      std::optional<EncodedPage> page,
      encoding::EncodePackedRows(inner, arrow::Buffer::FromVector(PlaceBlobs(values, null_places)),
                                 {64, 64}, plan_.options.minor));
  page->encoding = wire::WriteBlobPage(page->encoding, shredded.nesting.layers);
  AddPage(*page, values.length);
  return arrow::Status::OK();
}

void ColumnWriter::AddPage(const EncodedPage& page, uint64_t rows) {
  container_->AddPage(column_, page, written_rows_);
  written_rows_ += rows;
}

}  // namespace pennon::file
