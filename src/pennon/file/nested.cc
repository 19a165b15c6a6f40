#include "pennon/file/nested.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include <arrow/type.h>
#include <arrow/util/checked_cast.h>

#include "pennon/encoding/nested/nesting.h"
#include "pennon/encoding/output.h"
#include "pennon/encoding/page.h"
#include "pennon/error.h"
#include "pennon/file/expand.h"
#include "pennon/file/leaf_field.h"
#include "pennon/file/rounds.h"

namespace pennon::file {

namespace {

using encoding::PathLayer;
using ArrayPtr = std::shared_ptr<arrow::ArrayData>;
using Columns = std::span<const std::shared_ptr<const Column>>;

/// A page whose levels are read and whose values wait until those of the whole column are counted.
struct PendingPage {
  std::shared_ptr<const io::RangeBuffers> bytes;
  std::unique_ptr<encoding::NestedPageRead> read;
  uint64_t values = 0;
};

/// A page of structs without fields below others: it states one layer, whatever stands above, and
/// all is valid.
class ValidPage : public encoding::NestedPageRead {
 public:
  explicit ValidPage(uint64_t rows) : rows_(rows) {}
  arrow::Result<std::span<io::RangeRead>> Next() override { return std::span<io::RangeRead>(); }
  arrow::Result<encoding::PageLevels> ReadLevels() override {
    return encoding::PageLevels{.entries = rows_, .values = rows_};
  }
  arrow::Status ReadValues(uint64_t, encoding::ColumnOutput*) override {
    return arrow::Status::OK();
  }

 private:
  uint64_t rows_;
};

/// One column below the field.
struct Leaf {
  const Field* field;
  std::shared_ptr<const Column> column;  ///< null if the file does not hold it
  std::vector<PathLayer> layers;         ///< innermost first
  size_t wanted = 1;                     ///< layers from the inside that are taken from this leaf

  encoding::LeafType type;
  std::optional<encoding::NestingReader> nesting;
  Column::Plan plan;
  std::vector<PendingPage> pending;
  std::unique_ptr<encoding::ColumnOutput> out;
  uint64_t slot = 0;  ///< values read
  ArrayPtr array;
};

/// One field of the tree, with the leaves below it.
struct Node {
  const Field* field;
  size_t depth = 0;                ///< layers above it
  std::optional<size_t> provider;  ///< the first leaf at or below it that the file holds
  std::vector<Node> children;
};

PathLayer LayerOf(const Field& field) {
  switch (field.type->id()) {
    case arrow::Type::LIST:
    case arrow::Type::MAP:
      return {.is_list = true};
    case arrow::Type::LARGE_LIST:
      return {.is_list = true, .offset_bits = 64};
    case arrow::Type::FIXED_SIZE_LIST: {
      const auto& type =
          arrow::internal::checked_cast<const arrow::FixedSizeListType&>(*field.type);
      return {.dimension = static_cast<uint32_t>(std::max(type.list_size(), 1))};
    }
    default:
      return {};
  }
}

/// Lists the columns of a field and the tree above them.
class Layout {
 public:
  static arrow::Result<Layout> Make(const Field& field, Columns columns) {
    Layout out;
    out.root_ = out.Add(field);
    if (columns.size() != out.leaves_.size()) {
      return InvalidInput("a field needs a column number for each column it owns: expected ",
                          out.leaves_.size(), ", found ", columns.size(), ", column '", field.name,
                          "'");
    }
    for (size_t i = 0; i < columns.size(); ++i) out.leaves_[i].column = columns[i];
    size_t leaf = 0;
    out.Provide(&out.root_, &leaf);
    return out;
  }

  const Node& root() const { return root_; }
  std::vector<Leaf>& leaves() { return leaves_; }

 private:
  Node Add(const Field& field) {
    Node node{.field = &field, .depth = path_.size()};
    if (OwnsOneColumn(field)) {
      path_.push_back(
          {.never_null = field.type->id() == arrow::Type::STRUCT && field.type->num_fields() == 0});
      leaves_.push_back({.field = &field, .layers = {path_.rbegin(), path_.rend()}});
    } else {
      path_.push_back(LayerOf(field));
      for (const Field& child : field.children) node.children.push_back(Add(child));
    }
    path_.pop_back();
    return node;
  }

  /// Finds the provider of `node` and all below it, whose leaves start at `*leaf`.
  void Provide(Node* node, size_t* leaf) {
    if (node->children.empty()) {
      if (leaves_[*leaf].column != nullptr) node->provider = *leaf;
      ++*leaf;
      return;
    }
    for (Node& child : node->children) {
      Provide(&child, leaf);
      if (!node->provider) node->provider = child.provider;
    }
    if (!node->provider) return;
    Leaf& provider = leaves_[*node->provider];
    provider.wanted = provider.layers.size() - node->depth;
  }

