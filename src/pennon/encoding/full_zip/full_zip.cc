#include "pennon/encoding/full_zip/full_zip.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include <arrow/util/bitmap_ops.h>

#include "pennon/encoding/full_zip/fixed_value.h"
#include "pennon/encoding/full_zip/full_zip_nested.h"
#include "pennon/encoding/full_zip/full_zip_records.h"
#include "pennon/encoding/kernels/block_values.h"
#include "pennon/encoding/nested/levels.h"
#include "pennon/encoding/packed_struct/packed_struct.h"
#include "pennon/error.h"

namespace pennon::encoding {

using wire::CompressionKind;

namespace {

/// Values of at least so many bytes are read one by one, each to its slot, rather than copied
/// there from between the control words.
constexpr uint64_t kDirectBytes = 512;

/// The fixed facts of a page.
struct FixedFacts {
  PageBuffer records;
  uint64_t control_bytes = 0;
  FixedValue value;
  bool boolean = false;
  bool packed = false;  ///< the values are rows of a packed struct
  ControlWords control;

  uint64_t record_bytes() const { return control_bytes + value.bytes(); }
  /// Whether records are exactly the bytes of the output's slots.
  bool plain() const { return control_bytes == 0 && value.validity.empty() && !boolean && !packed; }
  /// Whether records are a control word and the bytes of a slot, worth a read each.
  bool direct() const {
    return control_bytes != 0 && value.validity.empty() && !boolean && !packed &&
           value.bytes() >= kDirectBytes;
  }
};

class FixedRead : public PageRead {
 public:
  FixedRead(const FixedFacts& facts, std::span<const PageRows> rows, ColumnOutput* out)
      : facts_(facts), rows_(rows), out_(out) {}

  arrow::Result<std::span<io::RangeRead>> Next() override {
    if (planned_) return std::span<io::RangeRead>();
    planned_ = true;
    direct_ = facts_.direct() && !HasManyHoles();
    if (direct_) {
      PlanDirect();
      return std::span(reads_);
    }
    const uint64_t size = facts_.record_bytes();
    for (const PageRows& rows : rows_) {
      uint8_t* const into = facts_.plain() ? out_->values() + rows.out * size : nullptr;
      reads_.push_back({.offset = facts_.records.offset + rows.first * size,
                        .size = rows.count * size,
                        .into = into});
    }
    return std::span(reads_);
  }

  arrow::Status Decode() override {
    if (facts_.plain()) return arrow::Status::OK();
    if (direct_) return ReadDirectLevels();
    for (size_t i = 0; i < rows_.size(); ++i) {
      const PageRows& rows = rows_[i];
      ARROW_RETURN_NOT_OK(facts_.control.ReadStrided(reads_[i].data, facts_.record_bytes(),
                                                     rows.count, rows.out, &out_->validity()));
      const uint8_t* const values = reads_[i].data + facts_.control_bytes;
      if (facts_.packed) {
        WritePackedRows(values, facts_.record_bytes(), rows.count, rows.out, out_);
      } else if (facts_.boolean) {
        WriteBooleans(values, rows);
      } else {
        WriteItems(values, rows);
        for (const FixedValue::Validity& layer : facts_.value.validity)
          ARROW_RETURN_NOT_OK(WriteValidity(values, rows, layer));
      }
    }
    return arrow::Status::OK();
  }

 private:
  /// Whether most rows lie so near to each other that reads are better joined.
  bool HasManyHoles() const {
    const uint64_t hole = io::CoalesceOptions().hole / facts_.record_bytes();
    size_t small = 0;
    for (size_t i = 1; i < rows_.size(); ++i) {
      const uint64_t gap = rows_[i].first - rows_[i - 1].first - rows_[i - 1].count;
      small += gap > 0 && gap <= hole ? 1 : 0;
    }
    return small > rows_.size() / 2;
  }

  /// Control words to words_, values to their slots.
  void PlanDirect() {
    uint64_t count = 0;
    for (const PageRows& rows : rows_) count += rows.count;
    words_.resize(count * facts_.control_bytes);
    reads_.reserve(2 * count);
    uint8_t* word = words_.data();
    for (const PageRows& rows : rows_) {
      uint64_t offset = facts_.records.offset + rows.first * facts_.record_bytes();
      uint8_t* into = out_->values() + rows.out * facts_.value.bytes();
      for (uint64_t i = 0; i < rows.count; ++i) {
        reads_.push_back({.offset = offset, .size = facts_.control_bytes, .into = word});
        offset += facts_.control_bytes;
        reads_.push_back({.offset = offset, .size = facts_.value.bytes(), .into = into});
        offset += facts_.value.bytes();
        word += facts_.control_bytes;
        into += facts_.value.bytes();
      }
    }
  }

  arrow::Status ReadDirectLevels() {
    const uint8_t* word = words_.data();
    for (const PageRows& rows : rows_) {
      ARROW_RETURN_NOT_OK(facts_.control.ReadStrided(word, facts_.control_bytes, rows.count,
                                                     rows.out, &out_->validity()));
      word += rows.count * facts_.control_bytes;
    }
    return arrow::Status::OK();
  }

  void WriteBooleans(const uint8_t* values, const PageRows& rows) {
    uint8_t* const bits = out_->values();
    const uint64_t stride = facts_.record_bytes();
    for (uint64_t i = 0; i < rows.count; ++i) {
      const uint64_t slot = rows.out + i;
      const auto bit = static_cast<uint8_t>((values[i * stride] != 0 ? 1U : 0U) << (slot % 8));
      bits[slot / 8] = static_cast<uint8_t>((bits[slot / 8] & ~(1U << (slot % 8))) | bit);
    }
  }

