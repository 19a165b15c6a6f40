// Rows out: one sink for each --format.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include <arrow/result.h>
#include <arrow/type_fwd.h>

namespace pennon::cli {

/// Receives batches of one schema and writes them in its format.
class RowSink {
 public:
  virtual ~RowSink() = default;
  virtual arrow::Status Write(const arrow::RecordBatch& batch) = 0;
  /// Completes the output; nothing may follow.
  virtual arrow::Status Finish() = 0;
};

/// The formats, for --help and checks.
inline constexpr char kFormats[] = "table,csv,json,jsonl,markdown,arrow,parquet";

/// Picks the format: `asked` if not empty, else by the suffix of `path`, else "table".
arrow::Result<std::string> ChooseFormat(const std::string& asked, const std::string& path);

/// Opens a sink to `path` ("" or "-": the standard output). Binary formats refuse a terminal.
arrow::Result<std::unique_ptr<RowSink>> OpenSink(const std::string& format, const std::string& path,
                                                 std::shared_ptr<arrow::Schema> schema);

/// Writes all of `reader` to the sink; a file that fails half-way is removed.
arrow::Status WriteRows(arrow::RecordBatchReader* reader, const std::string& format,
                        const std::string& path, const std::function<void(int64_t)>& on_rows);

}  // namespace pennon::cli
