// Fixed-width values of 2.0 pages, fixed_size_lists of them included, and all-null pages of any
// type.
//
// With D dimensions the tree is, from the outside, D + 1 levels of "Nullable" (each optional)
// around D FixedSizeLists and one source of items. Level j has dimensions[0] * ... *
// dimensions[j-1] bits of validity a row, which continue across rows and need not start on bytes.
#include <cstring>
#include <optional>
#include <utility>

#include <arrow/util/bitmap_ops.h>

#include "pennon/encoding/v20/page.h"
#include "pennon/encoding/v20/source.h"
#include "pennon/error.h"

namespace pennon::encoding {
namespace {

using wire::ArrayEncoding;
using wire::ArrayEncodingKind;
using wire::NullableKind;

struct Level {
  bool all_null = false;              ///< everything from this level on is null and not stored
  std::optional<V20Source> validity;  ///< one bit a slot; without it all slots are valid
  uint64_t run = 1;                   ///< slots of this level in a row
};

struct Plan {
  std::vector<Level> levels;        ///< as many as the type has, fewer if the last one is all null
  std::optional<V20Source> values;  ///< the items, if there are any
  uint64_t items_per_row = 1;
};

class FixedRead final : public PageRead {
 public:
  FixedRead(const Plan& plan, std::span<const PageRows> rows, ColumnOutput* out)
      : plan_(plan), rows_(rows), out_(out) {
    for (const Level& level : plan.levels) {
      if (level.validity) validity_.emplace_back(*level.validity);
    }
    if (plan.values) values_.emplace(*plan.values);
  }

  arrow::Result<std::span<io::RangeRead>> Next() override {
    if (std::exchange(asked_, true)) return std::span<io::RangeRead>();
    reads_.reserve(rows_.size() * (validity_.size() + 1));
    size_t next = 0;
    for (const Level& level : plan_.levels) {
      if (!level.validity) continue;
      V20SourceRead& source = validity_[next++];
      for (const PageRows& r : rows_) source.Add(r.first * level.run, r.count * level.run, &reads_);
    }
    if (values_) AddValues();
    return std::span(reads_);
  }

  arrow::Status Decode() override {
    if (plan_.values && values_) ARROW_RETURN_NOT_OK(values_->Load(reads_, out_->pool()));
    size_t next = 0;
    for (size_t j = 0; j < plan_.levels.size(); ++j) {
      const Level& level = plan_.levels[j];
      ValidityOutput& validity = j == 0 ? out_->validity() : out_->item_validity(j - 1);
      if (level.all_null) {
        for (const PageRows& r : rows_) {
          ARROW_RETURN_NOT_OK(validity.SetNull(r.out * level.run, r.count * level.run));
        }
      } else if (level.validity) {
        V20SourceRead& source = validity_[next++];
        ARROW_RETURN_NOT_OK(source.Load(reads_, out_->pool()));
        for (size_t i = 0; i < rows_.size(); ++i) {
          const auto at = source.BitsOf(i);
          ARROW_RETURN_NOT_OK(validity.CopyBits(at.bytes, at.offset, rows_[i].out * level.run,
                                                rows_[i].count * level.run));
        }
      }
    }
    return DecodeValues();
  }

 private:
  void AddValues() {
    const uint64_t per_row = plan_.items_per_row;
    // One run that needs nothing else goes straight to its place. Otherwise one request for values,
    // validity and what lies between is better than a copy saved.
    if (rows_.size() == 1 && reads_.empty()) {
      const PageRows& r = rows_[0];
      uint8_t* into = out_->values() + r.out * (out_->type().bits_per_slot() / 8);
      values_->AddInto(r.first * per_row, r.count * per_row, into, &reads_);
      return;
    }
    for (const PageRows& r : rows_) values_->Add(r.first * per_row, r.count * per_row, &reads_);
  }

  arrow::Status DecodeValues() {
    const uint64_t bits = out_->type().bits_per_slot();
    if (!values_) {
      for (const PageRows& r : rows_) out_->ZeroSlots(r.out, r.count);
      return arrow::Status::OK();
    }
    for (size_t i = 0; i < rows_.size(); ++i) {
      const PageRows& r = rows_[i];
      if (plan_.values->bits % 8 == 0) {
        ARROW_RETURN_NOT_OK(values_->Copy(i, out_->values() + r.out * (bits / 8)));
      } else {
        const auto at = values_->BitsOf(i);
        arrow::internal::CopyBitmap(at.bytes, static_cast<int64_t>(at.offset),
                                    static_cast<int64_t>(r.count * bits), out_->values(),
                                    static_cast<int64_t>(r.out * bits));
      }
    }
    return arrow::Status::OK();
  }

