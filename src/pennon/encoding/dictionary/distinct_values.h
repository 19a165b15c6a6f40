// Numbers the distinct values of a page, for dictionaries.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <utility>
#include <vector>

#include "pennon/encoding/leaf_values.h"

namespace pennon::encoding {

inline uint64_t MixHash(uint64_t hash, uint64_t word) {
  hash = (hash ^ word) * 0x9E3779B97F4A7C15u;
  return hash ^ hash >> 32;
}

// The kinds of keys: how to take the one of a value, and to hash it.

/// Values of 64 bits.
class WordKeys {
 public:
  explicit WordKeys(const LeafValues& values) : data_(values.data->data()) {}
  uint64_t at(uint64_t i) const {
    uint64_t word;
    std::memcpy(&word, data_ + 8 * i, 8);
    return word;
  }
  static uint64_t Hash(uint64_t key) { return MixHash(0, key); }

 private:
  const uint8_t* data_;
};

/// Values of 128 bits.
class TwoWordKeys {
 public:
  explicit TwoWordKeys(const LeafValues& values) : data_(values.data->data()) {}
  std::pair<uint64_t, uint64_t> at(uint64_t i) const {
    std::pair<uint64_t, uint64_t> key;
    std::memcpy(&key.first, data_ + 16 * i, 8);
    std::memcpy(&key.second, data_ + 16 * i + 8, 8);
    return key;
  }
  static uint64_t Hash(const std::pair<uint64_t, uint64_t>& key) {
    return MixHash(MixHash(0, key.first), key.second);
  }

 private:
  const uint8_t* data_;
};

/// Strings with offsets of int32_t or int64_t.
template <typename Offset>
class StringKeys {
 public:
  explicit StringKeys(const LeafValues& values)
      : offsets_(values.offsets_as<Offset>()),
        data_(reinterpret_cast<const char*>(values.data->data())) {}
  std::string_view at(uint64_t i) const {
    return {data_ + offsets_[i], static_cast<size_t>(offsets_[i + 1] - offsets_[i])};
  }
  static uint64_t Hash(std::string_view key) {
    uint64_t hash = key.size();
    size_t done = 0;
    for (; done + 8 <= key.size(); done += 8) {
      uint64_t word;
      std::memcpy(&word, key.data() + done, 8);
      hash = MixHash(hash, word);
    }
    uint64_t word = 0;
    if (done < key.size()) std::memcpy(&word, key.data() + done, key.size() - done);
    return MixHash(hash, word);
  }

 private:
  const Offset* offsets_;
  const char* data_;
};

/// Distinct values, numbered as they come: open addressing over the numbers of the values that were
/// first.
template <typename Keys>
class DistinctValues {
 public:
  /// `keys` must outlive this; `expected` distinct values fit without growing.
  DistinctValues(const Keys& keys, uint64_t expected)
      : keys_(keys), slots_(std::bit_ceil(std::max<uint64_t>(64, 2 * expected))) {}

  /// The index of value `i`, a new one if none before was equal.
  uint32_t Add(uint64_t i) {
    if (2 * (first_.size() + 1) > slots_.size()) Grow();
    const auto key = keys_.at(i);
    const uint64_t hash = Keys::Hash(key);
    for (uint64_t at = hash & (slots_.size() - 1);; at = (at + 1) & (slots_.size() - 1)) {
      Slot& slot = slots_[at];
      if (slot.index_after == 0) {
        first_.push_back(i);
        slot = {static_cast<uint32_t>(hash >> 32), static_cast<uint32_t>(first_.size())};
        return slot.index_after - 1;
      }
      if (slot.tag == static_cast<uint32_t>(hash >> 32) &&
          keys_.at(first_[slot.index_after - 1]) == key) {
        return slot.index_after - 1;
      }
    }
  }

  /// For each index the value that was first.
  const std::vector<uint64_t>& first() const { return first_; }

 private:
  struct Slot {
    uint32_t tag = 0;
    uint32_t index_after = 0;  // 0: free
  };

  void Grow() {
    std::vector<Slot> grown(2 * slots_.size());
    for (const Slot& slot : slots_) {
      if (slot.index_after == 0) continue;
      uint64_t at = Keys::Hash(keys_.at(first_[slot.index_after - 1])) & (grown.size() - 1);
      while (grown[at].index_after != 0) at = (at + 1) & (grown.size() - 1);
      grown[at] = slot;
    }
    slots_ = std::move(grown);
  }

  const Keys& keys_;
  std::vector<Slot> slots_;
  std::vector<uint64_t> first_;
};

}  // namespace pennon::encoding