  void WriteItems(const uint8_t* values, const PageRows& rows) {
    const uint64_t bits = out_->type().bits_per_slot();
    const uint64_t stride = facts_.record_bytes();
    if (facts_.value.item_bytes == 0) {
      out_->ZeroSlots(rows.out, rows.count);
      return;
    }
    const uint8_t* from = values + facts_.value.item_offset;
    uint8_t* to = out_->values() + rows.out * (bits / 8);
    const uint64_t size = facts_.value.item_bytes;
    for (uint64_t i = 0; i < rows.count; ++i, from += stride, to += size)
      std::memcpy(to, from, size);
  }

  arrow::Status WriteValidity(const uint8_t* values, const PageRows& rows,
                              const FixedValue::Validity& layer) {
    ValidityOutput& validity = out_->item_validity(layer.layer);
    const uint8_t* bits = values + layer.offset;
    uint64_t slot = rows.out * layer.run;
    for (uint64_t i = 0; i < rows.count; ++i, bits += facts_.record_bytes(), slot += layer.run) {
      ARROW_RETURN_NOT_OK(validity.CopyBits(bits, 0, slot, layer.run));
    }
    return arrow::Status::OK();
  }

  const FixedFacts& facts_;
  std::span<const PageRows> rows_;
  ColumnOutput* out_;
  std::vector<io::RangeRead> reads_;
  std::vector<uint8_t> words_;  ///< control words that are read apart from their values
  bool planned_ = false;
  bool direct_ = false;
};

class FixedDecoder : public PageDecoder {
 public:
  explicit FixedDecoder(FixedFacts facts) : facts_(std::move(facts)) {}
  arrow::Result<std::unique_ptr<PageRead>> Start(std::span<const PageRows> rows,
                                                 ColumnOutput* out) const override {
    return std::make_unique<FixedRead>(facts_, rows, out);
  }
  std::optional<uint64_t> FlatOffset(uint64_t first) const override {
    if (!facts_.plain()) return std::nullopt;
    return facts_.records.offset + first * facts_.record_bytes();
  }
  size_t MemoryBytes() const override {
    return sizeof(*this) + facts_.value.validity.size() * sizeof(FixedValue::Validity);
  }

 private:
  FixedFacts facts_;
};

}  // namespace

arrow::Result<std::shared_ptr<const PageDecoder>> MakeFullZipFixedDecoder(
    const PageDescription& page, const wire::FullZipLayout& layout, const LeafType& type) {
  FixedFacts facts;
  ARROW_ASSIGN_OR_RAISE(facts.control, ControlWords::Make(layout));
  facts.control_bytes = facts.control.bytes();
  facts.boolean = type.is_boolean() && !type.is_list();
  facts.packed = type.kind == LeafKind::kStruct;
  if (facts.packed) {
    ARROW_ASSIGN_OR_RAISE(const uint64_t bits, PackedRowBits(layout.values, type));
    facts.value.item_bytes = bits / 8;
  } else if (type.is_list()) {
    ARROW_ASSIGN_OR_RAISE(facts.value, FixedValue::Make(layout.values, type, "full-zip pages"));
  } else {
    const uint64_t bits = facts.boolean ? 8 : type.bits_per_item;
    ARROW_RETURN_NOT_OK(ExpectFlat(layout.values, bits));
    facts.value.item_bytes = bits / 8;
  }
  if (layout.bits != facts.value.bytes() * 8) {
    return Corrupt("", "a full-zip page's values have another width than its type: expected ",
                   facts.value.bytes() * 8, " bits, found ", layout.bits);
  }
  if (page.buffers.size() != 1) {
    return Corrupt("", "a full-zip page of fixed width must have one buffer, found ",
                   page.buffers.size());
  }
  facts.records = page.buffers[0];
  uint64_t expected;
  if (__builtin_mul_overflow(page.length, facts.record_bytes(), &expected) ||
      expected != facts.records.size) {
    return Corrupt("", "a full-zip page has the wrong size: expected ", page.length, " records of ",
                   facts.record_bytes(), " bytes, found ", facts.records.size, " bytes");
  }
  return std::make_shared<FixedDecoder>(std::move(facts));
}

arrow::Result<std::shared_ptr<const PageDecoder>> MakeFullZipDecoder(
    const PageDescription& page, const wire::FullZipLayout& layout, const LeafType& type) {
  if (layout.layers.size() != 1) return MakeFullZipNestedDecoder(page, layout, type);
  if (layout.num_items != page.length || layout.num_visible_items != page.length) {
    return Corrupt("", "a full-zip page has another number of records than rows: expected ",
                   page.length, ", found ", layout.num_items, ", visible ",
                   layout.num_visible_items);
  }
  if (type.kind == LeafKind::kDictionary)
    return Unsupported("", "a dictionary column's page without a dictionary");
  const bool either = type.kind == LeafKind::kStruct;
  if ((!either && layout.is_variable != (type.kind == LeafKind::kVariable)) ||
      type.kind == LeafKind::kNull) {
    return Corrupt("", "a full-zip page's values are of another kind than its type: expected ",
                   type.kind == LeafKind::kVariable ? "variable" : "fixed", " width");
  }
  return layout.is_variable ? MakeFullZipVariableDecoder(page, layout, type)
                            : MakeFullZipFixedDecoder(page, layout, type);
}

}  // namespace pennon::encoding
