// Recursive code of others (parsers) on a stack that is large enough for its input.
#pragma once

#include <cstddef>
#include <functional>

#include <pthread.h>

#include <arrow/status.h>

#include "pennon/error.h"

namespace pennon::expr {

/// Runs `work` to its end on a thread with `stack_bytes` of stack; memory is committed only as it
/// is used.
inline arrow::Status RunOnLargeStack(size_t stack_bytes, std::function<void()> work) {
  pthread_attr_t attributes;
  pthread_t thread;
  int fault = pthread_attr_init(&attributes);
  if (fault == 0) {
    fault = pthread_attr_setstacksize(&attributes, stack_bytes);
    auto run = [](void* argument) -> void* {
      (*static_cast<std::function<void()>*>(argument))();
      return nullptr;
    };
    if (fault == 0) fault = pthread_create(&thread, &attributes, run, &work);
    pthread_attr_destroy(&attributes);
  }
  if (fault != 0) {
    return MakeError(ErrorKind::kIo, {},
                     JoinParts("cannot start a thread to parse the expression; stack bytes: ",
                               stack_bytes, ", error number: ", fault));
  }
  pthread_join(thread, nullptr);
  return arrow::Status::OK();
}

}  // namespace pennon::expr
