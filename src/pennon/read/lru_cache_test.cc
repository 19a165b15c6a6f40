#include "pennon/read/lru_cache.h"

#include <gtest/gtest.h>

namespace pennon::read {
namespace {

std::shared_ptr<const void> Value(int v) { return std::make_shared<const int>(v); }
int Read(const std::shared_ptr<const void>& value) {
  return *std::static_pointer_cast<const int>(value);
}

TEST(LruCache, KeepsAndReplaces) {
  LruCache cache(1 << 20);
  EXPECT_EQ(cache.Get("a"), nullptr);
  cache.Put("a", Value(1), 100);
  cache.Put("a", Value(2), 50);
  EXPECT_EQ(Read(cache.Get("a")), 2);
  EXPECT_LT(cache.bytes(), 400u);
}

TEST(LruCache, ForgetsTheLeastRecentlyUsed) {
  LruCache cache(10000);
  for (int i = 0; i < 9; ++i) {
    cache.Put("key" + std::to_string(i), Value(i), 900);
    ASSERT_NE(cache.Get("key0"), nullptr);
  }
  for (int i = 9; i < 14; ++i) {
    cache.Put("key" + std::to_string(i), Value(i), 900);
    ASSERT_NE(cache.Get("key0"), nullptr) << "used last, kept";
  }
  EXPECT_EQ(cache.Get("key1"), nullptr);
  EXPECT_NE(cache.Get("key13"), nullptr);
  EXPECT_LE(cache.bytes(), 10000u);
}

TEST(LruCache, RefusesWhatIsTooLarge) {
  LruCache cache(8000);
  cache.Put("small", Value(1), 100);
  cache.Put("large", Value(2), 5000);
  EXPECT_EQ(cache.Get("large"), nullptr);
  EXPECT_NE(cache.Get("small"), nullptr);
}

}  // namespace
}  // namespace pennon::read
