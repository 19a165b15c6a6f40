#include "pennon/read/task_queue.h"

#include <exception>
#include <new>
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

namespace {

// Runs the task; what it throws as a status.
arrow::Status RunTask(const std::function<void()>& task) {
  try {
    task();
    return arrow::Status::OK();
  } catch (const std::bad_alloc&) {
    return arrow::Status::OutOfMemory("there was not enough memory for a part of the read");
  } catch (const std::exception& error) {
    return arrow::Status::UnknownError("a part of the read failed: ", error.what());
  }
}

}  // namespace

bool TaskQueue::RunOne(std::unique_lock<std::mutex>& lock) {
  if (tasks_.empty()) return false;
  std::function<void()> task = std::move(tasks_.front());
  tasks_.pop_front();
  ++running_;
  lock.unlock();
  arrow::Status status = RunTask(task);
  task = nullptr;  // what the task holds is let go before the queue counts it as finished
  lock.lock();
  --running_;
  if (failure_.ok()) failure_ = std::move(status);
  changed_.notify_all();
  return true;
}

arrow::Status TaskQueue::WaitFor(const std::function<bool()>& done) {
  std::unique_lock<std::mutex> lock(mutex_);
  while (!done()) {
    ARROW_RETURN_NOT_OK(failure_);
    if (!RunOne(lock)) changed_.wait(lock);
  }
  return arrow::Status::OK();
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
