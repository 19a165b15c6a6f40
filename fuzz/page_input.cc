#include "page_input.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include <arrow/array/array_base.h>
#include <arrow/array/util.h>
#include <arrow/memory_pool.h>
#include <arrow/type.h>

#include "pennon/encoding/catalog.h"
#include "pennon/encoding/nested/nesting.h"
#include "pennon/encoding/output.h"
#include "pennon/encoding/page.h"
#include "pennon/error.h"
#include "pennon/file/side_files.h"
#include "pennon/file/test_file.h"
#include "pennon/wire/page_layout.h"
#include "taker.h"

namespace pennon::fuzz {
namespace {

using encoding::PageLevels;
using encoding::PageRows;
using Array = std::shared_ptr<arrow::Array>;

PageType Plain(const std::shared_ptr<arrow::DataType>& type) {
  return {encoding::LeafType::Make(*type).ValueOrDie(), type};
}

/// Bytes of the file that blobs lie in.
constexpr size_t kBlobFileBytes = 1 << 16;

/// The input of a page as it lies in the file: buffers are where they are in the input.
struct Page {
  encoding::PageDescription description;
  const PageType* type;
  uint8_t rows;
  std::span<const uint8_t> file;
};

Page TakePage(std::span<const uint8_t> input) {
  Taker in(input);
  Page page{.description = {.path = "fuzz", .column = "c"}, .type = nullptr, .file = input};
  page.description.minor = in.Byte() % 3;
  page.type = &PageTypes()[in.Byte() % PageTypes().size()];
  page.description.length = uint64_t{1} + in.Short();
  page.description.file_size = input.size();
  page.rows = in.Byte();
  const auto encoding = in.Piece();
  page.description.encoding = {reinterpret_cast<const char*>(encoding.data()), encoding.size()};
  while (!in.empty()) {
    const auto buffer = in.Piece();
    const uint64_t end = input.size() - in.left();
    page.description.buffers.push_back({.offset = end - buffer.size(), .size = buffer.size()});
  }
  return page;
}

std::optional<PageKind> KindOf(const Page& page) {
  if (page.description.minor == 0) return PageKind::kV20;
  const auto layout = wire::ParsePageLayout(page.description.encoding, "fuzz");
  if (!layout.ok()) return std::nullopt;
  if (page.type->leaf.is_blob) return PageKind::kBlob;
  constexpr PageKind kKinds[] = {PageKind::kMiniBlock, PageKind::kConstant, PageKind::kFullZip,
                                 PageKind::kBlob};
  return kKinds[layout->layout.index()];
}

// Gives the reads their bytes, each as a copy of its own, so that a sanitizer sees reads beyond it.
class Feeder {
 public:
  explicit Feeder(std::span<const uint8_t> file) : file_(file) {}

  /// Calls Next until `read` wants nothing more.
  arrow::Status Feed(auto* read) {
    for (int step = 0;; ++step) {
      Require(step <= 8);  // Next must come to an end
      ARROW_ASSIGN_OR_RAISE(const auto reads, read->Next());
      if (reads.empty()) return arrow::Status::OK();
      for (auto& range : reads) {
        Require(range.offset <= file_.size() && range.size <= file_.size() - range.offset);
        const auto bytes = file_.subspan(range.offset, range.size);
        held_.push_back(std::make_unique<std::vector<uint8_t>>(bytes.begin(), bytes.end()));
        if (range.into != nullptr && range.size != 0)
          std::memcpy(range.into, bytes.data(), range.size);
        range.data = range.into != nullptr ? range.into : held_.back()->data();
      }
    }
  }

