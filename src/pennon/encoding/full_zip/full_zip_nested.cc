#include "pennon/encoding/full_zip/full_zip_nested.h"

#include <cstring>
#include <utility>

#include "pennon/encoding/full_zip/full_zip.h"
#include "pennon/encoding/nested/levels.h"
#include "pennon/error.h"

namespace pennon::encoding {

namespace {

/// The fixed facts of a page.
struct ZipFacts {
  LeafType type;
  wire::FullZipLayout layout;
  LevelLimits limits;
  uint16_t minor = 0;
  uint64_t num_rows = 0;
  PageBuffer records, index;
  uint64_t index_width = 0;  ///< 0 if rows have a fixed size and no index
  uint64_t control_bytes = 0;
  uint64_t value_bytes = 0;  ///< of a value, or of the length before it

  bool has_lists() const { return limits.max_rep > 0; }
};

/// The decoder of `values` values as the records of a page at top level without nulls.
arrow::Result<std::shared_ptr<const PageDecoder>> MakeFlat(const ZipFacts& facts, uint64_t values,
                                                           uint64_t bytes) {
  wire::FullZipLayout layout = facts.layout;
  layout.bits_rep = layout.bits_def = 0;
  layout.layers = {wire::LayerKind::kAllValidItem};
  layout.num_items = layout.num_visible_items = values;
  PageDescription page{.minor = facts.minor,
                       .length = values,
                       .nulls_are_empty = facts.control_bytes > 0,
                       .buffers = {{0, bytes}}};
  if (layout.is_variable) page.buffers.push_back({0, (values + 1) * 8});
  return MakeFullZipDecoder(page, layout, facts.type);
}

/// One record: its levels, and its value (for a value of variable size without the length).
struct Record {
  uint16_t rep = 0;
  uint16_t def = 0;
  bool visible = true;
  std::span<const uint8_t> value;
};

arrow::Status TooShort() { return Corrupt("", "a full-zip record runs past the end of its bytes"); }

/// Calls `visit` for every record of `bytes`, at most `limit` of them.
template <uint64_t kControl, typename Visit>
arrow::Status WalkRecords(const ZipFacts& facts, std::span<const uint8_t> bytes, Visit visit) {
  const uint8_t* at = bytes.data();
  const uint8_t* const stop = at + bytes.size();
  const auto bits_def = facts.layout.bits_def;
  const uint32_t mask = (uint32_t{1} << bits_def) - 1;
  const auto left = [&] { return static_cast<uint64_t>(stop - at); };
  while (at != stop) {
    Record record;
    if constexpr (kControl > 0) {
      if (left() < kControl) return TooShort();
      uint32_t word = 0;
      std::memcpy(&word, at, kControl);
      at += kControl;
      const uint32_t rep = word >> bits_def, def = word & mask;
      if (rep > facts.limits.max_rep || def > facts.limits.max_def) {
        return Corrupt("",
                       "a record's levels are higher than the page's layers allow: expected "
                       "at most ",
                       facts.limits.max_rep, " and ", facts.limits.max_def, ", found ", rep,
                       " and ", def);
      }
      record.rep = static_cast<uint16_t>(rep);
      record.def = static_cast<uint16_t>(def);
      record.visible = def <= facts.limits.max_visible_def;
    }
    // Null strings store nothing, not even their length.
    if (record.visible && !(facts.layout.is_variable && record.def > 0)) {
      if (left() < facts.value_bytes) return TooShort();
      uint64_t size = facts.value_bytes;
      if (facts.layout.is_variable) {
        size = 0;
        std::memcpy(&size, at, facts.value_bytes);
        at += facts.value_bytes;
        if (left() < size) return TooShort();
      }
      record.value = {at, static_cast<size_t>(size)};
      at += size;
    }
    visit(record);
  }
  return arrow::Status::OK();
}

template <typename Visit>
arrow::Status ForEachRecord(const ZipFacts& facts, std::span<const uint8_t> bytes, Visit visit) {
  switch (facts.control_bytes) {
    case 0:
      return WalkRecords<0>(facts, bytes, visit);
    case 1:
      return WalkRecords<1>(facts, bytes, visit);
    case 2:
      return WalkRecords<2>(facts, bytes, visit);
    default:
      return WalkRecords<4>(facts, bytes, visit);
  }
}

class ZipNestedRead : public NestedPageRead {
 public:
  ZipNestedRead(const ZipFacts& facts, std::span<const PageRows> rows)
      : facts_(facts), rows_(rows) {}

  arrow::Result<std::span<io::RangeRead>> Next() override {
    const bool whole = rows_.size() == 1 && rows_[0].count == facts_.num_rows;
    switch (step_) {
      case Step::kStart:
        step_ = facts_.index_width == 0 || whole ? Step::kRecords : Step::kIndex;
        if (step_ == Step::kIndex) {
          PlanIndex();
        } else if (whole) {
          reads_.push_back({.offset = facts_.records.offset, .size = facts_.records.size});
        } else {
          PlanFixed();
        }
        return std::span(reads_);
      case Step::kIndex:
        step_ = Step::kRecords;
        ARROW_RETURN_NOT_OK(PlanRecords());
        return std::span(reads_);
      case Step::kRecords:
        break;
    }
    return std::span<io::RangeRead>();
  }

