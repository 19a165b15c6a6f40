// A commit costs what it changes: every byte of a manifest that an overlay commit does not concern
// stays as it was, fields that no version of pennon knows among them.
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <arrow/type.h>
#include <gtest/gtest.h>
#include <protozero/pbf_reader.hpp>
#include <protozero/pbf_writer.hpp>

#include "pennon/commit/committer.h"
#include "pennon/commit/ops/data_overlay.h"
#include "pennon/commit/test_table.h"
#include "pennon/table/fragment_wire.h"
#include "pennon/wire/fragment_fields.h"
#include "pennon/wire/manifest_fields.h"

namespace pennon::commit {
namespace {

constexpr int kFragments = 10000;
constexpr uint64_t kTarget = 5000;

// Fields of each wire type under numbers that nobody uses.
std::string UnknownFields(uint64_t salt) {
  std::string bytes;
  protozero::pbf_writer writer(bytes);
  writer.add_uint64(200, salt + 300);
  writer.add_fixed32(201, static_cast<uint32_t>(salt));
  writer.add_fixed64(202, salt * 7);
  writer.add_bytes(203, "future " + std::to_string(salt));
  return bytes;
}

std::string Overlay(const std::string& name, std::vector<uint32_t> offsets, uint64_t version) {
  table::NewOverlay overlay;
  overlay.data_file = {.path = name,
                       .fields = {1},
                       .column_indices = {0},
                       .major_version = 2,
                       .minor_version = 1,
                       .size_bytes = 100,
                       .base_id = {}};
  overlay.coverage = {Bitmap::Of(offsets).Serialize()};
  return table::EncodeOverlay(overlay, version);
}

// Unknown fields inside the data file, the overlay and the fragment, before and after the known
// ones.
std::string StrangeFragment(uint64_t id) {
  table::Fragment plain = TestFragment(id, 10, {0, 1});
  std::string bytes = UnknownFields(id) + table::EncodeFragment(plain);
  protozero::pbf_writer writer(bytes);
  if (id % 2 == 0) {
    writer.add_message(wire::data_fragment::kOverlays,
                       Overlay("a.lance", {1, 2}, 1) + UnknownFields(id + 1));
    bytes += UnknownFields(id + 2);
    writer.add_message(wire::data_fragment::kOverlays,
                       UnknownFields(id + 3) + Overlay("b.lance", {2}, 1));
  }
  return bytes;
}

// Top-level fields of a message in order: number with wire type, and the raw value.
std::vector<std::pair<uint32_t, std::string>> Fields(std::string_view message) {
  std::vector<std::pair<uint32_t, std::string>> fields;
  protozero::pbf_reader reader(message.data(), message.size());
  while (reader.next()) {
    const uint32_t key = static_cast<uint32_t>(reader.tag_and_type());
    switch (reader.wire_type()) {
      case protozero::pbf_wire_type::varint:
        fields.emplace_back(key, std::to_string(reader.get_uint64()));
        break;
      case protozero::pbf_wire_type::fixed32:
        fields.emplace_back(key, std::to_string(reader.get_fixed32()));
        break;
      case protozero::pbf_wire_type::fixed64:
        fields.emplace_back(key, std::to_string(reader.get_fixed64()));
        break;
      default:
        fields.emplace_back(key, reader.get_string());
    }
  }
  return fields;
}

// What a commit may set anew in the manifest message.
bool IsCommitsOwn(uint32_t key) {
  namespace field = wire::manifest;
  switch (key >> 3U) {
    case field::kVersion:
    case field::kVersionAuxData:
    case field::kTimestamp:
    case field::kTag:
    case field::kReaderFlags:
    case field::kWriterFlags:
    case field::kTransactionFile:
    case field::kTransactionSection:
    case field::kWriterVersion:
      return true;
    default:
      return false;
  }
}

TEST(SpliceTest, KeepsTheBytesOfTenThousandFragments) {
  const table::TableLocation location{MakeMemoryStore(), "/t.lance"};
  std::vector<std::string> fragments;
  for (uint64_t id = 0; id < kFragments; ++id) fragments.push_back(StrangeFragment(id));
  const auto schema =
      arrow::schema({arrow::field("id", arrow::int64()), arrow::field("v", arrow::int32())});
  const auto first =
      CreateTestTable(location, *schema, fragments, {.more_manifest_fields = UnknownFields(77)})
          .ValueOrDie();

  OverlayGroup group;
  group.fragment_id = kTarget;
  group.covered = Bitmap::OfRange(3, 5);
  table::NewOverlay overlay;
  overlay.data_file = {.path = "new.lance",
                       .fields = {1},
                       .column_indices = {0},
                       .major_version = 2,
                       .minor_version = 1,
                       .size_bytes = 100,
                       .base_id = {}};
  overlay.coverage = {group.covered.Serialize()};
  group.overlays = {overlay};
  auto outcome = Commit({location, first, std::make_shared<DataOverlay>(std::vector{group}), {}});
  ASSERT_TRUE(outcome.ok()) << outcome.status();

  const auto second = table::OpenManifest(location, 2).ValueOrDie();
  ASSERT_EQ(second->fragments().size(), size_t{kFragments});
  for (uint64_t id = 0; id < kFragments; ++id) {
    if (id == kTarget) continue;
    ASSERT_EQ(second->fragments()[id].bytes, fragments[id]) << id;
  }

  // The changed fragment: all it had, in order, and the new overlay behind it.
  auto expected = Fields(fragments[kTarget]);
  expected.emplace_back((wire::data_fragment::kOverlays << 3U) | 2U,
                        table::EncodeOverlay(overlay, 2));
  EXPECT_EQ(Fields(second->fragments()[kTarget].bytes), expected);

  std::multimap<uint32_t, std::string> before;
  std::multimap<uint32_t, std::string> after;
  for (const auto& [key, value] : Fields(first->message())) {
    if (!IsCommitsOwn(key) && (key >> 3U) != wire::manifest::kFragments) before.emplace(key, value);
  }
  for (const auto& [key, value] : Fields(second->message())) {
    if (!IsCommitsOwn(key) && (key >> 3U) != wire::manifest::kFragments) after.emplace(key, value);
  }
  EXPECT_EQ(after, before);
  EXPECT_EQ(after.count((203U << 3U) | 2U), 1u);
}

}  // namespace
}  // namespace pennon::commit
