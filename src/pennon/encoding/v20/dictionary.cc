// Dictionary pages of `string` columns in 2.0: an index a value, 0 = null, k = item k - 1; the
// items are a Binary of the page's own. Items are read with the first read and kept.
#include <cstring>
#include <mutex>
#include <utility>

#include <arrow/util/bit_util.h>

#include "pennon/encoding/v20/binary.h"
#include "pennon/encoding/v20/page.h"
#include "pennon/error.h"

namespace pennon::encoding {
namespace {

using wire::ArrayEncoding;
using wire::ArrayEncodingKind;

struct Plan {
  V20Source indices;
  V20Strings items;
  uint64_t num_items = 0;
};

// The items, checked: item i is bytes [ends[i], ends[i + 1]).
struct Items {
  std::vector<uint64_t> ends;
  std::vector<bool> null;
  std::vector<uint8_t> bytes;
};

// Decodes all items from their indices and bytes, as stored.
arrow::Result<std::shared_ptr<const Items>> DecodeItems(const Plan& plan,
                                                        const V20SourceRead& indices,
                                                        const uint8_t* stored,
                                                        arrow::MemoryPool* pool) {
  const V20Strings& s = plan.items;
  ARROW_ASSIGN_OR_RAISE(const auto content, s.Content(stored, pool));
  const std::span<const uint8_t> bytes =
      content ? std::span(content->data(), static_cast<size_t>(content->size()))
              : std::span(stored, static_cast<size_t>(s.bytes.size));
  auto items = std::make_shared<Items>();
  items->ends.resize(plan.num_items + 1);
  items->null.resize(plan.num_items);
  ARROW_RETURN_NOT_OK(indices.Copy(0, reinterpret_cast<uint8_t*>(items->ends.data() + 1)));
  for (uint64_t i = 0; i < plan.num_items; ++i) {
    uint64_t& end = items->ends[i + 1];
    items->null[i] = end >= s.null_adjustment;
    if (items->null[i]) end -= s.null_adjustment;
    if (end < items->ends[i] || end > bytes.size()) {
      return Corrupt("", "dictionary offsets must ascend and stay inside their bytes: found ", end,
                     " of ", bytes.size());
    }
  }
  if (!s.symbols || !s.symbols->coded()) {
    items->bytes.assign(bytes.begin(), bytes.begin() + static_cast<ptrdiff_t>(items->ends.back()));
    return items;
  }
  const size_t room = s.symbols->MaxDecodedBytes(items->ends.back()) + FsstTable::kSlack;
  items->bytes.resize(room);
  std::vector<int64_t> decoded(plan.num_items + 1);
  ARROW_RETURN_NOT_OK((s.symbols->DecodeValues<uint64_t, int64_t>(
      items->ends.data(), bytes.data(), static_cast<int64_t>(plan.num_items), 0, decoded.data(),
      items->bytes.data(), static_cast<int64_t>(room))));
  items->ends.assign(decoded.begin(), decoded.end());
  return items;
}

class DictionaryDecoder final : public PageDecoder {
 public:
  explicit DictionaryDecoder(Plan plan) : plan_(std::move(plan)) {}
  arrow::Result<std::unique_ptr<PageRead>> Start(std::span<const PageRows> rows,
                                                 ColumnOutput* out) const override;
  size_t MemoryBytes() const override {
    const auto items = cached();
    return sizeof(*this) + (items ? items->bytes.capacity() + items->ends.capacity() * 8 : 0);
  }

  const Plan& plan() const { return plan_; }
  std::shared_ptr<const Items> cached() const {
    const std::lock_guard lock(mutex_);
    return items_;
  }
  void Keep(std::shared_ptr<const Items> items) const {
    const std::lock_guard lock(mutex_);
    items_ = std::move(items);
  }

 private:
  Plan plan_;
  mutable std::mutex mutex_;
  mutable std::shared_ptr<const Items> items_;
};

class DictionaryRead final : public PageRead {
 public:
  DictionaryRead(const DictionaryDecoder& decoder, std::span<const PageRows> rows,
                 ColumnOutput* out)
      : decoder_(decoder),
        rows_(rows),
        out_(out),
        indices_(decoder.plan().indices),
        item_indices_(decoder.plan().items.indices),
        items_(decoder.cached()) {}

  arrow::Result<std::span<io::RangeRead>> Next() override {
    if (std::exchange(asked_, true)) return std::span<io::RangeRead>();
    for (const PageRows& r : rows_) indices_.Add(r.first, r.count, &reads_);
    if (!items_) {
      item_indices_.Add(0, decoder_.plan().num_items, &reads_);
      item_bytes_ = reads_.size();
      const PageBuffer& bytes = decoder_.plan().items.bytes;
      reads_.push_back({.offset = bytes.offset, .size = bytes.size});
    }
    return std::span(reads_);
  }