  arrow::Result<PageLevels> ReadLevels() override {
    PageLevels levels;
    const bool packed = facts_.layout.is_variable && facts_.type.kind == LeafKind::kStruct;
    bool empty_row = false;
    for (size_t i = 0; i < rows_.size(); ++i) {
      const uint64_t before = levels.entries;
      ARROW_RETURN_NOT_OK(ForEachRecord(facts_, Bytes(i), [&](const Record& record) {
        if (facts_.has_lists()) levels.repetition.push_back(record.rep);
        if (facts_.layout.bits_def > 0) levels.definition.push_back(record.def);
        levels.values += record.visible ? 1 : 0;
        value_bytes_ += record.visible ? record.value.size() : 0;
        empty_row |= packed && record.def == 0 && record.value.empty();
        ++levels.entries;
      }));
      if (empty_row) return Corrupt("", "a row of a packed struct that is not null has no bytes");
      ARROW_RETURN_NOT_OK(CheckRows(levels, before, rows_[i].count));
    }
    if (CountEqual(levels.definition, 0) == levels.entries) levels.definition.clear();
    values_ = levels.values;
    return levels;
  }

  arrow::Status ReadValues(uint64_t slot, ColumnOutput* out) override {
    if (values_ == 0) return arrow::Status::OK();
    const bool variable = facts_.layout.is_variable;
    const uint64_t size = value_bytes_ + (variable ? values_ * facts_.value_bytes : 0);
    std::unique_ptr<uint8_t[]> joined;
    const uint8_t* values = reads_[0].data;
    if (facts_.control_bytes > 0 || rows_.size() > 1) {
      joined = std::make_unique_for_overwrite<uint8_t[]>(size);
      ARROW_RETURN_NOT_OK(JoinValues(joined.get()));
      values = joined.get();
    }
    ARROW_ASSIGN_OR_RAISE(const auto flat, MakeFlat(facts_, values_, size));
    const PageRows rows{.first = 0, .count = values_, .out = slot};
    ARROW_ASSIGN_OR_RAISE(const auto read, flat->Start({&rows, 1}, out));
    while (true) {
      ARROW_ASSIGN_OR_RAISE(const std::span<io::RangeRead> wanted, read->Next());
      if (wanted.empty()) break;
      // All records are wanted, so that nothing but them is read.
      for (io::RangeRead& range : wanted) {
        range.data = values + range.offset;
        if (range.into != nullptr) std::memcpy(range.into, range.data, range.size);
      }
    }
    return read->Decode();
  }

 private:
  std::span<const uint8_t> Bytes(size_t i) const {
    return {reads_[i].data, static_cast<size_t>(reads_[i].size)};
  }

  void PlanFixed() {
    const uint64_t size = facts_.control_bytes + facts_.value_bytes;
    for (const PageRows& rows : rows_) {
      reads_.push_back(
          {.offset = facts_.records.offset + rows.first * size, .size = rows.count * size});
    }
  }

  void PlanIndex() {
    const uint64_t width = facts_.index_width;
    for (const PageRows& rows : rows_) {
      const uint64_t first = facts_.index.offset + rows.first * width;
      reads_.push_back({.offset = first, .size = width});
      reads_.push_back({.offset = first + rows.count * width, .size = width});
    }
  }

  arrow::Status PlanRecords() {
    std::vector<io::RangeRead> records;
    records.reserve(rows_.size());
    for (size_t i = 0; i < rows_.size(); ++i) {
      uint64_t begin = 0, end = 0;
      std::memcpy(&begin, reads_[2 * i].data, facts_.index_width);
      std::memcpy(&end, reads_[2 * i + 1].data, facts_.index_width);
      if (begin > end || end > facts_.records.size) {
        return Corrupt("", "a row index names records outside of their buffer: ", begin, " to ",
                       end, " of ", facts_.records.size, " bytes");
      }
      records.push_back({.offset = facts_.records.offset + begin, .size = end - begin});
    }
    reads_ = std::move(records);
    return arrow::Status::OK();
  }

  /// Checks that the entries from `before` on are `expected` whole rows.
  arrow::Status CheckRows(const PageLevels& levels, uint64_t before, uint64_t expected) const {
    uint64_t found = levels.entries - before;
    bool inside = false;
    if (facts_.has_lists() && found > 0) {
      const auto rep = std::span(levels.repetition).subspan(before);
      inside = rep[0] != facts_.limits.max_rep;
      found = CountEqual(rep, facts_.limits.max_rep);
    }
    if (found == expected && !inside) return arrow::Status::OK();
    return Corrupt("", "a full-zip page's records are not the rows that were asked for: expected ",
                   expected, ", found ", found, inside ? " and one without its start" : "");
  }

