#include "pennon/overlay/take_pieces.h"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include <arrow/array/array_base.h>
#include <arrow/array/concatenate.h>
#include <arrow/array/util.h>
#include <arrow/buffer.h>
#include <arrow/compute/api_vector.h>
#include <arrow/compute/cast.h>
#include <arrow/compute/exec.h>
#include <arrow/datum.h>
#include <arrow/type.h>

#include "pennon/error.h"

namespace pennon::overlay {
namespace {

// The values of a piece that its slots name, in their order: those from `first` on.
uint64_t CellsOf(const SlotList& slots) {
  uint64_t cells = slots.offsets.size();
  for (const SlotRun& run : slots.runs) {
    cells = std::max<uint64_t>(cells, uint64_t{run.cell} + run.count);
  }
  return cells;
}

// For each slot, where its value lies when the pieces stand behind the column one after the other.
void PointSlots(const SlotList& slots, int64_t start, int64_t* sources) {
  for (const SlotRun& run : slots.runs) {
    for (uint32_t i = 0; i < run.count; ++i) sources[run.slot + i] = start + run.cell + i;
  }
  for (size_t i = 0; i < slots.offsets.size(); ++i) {
    sources[slots.offsets[i] - slots.minus] = start + static_cast<int64_t>(i);
  }
}

arrow::Result<std::shared_ptr<arrow::Array>> JoinAndTake(const arrow::ArrayVector& parts,
                                                         const arrow::Array& sources,
                                                         arrow::compute::ExecContext* context) {
  ARROW_ASSIGN_OR_RAISE(auto joined, arrow::Concatenate(parts, context->memory_pool()));
  return arrow::compute::Take(*joined, sources, arrow::compute::TakeOptions::NoBoundsCheck(),
                              context);
}

// Dictionaries whose union has more values than the index type can number may still do when only
// the values in use are kept.
arrow::Result<std::shared_ptr<arrow::Array>> TakeDecoded(const arrow::ArrayVector& parts,
                                                         const arrow::Array& sources,
                                                         arrow::compute::ExecContext* context) {
  const auto& type = static_cast<const arrow::DictionaryType&>(*parts[0]->type());
  arrow::ArrayVector decoded;
  for (const auto& part : parts) {
    ARROW_ASSIGN_OR_RAISE(auto values,
                          arrow::compute::Cast(*part, type.value_type(),
                                               arrow::compute::CastOptions::Safe(), context));
    decoded.push_back(std::move(values));
  }
  ARROW_ASSIGN_OR_RAISE(auto taken, JoinAndTake(decoded, sources, context));
  ARROW_ASSIGN_OR_RAISE(arrow::Datum encoded,
                        arrow::compute::DictionaryEncode(
                            taken, arrow::compute::DictionaryEncodeOptions::Defaults(), context));
  const auto& data = encoded.array();
  std::shared_ptr<arrow::ArrayData> indices = data->Copy();
  indices->type = arrow::int32();
  indices->dictionary = nullptr;
  ARROW_ASSIGN_OR_RAISE(auto fitted,
                        arrow::compute::Cast(*arrow::MakeArray(indices), type.index_type(),
                                             arrow::compute::CastOptions::Safe(), context));
  std::shared_ptr<arrow::ArrayData> result = fitted->data()->Copy();
  result->type = parts[0]->type();
  result->dictionary = data->dictionary;
  return arrow::MakeArray(result);
}

}  // namespace

arrow::Status TakePieces(std::span<const Piece> pieces, std::shared_ptr<arrow::ArrayData>* column,
                         arrow::MemoryPool* pool) {
  const std::shared_ptr<arrow::DataType> type = (*column)->type;
  const int64_t length = (*column)->length;
  ARROW_ASSIGN_OR_RAISE(
      std::unique_ptr<arrow::Buffer> buffer,
      arrow::AllocateBuffer(length * static_cast<int64_t>(sizeof(int64_t)), pool));
  auto* sources = buffer->mutable_data_as<int64_t>();
  for (int64_t i = 0; i < length; ++i) sources[i] = i;
  arrow::ArrayVector parts = {arrow::MakeArray(*column)};
  int64_t start = length;
  for (const Piece& piece : pieces) {
    const int64_t cells = static_cast<int64_t>(CellsOf(*piece.slots));
    std::shared_ptr<arrow::ArrayData> values =
        piece.values->Slice(static_cast<int64_t>(piece.first), cells);
    values->type = type;
    parts.push_back(arrow::MakeArray(values));
    PointSlots(*piece.slots, start, sources);
    start += cells;
  }
  auto places = arrow::MakeArray(arrow::ArrayData::Make(
      arrow::int64(), length, {nullptr, std::shared_ptr<arrow::Buffer>(std::move(buffer))}, 0));
  arrow::compute::ExecContext context(pool);
  context.set_use_threads(false);
  auto taken = JoinAndTake(parts, *places, &context);
  if (!taken.ok() && type->id() == arrow::Type::DICTIONARY) {
    taken = TakeDecoded(parts, *places, &context);
  }
  if (!taken.ok()) {
    if (taken.status().IsOutOfMemory()) return taken.status();
    return Unsupported("", "column cannot be joined with its overlays: ", type->ToString(), ", ",
                       length, " rows: ", taken.status().message());
  }
  *column = (*taken)->data();
  return arrow::Status::OK();
}

}  // namespace pennon::overlay
