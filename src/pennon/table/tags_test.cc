#include "pennon/table/tags.h"

#include <string>

#include <gtest/gtest.h>

#include "pennon/error.h"

namespace pennon::table {
namespace {

TableLocation WithTag(const std::string& name, const std::string& json) {
  TableLocation table{MakeMemoryStore(), "/t.lance"};
  EXPECT_TRUE(table.store->Put("/t.lance/_refs/tags/" + name + ".json", json).ok());
  return table;
}

ErrorKind KindOf(const std::string& json) {
  const auto found = FindTag(WithTag("x", json), "x");
  const ErrorDetail* detail = GetErrorDetail(found.status());
  EXPECT_NE(detail, nullptr) << json;
  if (detail == nullptr) return ErrorKind::kIo;
  EXPECT_EQ(detail->place().path, "/t.lance/_refs/tags/x.json");
  return detail->kind();
}

TEST(Tags, Names) {
  for (const char* name : {"a", "v1.0", "2026-11-30", "A_b-c.d", "7", "lock", "a.lock.b"}) {
    EXPECT_TRUE(IsTagName(name)) << name;
  }
  for (const char* name :
       {"", ".", ".a", "a.", "a..b", "a.lock", "a/b", "a b", "a@b", "\xc3\xa9"}) {
    EXPECT_FALSE(IsTagName(name)) << name;
  }
}

TEST(Tags, FindsTheVersion) {
  const auto table = WithTag("v1.0", R"({"branch": null, "version": 12, "manifestSize": 508,
      "createdAt": "2026-11-30T07:17:34.825673429Z", "metadata": {"by": "x"}, "later": []})");
  EXPECT_EQ(FindTag(table, "v1.0").ValueOrDie(), 12U);
  EXPECT_EQ(FindTag(WithTag("x", R"({"version": 18446744073709551615})"), "x").ValueOrDie(),
            ~uint64_t{0});
}

TEST(Tags, AnyOtherNameIsNone) {
  const auto table = WithTag("v1", R"({"version": 12})");
  for (const char* name : {"v", "v1.json", "V1", "", "../tags/v1", ".v1"}) {
    EXPECT_EQ(FindTag(table, name).ValueOrDie(), std::nullopt) << name;
  }
  EXPECT_EQ(FindTag({MakeMemoryStore(), "/t.lance"}, "v1").ValueOrDie(), std::nullopt);
}

TEST(Tags, OfABranchIsUnsupported) {
  EXPECT_EQ(KindOf(R"({"branch": "side", "version": 2})"), ErrorKind::kUnsupported);
  EXPECT_EQ(KindOf(R"({"branch": 7, "version": 2})"), ErrorKind::kUnsupported);
}

TEST(Tags, BrokenFilesAreCorrupt) {
  for (const char* json :
       {"", "{", "[]", "12", "null", "{}", R"({"version": null})", R"({"version": -1})",
        R"({"version": 1.5})", R"({"version": "12"})", R"({"version": 99999999999999999999})",
        "\xff\xfe", R"({"version": 1} x)"}) {
    EXPECT_EQ(KindOf(json), ErrorKind::kCorrupt) << json;
  }
  EXPECT_EQ(KindOf(std::string(100000, '[')), ErrorKind::kCorrupt);
  EXPECT_EQ(KindOf(R"({"version": 1})" + std::string(2 << 20, ' ')), ErrorKind::kCorrupt);
}

}  // namespace
}  // namespace pennon::table
