// What a read can give: columns of the table and the row columns that every table has.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <arrow/result.h>
#include <arrow/type_fwd.h>

#include "pennon/schema.h"
#include "pennon/table/manifest.h"

namespace pennon::read {

inline constexpr std::string_view kRowIdName = "_rowid";
inline constexpr std::string_view kRowAddressName = "_rowaddr";
inline constexpr std::string_view kCreatedAtName = "_row_created_at_version";
inline constexpr std::string_view kLastUpdatedAtName = "_row_last_updated_at_version";

/// One column to read from every fragment.
struct Column {
  enum class Kind { kField, kRowId, kRowAddress, kCreatedAt, kLastUpdatedAt };
  Kind kind = Kind::kField;
  /// For kField: a top-level field of the table or a part of one (schema::Prune). Lives as long as
  /// the manifest or `own`.
  const Field* field = nullptr;
  std::shared_ptr<const Field> own;
  /// The column is what lies below `field` by these positions of children, NULL where a struct
  /// above it is; empty for `field` itself.
  std::vector<int> path;
  std::string name;
  std::shared_ptr<arrow::Field> arrow_field;
};

/// Looks up a column by its exact name, row columns included, or a field inside structs by its
/// path: `s.a`, or with backquotes around a name. An unknown name is a kInvalidInput error that
/// lists what there is and the nearest name.
arrow::Result<Column> FindColumn(const table::Manifest& manifest, std::string_view name);

/// The top-level field `field` as a column of which only `ids` and what lies above and below them
/// is read.
Column PrunedColumn(const Field& field, std::span<const int32_t> ids);

/// All columns that an expression may name: the table's, then the row columns that this table has.
std::vector<Column> AllColumns(const table::Manifest& manifest);

}  // namespace pennon::read
