#include "pennon/encoding/constant/constant_nested.h"

#include <cstring>
#include <optional>
#include <utility>

#include "pennon/encoding/constant/constant.h"
#include "pennon/encoding/kernels/block_values.h"
#include "pennon/encoding/nested/entry_cursor.h"
#include "pennon/encoding/nested/levels.h"
#include "pennon/error.h"

namespace pennon::encoding {

namespace {

/// The most levels that a byte of an encoded buffer may stand for: a run has 255 in three bytes.
constexpr uint64_t kLevelsPerByte = 256;

/// Whether a page without values holds nulls of `type`: Arrow's null type has no validity.
bool HasNulls(const LeafType& type) { return type.kind != LeafKind::kNull; }

/// One of the two level buffers.
struct LevelBuffer {
  PageBuffer bytes;
  std::optional<BlockDecoder> encoding;  ///< none: raw levels
  uint64_t count = 0;                    ///< 0: all levels are 0
};

/// The fixed facts of a page.
struct ConstantFacts {
  LeafType type;
  wire::ConstantLayout layout;
  LevelLimits limits;
  uint16_t minor = 0;
  uint64_t num_rows = 0;
  bool has_scalar = false;
  std::optional<PageBuffer> scalar;  ///< if it is not inline
  bool has_levels = false;           ///< else every value is null, or the scalar
  LevelBuffer repetition, definition;

  bool has_lists() const { return limits.max_rep > 0; }
  /// Whether the levels of some rows can be read without the others.
  bool row_by_row() const { return !has_lists() && !definition.encoding; }
};

/// The decoder of the scalar as the page of a column at top level.
arrow::Result<std::shared_ptr<const PageDecoder>> MakeFlat(const ConstantFacts& facts,
                                                           uint64_t values) {
  wire::ConstantLayout layout;
  layout.layers = {wire::LayerKind::kNullableItem};
  layout.inline_value = facts.layout.inline_value;
  PageDescription page{.minor = facts.minor, .length = values};
  if (facts.scalar) page.buffers = {{0, facts.scalar->size}};
  return MakeConstantDecoder(page, layout, facts.type);
}

class ConstantNestedRead : public NestedPageRead {
 public:
  ConstantNestedRead(const ConstantFacts& facts, std::span<const PageRows> rows)
      : facts_(facts), rows_(rows) {}

  arrow::Result<std::span<io::RangeRead>> Next() override {
    if (planned_) return std::span<io::RangeRead>();
    planned_ = true;
    const auto add = [&](const PageBuffer& buffer) {
      reads_.push_back({.offset = buffer.offset, .size = buffer.size});
    };
    if (facts_.scalar) add(*facts_.scalar);
    if (facts_.has_levels && facts_.row_by_row() && facts_.definition.count > 0) {
      for (const PageRows& rows : rows_)
        add({facts_.definition.bytes.offset + 2 * rows.first, 2 * rows.count});
    } else if (facts_.has_levels) {
      add(facts_.repetition.bytes);
      add(facts_.definition.bytes);
    }
    return std::span(reads_);
  }

  arrow::Result<PageLevels> ReadLevels() override {
    PageLevels levels;
    if (!facts_.has_levels) {
      FillLevels(&levels);
    } else if (facts_.row_by_row()) {
      TakeRowLevels(&levels);
    } else {
      ARROW_RETURN_NOT_OK(TakePageLevels(&levels));
    }
    ARROW_RETURN_NOT_OK(CheckLevels(levels.definition, facts_.limits.max_def, "definition"));
    const uint64_t valid =
        levels.definition.empty() ? levels.entries : CountEqual(levels.definition, 0);
    if (!facts_.has_scalar && valid > 0 && HasNulls(facts_.type)) {
      return Corrupt("", "a page without values has levels of values: found ", valid);
    }
    levels.values = levels.definition.empty()
                        ? levels.entries
                        : CountAtMost(levels.definition, facts_.limits.max_visible_def);
    if (valid == levels.entries) levels.definition.clear();
    values_ = levels.values;
    return levels;
  }

  arrow::Status ReadValues(uint64_t slot, ColumnOutput* out) override {
    if (values_ == 0) return arrow::Status::OK();
    if (!facts_.has_scalar) {
      return out->WriteEmpty(slot, values_);
    }
    ARROW_ASSIGN_OR_RAISE(const auto flat, MakeFlat(facts_, values_));
    const PageRows rows{.first = 0, .count = values_, .out = slot};
    ARROW_ASSIGN_OR_RAISE(const auto read, flat->Start({&rows, 1}, out));
    while (true) {
      ARROW_ASSIGN_OR_RAISE(const std::span<io::RangeRead> wanted, read->Next());
      if (wanted.empty()) break;
      for (io::RangeRead& range : wanted) range.data = reads_[0].data + range.offset;
    }
    return read->Decode();
  }

