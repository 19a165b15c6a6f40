// A bounded map that forgets what was used least lately. Thread-safe.
#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <utility>

namespace pennon::read {

/// Keeps shared values by text keys, up to a number of bytes as their owners count them. A value
/// larger than an eighth of the limit is not kept. Values handed out live on after they are dropped
/// here.
class LruCache {
 public:
  explicit LruCache(uint64_t max_bytes) : max_bytes_(max_bytes) {}

  /// The value of `key`, or null.
  std::shared_ptr<const void> Get(const std::string& key) {
    std::lock_guard<std::mutex> lock(mutex_);
    auto found = index_.find(key);
    if (found == index_.end()) return nullptr;
    order_.splice(order_.begin(), order_, found->second);
    return found->second->value;
  }

  /// Keeps `value` under `key`, in place of what was there.
  void Put(const std::string& key, std::shared_ptr<const void> value, uint64_t bytes) {
    bytes += key.size() * 2 + sizeof(Entry);
    if (bytes > max_bytes_ / 8) return;
    std::lock_guard<std::mutex> lock(mutex_);
    auto found = index_.find(key);
    if (found != index_.end()) Drop(found->second);
    order_.push_front({key, std::move(value), bytes});
    index_[key] = order_.begin();
    bytes_ += bytes;
    while (bytes_ > max_bytes_) Drop(std::prev(order_.end()));
  }

  uint64_t bytes() const {
    std::lock_guard<std::mutex> lock(mutex_);
    return bytes_;
  }

 private:
  struct Entry {
    std::string key;
    std::shared_ptr<const void> value;
    uint64_t bytes = 0;
  };

  void Drop(std::list<Entry>::iterator entry) {
    bytes_ -= entry->bytes;
    index_.erase(entry->key);
    order_.erase(entry);
  }

  const uint64_t max_bytes_;
  mutable std::mutex mutex_;
  std::list<Entry> order_;
  std::unordered_map<std::string, std::list<Entry>::iterator> index_;
  uint64_t bytes_ = 0;
};

}  // namespace pennon::read
