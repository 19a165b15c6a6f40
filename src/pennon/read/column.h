// What a read can give: columns of the table and the row columns that every table has.
#pragma once

#include <memory>
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
  const Field* field = nullptr;  ///< for kField; lives as long as the manifest
  std::string name;
  std::shared_ptr<arrow::Field> arrow_field;
};

/// Looks up a column by its exact name, row columns included. An unknown name is a kInvalidInput
/// error that lists what there is and the nearest name; a field inside a struct is kUnsupported.
arrow::Result<Column> FindColumn(const table::Manifest& manifest, std::string_view name);

/// All columns that an expression may name: the table's, then the row columns that this table has.
std::vector<Column> AllColumns(const table::Manifest& manifest);

/// Fails with kUnsupported, naming the column, if pennon cannot read a column of this shape yet
/// (nested, blob).
arrow::Status CheckReadable(const Column& column);

}  // namespace pennon::read
