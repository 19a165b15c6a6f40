#include "pennon/base/bitmap.h"

#include <roaring.h>

#include <utility>

#include "pennon/error.h"

namespace pennon {

void Bitmap::Free::operator()(Set* set) const { roaring_bitmap_free(set); }

Bitmap::Bitmap() : set_(roaring_bitmap_create()) {}
Bitmap::Bitmap(Set* owned) : set_(owned) {}
Bitmap::~Bitmap() = default;
Bitmap::Bitmap(const Bitmap& other) : set_(roaring_bitmap_copy(other.set_.get())) {}
Bitmap& Bitmap::operator=(const Bitmap& other) {
  if (this != &other) set_.reset(roaring_bitmap_copy(other.set_.get()));
  return *this;
}
// A moved-from set stays usable (empty), so that a cleared member never dangles.
Bitmap::Bitmap(Bitmap&& other) noexcept : set_(std::move(other.set_)) {
  other.set_.reset(roaring_bitmap_create());
}
Bitmap& Bitmap::operator=(Bitmap&& other) noexcept {
  std::swap(set_, other.set_);
  return *this;
}

arrow::Result<Bitmap> Bitmap::Parse(std::string_view bytes) {
  size_t used = roaring_bitmap_portable_deserialize_size(bytes.data(), bytes.size());
  if (used == 0) {
    return Corrupt("", "roaring bitmap cannot be decoded: no valid header and containers in ",
                   bytes.size(), " bytes");
  }
  if (used != bytes.size()) {
    return Corrupt("", "roaring bitmap has bytes after its end: expected ", used, " bytes, found ",
                   bytes.size());
  }
  roaring_bitmap_t* raw = roaring_bitmap_portable_deserialize_safe(bytes.data(), bytes.size());
  if (raw == nullptr)
    return Corrupt("", "roaring bitmap cannot be decoded: ", bytes.size(), " bytes");
  Bitmap bitmap(raw);
  const char* reason = nullptr;
  if (!roaring_bitmap_internal_validate(raw, &reason)) {
    return Corrupt(
        "", "roaring bitmap is inconsistent: ", reason == nullptr ? "unknown reason" : reason);
  }
  return bitmap;
}

Bitmap Bitmap::Of(std::span<const uint32_t> values) {
  Bitmap bitmap;
  roaring_bitmap_add_many(bitmap.set_.get(), values.size(), values.data());
  return bitmap;
}

Bitmap Bitmap::OfRange(uint64_t first, uint64_t end) {
  Bitmap bitmap;
  roaring_bitmap_add_range(bitmap.set_.get(), first, end);
  return bitmap;
}

std::string Bitmap::Serialize(bool optimize) const {
  const roaring_bitmap_t* set = set_.get();
  Bitmap optimized;
  if (optimize) {
    optimized = *this;
    roaring_bitmap_run_optimize(optimized.set_.get());
    set = optimized.set_.get();
  }
  std::string out(roaring_bitmap_portable_size_in_bytes(set), '\0');
  roaring_bitmap_portable_serialize(set, out.data());
  return out;
}

uint64_t Bitmap::cardinality() const { return roaring_bitmap_get_cardinality(set_.get()); }
bool Bitmap::empty() const { return roaring_bitmap_is_empty(set_.get()); }
bool Bitmap::Contains(uint32_t value) const { return roaring_bitmap_contains(set_.get(), value); }
uint64_t Bitmap::CountIn(uint64_t first, uint64_t end) const {
  if (first >= end) return 0;
  return roaring_bitmap_range_cardinality(set_.get(), first, end);
}
uint64_t Bitmap::RankBelow(uint32_t value) const {
  return value == 0 ? 0 : roaring_bitmap_rank(set_.get(), value - 1);
}
std::vector<uint32_t> Bitmap::RanksOfMembers(std::span<const uint32_t> members) const {
  std::vector<uint64_t> counts(members.size());
  roaring_bitmap_rank_many(set_.get(), members.data(), members.data() + members.size(),
                           counts.data());
  std::vector<uint32_t> ranks(members.size());
  // CRoaring counts the member itself.
  for (size_t i = 0; i < ranks.size(); ++i) ranks[i] = static_cast<uint32_t>(counts[i] - 1);
  return ranks;
}
std::vector<uint32_t> Bitmap::TakeMembers(std::vector<uint32_t>* values) const {
  std::vector<uint32_t> taken;
  roaring_bulk_context_t context{};
  size_t kept = 0;
  for (uint32_t value : *values) {
    if (roaring_bitmap_contains_bulk(set_.get(), &context, value)) {
      taken.push_back(value);
    } else {
      (*values)[kept++] = value;
    }
  }
  values->resize(kept);
  return taken;
}
std::optional<uint32_t> Bitmap::Select(uint32_t rank) const {
  uint32_t value = 0;
  if (!roaring_bitmap_select(set_.get(), rank, &value)) return std::nullopt;
  return value;
}
std::optional<uint32_t> Bitmap::Min() const {
  if (empty()) return std::nullopt;
  return roaring_bitmap_minimum(set_.get());
}
std::optional<uint32_t> Bitmap::Max() const {
  if (empty()) return std::nullopt;
  return roaring_bitmap_maximum(set_.get());
}
bool Bitmap::Intersects(const Bitmap& other) const {
  return roaring_bitmap_intersect(set_.get(), other.set_.get());
}
bool Bitmap::IsSubsetOf(const Bitmap& other) const {
  return roaring_bitmap_is_subset(set_.get(), other.set_.get());
}

Bitmap& Bitmap::operator&=(const Bitmap& other) {
  roaring_bitmap_and_inplace(set_.get(), other.set_.get());
  return *this;
}
Bitmap& Bitmap::operator|=(const Bitmap& other) {
  roaring_bitmap_or_inplace(set_.get(), other.set_.get());
  return *this;
}
Bitmap& Bitmap::operator-=(const Bitmap& other) {
  roaring_bitmap_andnot_inplace(set_.get(), other.set_.get());
  return *this;
}
Bitmap operator&(const Bitmap& a, const Bitmap& b) {
  return Bitmap(roaring_bitmap_and(a.set_.get(), b.set_.get()));
}
Bitmap operator|(const Bitmap& a, const Bitmap& b) {
  return Bitmap(roaring_bitmap_or(a.set_.get(), b.set_.get()));
}
Bitmap operator-(const Bitmap& a, const Bitmap& b) {
  return Bitmap(roaring_bitmap_andnot(a.set_.get(), b.set_.get()));
}
bool Bitmap::operator==(const Bitmap& other) const {
  return roaring_bitmap_equals(set_.get(), other.set_.get());
}

void Bitmap::Add(uint32_t value) { roaring_bitmap_add(set_.get(), value); }

std::vector<uint32_t> Bitmap::ToVector() const {
  std::vector<uint32_t> values(cardinality());
  roaring_bitmap_to_uint32_array(set_.get(), values.data());
  return values;
}

std::vector<uint32_t> Bitmap::ToVector(uint64_t first, uint64_t end) const {
  if (first >= end) return {};
  std::vector<uint32_t> values(CountIn(first, end));
  if (values.empty()) return values;
  roaring_uint32_iterator_t it;
  roaring_iterator_init(set_.get(), &it);
  roaring_uint32_iterator_move_equalorlarger(&it, static_cast<uint32_t>(first));
  uint32_t got =
      roaring_uint32_iterator_read(&it, values.data(), static_cast<uint32_t>(values.size()));
  values.resize(got);
  return values;
}

std::vector<BitmapRun> Bitmap::Runs(uint64_t first, uint64_t end) const {
  std::vector<BitmapRun> runs;
  if (first >= end) return runs;
  roaring_uint32_iterator_t it;
  roaring_iterator_init(set_.get(), &it);
  roaring_uint32_iterator_move_equalorlarger(&it, static_cast<uint32_t>(first));
  uint32_t chunk[1024];
  for (;;) {
    uint32_t got = roaring_uint32_iterator_read(&it, chunk, 1024);
    for (uint32_t i = 0; i < got; ++i) {
      if (chunk[i] >= end) return runs;
      if (!runs.empty() && runs.back().first + runs.back().count == chunk[i] && chunk[i] != 0) {
        ++runs.back().count;
      } else {
        runs.push_back({chunk[i], 1});
      }
    }
    if (got < 1024) return runs;
  }
}

size_t Bitmap::MemoryBytes() const { return roaring_bitmap_size_in_bytes(set_.get()); }

}  // namespace pennon
