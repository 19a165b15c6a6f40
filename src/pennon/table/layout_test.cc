#include "pennon/table/layout.h"

#include <gtest/gtest.h>

#include <regex>

#include "pennon/error.h"
#include "pennon/store.h"

namespace pennon::table {
namespace {

ErrorKind KindOf(const arrow::Status& status) {
  const ErrorDetail* detail = GetErrorDetail(status);
  EXPECT_NE(detail, nullptr) << status.ToString();
  return detail == nullptr ? ErrorKind::kIo : detail->kind();
}

TEST(ManifestNames, ReadsBothSchemes) {
  const auto v2 = ParseManifestName("18446744073709551614.manifest");
  ASSERT_TRUE(v2);
  EXPECT_EQ(v2->version, 1u);
  EXPECT_EQ(v2->naming, ManifestNaming::kV2);
  const auto v1 = ParseManifestName("17.manifest");
  ASSERT_TRUE(v1);
  EXPECT_EQ(v1->version, 17u);
  EXPECT_EQ(v1->naming, ManifestNaming::kV1);
  const auto detached = ParseManifestName("d9223372036854775808.manifest");
  ASSERT_TRUE(detached);
  EXPECT_TRUE(detached->detached);
  EXPECT_EQ(detached->version, uint64_t{1} << 63);
  for (const char* name : {"latest_version_hint.json", "18446744073709551614.manifest#1", ".tmp123",
                           "x.manifest", ".manifest", "manifest", "d5.manifest", "-1.manifest",
                           "99999999999999999999.manifest", "1.2.manifest", ""}) {
    EXPECT_FALSE(ParseManifestName(name)) << name;
  }
}

TEST(ManifestNames, FormatsWhatItReads) {
  EXPECT_EQ(FormatManifestName(1, ManifestNaming::kV2), "18446744073709551614.manifest");
  EXPECT_EQ(FormatManifestName(17, ManifestNaming::kV1), "17.manifest");
  const uint64_t detached = (uint64_t{1} << 63) | 5;
  EXPECT_EQ(FormatManifestName(detached, ManifestNaming::kV2), "d9223372036854775813.manifest");
  for (const uint64_t version :
       {uint64_t{0}, uint64_t{1}, uint64_t{123456}, (uint64_t{1} << 63) - 1, detached}) {
    const auto parsed = ParseManifestName(FormatManifestName(version, ManifestNaming::kV2));
    ASSERT_TRUE(parsed) << version;
    EXPECT_EQ(parsed->version, version);
  }
}

TEST(ListVersions, SortsAndIgnoresStrangers) {
  TableLocation table{MakeMemoryStore(), "/t"};
  EXPECT_EQ(KindOf(ListVersions(table).status()), ErrorKind::kNotFound);
  for (const uint64_t version : {3, 1, 2}) {
    ASSERT_TRUE(
        table.store->Put("/t/_versions/" + FormatManifestName(version, ManifestNaming::kV2), "")
            .ok());
  }
  WriteVersionHint(table, 3);
  ASSERT_TRUE(table.store->Put("/t/_versions/d9223372036854775813.manifest", "").ok());
  const auto versions = ListVersions(table);
  ASSERT_TRUE(versions.ok());
  ASSERT_EQ(versions->size(), 3u);
  EXPECT_EQ((*versions)[0].version, 1u);
  EXPECT_EQ((*versions)[2].version, 3u);
  ASSERT_TRUE(table.store->Put("/t/_versions/4.manifest", "").ok());
  EXPECT_EQ(KindOf(ListVersions(table).status()), ErrorKind::kCorrupt);
}

TEST(OpenManifest, TellsMissingTableFromMissingVersion) {
  TableLocation table{MakeMemoryStore(), "/t"};
  auto status = OpenManifest(table, {}).status();
  EXPECT_EQ(KindOf(status), ErrorKind::kNotFound);
  EXPECT_NE(status.message().find("no table here"), std::string::npos);
  ASSERT_TRUE(table.store->Put("/t/_versions/1.manifest", "x").ok());
  status = OpenManifest(table, 2).status();
  EXPECT_EQ(KindOf(status), ErrorKind::kNotFound);
  EXPECT_NE(status.message().find("no version 2"), std::string::npos);
  EXPECT_EQ(KindOf(OpenManifest(table, 1).status()), ErrorKind::kCorrupt);
}

TEST(VersionHint, HasTheExactForm) {
  TableLocation table{MakeMemoryStore(), "/t"};
  WriteVersionHint(table, 7);
  auto file = table.store->Open("/t/_versions/latest_version_hint.json");
  ASSERT_TRUE(file.ok());
  std::string text((*file)->size(), '\0');
  ASSERT_TRUE((*file)->ReadAt(0, {reinterpret_cast<uint8_t*>(text.data()), text.size()}).ok());
  EXPECT_EQ(text, "{\"version\":7}");
}

TEST(Names, AreFreshAndWellFormed) {
  EXPECT_TRUE(std::regex_match(NewDataFileName(), std::regex("[01]{24}[0-9a-f]{26}\\.lance")));
  EXPECT_TRUE(std::regex_match(
      NewUuid(),
      std::regex("[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}")));
  EXPECT_NE(NewUuid(), NewUuid());
}

}  // namespace
}  // namespace pennon::table