  std::vector<PathLayer> path_;  ///< from the root to the node that is added
  std::vector<Leaf> leaves_;
  Node root_;
};

/// Reads the leaves' pages: levels, then values.
class PageReads {
 public:
  PageReads(const Container& container, std::vector<Leaf>* leaves)
      : container_(container), leaves_(*leaves) {}

  /// Sets `array` of every leaf that the file holds, to `rows` rows in the order of `ranges`.
  arrow::Status Run(std::span<const RowRange> ranges, uint64_t rows) {
    for (Leaf& leaf : leaves_) {
      if (leaf.column == nullptr) continue;
      ARROW_RETURN_NOT_OK(At(leaf, PlanLeaf(&leaf, ranges, rows)));
      for (const Column::PagePlan& page : leaf.plan.pages) units_.push_back({&leaf, &page});
    }
    size_t finished = 0;
    for (size_t first = 0; first < units_.size();) {
      uint64_t bytes = 0;
      size_t end = first;
      while (end < units_.size() &&
             (end == first || bytes + units_[end].page->bytes <= kBatchBytes))
        bytes += units_[end++].page->bytes;
      ARROW_RETURN_NOT_OK(ReadBatch(std::span(units_).subspan(first, end - first)));
      const Leaf* const next = end < units_.size() ? units_[end].leaf : nullptr;
      for (; finished < leaves_.size() && &leaves_[finished] != next; ++finished)
        ARROW_RETURN_NOT_OK(At(leaves_[finished], FinishValues(&leaves_[finished])));
      first = end;
    }
    for (; finished < leaves_.size(); ++finished)
      ARROW_RETURN_NOT_OK(At(leaves_[finished], FinishValues(&leaves_[finished])));
    return arrow::Status::OK();
  }

 private:
  /// A page of a leaf.
  struct Unit {
    Leaf* leaf;
    const Column::PagePlan* page;

    bool is_valid_page() const {
      return leaf->layers[0].never_null && page->decoder->layers().size() < leaf->layers.size();
    }
  };

  arrow::Status At(const Leaf& leaf, const arrow::Status& status) const {
    return status.ok() ? status : Located(status, container_.path(), *leaf.field);
  }

  arrow::Status PlanLeaf(Leaf* leaf, std::span<const RowRange> ranges, uint64_t rows) const {
    ARROW_ASSIGN_OR_RAISE(leaf->type, LeafTypeOf(*leaf->field));
    ARROW_ASSIGN_OR_RAISE(
        auto nesting, encoding::NestingReader::Make(leaf->layers, leaf->wanted, container_.pool()));
    const uint64_t scale = nesting.slots_per_row();
    uint64_t slots, last;
    const uint64_t end = ranges.empty() ? 0 : ranges.back().first + ranges.back().count;
    if (__builtin_mul_overflow(rows, scale, &slots) || __builtin_mul_overflow(end, scale, &last))
      return InvalidInput("rows to read lie outside of the column: rows up to ", end);
    std::vector<RowRange> scaled;
    uint64_t out = 0;
    for (const RowRange& range : ranges) {
      scaled.push_back({range.first * scale, range.count * scale, out});
      out += range.count * scale;
    }
    ARROW_ASSIGN_OR_RAISE(
        leaf->plan, leaf->column->MakePlan(container_, *leaf->field, leaf->type, scaled, slots));
    if (!nesting.has_list()) {
      ARROW_ASSIGN_OR_RAISE(leaf->out,
                            encoding::ColumnOutput::Make(leaf->type, slots, container_.pool()));
    }
    leaf->nesting = std::move(nesting);
    return arrow::Status::OK();
  }

  arrow::Status ReadBatch(std::span<const Unit> units) const {
    int most = kMostRounds;
    for (const Unit& unit : units) most = unit.leaf->type.is_blob ? kMostBlobRounds : most;
    std::vector<std::unique_ptr<encoding::NestedPageRead>> reads;
    for (const Unit& unit : units) {
      if (unit.is_valid_page()) {
        reads.push_back(std::make_unique<ValidPage>(unit.page->count));
        continue;
      }
      auto read = unit.page->decoder->StartNested(unit.leaf->plan.RowsOf(*unit.page));
      if (!read.ok()) return At(*unit.leaf, read.status());
      reads.push_back(*std::move(read));
    }
    ARROW_ASSIGN_OR_RAISE(
        auto bytes, FetchInRounds<encoding::NestedPageRead>(container_, std::span(reads), most));
    const auto kept = std::make_shared<const io::RangeBuffers>(std::move(bytes));
    for (size_t i = 0; i < units.size(); ++i) {
      Leaf& leaf = *units[i].leaf;
      ARROW_RETURN_NOT_OK(At(leaf, ReadLevels(units[i], {kept, std::move(reads[i])})));
    }
    return arrow::Status::OK();
  }

