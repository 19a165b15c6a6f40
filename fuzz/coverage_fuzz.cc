// Which rows a table's files speak of: bitmaps, deletion files and the coverages of overlays, of
// any bytes. A bitmap that parses agrees with its own list of values; a winner is the one that a
// walk through all overlays finds.
//
//   [0: b % 4] bitmap, the rest
//   [1] deletion file: [u16 rows][u8 count, 0 = unknown] bitmap     [2] the same, Arrow
//   [3] overlays, of 1 << 12 rows: [versions]... each [u8 version][piece: bitmap]
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <arrow/buffer.h>
#include <protozero/pbf_writer.hpp>

#include "pennon/base/bitmap.h"
#include "pennon/overlay/coverage.h"
#include "pennon/overlay/oracle.h"
#include "pennon/overlay/winners.h"
#include "pennon/store.h"
#include "pennon/table/deletions.h"
#include "pennon/wire/manifest_fields.h"
#include "pennon/wire/manifest_file.h"
#include "taker.h"

namespace {

using namespace pennon;
using fuzz::Require;
using fuzz::Taker;

constexpr uint32_t kRows = 1 << 12;

std::string_view Text(std::span<const uint8_t> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

void CheckBitmap(const Bitmap& bitmap) {
  const auto again = Bitmap::Parse(bitmap.Serialize());
  Require(again.ok() && *again == bitmap);
  Require(bitmap.empty() == (bitmap.cardinality() == 0));
  Require(bitmap.CountIn(0, uint64_t{1} << 32) == bitmap.cardinality());
  // A few bytes can stand for 2^32 values: only the first ones are listed.
  const auto values = bitmap.ToVector(0, 1 << 16);
  uint64_t in_runs = 0;
  for (const BitmapRun& run : bitmap.Runs(0, 1 << 16)) {
    Require(in_runs < values.size() && values[in_runs] == run.first);
    in_runs += run.count;
    Require(in_runs <= values.size() && values[in_runs - 1] == run.first + run.count - 1);
  }
  Require(in_runs == values.size());
  for (size_t i = 0; i < values.size(); i += 1 + values.size() / 16) {
    Require(bitmap.Contains(values[i]) && bitmap.RankBelow(values[i]) == i);
    Require(bitmap.Select(static_cast<uint32_t>(i)) == values[i]);
  }
  if (bitmap.empty()) return;
  Require(bitmap.CountIn(*bitmap.Min(), uint64_t{*bitmap.Max()} + 1) == bitmap.cardinality());
}

// A manifest that says nothing but that it is one.
std::shared_ptr<const table::Manifest> EmptyManifest() {
  std::string message;
  protozero::pbf_writer writer(message);
  writer.add_uint64(wire::manifest::kVersion, 1);
  writer.add_uint64(wire::manifest::kWriterFlags, table::kOldFilesHintFlag);
  std::string file;
  wire::AppendSection(message, &file);
  wire::AppendManifestFooter(0, &file);
  return table::Manifest::Parse(arrow::Buffer::FromString(file), "m").ValueOrDie();
}

void ReadDeletionFile(table::DeletionFile::Kind kind, Taker in) {
  static const auto manifest = EmptyManifest();
  table::Fragment fragment;
  fragment.physical_rows = in.Short();
  fragment.deletion_file = table::DeletionFile{.kind = kind, .num_deleted_rows = in.Byte()};
  const table::TableLocation table{MakeMemoryStore(), "/t"};
  const char* const path = kind == table::DeletionFile::Kind::kBitmap ? "/t/_deletions/0-0-0.bin"
                                                                      : "/t/_deletions/0-0-0.arrow";
  Require(table.store->Put(path, std::string(Text(in.Rest()))).ok());
  const auto deleted = ReadDeletions(table, *manifest, fragment);
  if (!deleted.ok()) return;
  if (fragment.physical_rows != 0) Require(deleted->cardinality() <= fragment.physical_rows);
  CheckBitmap(*deleted);
}

// Reads overlays, oldest first, and keeps their bitmaps' bytes as the fragment does.
struct Overlays {
  explicit Overlays(Taker in) {
    field.id = 7;
    uint64_t version = 0;
    while (!in.empty() && fragment.overlays.size() < 8) {
      version += in.Byte() % 3;
      table::OverlayFile file;
      file.data_file.fields = {7};
      file.data_file.column_indices = {0};
      file.dense = true;
      file.coverage = {Text(in.Piece())};
      file.committed_version = version;
      fragment.overlays.push_back(file);
    }
  }

  Field field;
  table::Fragment fragment;
};

void ResolveOverlays(Taker in) {
  const Overlays stack(in);
  const auto layers = overlay::LayersOf(stack.fragment, stack.field);
  if (!layers.ok()) return;
  const auto parse =
      [&](const overlay::Layer& layer) -> arrow::Result<std::shared_ptr<const Bitmap>> {
    ARROW_ASSIGN_OR_RAISE(Bitmap bitmap, overlay::ParseCoverage(stack.fragment, layer, kRows));
    return std::make_shared<const Bitmap>(std::move(bitmap));
  };
  const auto map = overlay::FindAllWinners(kRows, *layers, parse);
  std::vector<overlay::OracleOverlay> listed;
  for (const table::OverlayFile& file : stack.fragment.overlays) {
    const auto coverage = Bitmap::Parse(file.coverage[0]);
    if (!coverage.ok() || coverage->Max().value_or(0) >= kRows) return;
    listed.push_back({file.committed_version, coverage->ToVector()});
  }
  Require(map.ok());
  for (uint32_t row = 0; row < kRows; row += 61) {
    const auto expected = overlay::ResolveCell(listed, row);
    const uint16_t owner = map->owner.empty() ? 0 : map->owner[row];
    Require((owner != 0) == expected.has_value());
    if (owner == 0) continue;
    const overlay::WinnerSource& source = map->sources[owner - 1U];
    Require(source.layer.overlay == expected->overlay);
    const overlay::WinnerMap one = overlay::RestrictWinners(*map, std::span(&row, 1));
    Require(one.cells == 1 && one.sources.size() == 1);
    const overlay::WinnerSource& cell = one.sources[0];
    const uint64_t rank = cell.by_runs()       ? cell.runs[0].rank
                          : cell.ranks.empty() ? 0
                                               : cell.ranks[0];
    Require(rank == expected->rank);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  Taker in(std::span(data, size));
  switch (in.Byte() % 4) {
    case 0: {
      const auto bitmap = Bitmap::Parse(Text(in.Rest()));
      if (bitmap.ok()) CheckBitmap(*bitmap);
      break;
    }
    case 1:
      ReadDeletionFile(table::DeletionFile::Kind::kBitmap, in);
      break;
    case 2:
      ReadDeletionFile(table::DeletionFile::Kind::kArrowArray, in);
      break;
    default:
      ResolveOverlays(in);
  }
  return 0;
}