  const Plan& plan_;
  std::span<const PageRows> rows_;
  ColumnOutput* out_;
  bool asked_ = false;
  std::vector<io::RangeRead> reads_;
  std::vector<V20SourceRead> validity_;  ///< of the levels that have it
  std::optional<V20SourceRead> values_;
};

class FixedDecoder final : public PageDecoder {
 public:
  explicit FixedDecoder(Plan plan) : plan_(std::move(plan)) {}
  arrow::Result<std::unique_ptr<PageRead>> Start(std::span<const PageRows> rows,
                                                 ColumnOutput* out) const override {
    return std::make_unique<FixedRead>(plan_, rows, out);
  }
  std::optional<uint64_t> FlatOffset(uint64_t first) const override {
    for (const Level& level : plan_.levels) {
      if (level.all_null || level.validity) return std::nullopt;
    }
    if (!plan_.values || plan_.values->form != V20Source::Form::kFlat ||
        plan_.values->bits % 8 != 0) {
      return std::nullopt;
    }
    return plan_.values->buffer.offset + first * plan_.items_per_row * (plan_.values->bits / 8);
  }
  size_t MemoryBytes() const override {
    return sizeof(*this) + plan_.levels.size() * sizeof(Level);
  }

 private:
  Plan plan_;
};

// Takes the Nullable around one level, if there is one, into `level` and gives what is inside: null
// when all is null.
arrow::Result<const ArrayEncoding*> TakeLevel(const PageDescription& page,
                                              const ArrayEncoding& node, uint64_t count,
                                              Level* level) {
  const ArrayEncoding& at = WithoutNoNulls(node);
  if (at.kind != ArrayEncodingKind::kNullable) return &at;
  if (at.nulls == NullableKind::kAllNulls) {
    level->all_null = true;
    return nullptr;
  }
  ARROW_ASSIGN_OR_RAISE(level->validity, V20Source::Make(page, at.children[0], count, 1));
  const ArrayEncoding& values = WithoutNoNulls(at.children[1]);
  if (values.kind == ArrayEncodingKind::kNullable) {
    return Corrupt(page.path,
                   "page encoding says twice which values are null, column: ", page.column);
  }
  return &values;
}

}  // namespace

arrow::Result<std::unique_ptr<PageDecoder>> MakeV20FixedDecoder(const PageDescription& page,
                                                                const ArrayEncoding& root,
                                                                const LeafType& type) {
  Plan plan;
  const ArrayEncoding* node = &root;
  uint64_t count = page.length;
  for (size_t j = 0;; ++j) {
    Level& level = plan.levels.emplace_back();
    level.run = plan.items_per_row;
    ARROW_ASSIGN_OR_RAISE(node, TakeLevel(page, *node, count, &level));
    if (node == nullptr) return std::make_unique<FixedDecoder>(std::move(plan));
    if (j == type.dimensions.size()) break;
    if (node->kind != ArrayEncodingKind::kFixedSizeList) {
      return Unsupported(page.path, "Page encoding is not supported for a fixed-size list: ",
                         wire::ArrayEncodingName(node->kind), ", column: ", page.column);
    }
    const uint64_t dimension = type.dimensions[j];
    if (node->dimension != dimension) {
      return Corrupt(page.path, "fixed-size list has another size than its type: expected ",
                     dimension, ", found ", node->dimension, ", column: ", page.column);
    }
    if (__builtin_mul_overflow(count, dimension, &count)) {
      return Corrupt(page.path, "page claims more values than a file can hold: ", page.length,
                     " of ", type.items_per_slot, " items, column: ", page.column);
    }
    plan.items_per_row *= dimension;
    node = &node->children[0];
  }
  if (type.kind == LeafKind::kNull) {
    return Corrupt(
        page.path,
        "page of a null column must say that all its values are null, column: ", page.column);
  }
  ARROW_ASSIGN_OR_RAISE(plan.values, V20Source::Make(page, *node, count, type.bits_per_item));
  return std::make_unique<FixedDecoder>(std::move(plan));
}

}  // namespace pennon::encoding
