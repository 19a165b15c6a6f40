// Pages of list columns of 2.0. The items are another column's; this one says where they end.
//
//   offsets   u64 a list: where its items end, counted from the first item of the page, + A if the
//             list is null; A = null_offset_adjustment. The start is the end before, 0 at first.
//
// A null list may own items. num_items says how many items all lists of the page have, null ones
// too, and so where the items of the next page start.
#include <cstring>
#include <utility>

#include <arrow/util/bit_util.h>

#include "pennon/encoding/v20/page.h"
#include "pennon/encoding/v20/source.h"
#include "pennon/error.h"

namespace pennon::encoding {
namespace {

using wire::ArrayEncoding;
using wire::ArrayEncodingKind;

struct Plan {
  V20Source offsets;
  uint64_t null_adjustment = 0;
  uint64_t num_items = 0;
};

class ListRead final : public PageRead {
 public:
  ListRead(const Plan& plan, std::span<const PageRows> rows, ColumnOutput* out)
      : plan_(plan), rows_(rows), out_(out), offsets_(plan.offsets) {}

  arrow::Result<std::span<io::RangeRead>> Next() override {
    if (std::exchange(asked_, true)) return std::span<io::RangeRead>();
    for (const PageRows& r : rows_) {
      const uint64_t before = r.first == 0 ? 0 : 1;
      offsets_.Add(r.first - before, r.count + before, &reads_);
    }
    return std::span(reads_);
  }

  arrow::Status Decode() override {
    ARROW_RETURN_NOT_OK(offsets_.Load(reads_, out_->pool()));
    std::vector<uint64_t> stored;
    for (size_t i = 0; i < rows_.size(); ++i) {
      const uint64_t before = rows_[i].first == 0 ? 0 : 1;
      stored.resize(rows_[i].count + before);
      ARROW_RETURN_NOT_OK(offsets_.Copy(i, reinterpret_cast<uint8_t*>(stored.data())));
      uint64_t begin = 0;
      if (before != 0) begin = EndOf(stored[0]);
      ARROW_RETURN_NOT_OK(WriteRanges(rows_[i], stored.data() + before, begin));
    }
    return arrow::Status::OK();
  }

 private:
  uint64_t EndOf(uint64_t stored) const {
    return stored >= plan_.null_adjustment ? stored - plan_.null_adjustment : stored;
  }

  arrow::Status WriteRanges(const PageRows& rows, const uint64_t* stored, uint64_t begin) {
    uint8_t* out = out_->values() + rows.out * 2 * sizeof(uint64_t);
    uint64_t nulls = 0;
    for (uint64_t i = 0; i < rows.count; ++i) {
      const uint64_t end = EndOf(stored[i]);
      if (end < begin || end > plan_.num_items) {
        return Corrupt("", "list offsets must ascend and stay inside the page's items: found ",
                       begin, " to ", end, " of ", plan_.num_items);
      }
      nulls += stored[i] >= plan_.null_adjustment;
      const uint64_t range[2] = {begin, end};
      std::memcpy(out, range, sizeof(range));
      out += sizeof(range);
      begin = end;
    }
    if (nulls == 0) return arrow::Status::OK();
    ARROW_ASSIGN_OR_RAISE(uint8_t* const bits, out_->validity().Bits());
    for (uint64_t i = 0; i < rows.count; ++i) {
      if (stored[i] >= plan_.null_adjustment) {
        arrow::bit_util::ClearBit(bits, static_cast<int64_t>(rows.out + i));
      }
    }
    out_->validity().AddNulls(nulls);
    return arrow::Status::OK();
  }

  const Plan& plan_;
  std::span<const PageRows> rows_;
  ColumnOutput* out_;
  bool asked_ = false;
  std::vector<io::RangeRead> reads_;
  V20SourceRead offsets_;
};

class ListDecoder final : public PageDecoder {
 public:
  explicit ListDecoder(Plan plan) : plan_(std::move(plan)) {}
  arrow::Result<std::unique_ptr<PageRead>> Start(std::span<const PageRows> rows,
                                                 ColumnOutput* out) const override {
    return std::make_unique<ListRead>(plan_, rows, out);
  }
  size_t MemoryBytes() const override { return sizeof(*this); }

 private:
  Plan plan_;
};

arrow::Status NotAList(std::string_view path, const ArrayEncoding& root) {
  return Unsupported(
      path, "Page encoding is not supported for lists: ", wire::ArrayEncodingName(root.kind));
}

}  // namespace

arrow::Result<std::unique_ptr<PageDecoder>> MakeV20ListDecoder(const PageDescription& page,
                                                               const ArrayEncoding& root) {
  if (root.kind != ArrayEncodingKind::kList) return NotAList(page.path, root);
  Plan plan{.null_adjustment = root.null_adjustment, .num_items = root.num_items};
  if (plan.null_adjustment <= plan.num_items) {
    return Corrupt(page.path, "list page must add more than its items to a null's offset: found ",
                   plan.null_adjustment, " with ", plan.num_items, " items, column: ", page.column);
  }
  ARROW_ASSIGN_OR_RAISE(plan.offsets, V20Source::Make(page, root.children[0], page.length, 64));
  return std::make_unique<ListDecoder>(std::move(plan));
}

arrow::Result<uint64_t> V20ListItems(std::string_view encoding, std::string_view path) {
  ARROW_ASSIGN_OR_RAISE(const ArrayEncoding root, wire::ParseArrayEncoding(encoding, path));
  const ArrayEncoding& list = WithoutNoNulls(root);
  if (list.kind != ArrayEncodingKind::kList) return NotAList(path, list);
  return list.num_items;
}

}  // namespace pennon::encoding
