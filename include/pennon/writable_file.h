// A file that is written piece by piece. Not thread-safe.
#pragma once

#include <string_view>

#include <arrow/status.h>

namespace pennon {

/// Takes the bytes of one file in order. What it was given is nothing before Commit: one that is
/// destroyed without leaves no file.
class WritableFile {
 public:
  virtual ~WritableFile() = default;
  /// Appends `bytes`, which need not live on. After an error the file cannot be used any more.
  virtual arrow::Status Append(std::string_view bytes) = 0;
  /// Gives the file its name, replacing one that is there; when this returns OK it is durable.
  virtual arrow::Status Commit() = 0;
};

}  // namespace pennon
