#include <chrono>
#include <cstdio>
#include <ctime>
#include <iostream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <arrow/api.h>
#include <CLI/CLI.hpp>

#include "cell_text.h"
#include "commands.h"
#include "pennon/pennon.h"
#include "size_text.h"
#include "table_output.h"

namespace pennon::cli {
namespace {

struct FactOptions {
  std::string table;
  bool json = false;
  int64_t row = 0;
  std::string column;
};

std::string TimeText(int64_t timestamp_ns) {
  std::time_t seconds = timestamp_ns / 1'000'000'000;
  std::tm parts{};
  gmtime_r(&seconds, &parts);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text;
}

Json InfoToJson(const DatasetInfo& info) {
  Json indexes = Json::array();
  for (const auto& index : info.indexes) {
    indexes.push_back({{"name", index.name},
                       {"type", index.type},
                       {"columns", index.columns},
                       {"dataset_version", index.dataset_version}});
  }
  return {{"uri", info.uri},
          {"version", info.version},
          {"timestamp", TimeText(info.timestamp_ns)},
          {"data_version", info.data_version},
          {"stable_row_ids", info.stable_row_ids},
          {"rows", info.rows},
          {"physical_rows", info.physical_rows},
          {"deleted_rows", info.deleted_rows},
          {"fragments", info.fragments},
          {"data_files", info.data_files},
          {"data_bytes", info.data_bytes},
          {"overlays", info.overlays},
          {"overlay_bytes", info.overlay_bytes},
          {"manifest_bytes", info.manifest_bytes},
          {"reader_flags", info.reader_flags},
          {"writer_flags", info.writer_flags},
          {"indexes", indexes}};
}

arrow::Status Info(const FactOptions& options) {
  ARROW_ASSIGN_OR_RAISE(Dataset dataset, Dataset::Open(options.table));
  ARROW_ASSIGN_OR_RAISE(DatasetInfo info, dataset.Info());
  if (options.json) {
    std::cout << DumpJson(InfoToJson(info), 2) << "\n";
    return arrow::Status::OK();
  }
  auto line = [](const char* name, const std::string& value) {
    std::printf("%-14s %s\n", name, value.c_str());
  };
  line("table", info.uri);
  line("version", std::to_string(info.version) + " of " + TimeText(info.timestamp_ns));
  line("data version", info.data_version);
  line("rows", std::to_string(info.rows) + " (" + std::to_string(info.deleted_rows) + " deleted)");
  line("fragments", std::to_string(info.fragments));
  line("data files", std::to_string(info.data_files) + ", " + SizeText(info.data_bytes));
  line("overlays", std::to_string(info.overlays) + ", " + SizeText(info.overlay_bytes));
  line("manifest", SizeText(info.manifest_bytes));
  line("row ids", info.stable_row_ids ? "stable" : "addresses");
  for (const auto& index : info.indexes) {
    std::string columns;
    for (const auto& column : index.columns) columns += (columns.empty() ? "" : ", ") + column;
    line("index", index.name + " (" + index.type + ") on " + columns + ", built at version " +
                      std::to_string(index.dataset_version));
  }
  std::fflush(stdout);
  return arrow::Status::OK();
}

void CollectFields(const Field& field, const std::string& prefix, int depth, Json* json,
                   TextTable* table) {
  std::string path = prefix.empty() ? field.name : prefix + "." + field.name;
  if (json != nullptr) {
    json->push_back({{"id", field.id},
                     {"name", field.name},
                     {"path", path},
                     {"parent_id", field.parent_id},
                     {"type", field.type->ToString()},
                     {"logical_type", field.logical_type},
                     {"nullable", field.nullable},
                     {"metadata", field.metadata}});
  } else {
    table->Add({std::to_string(field.id), std::string(2 * depth, ' ') + field.name,
                field.logical_type, field.nullable ? "yes" : "no"});
  }
  for (const Field& child : field.children) CollectFields(child, path, depth + 1, json, table);
}

arrow::Status ShowSchema(const FactOptions& options) {
  ARROW_ASSIGN_OR_RAISE(Dataset dataset, Dataset::Open(options.table));
  if (options.json) {
    Json fields = Json::array();
    for (const Field& field : dataset.schema().fields)
      CollectFields(field, "", 0, &fields, nullptr);
    std::cout << DumpJson({{"version", dataset.version()},
                           {"fields", fields},
                           {"metadata", dataset.schema().metadata}},
                          2)
              << "\n";
    return arrow::Status::OK();
  }
  TextTable table({{"id", true}, {"name"}, {"type"}, {"nullable"}}, &std::cout, /*markdown=*/false,
                  0);
  for (const Field& field : dataset.schema().fields) CollectFields(field, "", 0, nullptr, &table);
  return arrow::Status::OK();
}

Json OverlayToJson(const OverlayInfo& overlay) {
  Json fields = Json::array();
  for (const auto& field : overlay.fields) {
    fields.push_back({{"id", field.field},
                      {"name", field.name},
                      {"cells", field.cells},
                      {"winning", field.winning}});
  }
  return {{"fragment", overlay.fragment},
          {"position", overlay.position},
          {"committed_version", overlay.committed_version},
          {"dense", overlay.dense},
          {"path", overlay.file.path},
          {"bytes", overlay.file.size_bytes},
          {"cells", overlay.cells},
          {"winning", overlay.winning},
          {"fields", fields}};
}

arrow::Status ShowOverlays(const FactOptions& options) {
  ARROW_ASSIGN_OR_RAISE(Dataset dataset, Dataset::Open(options.table));
  ARROW_ASSIGN_OR_RAISE(auto overlays, dataset.Overlays());
  if (options.json) {
    Json list = Json::array();
    for (const auto& overlay : overlays) list.push_back(OverlayToJson(overlay));
    std::cout << DumpJson(list, 2) << "\n";
    return arrow::Status::OK();
  }
  TextTable table({{"fragment", true},
                   {"version", true},
                   {"shape"},
                   {"fields"},
                   {"cells", true},
                   {"winning", true},
                   {"bytes", true},
                   {"file"}},
                  &std::cout, /*markdown=*/false, 0);
  for (const auto& overlay : overlays) {
    std::string fields;
    for (const auto& field : overlay.fields) {
      fields += (fields.empty() ? "" : ",") +
                (field.name.empty() ? "#" + std::to_string(field.field) : field.name);
    }
    uint64_t share = overlay.cells == 0 ? 0 : overlay.winning * 100 / overlay.cells;
    table.Add({std::to_string(overlay.fragment), std::to_string(overlay.committed_version),
               overlay.dense ? "dense" : "sparse", fields, std::to_string(overlay.cells),
               std::to_string(share) + "%", std::to_string(overlay.file.size_bytes),
               overlay.file.path});
  }
  return arrow::Status::OK();
}

Json SourceToJson(const CellExplanation::Source& source) {
  Json json = {{"source", source.overlay ? "overlay" : source.path.empty() ? "none" : "base"}};
  json["file"] = source.path.empty() ? Json() : Json(source.path);
  json["committed_version"] = source.version ? Json(*source.version) : Json();
  json["rank"] = source.rank ? Json(*source.rank) : Json();
  json["file_column"] = source.column < 0 ? Json() : Json(source.column);
  json["value"] = ScalarToJson(source.value);
  return json;
}

Json ExplanationToJson(const CellExplanation& cell) {
  Json shadowed = Json::array();
  for (const auto& source : cell.shadowed) shadowed.push_back(SourceToJson(source));
  return {{"row", cell.row},
          {"fragment", cell.fragment},
          {"offset", cell.offset},
          {"column", cell.column},
          {"field", cell.field},
          {"value", ScalarToJson(cell.value)},
          {"winner", SourceToJson(cell.winner)},
          {"shadowed", shadowed}};
}

std::string SourceText(const CellExplanation::Source& source) {
  if (source.path.empty()) return "no file holds the field: NULL";
  std::string text =
      source.overlay ? "overlay of version " + std::to_string(source.version.value_or(0)) : "base";
  text += ", data/" + source.path + ", column " + std::to_string(source.column);
  if (source.rank) text += (source.overlay ? ", rank " : ", row ") + std::to_string(*source.rank);
  return text;
}

std::string ShortValue(const std::shared_ptr<arrow::Scalar>& value) {
  std::string text = ScalarToText(value);
  return text.size() <= 72 ? text : text.substr(0, 69) + "...";
}

void PrintExplanation(const CellExplanation& cell) {
  std::cout << cell.column << " (field " << cell.field << ") of row " << cell.row << ": fragment "
            << cell.fragment << ", offset " << cell.offset << "\n  value    "
            << ShortValue(cell.value) << "\n  from     " << SourceText(cell.winner) << "\n";
  for (const auto& source : cell.shadowed) {
    std::cout << "  shadows  " << ShortValue(source.value) << " in " << SourceText(source) << "\n";
  }
}

arrow::Status Explain(const FactOptions& options) {
  ARROW_ASSIGN_OR_RAISE(Dataset dataset, Dataset::Open(options.table));
  if (options.row < 0)
    return InvalidInput("--row: expected a position from 0, found ", options.row);
  std::vector<std::string> columns;
  if (options.column.empty()) {
    for (const Field& field : dataset.schema().fields) {
      for (const ValueField& value : ValueFields(field)) columns.push_back(value.path);
    }
  } else {
    const Field* field = dataset.schema().FindName(options.column);
    const auto values = field == nullptr ? std::vector<ValueField>() : ValueFields(*field);
    for (const ValueField& value : values) columns.push_back(value.path);
    if (columns.empty()) columns.push_back(options.column);
  }
  Json list = Json::array();
  for (const auto& column : columns) {
    ARROW_ASSIGN_OR_RAISE(auto cell,
                          dataset.ExplainCell(static_cast<uint64_t>(options.row), column));
    if (options.json) {
      list.push_back(ExplanationToJson(cell));
    } else {
      PrintExplanation(cell);
    }
  }
  if (options.json)
    std::cout << DumpJson(list.size() == 1 && !options.column.empty() ? list[0] : list, 2) << "\n";
  return arrow::Status::OK();
}

using FactCommand = arrow::Status (*)(const FactOptions&);

CLI::App* AddFact(CLI::App* app, Invocation* invocation, const char* name, const char* what,
                  FactCommand run, const std::shared_ptr<FactOptions>& options) {
  CLI::App* command = app->add_subcommand(name, what);
  command->add_option("table", options->table, "The table")->required();
  command->add_flag("--json", options->json, "Print JSON");
  command->callback([=] { invocation->command = [=] { return run(*options); }; });
  return command;
}

}  // namespace

void AddFactCommands(CLI::App* app, Invocation* invocation) {
  auto options = std::make_shared<FactOptions>();
  AddFact(app, invocation, "info",
          "Print what the table holds: rows, fragments, files, overlays, indexes", Info, options)
      ->footer("\nExamples:\n  pennon info users.lance\n  pennon info users.lance@3 --json\n");
  AddFact(app, invocation, "schema", "Print the fields with ids, types and nullability", ShowSchema,
          options)
      ->footer("\nExamples:\n  pennon schema users.lance\n");
  AddFact(app, invocation, "overlays",
          "List every overlay file: fragment, fields, cells, version, bytes", ShowOverlays, options)
      ->footer("\nExamples:\n  pennon overlays users.lance --json\n");
  CLI::App* explain =
      AddFact(app, invocation, "explain",
              "Print where cells come from: the winning file and rank, and what it shadows",
              Explain, options);
  explain->add_option("-r,--row", options->row, "Position among live rows")->required();
  explain->add_option("-c,--column", options->column,
                      "One column, such as age or address.zip; default: all");
  explain->footer("\nExamples:\n  pennon explain users.lance --row 1 --column age\n");
}

}  // namespace pennon::cli
