#include "pennon/commit/retry.h"

#include <algorithm>
#include <random>
#include <thread>
#include <utility>

namespace pennon::commit {
namespace {

constexpr uint64_t kFirstSlots = 4;
constexpr uint64_t kMostSlots = 128;

uint64_t RandomBelow(uint64_t bound) {
  thread_local std::mt19937_64 engine{std::random_device{}()};
  return std::uniform_int_distribution<uint64_t>(0, bound - 1)(engine);
}

}  // namespace

Backoff::Backoff(RetryPolicy policy) : policy_(std::move(policy)) {
  if (!policy_.now) policy_.now = &RetryPolicy::Clock::now;
  if (!policy_.sleep) {
    policy_.sleep = [](std::chrono::nanoseconds time) { std::this_thread::sleep_for(time); };
  }
  if (!policy_.random_below) policy_.random_below = &RandomBelow;
}

void Backoff::StartAttempt() {
  if (attempts_ == 0) first_start_ = policy_.now();
  ++attempts_;
}

bool Backoff::Wait() {
  const auto elapsed = policy_.now() - first_start_;
  if (!slot_)
    slot_ = std::max(std::chrono::nanoseconds(1), std::chrono::nanoseconds(elapsed) * 11 / 10);
  if (attempts_ >= policy_.max_attempts || elapsed >= policy_.budget) return false;
  const uint64_t doublings = std::min<uint64_t>(attempts_ - 1, 5);  // 4 * 2^5 = 128
  const uint64_t slots = std::min(kFirstSlots << doublings, kMostSlots);
  const uint64_t chosen = policy_.random_below(slots);
  const std::chrono::nanoseconds left = policy_.budget - elapsed;
  policy_.sleep(std::min(left, *slot_ * static_cast<int64_t>(chosen)));
  return true;
}

}  // namespace pennon::commit
