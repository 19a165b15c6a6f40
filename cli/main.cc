// pennon COMMAND TABLE [options]. Exit status: 0 done, 1 the operation failed, 2 usage.
#include <cstdio>
#include <iostream>
#include <string>

#include <arrow/status.h>
#include <CLI/CLI.hpp>

#include "commands.h"
#include "pennon/error.h"

namespace {

constexpr int kFailed = 1;
constexpr int kUsage = 2;

constexpr char kExamples[] = R"help(
TABLE is a path or file:// URI; TABLE@7 names version 7, TABLE@name the version with that tag.

Examples:
  pennon info users.lance
  pennon scan users.lance --columns id,age --where "age >= 26" --limit 10
  pennon update users.lance --set "age = age + 1" --where "id IN (2, 4)"
  pennon explain users.lance --row 1 --column age
  pennon COMMAND -h    shows the options and examples of a command
)help";

int Report(const arrow::Status& status) {
  std::string message = status.message();
  if (const pennon::ErrorDetail* detail = pennon::GetErrorDetail(status)) {
    std::string place = detail->ToString();
    // Most messages name the file themselves.
    const std::string& path = detail->place().path;
    bool told = !path.empty() && message.find(path) != std::string::npos;
    if (!place.empty() && !told) message += "\n  at " + place;
    if (detail->kind() == pennon::ErrorKind::kCommitConflict && detail->retry_helps()) {
      message += "\n  run the command again: it then works on the newest version";
    }
  }
  std::cout.flush();
  std::cerr << "pennon: " << message << "\n";
  return kFailed;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{"pennon: reads and updates Lance tables, with data overlay files"};
  app.name("pennon");
  app.footer(kExamples);
  app.require_subcommand(1);
  app.set_version_flag("--version", std::string("pennon ") + PENNON_VERSION);
  pennon::cli::Invocation invocation;
  app.add_flag("-q,--quiet", invocation.quiet, "Print results and errors only");
  app.fallthrough();
  pennon::cli::AddFactCommands(&app, &invocation);
  pennon::cli::AddRowCommands(&app, &invocation);
  pennon::cli::AddWriteCommands(&app, &invocation);
  pennon::cli::AddFileCommand(&app, &invocation);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == static_cast<int>(CLI::ExitCodes::Success)) return app.exit(error);
    std::cerr << "pennon: " << error.what() << "\nRun `pennon -h` for the commands.\n";
    return kUsage;
  }
  arrow::Status status = invocation.command();
  std::cout.flush();
  if (status.ok() && !std::cout)
    status = arrow::Status::IOError("cannot write to the standard output");
  return status.ok() ? 0 : Report(status);
}
