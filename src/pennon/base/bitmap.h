// A set of 32-bit row offsets or fragment ids: the one place that knows CRoaring.
// Wire form: 32-bit Roaring, portable serialization (spec: Data Overlay Files, Coverage).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <arrow/result.h>

namespace roaring::api {
struct roaring_bitmap_s;
}

namespace pennon {

/// `count` consecutive values from `first`.
struct BitmapRun {
  uint32_t first = 0;
  uint32_t count = 0;
  bool operator==(const BitmapRun&) const = default;
};

/// A value type; const members may be called from several threads.
class Bitmap {
 public:
  Bitmap();
  ~Bitmap();
  Bitmap(const Bitmap& other);
  Bitmap& operator=(const Bitmap& other);
  Bitmap(Bitmap&&) noexcept;
  Bitmap& operator=(Bitmap&&) noexcept;

  /// Reads the portable form; all of `bytes` must be used. Untrusted input: every defect is an
  /// error.
  static arrow::Result<Bitmap> Parse(std::string_view bytes);
  /// Holds the values of `values`, in any order, repeats allowed.
  static Bitmap Of(std::span<const uint32_t> values);
  /// Holds [first, end); `end` up to 2^32.
  static Bitmap OfRange(uint64_t first, uint64_t end);

  /// Writes the portable form, with run containers where they are smaller if `optimize`.
  std::string Serialize(bool optimize = true) const;

  uint64_t cardinality() const;
  bool empty() const;
  bool Contains(uint32_t value) const;
  /// Counts the values in [first, end).
  uint64_t CountIn(uint64_t first, uint64_t end) const;
  /// Counts the values below `value`: the overlay rank of the spec (CRoaring's own rank counts <=).
  uint64_t RankBelow(uint32_t value) const;
  /// The rank of each of `members`, which are ascending and all in the set; one walk for all.
  std::vector<uint32_t> RanksOfMembers(std::span<const uint32_t> members) const;
  /// Moves the values that the set holds out of `values` (ascending) and returns them, ascending.
  std::vector<uint32_t> TakeMembers(std::vector<uint32_t>* values) const;
  /// The value of rank `rank` (0-based), if there are that many.
  std::optional<uint32_t> Select(uint32_t rank) const;
  std::optional<uint32_t> Min() const;
  std::optional<uint32_t> Max() const;
  bool Intersects(const Bitmap& other) const;
  bool IsSubsetOf(const Bitmap& other) const;

  Bitmap& operator&=(const Bitmap& other);
  Bitmap& operator|=(const Bitmap& other);
  Bitmap& operator-=(const Bitmap& other);
  friend Bitmap operator&(const Bitmap& a, const Bitmap& b);
  friend Bitmap operator|(const Bitmap& a, const Bitmap& b);
  friend Bitmap operator-(const Bitmap& a, const Bitmap& b);
  bool operator==(const Bitmap& other) const;

  void Add(uint32_t value);

  /// All values, ascending.
  std::vector<uint32_t> ToVector() const;
  /// The values in [first, end), ascending.
  std::vector<uint32_t> ToVector(uint64_t first, uint64_t end) const;
  /// The maximal runs that lie in [first, end), clipped to it, ascending.
  std::vector<BitmapRun> Runs(uint64_t first, uint64_t end) const;

  /// Bytes of memory the set takes, roughly: for cache accounting.
  size_t MemoryBytes() const;

 private:
  using Set = roaring::api::roaring_bitmap_s;
  struct Free {
    void operator()(Set* set) const;
  };
  explicit Bitmap(Set* owned);
  std::unique_ptr<Set, Free> set_;
};

}  // namespace pennon
