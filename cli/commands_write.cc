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

namespace pennon::cli {
namespace {

struct UpdateArguments {
  std::string table;
  std::vector<std::string> set;
  std::string where;
  std::string strategy = "auto";
  bool dry_run = false;
  bool json = false;
};

std::string Trimmed(const std::string& text) {
  size_t first = text.find_first_not_of(" \t\n");
  if (first == std::string::npos) return "";
  return text.substr(first, text.find_last_not_of(" \t\n") - first + 1);
}

// "age = age + 1" -> {age, age + 1}; a name may stand in backquotes.
arrow::Result<std::pair<std::string, std::string>> ParseAssignment(const std::string& text) {
  size_t equals = text.find('=');
  if (!text.empty() && text[0] == '`') {
    size_t close = text.find('`', 1);
    equals = close == std::string::npos ? close : text.find('=', close);
  }
  if (equals == std::string::npos) {
    return InvalidInput("--set: expected \"column = expression\", found \"", text, "\"");
  }
  std::string name = Trimmed(text.substr(0, equals));
  std::string value = Trimmed(text.substr(equals + 1));
  if (name.size() >= 2 && name.front() == '`' && name.back() == '`')
    name = name.substr(1, name.size() - 2);
  if (name.empty() || value.empty()) {
    return InvalidInput("--set: expected \"column = expression\", found \"", text, "\"");
  }
  return std::make_pair(name, value);
}

UpdateStrategy StrategyOf(const std::string& name) {
  if (name == "overlay") return UpdateStrategy::kOverlay;
  if (name == "rewrite-column") return UpdateStrategy::kRewriteColumn;
  if (name == "move-rows") return UpdateStrategy::kMoveRows;
  return UpdateStrategy::kAuto;
}

arrow::Status Update(const UpdateArguments& arguments, bool quiet) {
  UpdateOptions options;
  for (const auto& text : arguments.set) {
    ARROW_ASSIGN_OR_RAISE(auto assignment, ParseAssignment(Trimmed(text)));
    options.set.push_back(std::move(assignment));
  }
  options.where = Filter(arguments.where);
  options.strategy = StrategyOf(arguments.strategy);
  options.dry_run = arguments.dry_run;
  ARROW_ASSIGN_OR_RAISE(Dataset dataset, Dataset::Open(arguments.table));
  ARROW_ASSIGN_OR_RAISE(auto done, dataset.Update(options));
  const CommitInfo& info = done.info;
  if (arguments.json) {
    Json json = {{"version", info.version},
                 {"rows", info.rows},
                 {"cells", info.cells},
                 {"files", info.files},
                 {"bytes_written", info.bytes_written},
                 {"attempts", info.attempts},
                 {"dry_run", arguments.dry_run}};
    std::cout << json.dump() << "\n";
  } else if (!quiet) {
    std::cout << (arguments.dry_run ? "would update " : "updated ") << info.rows << " rows ("
              << info.cells << " cells)";
    if (!arguments.dry_run && info.rows > 0) {
      std::cout << " in " << info.files << " overlay files, " << info.bytes_written
                << " bytes written";
    }
    std::cout << "; version " << info.version << "\n";
  }
  return arrow::Status::OK();
}

}  // namespace

void AddWriteCommands(CLI::App* app, Invocation* invocation) {
  auto arguments = std::make_shared<UpdateArguments>();
  CLI::App* command = app->add_subcommand("update", "Set cells of the rows that match");
  command->add_option("table", arguments->table, "The table")->required();
  command
      ->add_option("-s,--set", arguments->set,
                   "\"column = expression\"; may be given several times")
      ->required()
      ->take_all()
      ->expected(1, -1)
      ->allow_extra_args(false);
  command->add_option("-w,--where", arguments->where,
                      "Rows that match this SQL condition; default: all");
  command->add_option("--strategy", arguments->strategy, "How to store the change")
      ->check(CLI::IsMember({"auto", "overlay", "rewrite-column", "move-rows"}));
  command->add_flag("--dry-run", arguments->dry_run, "Evaluate and count, write nothing");
  command->add_flag("--json", arguments->json, "Print JSON");
  command->footer(
      "\nExamples:\n"
      "  pennon update users.lance --set \"age = age + 1\" --where \"id IN (2, 4)\"\n"
      "  pennon update users.lance --set \"name = upper(name)\" --set \"age = NULL\" --dry-run\n");
  command->callback(
      [=] { invocation->command = [=] { return Update(*arguments, invocation->quiet); }; });
}

}  // namespace pennon::cli