  arrow::Status Decode() override {
    ARROW_RETURN_NOT_OK(indices_.Load(reads_, out_->pool()));
    if (!items_) {
      ARROW_RETURN_NOT_OK(item_indices_.Load(reads_, out_->pool()));
      ARROW_ASSIGN_OR_RAISE(items_, DecodeItems(decoder_.plan(), item_indices_,
                                                reads_[item_bytes_].data, out_->pool()));
      decoder_.Keep(items_);
    }
    const bool wide = out_->type().offset_bits == 64;
    for (size_t i = 0; i < rows_.size(); ++i) {
      switch (decoder_.plan().indices.bits) {
        case 8:
          ARROW_RETURN_NOT_OK((wide ? Append<uint8_t, int64_t>(i) : Append<uint8_t, int32_t>(i)));
          break;
        case 16:
          ARROW_RETURN_NOT_OK((wide ? Append<uint16_t, int64_t>(i) : Append<uint16_t, int32_t>(i)));
          break;
        case 32:
          ARROW_RETURN_NOT_OK((wide ? Append<uint32_t, int64_t>(i) : Append<uint32_t, int32_t>(i)));
          break;
        default:
          ARROW_RETURN_NOT_OK((wide ? Append<uint64_t, int64_t>(i) : Append<uint64_t, int32_t>(i)));
      }
    }
    return arrow::Status::OK();
  }

 private:
  template <typename Index, typename T>
  arrow::Status Append(size_t run) {
    const PageRows& r = rows_[run];
    const Items& items = *items_;
    const uint64_t num_items = decoder_.plan().num_items;
    std::vector<Index> indices(r.count);
    ARROW_RETURN_NOT_OK(indices_.Copy(run, reinterpret_cast<uint8_t*>(indices.data())));
    uint64_t bytes = 0;
    uint64_t nulls = 0;
    for (const Index index : indices) {
      if (index > num_items) {
        return Corrupt("", "dictionary index is out of range: ", uint64_t{index}, " of ", num_items,
                       " items");
      }
      if (index == 0 || items.null[index - 1]) {
        ++nulls;
      } else {
        bytes += items.ends[index] - items.ends[index - 1];
      }
    }
    VariableOutput& out = out_->variable();
    ARROW_RETURN_NOT_OK(out.StartRun(r.out));
    ARROW_ASSIGN_OR_RAISE(uint8_t* to, out.Reserve(bytes));
    uint8_t* validity = nullptr;
    if (nulls != 0) {
      ARROW_ASSIGN_OR_RAISE(validity, out_->validity().Bits());
      out_->validity().AddNulls(nulls);
    }
    T* ends = out.ends<T>();
    uint64_t end = out.size();
    for (uint64_t i = 0; i < r.count; ++i) {
      const Index index = indices[i];
      if (index == 0 || items.null[index - 1]) {
        arrow::bit_util::ClearBit(validity, static_cast<int64_t>(r.out + i));
      } else {
        const uint64_t size = items.ends[index] - items.ends[index - 1];
        if (size != 0) std::memcpy(to, items.bytes.data() + items.ends[index - 1], size);
        to += size;
        end += size;
      }
      ends[i] = static_cast<T>(end);
    }
    out.AdvanceBytes(bytes);
    return out.FinishRun(r.count);
  }

  const DictionaryDecoder& decoder_;
  std::span<const PageRows> rows_;
  ColumnOutput* out_;
  bool asked_ = false;
  std::vector<io::RangeRead> reads_;
  V20SourceRead indices_;
  V20SourceRead item_indices_;
  size_t item_bytes_ = 0;
  std::shared_ptr<const Items> items_;
};

arrow::Result<std::unique_ptr<PageRead>> DictionaryDecoder::Start(std::span<const PageRows> rows,
                                                                  ColumnOutput* out) const {
  return std::make_unique<DictionaryRead>(*this, rows, out);
}

}  // namespace

arrow::Result<std::unique_ptr<PageDecoder>> MakeV20DictionaryDecoder(const PageDescription& page,
                                                                     const ArrayEncoding& root) {
  Plan plan{.num_items = root.num_items};
  const ArrayEncoding& indices = WithoutNoNulls(root.children[0]);
  const uint64_t bits = indices.bits;
  if (bits != 8 && bits != 16 && bits != 32 && bits != 64) {
    return Corrupt(page.path, "dictionary indices must be 8, 16, 32 or 64 bits wide, found ", bits,
                   ", column: ", page.column);
  }
  ARROW_ASSIGN_OR_RAISE(plan.indices, V20Source::Make(page, indices, page.length, bits));
  ARROW_ASSIGN_OR_RAISE(plan.items,
                        V20Strings::Make(page, WithoutNoNulls(root.children[1]), plan.num_items));
  // Items are kept in memory: their indices must be in the file, or at least be worth a byte each.
  if (plan.items.indices.buffer.size < plan.num_items) {
    return Corrupt(page.path,
                   "dictionary claims more items than its buffer can hold: ", plan.num_items,
                   " in ", plan.items.indices.buffer.size, " bytes, column: ", page.column);
  }
  return std::make_unique<DictionaryDecoder>(std::move(plan));
}

}  // namespace pennon::encoding