  arrow::Status ReadLevels(const Unit& unit, PendingPage page) const {
    Leaf& leaf = *unit.leaf;
    ARROW_ASSIGN_OR_RAISE(encoding::PageLevels levels, page.read->ReadLevels());
    page.values = levels.values;
    const std::vector<wire::LayerKind> valid(leaf.layers.size(), wire::LayerKind::kAllValidItem);
    ARROW_RETURN_NOT_OK(leaf.nesting->AppendPage(
        std::move(levels), unit.is_valid_page() ? valid : unit.page->decoder->layers(),
        unit.page->count));
    if (leaf.nesting->has_list()) {
      leaf.pending.push_back(std::move(page));
      return arrow::Status::OK();
    }
    return ReadValues(&leaf, &page);
  }

  arrow::Status ReadValues(Leaf* leaf, PendingPage* page) const {
    if (page->values > 0) ARROW_RETURN_NOT_OK(page->read->ReadValues(leaf->slot, leaf->out.get()));
    leaf->slot += page->values;
    return arrow::Status::OK();
  }

  /// Makes the array of a leaf all of whose levels are read.
  arrow::Status FinishValues(Leaf* leaf) const {
    if (leaf->column == nullptr) return arrow::Status::OK();
    if (!leaf->out) {
      ARROW_ASSIGN_OR_RAISE(leaf->out, encoding::ColumnOutput::Make(
                                           leaf->type, leaf->nesting->values(), container_.pool()));
    }
    for (PendingPage& page : leaf->pending) ARROW_RETURN_NOT_OK(ReadValues(leaf, &page));
    leaf->pending.clear();
    ARROW_ASSIGN_OR_RAISE(const encoding::NestingBuffers own, leaf->nesting->Finish(0));
    if (own.validity != nullptr && leaf->type.kind != encoding::LeafKind::kNull) {
      ARROW_RETURN_NOT_OK(leaf->out->validity().CopyBits(own.validity->data(), 0, 0, own.length));
    }
    ARROW_ASSIGN_OR_RAISE(leaf->array, leaf->out->Finish(LeafArrowType(*leaf->field)));
    leaf->out = nullptr;
    leaf->column->TrimCache(leaf->plan);
    return arrow::Status::OK();
  }

  const Container& container_;
  std::vector<Leaf>& leaves_;
  std::vector<Unit> units_;
};

/// Puts the arrays of the leaves together.
class Assembly {
 public:
  Assembly(const Container& container, std::vector<Leaf>* leaves)
      : container_(container), leaves_(*leaves) {}

  /// The array of `node`, which must have `length` slots.
  arrow::Result<ArrayPtr> Make(const Node& node, uint64_t length) {
    const auto type = node.children.empty() ? LeafArrowType(*node.field) : node.field->type;
    if (!node.provider) return MakeNulls(type, length, container_.pool());
    Leaf& leaf = leaves_[*node.provider];
    if (node.children.empty()) {
      const auto found = static_cast<uint64_t>(leaf.array->length);
      if (found != length) return WrongLength(node, length, found);
      return std::move(leaf.array);
    }
    ARROW_ASSIGN_OR_RAISE(encoding::NestingBuffers own,
                          leaf.nesting->Finish(leaf.layers.size() - 1 - node.depth));
    if (own.length != length) return WrongLength(node, length, own.length);
    const auto size = static_cast<int64_t>(length);
    const auto nulls = static_cast<int64_t>(own.null_count);
    switch (type->id()) {
      case arrow::Type::STRUCT: {
        std::vector<ArrayPtr> children;
        for (const Node& child : node.children) {
          ARROW_ASSIGN_OR_RAISE(auto array, Make(child, length));
          children.push_back(std::move(array));
        }
        return arrow::ArrayData::Make(type, size, {std::move(own.validity)}, std::move(children),
                                      nulls);
      }
      case arrow::Type::FIXED_SIZE_LIST: {
        ARROW_ASSIGN_OR_RAISE(auto items,
                              Make(node.children[0], length * LayerOf(*node.field).dimension));
        return arrow::ArrayData::Make(type, size, {std::move(own.validity)}, {std::move(items)},
                                      nulls);
      }
      case arrow::Type::LIST:
      case arrow::Type::LARGE_LIST:
      case arrow::Type::MAP: {
        ARROW_ASSIGN_OR_RAISE(auto items, Make(node.children[0], own.items));
        if (type->id() == arrow::Type::MAP) ARROW_RETURN_NOT_OK(CheckEntries(node, *items));
        return arrow::ArrayData::Make(type, size, {std::move(own.validity), std::move(own.offsets)},
                                      {std::move(items)}, nulls);
      }
      default:
        return Unsupported(container_.path(), "columns of this type are not supported yet: type ",
                           type->ToString());
    }
  }

