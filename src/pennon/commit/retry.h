// When to try a lost commit again, and when to stop (format: table.md 6.5, Retries).
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>

namespace pennon::commit {

/// Limits, and the clock and chance behind them: tests put their own in.
struct RetryPolicy {
  using Clock = std::chrono::steady_clock;

  uint64_t max_attempts = 20;
  std::chrono::nanoseconds budget = std::chrono::seconds(30);
  std::function<Clock::time_point()> now = &Clock::now;
  std::function<void(std::chrono::nanoseconds)> sleep;  ///< default: sleep the thread
  std::function<uint64_t(uint64_t)>
      random_below;  ///< a number below the argument; default: seeded by chance
};

/// Counts attempts and spaces them: after attempt k (from 0) it sleeps a random number of slots
/// below min(4 * 2^k, 128), a slot being 1.1 times the first attempt. Not thread-safe.
class Backoff {
 public:
  explicit Backoff(RetryPolicy policy);

  /// Marks the start of an attempt; the first one starts the budget.
  void StartAttempt();
  /// Sleeps before the next attempt. False, without sleeping, when the attempts or the budget are
  /// used up.
  bool Wait();

  uint64_t attempts() const { return attempts_; }

 private:
  RetryPolicy policy_;
  RetryPolicy::Clock::time_point first_start_;
  std::optional<std::chrono::nanoseconds> slot_;
  uint64_t attempts_ = 0;
};

}  // namespace pennon::commit
