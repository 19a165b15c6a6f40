#include "progress.h"

#include <unistd.h>

#include <cstdio>
#include <utility>

namespace pennon::cli {

Progress::Progress(std::string what, uint64_t total, bool quiet)
    : what_(std::move(what)),
      total_(total),
      enabled_(!quiet && isatty(STDERR_FILENO) != 0),
      next_(std::chrono::steady_clock::now() + std::chrono::seconds(1)) {}

Progress::~Progress() {
  if (drawn_) std::fputs("\r\033[K", stderr);
}

void Progress::Advance(uint64_t count) {
  done_ += count;
  if (!enabled_) return;
  auto now = std::chrono::steady_clock::now();
  if (now < next_) return;
  next_ = now + std::chrono::milliseconds(200);
  drawn_ = true;
  double share = total_ == 0 ? 0 : 100.0 * static_cast<double>(done_) / static_cast<double>(total_);
  std::fprintf(stderr, "\r%s: %llu of %llu rows (%.0f%%)\033[K", what_.c_str(),
               static_cast<unsigned long long>(done_), static_cast<unsigned long long>(total_),
               share);
  std::fflush(stderr);
}

}  // namespace pennon::cli
