#include <charconv>
#include <functional>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <arrow/api.h>
#include <CLI/CLI.hpp>

#include "cell_text.h"
#include "commands.h"
#include "pennon/pennon.h"
#include "progress.h"
#include "row_output.h"

namespace pennon::cli {
namespace {

struct RowOptions {
  std::string table;
  std::vector<std::string> columns;
  bool columns_given = false;
  std::string where;
  std::optional<int64_t> limit;
  int64_t offset = 0;
  bool with_row_id = false;
  bool with_row_address = false;
  std::string format;
  std::string output;
  std::vector<int64_t> rows;
};

Columns ColumnsOf(const RowOptions& options) {
  if (options.columns.empty()) return {};
  std::vector<Projection> list;
  for (const auto& name : options.columns) list.emplace_back(name);
  return Columns(std::move(list));
}

void AddOutputOptions(CLI::App* command, RowOptions* options) {
  command->add_option("-c,--columns", options->columns, "Columns to print, in this order")
      ->delimiter(',');
  command->add_flag("--with-row-id", options->with_row_id, "Add the column _rowid");
  command->add_flag("--with-row-address", options->with_row_address, "Add the column _rowaddr");
  command->add_option("--format", options->format, std::string("One of ") + kFormats)
      ->check(CLI::IsMember({"table", "csv", "json", "jsonl", "markdown", "arrow", "parquet"}));
  command->add_option("-o,--output", options->output,
                      "Write to this file; - is the standard output");
}

arrow::Status Scan(const RowOptions& options, bool quiet) {
  ARROW_ASSIGN_OR_RAISE(std::string format, ChooseFormat(options.format, options.output));
  ARROW_ASSIGN_OR_RAISE(Dataset dataset, Dataset::Open(options.table));
  ScanOptions scan;
  scan.columns = ColumnsOf(options);
  scan.where = Filter(options.where);
  scan.limit = options.limit;
  scan.offset = options.offset;
  scan.with_row_id = options.with_row_id;
  scan.with_row_address = options.with_row_address;
  ARROW_ASSIGN_OR_RAISE(auto reader, dataset.Scan(scan));
  ARROW_ASSIGN_OR_RAISE(DatasetInfo info, dataset.Info());
  Progress progress("scan", info.rows, quiet);
  return WriteRows(reader.get(), format, options.output,
                   [&](int64_t rows) { progress.Advance(static_cast<uint64_t>(rows)); });
}

arrow::Status Take(const RowOptions& options) {
  ARROW_ASSIGN_OR_RAISE(std::string format, ChooseFormat(options.format, options.output));
  ARROW_ASSIGN_OR_RAISE(Dataset dataset, Dataset::Open(options.table));
  TakeOptions take;
  take.columns = ColumnsOf(options);
  take.with_row_id = options.with_row_id;
  take.with_row_address = options.with_row_address;
  ARROW_ASSIGN_OR_RAISE(auto table, dataset.Take(std::span<const int64_t>(options.rows), take));
  arrow::TableBatchReader reader(table);
  return WriteRows(&reader, format, options.output, [](int64_t) {});
}

arrow::Status Count(const RowOptions& options, bool json) {
  ARROW_ASSIGN_OR_RAISE(Dataset dataset, Dataset::Open(options.table));
  ARROW_ASSIGN_OR_RAISE(int64_t rows, dataset.CountRows(Filter(options.where)));
  if (json) {
    std::cout << Json{{"rows", rows}}.dump() << "\n";
  } else {
    std::cout << rows << "\n";
  }
  return arrow::Status::OK();
}

void AddScan(CLI::App* app, Invocation* invocation) {
  auto options = std::make_shared<RowOptions>();
  CLI::App* command = app->add_subcommand("scan", "Print rows");
  command->add_option("table", options->table, "The table")->required();
  AddOutputOptions(command, options.get());
  command->add_option("-w,--where", options->where, "Rows that match this SQL condition");
  command->add_option("-n,--limit", options->limit, "At most this many rows")
      ->check(CLI::NonNegativeNumber);
  command->add_option("--offset", options->offset, "Skip this many matching rows")
      ->check(CLI::NonNegativeNumber);
  command->footer(
      "\nExamples:\n"
      "  pennon scan users.lance --columns id,age --where \"age >= 26 AND name LIKE 'A%'\"\n"
      "  pennon scan users.lance@3 --limit 5 --format json\n"
      "  pennon scan users.lance -o users.parquet\n");
  command->callback(
      [=] { invocation->command = [=] { return Scan(*options, invocation->quiet); }; });
}

void AddTake(CLI::App* app, Invocation* invocation) {
  auto options = std::make_shared<RowOptions>();
  CLI::App* command = app->add_subcommand("take", "Print rows by position, in the order asked");
  command->add_option("table", options->table, "The table")->required();
  command->add_option("-r,--rows", options->rows, "Positions among live rows, such as 5,7,4000")
      ->required()
      ->delimiter(',');
  AddOutputOptions(command, options.get());
  command->footer("\nExamples:\n  pennon take users.lance --rows 5,7,4000 --columns caption\n");
  command->callback([=] { invocation->command = [=] { return Take(*options); }; });
}

void AddCount(CLI::App* app, Invocation* invocation) {
  auto options = std::make_shared<RowOptions>();
  auto json = std::make_shared<bool>(false);
  CLI::App* command = app->add_subcommand("count", "Print the number of rows");
  command->add_option("table", options->table, "The table")->required();
  command->add_option("-w,--where", options->where, "Rows that match this SQL condition");
  command->add_flag("--json", *json, "Print JSON");
  command->footer("\nExamples:\n  pennon count users.lance --where \"embedding IS NULL\"\n");
  command->callback([=] { invocation->command = [=] { return Count(*options, *json); }; });
}

}  // namespace

void AddRowCommands(CLI::App* app, Invocation* invocation) {
  AddScan(app, invocation);
  AddTake(app, invocation);
  AddCount(app, invocation);
}

}  // namespace pennon::cli