 private:
  void FillLevels(PageLevels* levels) const {
    for (const PageRows& rows : rows_) levels->entries += rows.count;
    const bool null = !facts_.has_scalar && facts_.layout.layers[0] == kNullable;
    if (null) levels->definition.resize(levels->entries, 1);
  }

  void TakeRowLevels(PageLevels* levels) const {
    size_t read = facts_.scalar ? 1 : 0;
    for (const PageRows& rows : rows_) {
      if (facts_.definition.count > 0) {
        levels->definition.resize(levels->entries + rows.count);
        std::memcpy(levels->definition.data() + levels->entries, reads_[read++].data,
                    2 * rows.count);
      }
      levels->entries += rows.count;
    }
  }

  /// Decodes a level buffer; all of its levels are 0 if the result is empty.
  arrow::Result<std::vector<uint16_t>> Decode(const LevelBuffer& buffer,
                                              const io::RangeRead& read) const {
    std::vector<uint16_t> levels;
    const std::span<const uint8_t> bytes(read.data, static_cast<size_t>(read.size));
    if (buffer.encoding && buffer.encoding->IsAllZero(bytes)) return levels;
    levels.resize(buffer.count);
    const std::span<uint8_t> to(reinterpret_cast<uint8_t*>(levels.data()), 2 * levels.size());
    if (buffer.encoding) {
      std::vector<uint8_t> scratch;
      ARROW_RETURN_NOT_OK(buffer.encoding->Decode(bytes, buffer.count, to, &scratch));
    } else if (!to.empty()) {
      std::memcpy(to.data(), bytes.data(), to.size());
    }
    return levels;
  }

  arrow::Status TakePageLevels(PageLevels* levels) const {
    const size_t read = facts_.scalar ? 1 : 0;
    ARROW_ASSIGN_OR_RAISE(auto rep, Decode(facts_.repetition, reads_[read]));
    ARROW_ASSIGN_OR_RAISE(auto def, Decode(facts_.definition, reads_[read + 1]));
    const uint64_t entries = facts_.has_lists() ? facts_.repetition.count : facts_.num_rows;
    if (facts_.has_lists()) {
      ARROW_RETURN_NOT_OK(CheckLevels(rep, facts_.limits.max_rep, "repetition"));
      const uint64_t starts = CountEqual(rep, facts_.limits.max_rep);
      if (starts != facts_.num_rows || rep[0] != facts_.limits.max_rep) {
        return Corrupt("", "a constant page's levels are not those of its rows: expected ",
                       facts_.num_rows, " rows, found ", starts);
      }
    }
    EntryCursor cursor(facts_.limits, rep, def, entries);
    for (const PageRows& rows : rows_) {
      cursor.SeekRow(rows.first);
      const auto first = static_cast<int64_t>(cursor.entry());
      cursor.SeekRow(rows.first + rows.count);
      const auto end = static_cast<int64_t>(cursor.entry());
      const auto append = [&](const std::vector<uint16_t>& from, std::vector<uint16_t>* to) {
        if (!from.empty()) to->insert(to->end(), from.begin() + first, from.begin() + end);
      };
      append(rep, &levels->repetition);
      append(def, &levels->definition);
      levels->entries += static_cast<uint64_t>(end - first);
    }
    return arrow::Status::OK();
  }

  static constexpr wire::LayerKind kNullable = wire::LayerKind::kNullableItem;

  const ConstantFacts& facts_;
  std::span<const PageRows> rows_;
  std::vector<io::RangeRead> reads_;
  bool planned_ = false;
  uint64_t values_ = 0;
};

class ConstantNestedDecoder : public PageDecoder {
 public:
  explicit ConstantNestedDecoder(ConstantFacts facts) : facts_(std::move(facts)) {}
  arrow::Result<std::unique_ptr<PageRead>> Start(std::span<const PageRows>,
                                                 ColumnOutput*) const override {
    ARROW_RETURN_NOT_OK(facts_.limits.ExpectFlat());
    return Unsupported("", "this page is read as one of a nested column only");
  }
  std::span<const wire::LayerKind> layers() const override { return facts_.layout.layers; }
  arrow::Result<std::unique_ptr<NestedPageRead>> StartNested(
      std::span<const PageRows> rows) const override {
    return std::make_unique<ConstantNestedRead>(facts_, rows);
  }
  size_t MemoryBytes() const override { return sizeof(*this) + facts_.layout.layers.capacity(); }

