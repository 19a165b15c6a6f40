// The commands of the program: each adds itself to the CLI11 app and runs over the public headers
// only.
#pragma once

#include <functional>
#include <string>

#include <arrow/status.h>

namespace CLI {
class App;
}

namespace pennon::cli {

/// What every command knows besides its own options.
struct Invocation {
  bool quiet = false;                      ///< --quiet: results and errors only
  std::function<arrow::Status()> command;  ///< set by the parsed sub-command
};

/// info, schema, overlays, explain.
void AddFactCommands(CLI::App* app, Invocation* invocation);
/// file.
void AddFileCommand(CLI::App* app, Invocation* invocation);
/// scan, take, count.
void AddRowCommands(CLI::App* app, Invocation* invocation);
/// update.
void AddWriteCommands(CLI::App* app, Invocation* invocation);

}  // namespace pennon::cli
