#include "pennon/file/nested_v20.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include <arrow/array/data.h>
#include <arrow/type.h>
#include <arrow/util/bit_util.h>
#include <arrow/util/bitmap_ops.h>

#include "pennon/error.h"
#include "pennon/file/blob_v20.h"
#include "pennon/file/column_owners.h"
#include "pennon/file/expand.h"
#include "pennon/file/leaf_field.h"
#include "pennon/file/packed_rows.h"
#include "pennon/schema/field_marks.h"

namespace pennon::file {
namespace {

using Data = std::shared_ptr<arrow::ArrayData>;

// The ranges with no slots left out, and how many slots that makes.
struct Compact {
  std::vector<RowRange> ranges;
  uint64_t slots = 0;
};

Compact CompactRanges(std::span<const RowRange> ranges) {
  Compact out;
  out.ranges.reserve(ranges.size());
  for (const RowRange& range : ranges) {
    out.ranges.push_back({range.first, range.count, out.slots});
    out.slots += range.count;
  }
  return out;
}

// The lists of some rows: their offsets array, and which items they have.
struct Lists {
  std::shared_ptr<arrow::Buffer> offsets;
  std::vector<RowRange> items;  ///< rows of the item column, to the slots they fill
  uint64_t num_items = 0;
};

// Where the items of lists are: of the page they are in, [begin, end) as two u64 each.
struct StoredLists {
  const uint8_t* bounds;  ///< of the lists of all ranges, no slots left out
  const uint8_t* valid;   ///< a bit each, null if all are valid
  std::span<const uint64_t> page_starts;
  std::span<const uint64_t> item_starts;
};

// Appends a list's items, joining them to the items before if they follow.
void AppendItems(uint64_t first, uint64_t count, Lists* out) {
  if (count == 0) return;
  if (!out->items.empty() && out->items.back().first + out->items.back().count == first) {
    out->items.back().count += count;
  } else {
    out->items.push_back({first, count, out->num_items});
  }
  out->num_items += count;
}

template <typename Offset>
arrow::Result<Lists> TakeLists(const StoredLists& stored, std::span<const RowRange> ranges,
                               uint64_t out_length, arrow::MemoryPool* pool) {
  Lists out;
  ARROW_ASSIGN_OR_RAISE(
      out.offsets,
      arrow::AllocateBuffer(static_cast<int64_t>((out_length + 1) * sizeof(Offset)), pool));
  auto* const offsets = reinterpret_cast<Offset*>(out.offsets->mutable_data());
  constexpr auto kMost = static_cast<uint64_t>(std::numeric_limits<Offset>::max());
  offsets[0] = 0;
  uint64_t slot = 0;  // the offsets up to here are written
  uint64_t index = 0;
  size_t page = 0;
  for (const RowRange& range : ranges) {
    const auto gap = static_cast<Offset>(out.num_items);
    for (; slot < range.out; ++slot) offsets[slot + 1] = gap;
    for (uint64_t i = 0; i < range.count; ++i, ++index, ++slot) {
      while (range.first + i >= stored.page_starts[page + 1]) ++page;
      if (!stored.valid || arrow::bit_util::GetBit(stored.valid, static_cast<int64_t>(index))) {
        uint64_t bounds[2];
        std::memcpy(bounds, stored.bounds + index * sizeof(bounds), sizeof(bounds));
        AppendItems(stored.item_starts[page] + bounds[0], bounds[1] - bounds[0], &out);
      }
      offsets[slot + 1] = static_cast<Offset>(out.num_items);
    }
    if (out.num_items > kMost) {
      return InvalidInput(
          "the lists have more items than 32-bit offsets can count: read fewer rows at once; ",
          out.num_items, " items");
    }
  }
  const auto gap = static_cast<Offset>(out.num_items);
  for (; slot < out_length; ++slot) offsets[slot + 1] = gap;
  return out;
}

// Spreads the bits of `compact`, which leaves no slots out, over `out_length` slots; slots that no
// range names are valid.
arrow::Result<std::shared_ptr<arrow::Buffer>> SpreadValidity(
    const std::shared_ptr<arrow::Buffer>& compact, std::span<const RowRange> ranges,
    uint64_t out_length, arrow::MemoryPool* pool) {
  if (!compact) return nullptr;
  ARROW_ASSIGN_OR_RAISE(std::shared_ptr<arrow::Buffer> out,
                        arrow::AllocateBitmap(static_cast<int64_t>(out_length), pool));
  std::memset(out->mutable_data(), 0xFF, static_cast<size_t>(out->size()));
  int64_t from = 0;
  for (const RowRange& range : ranges) {
    const auto count = static_cast<int64_t>(range.count);
    arrow::internal::CopyBitmap(compact->data(), from, count, out->mutable_data(),
                                static_cast<int64_t>(range.out));
    from += count;
  }
  return out;
}

// One call of ReadV20: goes down the field, taking the columns in order.
class Reading {
 public:
  Reading(const Container& container, std::span<const std::shared_ptr<const Column>> columns)
      : container_(container), columns_(columns) {}

