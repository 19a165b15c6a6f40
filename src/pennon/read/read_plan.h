// What a read has to fetch and to give: columns, filter, output expressions. Pure logic over the
// schema.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <arrow/array/data.h>
#include <arrow/result.h>
#include <arrow/type_fwd.h>

#include "pennon/read/column.h"
#include "pennon/scan.h"
#include "pennon/table/manifest.h"

namespace pennon::expr {
class Expression;
}

namespace pennon::read {

/// One output column: a column that is read, or an expression over such.
struct Output {
  std::shared_ptr<arrow::Field> field;
  int column = -1;  ///< index in ReadPlan::columns, if it is one of them
  std::shared_ptr<const expr::Expression> expression;  ///< else this, over `inputs`
  std::vector<int> inputs;                             ///< indices in ReadPlan::columns
};

/// Immutable once made.
struct ReadPlan {
  std::vector<Column> columns;                     ///< to read; those of the filter first
  size_t filter_columns = 0;                       ///< how many of `columns` the filter needs
  std::shared_ptr<const expr::Expression> filter;  ///< null: every row
  std::vector<Output> outputs;
  std::shared_ptr<arrow::Schema> schema;  ///< of the outputs

  /// Evaluates the filter over the first `filter_columns` of `columns`: true for the rows to keep,
  /// no NULLs.
  arrow::Result<std::shared_ptr<arrow::BooleanArray>> EvaluateFilter(
      const std::vector<std::shared_ptr<arrow::ArrayData>>& columns, int64_t rows,
      arrow::MemoryPool* pool) const;
  /// Makes the output batch from `columns`, all of `rows` rows.
  arrow::Result<std::shared_ptr<arrow::RecordBatch>> MakeOutput(
      const std::vector<std::shared_ptr<arrow::ArrayData>>& columns, int64_t rows,
      arrow::MemoryPool* pool) const;
};

/// Plans a read. Unknown names and bad expressions are kInvalidInput; columns that cannot be read
/// yet kUnsupported.
arrow::Result<ReadPlan> PlanRead(const table::Manifest& manifest, const Columns& columns,
                                 const Filter& filter, bool with_row_id, bool with_row_address);

}  // namespace pennon::read
