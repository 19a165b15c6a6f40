#include "pennon/overlay/resolve.h"

#include <algorithm>
#include <utility>

#include <arrow/array/array_base.h>
#include <arrow/array/util.h>
#include <arrow/buffer.h>
#include <arrow/type.h>
#include <arrow/type_traits.h>
#include <arrow/util/bit_util.h>
#include <arrow/util/bitmap_ops.h>

#include "pennon/error.h"
#include "pennon/file/column_owners.h"
#include "pennon/overlay/take_pieces.h"
#include "pennon/schema/field_marks.h"

namespace pennon::overlay {
namespace {

// Base rows at most this many bytes apart come with one request anyway (io/read_ranges.h).
constexpr uint64_t kSkipBytes = 8 << 10;

// Appends a range, joined with the one before where both rows and slots continue it.
void AppendRange(uint64_t first, uint64_t count, uint64_t out,
                 std::vector<file::RowRange>* ranges) {
  if (count == 0) return;
  if (!ranges->empty()) {
    file::RowRange& last = ranges->back();
    if (last.first + last.count == first && last.out + last.count == out) {
      last.count += count;
      return;
    }
  }
  ranges->push_back({first, count, out});
}

// The rows of [first, end) outside `skippable`.
std::vector<file::RowRange> BaseWindow(const WinnerMap& winners, uint64_t first, uint64_t end) {
  std::vector<file::RowRange> base;
  uint64_t at = first;
  auto run = std::lower_bound(
      winners.skippable.begin(), winners.skippable.end(), first,
      [](const BitmapRun& r, uint64_t row) { return uint64_t{r.first} + r.count <= row; });
  for (; run != winners.skippable.end() && run->first < end; ++run) {
    if (run->first > at) AppendRange(at, run->first - at, at - first, &base);
    at = std::max(at, uint64_t{run->first} + run->count);
  }
  if (at < end) AppendRange(at, end - at, at - first, &base);
  return base;
}

// The part of `source` that lies in [first, end).
SourcePlan WindowOf(const WinnerSource& source, uint64_t first, uint64_t end) {
  SourcePlan plan;
  plan.source = &source;
  if (source.by_runs()) {
    auto run = std::lower_bound(
        source.runs.begin(), source.runs.end(), first,
        [](const WinnerRun& r, uint64_t row) { return uint64_t{r.first} + r.count <= row; });
    for (; run != source.runs.end() && run->first < end; ++run) {
      uint64_t from = std::max<uint64_t>(run->first, first);
      uint64_t to = std::min<uint64_t>(uint64_t{run->first} + run->count, end);
      uint64_t cell = run->cell + (from - run->first);
      if (plan.slots.runs.empty()) plan.first_cell = cell;
      plan.slots.runs.push_back({static_cast<uint32_t>(from - first),
                                 static_cast<uint32_t>(to - from),
                                 static_cast<uint32_t>(cell - plan.first_cell)});
      plan.cells += to - from;
    }
    return plan;
  }
  auto begin = std::lower_bound(source.offsets.begin(), source.offsets.end(), first);
  auto stop = std::lower_bound(begin, source.offsets.end(), end);
  plan.first_cell = static_cast<uint64_t>(begin - source.offsets.begin());
  plan.cells = static_cast<uint64_t>(stop - begin);
  plan.slots.offsets = std::span<const uint32_t>(begin, stop);
  plan.slots.minus = static_cast<uint32_t>(first);
  return plan;
}

// The rows of the value column that hold cells [first_cell, first_cell + cells), packed.
std::vector<file::RowRange> RanksOf(const WinnerSource& source, uint64_t first_cell,
                                    uint64_t cells) {
  std::vector<file::RowRange> ranges;
  uint64_t end = first_cell + cells;
  if (source.by_runs()) {
    for (const WinnerRun& run : source.runs) {
      uint64_t from = std::max<uint64_t>(run.cell, first_cell);
      uint64_t to = std::min<uint64_t>(uint64_t{run.cell} + run.count, end);
      if (from < to)
        AppendRange(run.rank + (from - run.cell), to - from, from - first_cell, &ranges);
    }
    return ranges;
  }
  if (source.ranks.empty()) return {{first_cell, cells, 0}};
  for (uint64_t cell = first_cell; cell < end; ++cell) {
    AppendRange(source.ranks[cell], 1, cell - first_cell, &ranges);
  }
  return ranges;
}

arrow::Status AddPlace(const arrow::Status& status, const ColumnRequest& request,
                       const std::string& path) {
  const ErrorDetail* detail = GetErrorDetail(status);
  if (detail == nullptr) return status;
  ErrorPlace place = detail->place();
  if (place.path.empty()) place.path = path;
  if (!place.fragment) place.fragment = request.fragment->id;
  if (!place.field) place.field = request.field->id;
  std::string message = status.message();
  if (message.find(place.path) == std::string::npos) message += "; file " + place.path;
  message += ", fragment " + std::to_string(request.fragment->id);
  return MakeError(detail->kind(), place, std::move(message), detail->retry_helps());
}

// The columns of `file` that hold the requested field, parallel to what owns them, with as many
// values as there must be.
arrow::Result<std::vector<int>> FindColumns(const ColumnRequest& request,
                                            const file::FileReader& reader,
                                            const table::DataFile& file, uint64_t expected_rows,
                                            const char* what) {
  ErrorPlace place;
  place.path = file.path;
  place.fragment = request.fragment->id;
  place.field = request.field->id;
  std::vector<int> columns;
  for (const int32_t id : file::ColumnOwners(request.top(), reader.version())) {
    columns.push_back(file.ColumnOf(id).value_or(-1));
    if (columns.back() < reader.num_columns()) continue;
    return MakeError(ErrorKind::kCorrupt, place,
                     JoinParts("file has no such column: the manifest says column ", columns.back(),
                               " of ", reader.num_columns(), " holds `", request.field->name,
                               "`; file ", file.path, ", fragment ", request.fragment->id));
  }
  auto rows = reader.Rows(request.top(), columns);
  if (!rows.ok()) return AddPlace(rows.status(), request, file.path);
  if (*rows == expected_rows) return columns;
  return MakeError(ErrorKind::kCorrupt, place,
                   JoinParts("column is not as long as ", what, ": `", request.field->name,
                             "` has ", *rows, " values, expected ", expected_rows, "; file ",
                             file.path, ", fragment ", request.fragment->id));
}

// Whether an array of one type can be called one of the other: they differ in names and metadata.
bool SameLayout(const arrow::DataType& a, const arrow::DataType& b) {
  if (a.id() != b.id() || a.num_fields() != b.num_fields()) return false;
  for (int i = 0; i < a.num_fields(); ++i) {
    if (!SameLayout(*a.field(i)->type(), *b.field(i)->type())) return false;
  }
  return true;
}

// Whether each value of `data` is valid, as booleans with a buffer of their own.
arrow::Result<std::shared_ptr<arrow::ArrayData>> ValidityOf(const arrow::ArrayData& data,
                                                            arrow::MemoryPool* pool) {
  ARROW_ASSIGN_OR_RAISE(std::shared_ptr<arrow::Buffer> bits,
                        arrow::AllocateEmptyBitmap(data.length, pool));
  if (data.GetNullCount() == 0) {
    arrow::bit_util::SetBitsTo(bits->mutable_data(), 0, data.length, true);
  } else {
    arrow::internal::CopyBitmap(data.buffers[0]->data(), data.offset, data.length,
                                bits->mutable_data(), 0);
  }
  return arrow::ArrayData::Make(arrow::boolean(), data.length, {nullptr, std::move(bits)}, 0);
}

arrow::Result<BaseValues> ReadFile(const ColumnRequest& request, const table::DataFile& file,
                                   uint64_t expected_length, const char* what,
                                   std::span<const file::RowRange> ranges, uint64_t length) {
  ARROW_ASSIGN_OR_RAISE(std::shared_ptr<const file::FileReader> reader, request.open(file));
  ARROW_ASSIGN_OR_RAISE(const std::vector<int> columns,
                        FindColumns(request, *reader, file, expected_length, what));
  auto read = reader->Read(request.top(), columns, ranges, length);
  if (!read.ok()) return AddPlace(read.status(), request, file.path);
  BaseValues result;
  result.values = std::move(read).ValueUnsafe();
  int level = 0;
  for (const Field* node = &request.top(); node != request.field; node = &node->children[0]) {
    if (request.validity_level < 0 || request.validity_level == level++) {
      ARROW_ASSIGN_OR_RAISE(auto valid, ValidityOf(*result.values, request.pool));
      result.validity.push_back(std::move(valid));
    }
    std::shared_ptr<arrow::ArrayData> child = result.values->child_data[0];
    if (result.values->offset != 0 || child->length != result.values->length) {
      child = child->Slice(result.values->offset, result.values->length);
    }
    result.values = std::move(child);
  }
  if (request.validity_level >= 0) {
    result.values = std::move(result.validity.at(0));
  } else if (!result.values->type->Equals(*request.type())) {
    if (SameLayout(*result.values->type, *request.type())) result.values->type = request.type();
  }
  return result;
}

// Values that nobody gives, to put others over.
arrow::Result<std::shared_ptr<arrow::ArrayData>> MakeNulls(const ColumnRequest& request,
                                                           uint64_t length, bool writable) {
  if (writable && CanScatter(*request.type())) {
    return MakeWritableNulls(request.type(), length, request.pool);
  }
  ARROW_ASSIGN_OR_RAISE(
      auto nulls,
      arrow::MakeArrayOfNull(request.type(), static_cast<int64_t>(length), request.pool));
  return nulls->data();
}

// An array into which values can be written: what lies in a mapped file is copied.
arrow::Result<std::shared_ptr<arrow::ArrayData>> WithOwnBuffers(
    std::shared_ptr<arrow::ArrayData> data, arrow::MemoryPool* pool) {
  for (std::shared_ptr<arrow::Buffer>& buffer : data->buffers) {
    if (buffer == nullptr || buffer->is_mutable()) continue;
    ARROW_ASSIGN_OR_RAISE(buffer,
                          arrow::Buffer::Copy(buffer, arrow::CPUDevice::memory_manager(pool)));
  }
  for (std::shared_ptr<arrow::ArrayData>& child : data->child_data) {
    ARROW_ASSIGN_OR_RAISE(child, WithOwnBuffers(std::move(child), pool));
  }
  return data;
}

// A source whose values are the whole output, in order.
bool IsWholeOutput(const SourcePlan& plan, uint64_t length) {
  return plan.cells == length && plan.slots.runs.size() == 1;
}

}  // namespace

const std::shared_ptr<arrow::DataType>& ColumnRequest::type() const {
  static const std::shared_ptr<arrow::DataType> kBoolean = arrow::boolean();
  static const std::shared_ptr<arrow::DataType> kBytes = arrow::large_binary();
  if (validity_level >= 0) return kBoolean;
  return schema::IsBlob(*field) ? kBytes : field->type;
}

uint64_t ValueBytes(const arrow::DataType& type, uint64_t variable_bytes) {
  if (type.id() == arrow::Type::STRUCT) {
    uint64_t bytes = 0;
    for (const auto& child : type.fields()) bytes += ValueBytes(*child->type(), variable_bytes);
    return std::max<uint64_t>(1, bytes);
  }
  if (type.id() == arrow::Type::FIXED_SIZE_LIST) {
    const auto& list = static_cast<const arrow::FixedSizeListType&>(type);
    return std::max<uint64_t>(1, static_cast<uint64_t>(list.list_size()) *
                                     ValueBytes(*list.value_type(), variable_bytes));
  }
  if (type.id() != arrow::Type::DICTIONARY && arrow::is_fixed_width(type.id())) {
    int bits = static_cast<const arrow::FixedWidthType&>(type).bit_width();
    return std::max<uint64_t>(1, static_cast<uint64_t>(bits) / 8);
  }
  return std::max<uint64_t>(1, variable_bytes);
}

uint64_t MinSkippableRows(const arrow::DataType& type) {
  return std::max<uint64_t>(1, kSkipBytes / ValueBytes(type));
}

ColumnPlan PlanWindow(std::shared_ptr<const WinnerMap> winners, uint64_t first, uint64_t end) {
  ColumnPlan plan;
  plan.length = end - first;
  if (winners == nullptr || winners->sources.empty()) {
    if (end > first) plan.base = {{first, end - first, 0}};
    return plan;
  }
  plan.base = BaseWindow(*winners, first, end);
  for (const WinnerSource& source : winners->sources) {
    SourcePlan part = WindowOf(source, first, end);
    if (part.cells != 0) plan.sources.push_back(std::move(part));
  }
  plan.winners = std::move(winners);
  return plan;
}

ColumnPlan PlanRows(std::shared_ptr<const WinnerMap> winners, std::span<const uint32_t> rows) {
  ColumnPlan plan;
  plan.length = rows.size();
  bool overlays = winners != nullptr && !winners->sources.empty();
  for (size_t i = 0; i < rows.size(); ++i) {
    if (!overlays || !winners->overlaid.Contains(rows[i])) AppendRange(rows[i], 1, i, &plan.base);
  }
  if (!overlays) return plan;
  for (const WinnerSource& source : winners->sources) {
    SourcePlan part;
    part.source = &source;
    part.cells = source.cells;
    part.owned = source.AllOffsets();
    // From offsets to slots: both ascend.
    auto at = rows.begin();
    for (uint32_t& value : part.owned) {
      at = std::lower_bound(at, rows.end(), value);
      value = static_cast<uint32_t>(at - rows.begin());
    }
    part.slots.offsets = part.owned;
    plan.sources.push_back(std::move(part));
  }
  plan.winners = std::move(winners);
  return plan;
}

void ReadAllOfBase(uint64_t first, ColumnPlan* window) {
  window->base.clear();
  AppendRange(first, window->length, 0, &window->base);
}

void ReadAllOfBase(std::span<const uint32_t> rows, ColumnPlan* plan) {
  plan->base.clear();
  for (size_t i = 0; i < rows.size(); ++i) AppendRange(rows[i], 1, i, &plan->base);
}

arrow::Result<SourceValues> ReadSource(const ColumnRequest& request, const WinnerSource& source,
                                       uint64_t first_cell, uint64_t cells) {
  const table::DataFile& file = request.fragment->overlays[source.layer.overlay].data_file;
  std::vector<file::RowRange> ranges = RanksOf(source, first_cell, cells);
  SourceValues values;
  values.first_cell = first_cell;
  ARROW_ASSIGN_OR_RAISE(BaseValues read, ReadFile(request, file, source.covered,
                                                  "the coverage of its overlay", ranges, cells));
  values.values = std::move(read.values);
  return values;
}

arrow::Result<BaseValues> ReadBase(const ColumnRequest& request, const ColumnPlan& plan) {
  if (request.base != nullptr && !plan.base.empty()) {
    return ReadFile(request, *request.base, request.physical_rows, "its fragment", plan.base,
                    plan.length);
  }
  BaseValues nulls;
  ARROW_ASSIGN_OR_RAISE(nulls.values, MakeNulls(request, plan.length, !plan.sources.empty()));
  return nulls;
}

arrow::Result<std::shared_ptr<arrow::ArrayData>> PutSources(
    const ColumnRequest& request, const ColumnPlan& plan, const LoadedSources* loaded,
    std::shared_ptr<arrow::ArrayData> base) {
  if (plan.sources.empty()) return base;
  std::vector<SourceValues> own(plan.sources.size());
  std::vector<Piece> pieces;
  for (size_t i = 0; i < plan.sources.size(); ++i) {
    const SourcePlan& part = plan.sources[i];
    const SourceValues* values = nullptr;
    if (loaded != nullptr) {
      values = &(*loaded)[static_cast<size_t>(part.source - plan.winners->sources.data())];
    } else {
      ARROW_ASSIGN_OR_RAISE(own[i], ReadSource(request, *part.source, part.first_cell, part.cells));
      values = &own[i];
    }
    pieces.push_back({values->values.get(), part.first_cell - values->first_cell, &part.slots});
    if (loaded == nullptr && IsWholeOutput(part, plan.length)) return own[i].values;
  }
  if (base == nullptr) {
    ARROW_ASSIGN_OR_RAISE(BaseValues read, ReadBase(request, plan));
    base = std::move(read.values);
  }
  ARROW_ASSIGN_OR_RAISE(base, WithOwnBuffers(std::move(base), request.pool));
  arrow::Status merged = CanScatter(*base->type) ? ScatterPieces(pieces, base.get(), request.pool)
                                                 : TakePieces(pieces, &base, request.pool);
  if (!merged.ok()) {
    return AddPlace(merged, request, request.base != nullptr ? request.base->path : std::string());
  }
  return base;
}

arrow::Result<std::shared_ptr<arrow::ArrayData>> ReadColumn(const ColumnRequest& request,
                                                            const ColumnPlan& plan,
                                                            const LoadedSources* loaded) {
  if (!plan.sources.empty()) return PutSources(request, plan, loaded, nullptr);
  ARROW_ASSIGN_OR_RAISE(BaseValues read, ReadBase(request, plan));
  return std::move(read.values);
}

}  // namespace pennon::overlay
