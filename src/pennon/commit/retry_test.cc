#include "pennon/commit/retry.h"

#include <vector>

#include <gtest/gtest.h>

namespace pennon::commit {
namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;

// A clock that only moves when told, or when someone sleeps.
struct FakeTime {
  RetryPolicy::Clock::time_point now;
  std::vector<nanoseconds> sleeps;
  std::vector<uint64_t> bounds;

  RetryPolicy Policy() {
    RetryPolicy policy;
    policy.now = [this] { return now; };
    policy.sleep = [this](nanoseconds time) {
      sleeps.push_back(time);
      now += time;
    };
    policy.random_below = [this](uint64_t bound) {
      bounds.push_back(bound);
      return bound - 1;
    };
    return policy;
  }
};

TEST(BackoffTest, SlotsDoubleAndTheUnitIsTheFirstAttempt) {
  FakeTime time;
  Backoff backoff(time.Policy());
  for (int i = 0; i < 8; ++i) {
    backoff.StartAttempt();
    time.now += milliseconds(i == 0 ? 10 : 3);  // only the first attempt sets the unit
    ASSERT_TRUE(backoff.Wait());
  }
  EXPECT_EQ(time.bounds, (std::vector<uint64_t>{4, 8, 16, 32, 64, 128, 128, 128}));
  EXPECT_EQ(time.sleeps[0], milliseconds(33));  // 3 slots of 11 ms
  EXPECT_EQ(time.sleeps[5], milliseconds(127 * 11));
}

TEST(BackoffTest, StopsAfterTheAttempts) {
  FakeTime time;
  Backoff backoff(time.Policy());
  for (int i = 0; i < 19; ++i) {
    backoff.StartAttempt();
    ASSERT_TRUE(backoff.Wait()) << i;
  }
  backoff.StartAttempt();
  EXPECT_FALSE(backoff.Wait());
  EXPECT_EQ(backoff.attempts(), 20u);
  EXPECT_EQ(time.sleeps.size(), 19u);
}

TEST(BackoffTest, StopsWhenTheTimeIsUp) {
  FakeTime time;
  Backoff backoff(time.Policy());
  backoff.StartAttempt();
  time.now += std::chrono::seconds(29);
  ASSERT_TRUE(backoff.Wait());
  EXPECT_EQ(time.sleeps.back(), std::chrono::seconds(1));  // never beyond the budget
  backoff.StartAttempt();
  EXPECT_FALSE(backoff.Wait());
}

}  // namespace
}  // namespace pennon::commit