  // Reads rows of `field`, whose columns are next; its own must have at least `rows_needed` rows.
  arrow::Result<Data> Read(const Field& field, std::span<const RowRange> ranges,
                           uint64_t out_length, uint64_t rows_needed);

 private:
  arrow::Result<Data> ReadOwn(const Field& field, const Column& column,
                              std::span<const RowRange> ranges, uint64_t out_length);
  arrow::Result<Data> ReadStruct(const Field& field, const Column* header,
                                 std::span<const RowRange> ranges, uint64_t out_length,
                                 uint64_t rows_needed);
  arrow::Result<Data> ReadList(const Field& field, const Column& column,
                               std::span<const RowRange> ranges, uint64_t out_length);
  arrow::Result<Data> ReadPackedStruct(const Field& field, const Column& column,
                                       std::span<const RowRange> ranges, uint64_t out_length);
  arrow::Result<Data> AllNull(const Field& field, uint64_t out_length);

  const Container& container_;
  std::span<const std::shared_ptr<const Column>> columns_;
  size_t next_ = 0;  ///< of columns_
};

arrow::Result<Data> Reading::Read(const Field& field, std::span<const RowRange> ranges,
                                  uint64_t out_length, uint64_t rows_needed) {
  const std::shared_ptr<const Column> column = columns_[next_];
  if (column && column->length() < rows_needed) {
    return Corrupt(container_.path(), "column is shorter than the column above it says: expected ",
                   rows_needed, " values, found ", column->length());
  }
  // A struct without children has its header all the same.
  const bool is_struct = field.type->id() == arrow::Type::STRUCT &&
                         !schema::IsPackedStruct(field) && !schema::IsBlob(field);
  const bool is_whole = OwnsOneColumn(field);
  if (is_struct) {
    ++next_;
    return ReadStruct(field, column.get(), ranges, out_length, rows_needed);
  }
  if (!column) {
    next_ += ColumnOwners(field, {2, 0}).size();
    return AllNull(field, out_length);
  }
  ++next_;
  if (is_whole) return ReadOwn(field, *column, ranges, out_length);
  if (field.type->id() == arrow::Type::LIST || field.type->id() == arrow::Type::LARGE_LIST) {
    return ReadList(field, *column, ranges, out_length);
  }
  return Unsupported(container_.path(), "columns of this type are not stored in 2.0: type ",
                     field.logical_type);
}

arrow::Result<Data> Reading::ReadOwn(const Field& field, const Column& column,
                                     std::span<const RowRange> ranges, uint64_t out_length) {
  if (schema::IsBlob(field)) return ReadBlobs(container_, column, field, ranges, out_length);
  if (schema::IsPackedStruct(field)) return ReadPackedStruct(field, column, ranges, out_length);
  return column.Read(container_, field, ranges, out_length);
}

arrow::Result<Data> Reading::ReadStruct(const Field& field, const Column* header,
                                        std::span<const RowRange> ranges, uint64_t out_length,
                                        uint64_t rows_needed) {
  if (header != nullptr) {
    ARROW_RETURN_NOT_OK(header->CheckStructHeader(container_.path()));
    ARROW_RETURN_NOT_OK(header->CheckRanges(ranges, out_length));
    rows_needed = header->length();
  }
  std::vector<Data> children;
  for (const Field& child : field.children) {
    ARROW_ASSIGN_OR_RAISE(Data data, Read(child, ranges, out_length, rows_needed));
    children.push_back(std::move(data));
  }
  return arrow::ArrayData::Make(field.type, static_cast<int64_t>(out_length), {nullptr},
                                std::move(children), 0);
}

arrow::Result<Data> Reading::ReadList(const Field& field, const Column& column,
                                      std::span<const RowRange> ranges, uint64_t out_length) {
  if (field.children.size() != 1) {
    return InvalidInput("a list has one item field, found ", field.children.size());
  }
  ARROW_RETURN_NOT_OK(column.CheckRanges(ranges, out_length));
  ARROW_ASSIGN_OR_RAISE(const auto item_starts, column.ItemStarts(container_.path()));
  const Compact compact = CompactRanges(ranges);
  const ValueForm form{.leaf = encoding::LeafType::ItemRanges(),
                       .type = arrow::fixed_size_binary(16)};
  Lists lists;
  std::shared_ptr<arrow::Buffer> validity;
  int64_t nulls = 0;
  {
    ARROW_ASSIGN_OR_RAISE(const Data bounds,
                          column.ReadAs(container_, field, form, compact.ranges, compact.slots));
    nulls = bounds->GetNullCount();
    const StoredLists stored{.bounds = bounds->buffers[1]->data(),
                             .valid = nulls != 0 ? bounds->buffers[0]->data() : nullptr,
                             .page_starts = column.page_starts(),
                             .item_starts = *item_starts};
    const bool is_large = field.type->id() == arrow::Type::LARGE_LIST;
    ARROW_ASSIGN_OR_RAISE(
        lists, is_large ? TakeLists<int64_t>(stored, ranges, out_length, container_.pool())
                        : TakeLists<int32_t>(stored, ranges, out_length, container_.pool()));
    if (nulls != 0) {
      ARROW_ASSIGN_OR_RAISE(
          validity, SpreadValidity(bounds->buffers[0], ranges, out_length, container_.pool()));
    }
  }
  ARROW_ASSIGN_OR_RAISE(Data items,
                        Read(field.children[0], lists.items, lists.num_items, item_starts->back()));
  return arrow::ArrayData::Make(field.type, static_cast<int64_t>(out_length),
                                {std::move(validity), std::move(lists.offsets)}, {std::move(items)},
                                nulls);
}

arrow::Result<Data> Reading::ReadPackedStruct(const Field& field, const Column& column,
                                              std::span<const RowRange> ranges,
                                              uint64_t out_length) {
  // A struct that cannot be packed may stand in a file without rows.
  if (column.length() == 0 && out_length == 0) {
    ARROW_RETURN_NOT_OK(column.CheckRanges(ranges, out_length));
    return AllNull(field, 0);
  }
  ARROW_ASSIGN_OR_RAISE(const uint64_t bytes, PackedRowBytes(field));
  const ValueForm form{.leaf = encoding::LeafType::PackedRows(bytes),
                       .type = arrow::fixed_size_binary(static_cast<int32_t>(bytes))};
  ARROW_ASSIGN_OR_RAISE(const Data rows,
                        column.ReadAs(container_, field, form, ranges, out_length));
  ARROW_ASSIGN_OR_RAISE(auto children, SplitPackedRows(field, rows->buffers[1]->data(), out_length,
                                                       container_.pool()));
  return arrow::ArrayData::Make(field.type, static_cast<int64_t>(out_length), {nullptr},
                                std::move(children), 0);
}

arrow::Result<Data> Reading::AllNull(const Field& field, uint64_t out_length) {
  // A list may claim any number of items that another file is to hold.
  if (out_length > static_cast<uint64_t>(std::numeric_limits<int32_t>::max())) {
    return InvalidInput(
        "that many values of a column that the file does not hold: read fewer rows; ", out_length);
  }
  return MakeNulls(field.type, out_length, container_.pool());
}

}  // namespace

arrow::Result<std::shared_ptr<arrow::ArrayData>> ReadV20(
    const Container& container, const Field& field,
    std::span<const std::shared_ptr<const Column>> columns, std::span<const RowRange> ranges,
    uint64_t out_length) {
  Reading reading(container, columns);
  auto data = reading.Read(field, ranges, out_length, 0);
  if (!data.ok()) return Located(data.status(), container.path(), field);
  return data;
}

}  // namespace pennon::file