 private:
  std::span<const uint8_t> file_;
  std::vector<std::unique_ptr<std::vector<uint8_t>>> held_;
};

std::unique_ptr<encoding::ColumnOutput> MakeOutput(const Page& page, uint64_t slots) {
  auto out = encoding::ColumnOutput::Make(page.type->leaf, slots, arrow::default_memory_pool())
                 .ValueOrDie();
  out->ZeroSlots(0, slots);
  return out;
}

arrow::Result<Array> FinishSound(const Page& page, encoding::ColumnOutput* out) {
  ARROW_ASSIGN_OR_RAISE(const auto data, out->Finish(page.type->type));
  auto array = arrow::MakeArray(data);
  Require(array->ValidateFull().ok());
  return array;
}

arrow::Result<Array> ReadFlat(const Page& page, const encoding::PageDecoder& decoder,
                              std::span<const PageRows> rows) {
  auto out = MakeOutput(page, rows.back().out + rows.back().count);
  ARROW_ASSIGN_OR_RAISE(const auto read, decoder.Start(rows, out.get()));
  Feeder feeder(page.file);
  ARROW_RETURN_NOT_OK(feeder.Feed(read.get()));
  ARROW_RETURN_NOT_OK(read->Decode());
  return FinishSound(page, out.get());
}

// Levels that fit their layers make lists whose lengths add up.
arrow::Status CheckNesting(const PageLevels& levels, const encoding::PageDecoder& decoder,
                           uint64_t rows) {
  std::vector<encoding::PathLayer> path;
  for (const wire::LayerKind kind : decoder.layers())
    path.push_back({.is_list = wire::IsListLayer(kind)});
  ARROW_ASSIGN_OR_RAISE(
      auto nesting, encoding::NestingReader::Make(path, path.size(), arrow::default_memory_pool()));
  ARROW_RETURN_NOT_OK(nesting.AppendPage(levels, decoder.layers(), rows));
  Require(nesting.values() == levels.values);
  uint64_t inside = levels.values;
  for (size_t i = 0; i < path.size(); ++i) {
    ARROW_ASSIGN_OR_RAISE(const auto layer, nesting.Finish(i));
    Require((path[i].is_list ? layer.items : layer.length) == inside);
    Require(layer.null_count <= layer.length);
    inside = layer.length;
  }
  Require(inside == rows);
  return arrow::Status::OK();
}

struct NestedRows {
  PageLevels levels;
  Array values;  ///< one slot before them, and one behind
};

arrow::Result<NestedRows> ReadNested(const Page& page, const encoding::PageDecoder& decoder,
                                     std::span<const PageRows> rows) {
  NestedRows out;
  ARROW_ASSIGN_OR_RAISE(const auto read, decoder.StartNested(rows));
  Feeder feeder(page.file);
  ARROW_RETURN_NOT_OK(feeder.Feed(read.get()));
  ARROW_ASSIGN_OR_RAISE(out.levels, read->ReadLevels());
  Require(out.levels.repetition.empty() || out.levels.repetition.size() == out.levels.entries);
  Require(out.levels.definition.empty() || out.levels.definition.size() == out.levels.entries);
  Require(out.levels.values <= out.levels.entries);
  uint64_t count = 0;
  for (const PageRows& run : rows) count += run.count;
  ARROW_RETURN_NOT_OK(CheckNesting(out.levels, decoder, count));
  auto values = MakeOutput(page, out.levels.values + 2);
  if (out.levels.values > 0) ARROW_RETURN_NOT_OK(read->ReadValues(1, values.get()));
  ARROW_ASSIGN_OR_RAISE(out.values, FinishSound(page, values.get()));
  return out;
}

// Two runs of the rows of a page of three or more, with a gap between them and empty slots around.
std::vector<PageRows> TwoRuns(const Page& page) {
  const uint64_t length = page.description.length;
  const uint64_t gap = 1 + page.rows * length / 256 % (length - 2);
  return {{.first = 0, .count = gap, .out = 1},
          {.first = gap + 1, .count = length - gap - 1, .out = gap + 3}};
}

// Whether a part must be what the whole has there. What a column's dictionary holds depends on the
// rows that are read.
bool IsComparable(const Page& page) {
  return page.type->leaf.kind != encoding::LeafKind::kDictionary;
}

// Whether some rows of the page are found by an index of records, which all rows are read without:
// a wrong one shows in a part alone, as other records or an error.
bool HasRecordIndex(const Page& page, PageKind kind) {
  return (kind == PageKind::kFullZip || kind == PageKind::kBlob) &&
         page.description.buffers.size() > 1;
}

void ReadFlatRows(const Page& page, const encoding::PageDecoder& decoder, bool compare) {
  const PageRows all[] = {{.first = 0, .count = page.description.length, .out = 0}};
  const auto whole = ReadFlat(page, decoder, all);
  const auto again = ReadFlat(page, decoder, all);  // decoders remember
  Require(whole.ok() == again.ok());
  if (page.rows == 0 || page.description.length < 3) return;
  const std::vector<PageRows> runs = TwoRuns(page);
  const auto part = ReadFlat(page, decoder, runs);
  if (!whole.ok() || !compare) return;
  Require(part.ok());
  if (!IsComparable(page)) return;
  for (const PageRows& run : runs) {
    const auto out = static_cast<int64_t>(run.out);
    Require((*part)->RangeEquals(**whole, out, out + static_cast<int64_t>(run.count),
                                 static_cast<int64_t>(run.first)));
  }
}

void ReadNestedRows(const Page& page, const encoding::PageDecoder& decoder, bool compare) {
  const PageRows all[] = {{.first = 0, .count = page.description.length, .out = 0}};
  const auto whole = ReadNested(page, decoder, all);
  if (page.rows == 0 || page.description.length < 3) return;
  const auto part = ReadNested(page, decoder, TwoRuns(page));
  if (!whole.ok() || !compare) return;
  Require(part.ok());
  Require(part->levels.values <= whole->levels.values);
  // The first run's values are the first ones of both.
  const PageRows first[] = {TwoRuns(page)[0]};
  const auto start = ReadNested(page, decoder, first);
  Require(start.ok());
  if (!IsComparable(page)) return;
  const auto count = static_cast<int64_t>(start->levels.values);
  Require(start->values->RangeEquals(*whole->values, 1, 1 + count, 1));
  Require(start->values->RangeEquals(*part->values, 1, 1 + count, 1));
}

}  // namespace

const std::vector<PageType>& PageTypes() {
  using encoding::LeafType;
  static const std::vector<PageType> kTypes = {
      Plain(arrow::int32()),
      Plain(arrow::boolean()),
      Plain(arrow::binary()),
      Plain(arrow::utf8()),
      Plain(arrow::large_binary()),
      Plain(arrow::fixed_size_list(arrow::int16(), 3)),
      Plain(arrow::fixed_size_list(arrow::fixed_size_list(arrow::boolean(), 2), 2)),
      Plain(arrow::uint64()),
      Plain(arrow::uint8()),
      Plain(arrow::int16()),
      Plain(arrow::fixed_size_binary(5)),
      Plain(arrow::fixed_size_binary(16)),
      Plain(arrow::fixed_size_list(arrow::int32(), 4)),
      Plain(arrow::large_utf8()),
      Plain(arrow::null()),
      Plain(arrow::dictionary(arrow::uint8(), arrow::utf8())),
      Plain(arrow::dictionary(arrow::int32(), arrow::int64())),
      Plain(arrow::struct_({arrow::field("a", arrow::int32()), arrow::field("b", arrow::uint8())})),
      Plain(arrow::struct_({arrow::field("a", arrow::int64()), arrow::field("b", arrow::utf8())})),
      Plain(
          arrow::struct_({arrow::field("a", arrow::binary()),
                          arrow::field("b", arrow::fixed_size_list(arrow::int16(), 3)),
                          arrow::field("c", arrow::struct_({arrow::field("d", arrow::utf8()),
                                                            arrow::field("e", arrow::int8())}))})),
      {LeafType::Blob(), arrow::large_binary()},
      {LeafType::ItemRanges(), arrow::fixed_size_binary(16)},
      {LeafType::PackedRows(16), arrow::fixed_size_binary(16)},
      {LeafType::PackedRows(7), arrow::fixed_size_binary(7)},
  };
  return kTypes;
}

int ReadPage(std::span<const uint8_t> input, PageKind kind) {
  Page page = TakePage(input);
  if (KindOf(page) != kind) return -1;
  std::string blobs;
  if (kind == PageKind::kBlob) {
    // Seeds name places of the files they come from, which are longer than the input.
    blobs.assign(input.begin(), input.end());
    blobs.resize(std::max(input.size(), kBlobFileBytes));
    page.file = {reinterpret_cast<const uint8_t*>(blobs.data()), blobs.size()};
    page.description.file_size = blobs.size();
    page.description.side_files = file::MakeSideFiles("fuzz.lance", [&blobs](const std::string&) {
      return std::make_shared<testing::BytesFile>(blobs);
    });
  }
  const auto decoder = encoding::MakePageDecoder(page.description, page.type->leaf);
  if (!decoder.ok()) return 0;
  const auto layers = (*decoder)->layers();
  const bool nested = layers.size() > 1 || page.rows % 2 != 0;
  if (kind != PageKind::kV20 && nested) {
    ReadNestedRows(page, **decoder, !HasRecordIndex(page, kind));
  } else {
    ReadFlatRows(page, **decoder, !HasRecordIndex(page, kind));
  }
  return 0;
}

}  // namespace pennon::fuzz
