#include <iostream>
#include <memory>
#include <string>
#include <utility>

#include <CLI/CLI.hpp>

#include "cell_text.h"
#include "commands.h"
#include "pennon/pennon.h"
#include "size_text.h"
#include "table_output.h"

namespace pennon::cli {
namespace {

Json PageToJson(const PageInfo& page) {
  return {{"values", page.values},     {"bytes", page.bytes},   {"layout", page.layout},
          {"encoding", page.encoding}, {"levels", page.levels}, {"dictionary", page.dictionary},
          {"buffers", page.buffers}};
}

Json FileToJson(const DataFileInfo& file) {
  Json columns = Json::array();
  for (const ColumnInfo& column : file.columns) {
    Json pages = Json::array();
    for (const PageInfo& page : column.pages) pages.push_back(PageToJson(page));
    columns.push_back({{"column", column.number},
                       {"name", column.name.empty() ? Json() : Json(column.name)},
                       {"type", column.type.empty() ? Json() : Json(column.type)},
                       {"values", column.values},
                       {"bytes", column.bytes},
                       {"bytes_per_value", column.bytes_per_value},
                       {"min_bytes_per_value", column.min_bytes_per_value},
                       {"pages", std::move(pages)}});
  }
  return {{"path", file.path},
          {"version", file.version},
          {"bytes", file.size_bytes},
          {"page_bytes", file.page_bytes},
          {"rows", file.rows},
          {"global_buffers", file.global_buffers},
          {"columns", std::move(columns)}};
}

std::string EachText(double bytes) {
  char text[32];
  std::snprintf(text, sizeof text, "%.4g", bytes);
  return text;
}

std::string ChainText(const PageInfo& page) {
  std::string text = page.encoding;
  if (!page.dictionary.empty()) text += "; dictionary: " + page.dictionary;
  if (!page.levels.empty()) text += (text.empty() ? "" : "; ") + page.levels;
  return text;
}

void PrintFile(const DataFileInfo& file) {
  std::cout << file.path << ": version " << file.version << ", " << file.rows << " rows, "
            << SizeText(file.size_bytes) << " (" << SizeText(file.page_bytes) << " in pages)\n";
  TextTable table({{"column", true},
                   {"name"},
                   {"type"},
                   {"page", true},
                   {"values", true},
                   {"bytes", true},
                   {"each", true},
                   {"layout"},
                   {"encoding"}},
                  &std::cout, /*markdown=*/false, 0);
  for (const ColumnInfo& column : file.columns) {
    const std::string number = std::to_string(column.number);
    if (column.pages.empty())
      table.Add({number, column.name, column.type, "-", "0", "0", "-", "no pages", ""});
    for (size_t i = 0; i < column.pages.size(); ++i) {
      const PageInfo& page = column.pages[i];
      const std::string each =
          page.values == 0
              ? "-"
              : EachText(static_cast<double>(page.bytes) / static_cast<double>(page.values));
      table.Add({number, column.name, column.type, std::to_string(i), std::to_string(page.values),
                 std::to_string(page.bytes), each, page.layout, ChainText(page)});
    }
  }
}

}  // namespace

void AddFileCommand(CLI::App* app, Invocation* invocation) {
  struct Options {
    std::string path;
    bool json = false;
  };
  auto options = std::make_shared<Options>();
  CLI::App* command = app->add_subcommand(
      "file", "Print what a data file holds: columns, pages, encodings, bytes per value");
  command->add_option("file", options->path, "The data file")->required();
  command->add_flag("--json", options->json, "Print JSON");
  command->footer("\nExamples:\n  pennon file users.lance/data/0a1b2c3d.lance\n");
  command->callback([=] {
    invocation->command = [=]() -> arrow::Status {
      ARROW_ASSIGN_OR_RAISE(const DataFileInfo file, DescribeDataFile(options->path));
      if (options->json) {
        std::cout << DumpJson(FileToJson(file), 2) << "\n";
      } else {
        PrintFile(file);
      }
      return arrow::Status::OK();
    };
  });
}

}  // namespace pennon::cli
