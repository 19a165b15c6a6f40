#include "pennon/write/struct_cells.h"

#include <algorithm>
#include <utility>

#include <arrow/array/array_nested.h>
#include <arrow/array/util.h>
#include <arrow/buffer.h>
#include <arrow/type.h>
#include <arrow/util/bitmap_ops.h>

#include "pennon/error.h"
#include "pennon/read/fragment_reader.h"
#include "pennon/schema/prune.h"

namespace pennon::write {
namespace {

// Which rows have no NULL struct above.
using Alive = std::vector<bool>;

class Joiner {
 public:
  Joiner(const table::Fragment& fragment, std::span<const FieldCells> cells)
      : fragment_(fragment), cells_(cells) {}

  // The new values of `node`, whose values now are `current`.
  arrow::Result<std::shared_ptr<arrow::Array>> Join(const Field& node, const arrow::Array& current,
                                                    const Alive& alive) const {
    auto given = std::find_if(cells_.begin(), cells_.end(), [&node](const FieldCells& cells) {
      return cells.field->id == node.id;
    });
    if (given != cells_.end()) {
      ARROW_RETURN_NOT_OK(CheckGiven(*given, node, *given->values, current, alive));
      return given->values;
    }
    const auto& parent = static_cast<const arrow::StructArray&>(current);
    const Alive below = And(alive, current);
    arrow::ArrayDataVector children;
    for (size_t i = 0; i < node.children.size(); ++i) {
      ARROW_ASSIGN_OR_RAISE(auto child,
                            Join(node.children[i], *parent.field(static_cast<int>(i)), below));
      children.push_back(child->data());
    }
    std::shared_ptr<arrow::Buffer> validity;
    if (current.null_count() != 0) {
      ARROW_ASSIGN_OR_RAISE(validity, arrow::internal::CopyBitmap(
                                          arrow::default_memory_pool(), current.null_bitmap_data(),
                                          current.offset(), current.length()));
    }
    return arrow::MakeArray(arrow::ArrayData::Make(node.type, current.length(),
                                                   {std::move(validity)}, std::move(children),
                                                   current.null_count()));
  }

 private:
  static Alive And(const Alive& alive, const arrow::Array& array) {
    Alive result = alive;
    if (array.null_count() == 0) return result;
    for (int64_t i = 0; i < array.length(); ++i) {
      if (array.IsNull(i)) result[static_cast<size_t>(i)] = false;
    }
    return result;
  }

  arrow::Status CheckGiven(const FieldCells& cells, const Field& node, const arrow::Array& values,
                           const arrow::Array& current, const Alive& alive) const {
    const bool is_struct = schema::IsPlainStruct(node);
    for (int64_t i = 0; i < values.length(); ++i) {
      const size_t row = static_cast<size_t>(i);
      if (!alive[row]) {
        if (values.IsValid(i)) {
          return Refuse("A field cannot be set where the struct above it is NULL", cells, row,
                        "leave such rows out, as with a condition that the struct IS NOT NULL");
        }
      } else if (is_struct && values.IsNull(i) != current.IsNull(i)) {
        return Refuse(values.IsNull(i) ? "An overlay cannot make a struct NULL"
                                       : "An overlay cannot give a value to a struct that is NULL",
                      cells, row, "set fields of the struct, on rows where it is not NULL");
      }
    }
    if (!is_struct) return arrow::Status::OK();
    const Alive below = And(And(alive, current), values);
    const auto& new_parent = static_cast<const arrow::StructArray&>(values);
    const auto& old_parent = static_cast<const arrow::StructArray&>(current);
    for (size_t i = 0; i < node.children.size(); ++i) {
      if (!schema::IsPlainStruct(node.children[i])) continue;
      const int child = static_cast<int>(i);
      ARROW_ASSIGN_OR_RAISE(auto new_child, new_parent.GetFlattenedField(child));
      ARROW_ASSIGN_OR_RAISE(auto old_child, old_parent.GetFlattenedField(child));
      ARROW_RETURN_NOT_OK(CheckGiven(cells, node.children[i], *new_child, *old_child, below));
    }
    return arrow::Status::OK();
  }

  arrow::Status Refuse(const char* what, const FieldCells& cells, size_t row,
                       const char* advice) const {
    return InvalidInput(what, "; ", advice, ": column ", cells.name, ", fragment ", fragment_.id,
                        ", offset ", cells.offsets[row]);
  }

  const table::Fragment& fragment_;
  const std::span<const FieldCells> cells_;
};

}  // namespace

arrow::Result<StructCells> JoinStruct(const std::shared_ptr<const read::Snapshot>& snapshot,
                                      const table::Fragment& fragment,
                                      std::span<const FieldCells> cells) {
  std::vector<int32_t> ids;
  for (const FieldCells& one : cells) {
    if (one.offsets != cells[0].offsets) {
      return InvalidInput(
          "Fields of one struct need the same offsets in one overlay; write an overlay for each: ",
          cells[0].name, " and ", one.name);
    }
    ids.push_back(one.field->id);
  }
  StructCells joined;
  const read::Column column = read::PrunedColumn(*cells[0].top, ids);
  joined.field = *column.field;
  ARROW_ASSIGN_OR_RAISE(auto reader, read::FragmentReader::Open(snapshot, fragment));
  ARROW_ASSIGN_OR_RAISE(auto values, reader->OpenColumn(column));
  ARROW_ASSIGN_OR_RAISE(auto current, values->ReadRows(cells[0].offsets));
  const Alive alive(cells[0].offsets.size(), true);
  ARROW_ASSIGN_OR_RAISE(
      joined.values, Joiner(fragment, cells).Join(joined.field, *arrow::MakeArray(current), alive));
  return joined;
}

}  // namespace pennon::write
