#include "pennon/read/task_queue.h"

#include <utility>

#include <arrow/util/thread_pool.h>

namespace pennon::read {

std::shared_ptr<TaskQueue> TaskQueue::Make(arrow::internal::Executor* executor) {
  return std::shared_ptr<TaskQueue>(new TaskQueue(executor));
}

void TaskQueue::Submit(std::function<void()> task) {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    if (stopped_) return;
    tasks_.push_back(std::move(task));
  }
  changed_.notify_all();
  if (executor_ == nullptr) return;
  // A pool that refuses (shutting down) is no loss: the one who waits runs the task.
  arrow::Status ignored = executor_->Spawn([self = shared_from_this()] {
    std::unique_lock<std::mutex> lock(self->mutex_);
    self->RunOne(lock);
  });
  (void)ignored;
}

bool TaskQueue::RunOne(std::unique_lock<std::mutex>& lock) {
  if (tasks_.empty()) return false;
  std::function<void()> task = std::move(tasks_.front());
  tasks_.pop_front();
  ++running_;
  lock.unlock();
  task();
  task = nullptr;  // what the task holds is let go before the queue counts it as finished
  lock.lock();
  --running_;
  changed_.notify_all();
  return true;
}

void TaskQueue::WaitFor(const std::function<bool()>& done) {
  std::unique_lock<std::mutex> lock(mutex_);
  while (!done()) {
    if (!RunOne(lock)) changed_.wait(lock);
  }
}

void TaskQueue::Stop() {
  std::unique_lock<std::mutex> lock(mutex_);
  stopped_ = true;
  std::deque<std::function<void()>> dropped;
  std::swap(dropped, tasks_);
  changed_.wait(lock, [this] { return running_ == 0; });
  lock.unlock();
}

}  // namespace pennon::read