 private:
  arrow::Status WrongLength(const Node& node, uint64_t expected, uint64_t found) const {
    return MakeError(
        ErrorKind::kCorrupt, {.path = container_.path(), .field = node.field->id},
        JoinParts("the columns of a nested field do not agree on its values: expected ", expected,
                  ", found ", found, ", column '", node.field->name, "'"));
  }

  /// Arrow demands of maps that no entry and no key is null.
  arrow::Status CheckEntries(const Node& node, const arrow::ArrayData& entries) const {
    const int64_t keys = entries.child_data.empty() ? 0 : entries.child_data[0]->null_count.load();
    if (entries.null_count.load() == 0 && keys == 0) return arrow::Status::OK();
    return MakeError(
        ErrorKind::kCorrupt, {.path = container_.path(), .field = node.field->id},
        JoinParts("a map has null entries or keys: entries ", entries.null_count.load(), ", keys ",
                  keys, ", column '", node.field->name, "'"));
  }

  const Container& container_;
  std::vector<Leaf>& leaves_;
};

/// Checks that the slots of `ranges` ascend within the output; returns how many they are.
arrow::Result<uint64_t> CheckRanges(std::span<const RowRange> ranges, uint64_t out_length) {
  uint64_t row = 0, slot = 0, rows = 0;
  constexpr uint64_t kMaxRow = std::numeric_limits<int64_t>::max();
  for (const RowRange& range : ranges) {
    if (range.first < row || range.first > kMaxRow || range.count > kMaxRow - range.first) {
      return InvalidInput("rows to read must ascend: rows ", range.first, " and ", range.count,
                          " more");
    }
    if (range.out < slot || range.out > out_length || range.count > out_length - range.out) {
      return InvalidInput("slots to fill must ascend and lie in the output: slots ", range.out,
                          " and ", range.count, " more, output length ", out_length);
    }
    row = range.first + range.count;
    slot = range.out + range.count;
    rows += range.count;
  }
  return rows;
}

}  // namespace

arrow::Result<ArrayPtr> ReadNested(const Container& container, const Field& field, Columns columns,
                                   std::span<const RowRange> ranges, uint64_t out_length) {
  const auto read = [&]() -> arrow::Result<ArrayPtr> {
    ARROW_ASSIGN_OR_RAISE(const uint64_t rows, CheckRanges(ranges, out_length));
    if (out_length > static_cast<uint64_t>(std::numeric_limits<int64_t>::max()))
      return InvalidInput("too many values for one array: read fewer rows");
    ARROW_ASSIGN_OR_RAISE(Layout layout, Layout::Make(field, columns));
    if (!layout.root().provider)
      return MakeNulls(OwnsOneColumn(field) ? LeafArrowType(field) : field.type, out_length,
                       container.pool());
    ARROW_RETURN_NOT_OK(PageReads(container, &layout.leaves()).Run(ranges, rows));
    ARROW_ASSIGN_OR_RAISE(auto array,
                          Assembly(container, &layout.leaves()).Make(layout.root(), rows));
    if (rows == out_length) return array;
    std::vector<SlotRun> runs;
    for (const RowRange& range : ranges) runs.push_back({range.count, range.out});
    return SpreadSlots(std::move(array), runs, out_length, container.pool());
  };
  auto result = read();
  if (!result.ok()) return Located(result.status(), container.path(), field);
  return result;
}

arrow::Result<uint64_t> CountNestedRows(const Container& container, const Field& field,
                                        Columns columns) {
  ARROW_ASSIGN_OR_RAISE(Layout layout, Layout::Make(field, columns));
  std::optional<uint64_t> rows;
  for (const Leaf& leaf : layout.leaves()) {
    if (leaf.column == nullptr) continue;
    uint64_t scale = 1, rest = leaf.column->length();
    bool whole = true;
    for (const PathLayer& layer : leaf.layers) {
      whole = whole && !__builtin_mul_overflow(scale, layer.dimension, &scale);
    }
    whole = whole && rest % scale == 0;
    const uint64_t found = whole ? rest / scale : 0;
    if (!whole || (rows && *rows != found)) {
      return MakeError(
          ErrorKind::kCorrupt, {.path = container.path(), .field = leaf.field->id},
          JoinParts("the columns of a nested field do not agree on its rows: expected ",
                    rows.value_or(0), ", found values ", rest, ", column '", leaf.field->name,
                    "'"));
    }
    rows = found;
  }
  return rows.value_or(0);
}

}  // namespace pennon::file
