// The fields of a table: a tree whose nodes carry the ids that data files and overlays bind to.
// Immutable after build; copies are cheap enough to pass around, a table shares one by pointer.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <arrow/type_fwd.h>

namespace pennon {

/// One node of the schema tree (format: lance.file.Field).
struct Field {
  std::string name;
  int32_t id = -1;           ///< >= 0, unique in the schema; renames keep it
  int32_t parent_id = -1;    ///< -1 at top level
  std::string logical_type;  ///< the format's own spelling, such as `timestamp:us:UTC`
  bool nullable = true;
  std::map<std::string, std::string> metadata;
  std::shared_ptr<arrow::DataType> type;  ///< the whole type below this node
  std::vector<Field> children;  ///< empty for a leaf; a fixed_size_list of numbers is a leaf

  bool is_leaf() const { return children.empty(); }
};

/// The schema of one table version.
struct Schema {
  std::vector<Field> fields;  ///< top-level fields, in column order
  std::map<std::string, std::string> metadata;

  /// The node with `id` at any depth, or null.
  const Field* FindId(int32_t id) const;
  /// The top-level field called `name` exactly, or null.
  const Field* FindName(std::string_view name) const;
  /// The top-level field above (or at) the node with `id`, or null.
  const Field* TopLevelOf(int32_t id) const;
  /// The Arrow schema, with field and schema metadata.
  std::shared_ptr<arrow::Schema> ToArrow() const;
};

/// The Arrow field of one node, with its metadata.
std::shared_ptr<arrow::Field> ToArrowField(const Field& field);

/// Appends the ids of the leaves below (or at) `field`, in schema order.
void AppendLeafIds(const Field& field, std::vector<int32_t>* ids);

}  // namespace pennon
