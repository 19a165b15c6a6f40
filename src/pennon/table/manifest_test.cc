#include "pennon/table/manifest.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <random>

#include <arrow/buffer.h>
#include <arrow/type.h>
#include <nlohmann/json.hpp>
#include <protozero/pbf_writer.hpp>

#include "pennon/error.h"
#include "pennon/store.h"
#include "pennon/table/fragment_wire.h"
#include "pennon/table/layout.h"
#include "pennon/wire/manifest_fields.h"
#include "pennon/wire/manifest_file.h"

namespace pennon::table {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

/// The folder of the golden tables, unpacked by the build.
fs::path FixtureFolder() {
  if (const char* folder = std::getenv("PENNON_FIXTURES")) return folder;
  const char* source = std::getenv("PENNON_SOURCE_DIR");
  return fs::path(source == nullptr ? "." : source) / "build/fixtures";
}

std::string ReadText(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

Json Cases() {
  const std::string text = ReadText(FixtureFolder() / "index.json");
  EXPECT_FALSE(text.empty()) << "no golden tables in " << FixtureFolder();
  return text.empty() ? Json::array() : Json::parse(text)["cases"];
}

TableLocation TableOf(const std::string& name) {
  return {MakeLocalStore(), (FixtureFolder() / name / "dataset.lance").string()};
}

arrow::Result<std::shared_ptr<const Manifest>> ParseBytes(const std::string& bytes) {
  return Manifest::Parse(arrow::Buffer::FromString(bytes), "m.manifest");
}

std::vector<uint64_t> Sorted(std::vector<uint64_t> values) {
  std::sort(values.begin(), values.end());
  return values;
}

/// Compares `manifest` with what case.json says of the newest version's fragments.
void ExpectFragments(const Json& expected, const Manifest& manifest) {
  ASSERT_EQ(manifest.fragments().size(), expected.size());
  for (size_t f = 0; f < expected.size(); ++f) {
    const Fragment& fragment = manifest.fragments()[f];
    EXPECT_EQ(fragment.id, expected[f]["id"].get<uint64_t>());
    EXPECT_EQ(manifest.FindFragment(fragment.id), &fragment);
    EXPECT_EQ(fragment.physical_rows, expected[f]["physical_rows"].get<uint64_t>());
    EXPECT_EQ(fragment.num_deleted_rows(), expected[f].contains("deletions")
                                               ? expected[f]["deletions"]["rows"].get<uint64_t>()
                                               : 0);
    ASSERT_EQ(fragment.files.size(), expected[f]["files"].size());
    for (size_t i = 0; i < fragment.files.size(); ++i) {
      EXPECT_EQ(fragment.files[i].fields,
                expected[f]["files"][i]["fields"].get<std::vector<int32_t>>());
      EXPECT_EQ(fragment.files[i].column_indices,
                expected[f]["files"][i]["columns"].get<std::vector<int32_t>>());
    }
    const Json overlays = expected[f].value("overlays", Json::array());
    ASSERT_EQ(fragment.overlays.size(), overlays.size());
    std::vector<uint64_t> found, stated;
    for (size_t i = 0; i < overlays.size(); ++i) {
      found.push_back(fragment.overlays[i].committed_version);
      stated.push_back(overlays[i]["committed_version"].get<uint64_t>());
    }
    EXPECT_TRUE(std::is_sorted(found.begin(), found.end()));
    EXPECT_EQ(found, Sorted(stated));
  }
}

TEST(Manifest, ReadsEveryVersionOfEveryGoldenTable) {
  size_t tables = 0;
  for (const Json& entry : Cases()) {
    const std::string name = entry["case"];
    if (name.starts_with("corrupt/") && !name.starts_with("corrupt/sound")) continue;
    SCOPED_TRACE(name);
    const TableLocation table = TableOf(name);
    const auto versions = ListVersions(table);
    ASSERT_TRUE(versions.ok()) << versions.status().ToString();
    if (entry["storage_version"] == "0.1") {
      const auto status = OpenManifest(table, {}).status();
      ASSERT_NE(GetErrorDetail(status), nullptr);
      EXPECT_EQ(GetErrorDetail(status)->kind(), ErrorKind::kUnsupported);
      EXPECT_NE(status.message().find("0.1"), std::string::npos);
      continue;
    }
    for (const ManifestName& version : *versions) {
      const auto manifest = OpenManifest(table, version.version);
      ASSERT_TRUE(manifest.ok()) << manifest.status().ToString();
      EXPECT_EQ((*manifest)->version(), version.version);
      EXPECT_TRUE(CheckWritable(**manifest).ok());
      EXPECT_FALSE((*manifest)->inline_transaction().empty());
    }
    const auto newest = OpenManifest(table, {});
    ASSERT_TRUE(newest.ok());
    const Json facts = Json::parse(ReadText(FixtureFolder() / name / "case.json"));
    EXPECT_EQ((*newest)->version(), facts["latest_version"].get<uint64_t>());
    EXPECT_EQ((*newest)->data_version(), facts["storage_version"].get<std::string>());
    EXPECT_EQ((*newest)->has_stable_row_ids(), facts["stable_row_ids"].get<bool>());
    if (facts.contains("fragments")) ExpectFragments(facts["fragments"], **newest);
    ++tables;
  }
  EXPECT_GT(tables, 100u);
}

/// What a broken table's manifest must give at open, where that is the latest moment to notice.
TEST(Manifest, RefusesEveryBrokenManifest) {
  const std::map<std::string, ErrorKind> kKinds = {{"corrupt", ErrorKind::kCorrupt},
                                                   {"invalid", ErrorKind::kCorrupt},
                                                   {"unsupported", ErrorKind::kUnsupported},
                                                   {"not found", ErrorKind::kNotFound}};
  size_t refused = 0;
  for (const Json& entry : Cases()) {
    const std::string name = entry["case"];
    if (!name.starts_with("corrupt/")) continue;
    const Json facts = Json::parse(ReadText(FixtureFolder() / name / "case.json"));
    if (!facts.value("expected_error", Json()).is_object()) continue;
    SCOPED_TRACE(name);
    const auto manifest = OpenManifest(TableOf(name), {});
    // A field that the schema does not have is read as a dropped one.
    if (facts["expected_error"]["when"] != "open" || name == "corrupt/overlay_unknown_field") {
      if (name == "corrupt/flag_unknown_writer") {
        ASSERT_TRUE(manifest.ok());
        const auto status = CheckWritable(**manifest);
        EXPECT_EQ(GetErrorDetail(status)->kind(), ErrorKind::kUnsupported);
        EXPECT_NE(status.message().find("bit 40 (value 1099511627776)"), std::string::npos)
            << status.ToString();
      }
      continue;
    }
    ASSERT_FALSE(manifest.ok());
    const ErrorDetail* detail = GetErrorDetail(manifest.status());
    ASSERT_NE(detail, nullptr) << manifest.status().ToString();
    EXPECT_EQ(detail->kind(), kKinds.at(facts["expected_error"]["kind"]))
        << manifest.status().ToString();
    ++refused;
  }
  EXPECT_GE(refused, 20u);
}

TEST(Manifest, SurvivesTruncationAndBitFlips) {
  for (const char* name :
       {"worked_example_users_2_1", "stable_row_ids_2_1", "metadata_everywhere_2_1"}) {
    const TableLocation table = TableOf(name);
    const auto versions = ListVersions(table);
    ASSERT_TRUE(versions.ok());
    const std::string sound = ReadText(fs::path(table.root) / "_versions" / versions->back().name);
    ASSERT_TRUE(ParseBytes(sound).ok());
    for (size_t length = 0; length < sound.size(); ++length) {
      const auto status = ParseBytes(sound.substr(0, length)).status();
      ASSERT_FALSE(status.ok()) << name << " cut to " << length;
      ASSERT_NE(GetErrorDetail(status), nullptr) << status.ToString();
    }
    for (size_t at = 0; at < sound.size(); ++at) {
      for (const uint8_t flip : {0x01, 0x02, 0x08, 0x80, 0xFF}) {
        std::string broken = sound;
        broken[at] = static_cast<char>(static_cast<uint8_t>(broken[at]) ^ flip);
        const auto status = ParseBytes(broken).status();
        if (!status.ok()) {
          ASSERT_NE(GetErrorDetail(status), nullptr) << status.ToString();
        }
      }
    }
  }
}

/// A manifest file of `message`, which lacks nothing but its frame.
std::string Framed(const std::string& message) {
  std::string file;
  wire::AppendSection(message, &file);
  wire::AppendManifestFooter(0, &file);
  return file;
}

/// The message of a table of one int column with `fragments` fragments of `overlays` overlays each.
std::string LargeMessage(uint64_t fragments, uint64_t overlays, uint64_t flags) {
  std::string message;
  protozero::pbf_writer writer(message);
  {
    protozero::pbf_writer field(writer, wire::manifest::kFields);
    field.add_string(2, "a");
    field.add_int32(4, -1);
    field.add_string(5, "int32");
  }
  OverlayFile overlay;
  overlay.data_file = {.path = NewDataFileName(),
                       .fields = {0},
                       .column_indices = {0},
                       .major_version = 2,
                       .minor_version = 1};
  overlay.dense = true;
  const std::string coverage(4000, 'x');  // never looked at
  overlay.coverage = {coverage};
  overlay.committed_version = 1;
  Fragment fragment;
  fragment.files = {overlay.data_file};
  fragment.physical_rows = 1000;
  fragment.overlays.assign(overlays, overlay);
  for (uint64_t id = 0; id < fragments; ++id) {
    fragment.id = id;
    writer.add_message(wire::manifest::kFragments, EncodeFragment(fragment));
  }
  writer.add_uint64(wire::manifest::kVersion, 1);
  writer.add_uint64(wire::manifest::kReaderFlags, flags);
  writer.add_uint64(wire::manifest::kWriterFlags, flags);
  return message;
}

TEST(Manifest, ReadsManyFragmentsWithoutTouchingCoverage) {
  for (const auto& [fragments, overlays] : {std::pair{10000, 0}, std::pair{100, 1000}}) {
    const auto file = arrow::Buffer::FromString(
        Framed(LargeMessage(fragments, overlays, overlays > 0 ? kOverlaysFlag : 0)));
    const auto start = std::chrono::steady_clock::now();
    const auto manifest = Manifest::Parse(file, "m.manifest");
    const auto took = std::chrono::steady_clock::now() - start;
    ASSERT_TRUE(manifest.ok()) << manifest.status().ToString();
    EXPECT_EQ((*manifest)->fragments().size(), static_cast<size_t>(fragments));
    EXPECT_EQ((*manifest)->data_version(), "2.1");
    EXPECT_EQ((*manifest)->num_live_rows(), fragments * uint64_t{1000});
    std::printf("%d fragments of %d overlays: %.2f ms\n", fragments, overlays,
                std::chrono::duration<double, std::milli>(took).count());
  }
}

TEST(Manifest, NamesUnknownReaderBits) {
  const auto status =
      ParseBytes(Framed(LargeMessage(1, 0, uint64_t{1} << 12 | uint64_t{1} << 40))).status();
  ASSERT_NE(GetErrorDetail(status), nullptr);
  EXPECT_EQ(GetErrorDetail(status)->kind(), ErrorKind::kUnsupported);
  EXPECT_NE(status.message().find("bit 12 (value 4096), bit 40 (value 1099511627776)"),
            std::string::npos)
      << status.message();
}

}  // namespace
}  // namespace pennon::table
