// Reading rows: what to ask of Dataset::Scan, Take and CountRows.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <arrow/type_fwd.h>

namespace pennon {

/// One output column: a column of the table (dotted for a struct's leaf) or a named SQL expression.
/// `_rowid`, `_rowaddr`, `_row_created_at_version` and `_row_last_updated_at_version` are columns
/// too.
struct Projection {
  std::string name;
  std::string sql;  ///< empty: the column called `name`

  Projection(const char* column) : name(column) {}  // NOLINT(google-explicit-constructor)
  Projection(std::string column)
      : name(std::move(column)) {}  // NOLINT(google-explicit-constructor)
  Projection(std::string column, std::string expression)
      : name(std::move(column)), sql(std::move(expression)) {}
};

/// The output columns in order; by default all of the table.
struct Columns {
  bool all = true;
  std::vector<Projection> list;

  Columns() = default;
  Columns(std::initializer_list<Projection> columns) : all(false), list(columns) {}
  Columns(std::vector<Projection> columns)  // NOLINT(google-explicit-constructor)
      : all(false), list(std::move(columns)) {}
};

/// A condition: SQL text in Lance's dialect, or a serialized arrow::compute::Expression. Empty =
/// every row.
struct Filter {
  std::string sql;
  std::shared_ptr<arrow::Buffer> expression;

  Filter() = default;
  Filter(const char* text) : sql(text) {}             // NOLINT(google-explicit-constructor)
  Filter(std::string text) : sql(std::move(text)) {}  // NOLINT(google-explicit-constructor)
  bool empty() const { return sql.empty() && expression == nullptr; }
};

struct ScanOptions {
  Columns columns;
  Filter where;                     ///< sees resolved (overlaid) values
  std::optional<int64_t> limit;     ///< rows after offset, >= 0
  int64_t offset = 0;               ///< matching rows to skip, >= 0
  bool with_row_id = false;         ///< append `_rowid` (uint64)
  bool with_row_address = false;    ///< append `_rowaddr` (uint64): fragment id << 32 | offset
  int64_t batch_size = 65536;       ///< most rows of a batch, > 0; wide rows come in fewer
  std::vector<uint64_t> fragments;  ///< ids to read, in list order; empty = all
  bool use_threads = true;
};

struct TakeOptions {
  Columns columns;
  bool with_row_id = false;
  bool with_row_address = false;
};

}  // namespace pennon
