// Work of one scan or take: run by the executor's threads and by whoever waits for it, so that
// waiting never blocks a pool on itself and a scan without threads is the same code.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>

#include <arrow/status.h>

namespace arrow::internal {
class Executor;
}

namespace pennon::read {

class TaskQueue : public std::enable_shared_from_this<TaskQueue> {
 public:
  /// With a null executor every task runs in WaitFor.
  static std::shared_ptr<TaskQueue> Make(arrow::internal::Executor* executor);

  /// Queues `task`. After Stop it is dropped.
  void Submit(std::function<void()> task);
  /// Runs queued tasks until `done` (asked under the queue's lock, after every task) is true. Fails
  /// if a task threw (as one that got no memory does), for it may never come true then.
  arrow::Status WaitFor(const std::function<bool()>& done);
  /// Drops what is queued and waits for what is running.
  void Stop();

 private:
  explicit TaskQueue(arrow::internal::Executor* executor) : executor_(executor) {}
  /// Runs the front task, if there is one. `lock` is held on entry and exit.
  bool RunOne(std::unique_lock<std::mutex>& lock);

  arrow::internal::Executor* executor_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> tasks_;
  int running_ = 0;
  bool stopped_ = false;
  arrow::Status failure_;  ///< what the first task that threw did
};

}  // namespace pennon::read
