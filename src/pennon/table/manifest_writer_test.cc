#include "pennon/table/manifest_writer.h"

#include <gtest/gtest.h>

#include <arrow/buffer.h>
#include <protozero/pbf_writer.hpp>

#include "pennon/base/bitmap.h"
#include "pennon/error.h"
#include "pennon/table/fragment_wire.h"
#include "pennon/wire/fragment_fields.h"
#include "pennon/wire/manifest_fields.h"
#include "pennon/wire/manifest_file.h"

namespace pennon::table {
namespace {

using ManifestPtr = std::shared_ptr<const Manifest>;

DataFile File(std::string path, std::vector<int32_t> fields) {
  DataFile file{.path = std::move(path),
                .fields = fields,
                .major_version = 2,
                .minor_version = 1,
                .size_bytes = 9};
  for (size_t i = 0; i < fields.size(); ++i) file.column_indices.push_back(static_cast<int32_t>(i));
  return file;
}

Fragment PlainFragment(uint64_t id) {
  Fragment fragment;
  fragment.id = id;
  fragment.files = {File("base.lance", {0})};
  fragment.physical_rows = 10;
  return fragment;
}

std::string OverlayBytes(std::vector<uint32_t> offsets, uint64_t version,
                         const char* path = "o.lance") {
  NewOverlay overlay;
  overlay.data_file = File(path, {0});
  overlay.coverage = {Bitmap::Of(offsets).Serialize()};
  return EncodeOverlay(overlay, version);
}

/// A first version with `fragments`, an index section, a config entry and fields that nobody knows.
ManifestPtr Start(const std::vector<std::string>& fragments, uint64_t flags = 0) {
  std::string message;
  protozero::pbf_writer writer(message);
  {
    protozero::pbf_writer field(writer, wire::manifest::kFields);
    field.add_string(2, "a");
    field.add_int32(4, -1);
    field.add_string(5, "int32");
  }
  for (const std::string& fragment : fragments)
    writer.add_message(wire::manifest::kFragments, fragment);
  writer.add_uint64(wire::manifest::kVersion, 4);
  writer.add_uint64(wire::manifest::kIndexSection, 0);
  writer.add_uint64(wire::manifest::kReaderFlags, flags);
  writer.add_uint64(wire::manifest::kWriterFlags, flags | kTableConfigFlag);
  writer.add_uint32(wire::manifest::kMaxFragmentId, 12);
  writer.add_uint64(wire::manifest::kNextRowId, 50);
  {
    protozero::pbf_writer format(writer, wire::manifest::kDataFormat);
    format.add_string(2, "2.1");
  }
  {
    protozero::pbf_writer entry(writer, wire::manifest::kConfig);
    entry.add_string(1, "k");
    entry.add_string(2, "v");
  }
  writer.add_string(999, "from the future");
  std::string index;
  protozero::pbf_writer(index).add_message(1, std::string());
  std::string file;
  wire::AppendSection(index, &file);
  const uint64_t position = file.size();
  wire::AppendSection(message, &file);
  wire::AppendManifestFooter(position, &file);
  auto manifest = Manifest::Parse(arrow::Buffer::FromString(file), "m");
  EXPECT_TRUE(manifest.ok()) << manifest.status().ToString();
  return *manifest;
}

ManifestEdit Edit() {
  ManifestEdit edit;
  edit.version = 5;
  edit.timestamp_ns = 1'700'000'000'123'456'789;
  edit.transaction_file = "4-x.txn";
  edit.inline_transaction = "\x08\x04";
  return edit;
}

ManifestPtr Build(const Manifest& current, const ManifestEdit& edit) {
  auto bytes = BuildNextManifest(current, edit);
  EXPECT_TRUE(bytes.ok()) << bytes.status().ToString();
  auto manifest = Manifest::Parse(arrow::Buffer::FromString(*bytes), "n");
  EXPECT_TRUE(manifest.ok()) << manifest.status().ToString();
  return *manifest;
}

TEST(BuildNextManifest, CarriesWhatItDoesNotChange) {
  const auto start = Start({EncodeFragment(PlainFragment(3)), EncodeFragment(PlainFragment(7))});
  const auto next = Build(*start, Edit());
  EXPECT_EQ(next->version(), 5u);
  EXPECT_EQ(next->timestamp_ns(), 1'700'000'000'123'456'789);
  EXPECT_EQ(next->transaction_file(), "4-x.txn");
  EXPECT_EQ(next->inline_transaction(), "\x08\x04");
  EXPECT_EQ(next->index_section(), start->index_section());
  EXPECT_FALSE(next->index_section().empty());
  EXPECT_EQ(next->max_fragment_id(), 12u);
  EXPECT_EQ(next->next_row_id(), 50u);
  EXPECT_EQ(next->config(), start->config());
  EXPECT_EQ(next->data_version(), "2.1");
  EXPECT_EQ(next->reader_flags(), 0u);
  EXPECT_EQ(next->writer_flags(), kTableConfigFlag);
  EXPECT_NE(next->message().find("from the future"), std::string_view::npos);
  ASSERT_EQ(next->fragments().size(), 2u);
  EXPECT_EQ(next->fragments()[1].bytes, start->fragments()[1].bytes);
}

TEST(BuildNextManifest, ComputesFlagsFromTheResult) {
  const auto start = Start({EncodeFragment(PlainFragment(3)), EncodeFragment(PlainFragment(7))});
  ManifestEdit edit = Edit();
  edit.replaced_fragments[7] = SpliceFragment(*start->FindFragment(7), {OverlayBytes({1}, 5)}, {});
  const auto overlaid = Build(*start, edit);
  EXPECT_EQ(overlaid->reader_flags(), kOverlaysFlag);
  EXPECT_EQ(overlaid->writer_flags(), kOverlaysFlag | kTableConfigFlag);

  // The last overlay gone: the flag is lifted. A file of another version: a flag that stays.
  edit = Edit();
  edit.version = 6;
  Fragment mixed = PlainFragment(7);
  mixed.files[0].minor_version = 2;
  mixed.deletion_file = DeletionFile{.read_version = 5, .id = 1, .num_deleted_rows = 1};
  edit.replaced_fragments[7] = EncodeFragment(mixed);
  edit.transaction_file.clear();
  const auto folded = Build(*overlaid, edit);
  EXPECT_EQ(folded->reader_flags(), kMixedVersionsFlag | kDeletionFilesFlag);
  EXPECT_EQ(folded->writer_flags(),
            kMixedVersionsFlag | kDeletionFilesFlag | kTableConfigFlag | kNoTransactionFilesFlag);
  edit = Edit();
  edit.version = 7;
  edit.removed_fragments = {7};
  EXPECT_EQ(Build(*folded, edit)->reader_flags(), kMixedVersionsFlag);
}

TEST(BuildNextManifest, AppendsFragments) {
  const auto start = Start({EncodeFragment(PlainFragment(3))});
  ManifestEdit edit = Edit();
  edit.new_fragments = {EncodeFragment(PlainFragment(13)), EncodeFragment(PlainFragment(14))};
  edit.next_row_id = 70;
  const auto next = Build(*start, edit);
  EXPECT_EQ(next->fragments().size(), 3u);
  EXPECT_EQ(next->max_fragment_id(), 14u);
  EXPECT_EQ(next->next_row_id(), 70u);
}

TEST(BuildNextManifest, RefusesEditsThatDoNotFit) {
  const auto start = Start({EncodeFragment(PlainFragment(3))});
  const auto refused = [&](auto&& change) {
    ManifestEdit edit = Edit();
    change(edit);
    const auto status = BuildNextManifest(*start, edit).status();
    ASSERT_NE(GetErrorDetail(status), nullptr) << status.ToString();
    EXPECT_EQ(GetErrorDetail(status)->kind(), ErrorKind::kInvalidInput);
  };
  refused([](ManifestEdit& edit) { edit.version = 4; });
  refused([](ManifestEdit& edit) { edit.removed_fragments = {4}; });
  refused(
      [](ManifestEdit& edit) { edit.replaced_fragments[4] = EncodeFragment(PlainFragment(4)); });
  refused(
      [](ManifestEdit& edit) { edit.replaced_fragments[3] = EncodeFragment(PlainFragment(4)); });
  refused([](ManifestEdit& edit) { edit.new_fragments = {EncodeFragment(PlainFragment(3))}; });
  refused(
      [](ManifestEdit& edit) { edit.inline_transaction.clear(), edit.transaction_file.clear(); });
}

TEST(BuildNextManifest, LeavesAHugeTransactionToItsFile) {
  const auto start = Start({EncodeFragment(PlainFragment(3))});
  ManifestEdit edit = Edit();
  edit.inline_transaction.assign((size_t{20} << 20) + 1, 'x');
  EXPECT_TRUE(Build(*start, edit)->inline_transaction().empty());
}

TEST(SpliceFragment, KeepsUnknownFieldsAndOrdersOverlays) {
  std::string bytes = EncodeFragment(PlainFragment(3));
  protozero::pbf_writer writer(bytes);
  std::string strange = OverlayBytes({1}, 4, "late.lance");
  protozero::pbf_writer(strange).add_string(77, "unknown in the overlay");
  writer.add_message(wire::data_fragment::kOverlays, strange);
  writer.add_string(78, "unknown in the fragment");
  writer.add_message(wire::data_fragment::kOverlays, OverlayBytes({2}, 2, "early.lance"));
  writer.add_bytes(wire::data_fragment::kInlineLastUpdatedAt, "old");
  const auto fragment = ParseFragment(bytes, "m");
  ASSERT_TRUE(fragment.ok());

  const std::string kept = SpliceFragment(*fragment, {OverlayBytes({3}, 5, "new.lance")}, {});
  const auto next = ParseFragment(kept, "m");
  ASSERT_TRUE(next.ok());
  std::vector<std::string> paths;
  for (const auto& overlay : next->overlays) paths.push_back(overlay.data_file.path);
  EXPECT_EQ(paths, (std::vector<std::string>{"early.lance", "late.lance", "new.lance"}));
  EXPECT_LT(kept.find("early.lance"), kept.find("late.lance"));  // stored in order, too
  EXPECT_NE(kept.find("unknown in the overlay"), std::string::npos);
  EXPECT_NE(kept.find("unknown in the fragment"), std::string::npos);
  EXPECT_EQ(next->last_updated_at.bytes, "old");

  const auto stamped = SpliceFragment(*fragment, {}, "new");
  EXPECT_EQ(ParseFragment(stamped, "m")->last_updated_at.bytes, "new");
  EXPECT_EQ(stamped.find("old"), std::string::npos);
}

TEST(EncodeOverlay, WritesDenseAndSparse) {
  NewOverlay sparse;
  sparse.data_file = File("s.lance", {0, 5});
  sparse.dense = false;
  sparse.coverage = {"one", ""};
  const std::string bytes = EncodeOverlay(sparse, 0);
  const auto read = ParseOverlay(bytes, "m");
  ASSERT_TRUE(read.ok());
  EXPECT_FALSE(read->dense);
  EXPECT_EQ(read->committed_version, 0u);
  EXPECT_EQ(read->CoverageAt(0), "one");
  EXPECT_EQ(read->CoverageAt(1), "");
  EXPECT_EQ(read->data_file.column_indices, (std::vector<int32_t>{0, 1}));
}

}  // namespace
}  // namespace pennon::table
