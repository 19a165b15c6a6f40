// A store that fails on purpose, for tests of everything that must survive a failing one.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "pennon/store.h"

namespace pennon::io {

/// Passes calls on to another store and fails chosen ones with a kIo error. Every call of the store
/// and every ReadAt of its files counts, from 1. Thread-safe.
class FaultStore : public ObjectStore {
 public:
  /// What happens at the chosen call.
  enum class Fault {
    kBefore,  ///< it fails and changes nothing
    kAfter,   ///< it is done, yet an error is returned: the answer got lost
    kCrash,   ///< it and every later call fail and change nothing, as if the process had died
  };

  explicit FaultStore(std::shared_ptr<ObjectStore> inner);

  /// Fails the `call`-th call counted from now; replaces an earlier choice.
  void FailCall(uint64_t call, Fault fault);
  /// Fails nothing from now on.
  void Heal();
  /// Calls so far.
  uint64_t calls() const;

  arrow::Result<std::shared_ptr<ReadableFile>> Open(
      const std::string& path, std::optional<uint64_t> known_size = {},
      std::shared_ptr<IoCounter> counter = nullptr) override;
  arrow::Result<std::vector<std::string>> List(const std::string& folder) override;
  arrow::Status Put(const std::string& path, std::string_view bytes) override;
  arrow::Status PutIfAbsent(const std::string& path, std::string_view bytes) override;
  arrow::Status Delete(const std::string& path) override;

  struct Plan;

 private:
  std::shared_ptr<ObjectStore> inner_;
  std::shared_ptr<Plan> plan_;  // shared with the open files
};

}  // namespace pennon::io