  /// Copies the values to `to` as records without control words, null strings as empty ones.
  arrow::Status JoinValues(uint8_t* to) const {
    for (size_t i = 0; i < rows_.size(); ++i) {
      ARROW_RETURN_NOT_OK(ForEachRecord(facts_, Bytes(i), [&](const Record& record) {
        if (!record.visible) return;
        const uint64_t size = record.value.size();
        if (facts_.layout.is_variable) {
          std::memcpy(to, &size, facts_.value_bytes);
          to += facts_.value_bytes;
        }
        if (size > 0) std::memcpy(to, record.value.data(), size);
        to += size;
      }));
    }
    return arrow::Status::OK();
  }

  const ZipFacts& facts_;
  std::span<const PageRows> rows_;
  enum class Step { kStart, kIndex, kRecords } step_ = Step::kStart;
  std::vector<io::RangeRead> reads_;
  uint64_t values_ = 0;
  uint64_t value_bytes_ = 0;  ///< of the values, without lengths
};

class ZipNestedDecoder : public PageDecoder {
 public:
  explicit ZipNestedDecoder(ZipFacts facts) : facts_(std::move(facts)) {}
  arrow::Result<std::unique_ptr<PageRead>> Start(std::span<const PageRows>,
                                                 ColumnOutput*) const override {
    ARROW_RETURN_NOT_OK(facts_.limits.ExpectFlat());
    return Unsupported("", "this page is read as one of a nested column only");
  }
  std::span<const wire::LayerKind> layers() const override { return facts_.layout.layers; }
  arrow::Result<std::unique_ptr<NestedPageRead>> StartNested(
      std::span<const PageRows> rows) const override {
    return std::make_unique<ZipNestedRead>(facts_, rows);
  }
  size_t MemoryBytes() const override { return sizeof(*this) + facts_.layout.layers.capacity(); }

 private:
  ZipFacts facts_;
};

arrow::Status CheckLevelBits(const wire::FullZipLayout& layout, const LevelLimits& limits) {
  if (layout.bits_rep > 16 || layout.bits_def > 16) {
    return Corrupt("", "levels have at most 16 bits: found ", layout.bits_rep, " and ",
                   layout.bits_def);
  }
  if ((layout.bits_rep > 0) != (limits.max_rep > 0)) {
    return Corrupt("", "a page must have repetition levels if it has lists: found ", limits.max_rep,
                   " list layers, ", layout.bits_rep, " bits");
  }
  return arrow::Status::OK();
}

arrow::Status TakeBuffers(const PageDescription& page, ZipFacts* facts) {
  const bool indexed = facts->layout.is_variable || facts->has_lists();
  const size_t expected = indexed ? 2 : 1;
  if (page.buffers.size() != expected) {
    return Corrupt("", "a full-zip page has a wrong number of buffers: expected ", expected,
                   ", found ", page.buffers.size());
  }
  facts->records = page.buffers[0];
  if (!indexed) {
    const uint64_t size = facts->control_bytes + facts->value_bytes;
    uint64_t bytes;
    if (__builtin_mul_overflow(page.length, size, &bytes) || bytes != facts->records.size) {
      return Corrupt("", "a full-zip page has the wrong size: expected ", page.length,
                     " records of ", size, " bytes, found ", facts->records.size, " bytes");
    }
    return arrow::Status::OK();
  }
  facts->index = page.buffers[1];
  const uint64_t words = page.length + 1;
  const uint64_t width = words == 0 ? 0 : facts->index.size / words;
  if ((width != 1 && width != 2 && width != 4 && width != 8) || facts->index.size % words != 0) {
    return Corrupt("", "a full-zip page's row index has the wrong size: ", facts->index.size,
                   " bytes for ", page.length, " rows");
  }
  facts->index_width = width;
  return arrow::Status::OK();
}

}  // namespace

arrow::Result<std::shared_ptr<const PageDecoder>> MakeFullZipNestedDecoder(
    const PageDescription& page, const wire::FullZipLayout& layout, const LeafType& type) {
  ZipFacts facts{.type = type, .layout = layout, .minor = page.minor, .num_rows = page.length};
  ARROW_ASSIGN_OR_RAISE(facts.limits, LevelLimits::Make(layout.layers));
  ARROW_RETURN_NOT_OK(CheckLevelBits(layout, facts.limits));
  // Checks type and encoding.
  ARROW_RETURN_NOT_OK(MakeFlat(facts, 1, layout.bits / 8).status());
  const uint64_t bits = layout.bits_rep + layout.bits_def;
  facts.control_bytes = bits == 0 ? 0 : bits <= 8 ? 1 : bits <= 16 ? 2 : 4;
  facts.value_bytes = layout.bits / 8;
  ARROW_RETURN_NOT_OK(TakeBuffers(page, &facts));
  return std::make_shared<ZipNestedDecoder>(std::move(facts));
}

}  // namespace pennon::encoding
