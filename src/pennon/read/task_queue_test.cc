#include "pennon/read/task_queue.h"

#include <atomic>
#include <new>

#include <arrow/util/thread_pool.h>
#include <gtest/gtest.h>

namespace pennon::read {
namespace {

TEST(TaskQueue, WithoutExecutorTheWaiterRunsTasksInOrder) {
  auto queue = TaskQueue::Make(nullptr);
  std::vector<int> order;
  for (int i = 0; i < 5; ++i) queue->Submit([&order, i] { order.push_back(i); });
  EXPECT_TRUE(order.empty());
  ASSERT_TRUE(queue->WaitFor([&] { return order.size() == 5; }).ok());
  EXPECT_EQ(order, (std::vector<int>{0, 1, 2, 3, 4}));
}

TEST(TaskQueue, StopDropsWhatIsQueued) {
  auto queue = TaskQueue::Make(nullptr);
  int ran = 0;
  auto held = std::make_shared<int>(1);
  queue->Submit([&ran, held] { ++ran; });
  queue->Stop();
  queue->Submit([&ran] { ++ran; });
  EXPECT_EQ(ran, 0);
  EXPECT_EQ(held.use_count(), 1);
}

TEST(TaskQueue, WaitingInsideThePoolDoesNotBlockIt) {
  auto pool = arrow::internal::ThreadPool::Make(1).ValueOrDie();
  auto future = pool->Submit([&] {
    auto queue = TaskQueue::Make(pool.get());
    std::atomic<int> left{8};
    for (int i = 0; i < 8; ++i) queue->Submit([&] { left.fetch_sub(1); });
    EXPECT_TRUE(queue->WaitFor([&] { return left.load() == 0; }).ok());
    queue->Stop();
    return 7;
  });
  EXPECT_EQ(future.ValueOrDie().result().ValueOrDie(), 7);
}

TEST(TaskQueue, AnExceptionEndsTheWait) {
  for (const bool threads : {false, true}) {
    auto pool = arrow::internal::ThreadPool::Make(2).ValueOrDie();
    auto queue = TaskQueue::Make(threads ? pool.get() : nullptr);
    std::atomic<int> left{3};
    queue->Submit([&] { left.fetch_sub(1); });
    queue->Submit([] { throw std::bad_alloc(); });
    queue->Submit([&] { left.fetch_sub(1); });
    const arrow::Status status = queue->WaitFor([&] { return left.load() == 0; });
    EXPECT_TRUE(status.IsOutOfMemory()) << status;
    EXPECT_TRUE(queue->WaitFor([] { return false; }).IsOutOfMemory());
    queue->Stop();
  }
}

TEST(TaskQueue, StopWaitsForRunningTasks) {
  auto pool = arrow::internal::ThreadPool::Make(4).ValueOrDie();
  for (int round = 0; round < 50; ++round) {
    auto queue = TaskQueue::Make(pool.get());
    auto alive = std::make_unique<std::atomic<int>>(0);
    for (int i = 0; i < 20; ++i) {
      queue->Submit([counter = alive.get()] { counter->fetch_add(1); });
    }
    queue->Stop();
    alive.reset();  // a task still running would write into freed memory
  }
}

}  // namespace
}  // namespace pennon::read