 private:
  ConstantFacts facts_;
};

/// Takes a level buffer of `count` levels (0: not known) in the form that `encoding` names.
arrow::Result<LevelBuffer> TakeLevels(const PageBuffer& bytes,
                                      const std::optional<wire::CompressiveEncoding>& encoding,
                                      uint64_t count) {
  LevelBuffer out{.bytes = bytes};
  if (!encoding) {
    if (bytes.size % 2 != 0)
      return Corrupt("", "a constant page's levels are not words of 2 bytes: found ", bytes.size,
                     " bytes");
    out.count = bytes.size / 2;
    return out;
  }
  if (encoding->kind == wire::CompressionKind::kGeneral)
    return Unsupported("", "compressed levels of a constant page");
  ARROW_ASSIGN_OR_RAISE(out.encoding, BlockDecoder::Make(*encoding, kLevelBits));
  out.count = count;
  return out;
}

arrow::Status CheckCount(const LevelBuffer& buffer, uint64_t expected) {
  if (buffer.count == expected) return arrow::Status::OK();
  return Corrupt("", "a constant page has a wrong number of levels: expected ", expected,
                 ", found ", buffer.count);
}

arrow::Status TakeLevelBuffers(const PageDescription& page, ConstantFacts* facts) {
  const size_t count = page.buffers.size();
  facts->has_levels = true;
  if (facts->has_scalar && (facts->layout.repetition || facts->layout.definition))
    return Unsupported("", "constant pages with encoded levels next to a value");
  ARROW_ASSIGN_OR_RAISE(
      facts->repetition,
      TakeLevels(page.buffers[count - 2], facts->layout.repetition, facts->layout.num_rep_values));
  ARROW_ASSIGN_OR_RAISE(
      facts->definition,
      TakeLevels(page.buffers[count - 1], facts->layout.definition, facts->layout.num_def_values));
  const uint64_t entries = facts->has_lists() ? facts->repetition.count : page.length;
  if (!facts->has_lists()) ARROW_RETURN_NOT_OK(CheckCount(facts->repetition, 0));
  if (entries < page.length ||
      facts->repetition.count / kLevelsPerByte > facts->repetition.bytes.size) {
    return Corrupt("", "a constant page's repetition levels are not those of its rows: found ",
                   facts->repetition.count, " levels in ", facts->repetition.bytes.size,
                   " bytes for ", page.length, " rows");
  }
  if (facts->definition.count == 0) return arrow::Status::OK();
  ARROW_RETURN_NOT_OK(CheckCount(facts->definition, entries));
  // Levels of no bytes are all zero and never laid out.
  const uint64_t bytes = facts->definition.bytes.size;
  if (bytes > 0 && entries / kLevelsPerByte > bytes) {
    return Corrupt("",
                   "a constant page has more definition levels than its bytes can hold: ", entries,
                   " levels in ", bytes, " bytes");
  }
  return arrow::Status::OK();
}

}  // namespace

arrow::Result<std::shared_ptr<const PageDecoder>> MakeConstantNestedDecoder(
    const PageDescription& page, const wire::ConstantLayout& layout, const LeafType& type) {
  ConstantFacts facts{.type = type, .layout = layout, .minor = page.minor, .num_rows = page.length};
  ARROW_ASSIGN_OR_RAISE(facts.limits, LevelLimits::Make(layout.layers));
  const size_t count = page.buffers.size();
  if (count > 3 || (layout.inline_value && count != 0 && count != 2)) {
    return Corrupt("", "a constant page has a wrong number of buffers: found ", count);
  }
  facts.has_scalar = layout.inline_value.has_value() || count % 2 == 1;
  if (facts.has_scalar) {
    if (!layout.inline_value) facts.scalar = page.buffers[0];
    ARROW_RETURN_NOT_OK(MakeFlat(facts, 1).status());
  }
  if (count >= 2) {
    ARROW_RETURN_NOT_OK(TakeLevelBuffers(page, &facts));
  } else if (facts.has_lists()) {
    return Corrupt("", "a constant page of lists has no levels");
  }
  return std::make_shared<ConstantNestedDecoder>(std::move(facts));
}

}  // namespace pennon::encoding
