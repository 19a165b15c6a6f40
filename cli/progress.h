// A progress line on the terminal, for work over a second.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace pennon::cli {

/// Draws on stderr, only if that is a terminal and --quiet was not given; clears itself at the end.
class Progress {
 public:
  Progress(std::string what, uint64_t total, bool quiet);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void Advance(uint64_t count);

 private:
  std::string what_;
  uint64_t total_;
  uint64_t done_ = 0;
  bool enabled_;
  bool drawn_ = false;
  std::chrono::steady_clock::time_point next_;
};

}  // namespace pennon::cli
