// Dictionary pages of 2.0: an index a value and the page's own items, an encoding tree like any
// other. Columns of type `string`: 0 = null, k = item k - 1. Columns whose type is a dictionary:
// k = item k, which may be null. Items are read with the first read and kept.
#include <cstring>
#include <mutex>
#include <type_traits>
#include <utility>

#include <arrow/type.h>
#include <arrow/util/bit_util.h>

#include "pennon/encoding/dictionary/dictionary_output.h"
#include "pennon/encoding/v20/page.h"
#include "pennon/encoding/v20/source.h"
#include "pennon/error.h"

namespace pennon::encoding {
namespace {

using wire::ArrayEncoding;
using wire::ArrayEncodingKind;

struct Plan {
  V20Source indices;
  std::unique_ptr<PageDecoder> items;
  LeafType item_type;
  uint64_t num_items = 0;
  uint64_t base = 0;         ///< index of the first item; what is below is null
  bool is_declared = false;  ///< the output is a dictionary too
};

// The items; what index k stands for.
struct Items {
  std::shared_ptr<arrow::ArrayData> data;
  std::vector<uint8_t> is_null;  ///< by index, from 0 on
  /// Of a declared dictionary: the items that are not null, and which of them each index names.
  std::shared_ptr<const DecodedItems> valid;
  std::vector<uint64_t> valid_number;

  uint64_t MemoryBytes() const {
    uint64_t bytes = is_null.capacity() + valid_number.capacity() * sizeof(uint64_t) +
                     (valid ? valid->MemoryBytes() : 0);
    for (const auto& buffer : data->buffers) {
      bytes += buffer ? static_cast<uint64_t>(buffer->capacity()) : 0;
    }
    return bytes;
  }
};

// A type for the items' buffers, whatever their values mean: text is checked once it is output.
std::shared_ptr<arrow::DataType> StorageOf(const LeafType& type) {
  if (type.kind == LeafKind::kVariable) {
    return type.offset_bits == 64 ? arrow::large_binary() : arrow::binary();
  }
  if (type.is_boolean()) return arrow::boolean();
  return arrow::fixed_size_binary(static_cast<int32_t>(type.bits_per_item / 8));
}

// Takes the items that are not null together, as DictionaryOutput wants them.
void TakeValid(const LeafType& type, Items* items) {
  auto valid = std::make_shared<DecodedItems>();
  const arrow::ArrayData& data = *items->data;
  const auto append = [&](const uint8_t* at, size_t size) {
    valid->bytes.insert(valid->bytes.end(), at, at + size);
  };
  const bool is_string = type.kind == LeafKind::kVariable;
  if (is_string) valid->offsets.push_back(0);
  if (!is_string) valid->item_bytes = (type.bits_per_item + 7) / 8;
  items->valid_number.resize(items->is_null.size());
  for (uint64_t i = 0; i < items->is_null.size(); ++i) {
    if (items->is_null[i] != 0) continue;
    const auto at = static_cast<int64_t>(i);
    if (type.is_boolean()) {
      valid->bytes.push_back(arrow::bit_util::GetBit(data.buffers[1]->data(), at) ? 1 : 0);
    } else if (!is_string) {
      append(data.buffers[1]->data() + i * valid->item_bytes, valid->item_bytes);
    } else if (type.offset_bits == 64) {
      const auto* const ends = data.GetValues<int64_t>(1) + i;
      append(data.buffers[2]->data() + ends[0], static_cast<size_t>(ends[1] - ends[0]));
    } else {
      const auto* const ends = data.GetValues<int32_t>(1) + i;
      append(data.buffers[2]->data() + ends[0], static_cast<size_t>(ends[1] - ends[0]));
    }
    if (is_string) valid->offsets.push_back(valid->bytes.size());
    items->valid_number[i] = valid->count++;
  }
  valid->bytes.resize(valid->bytes.size() + DecodedItems::kPadding);
  items->valid = std::move(valid);
}

class DictionaryDecoder final : public PageDecoder {
 public:
  explicit DictionaryDecoder(Plan plan) : plan_(std::move(plan)) {}
  arrow::Result<std::unique_ptr<PageRead>> Start(std::span<const PageRows> rows,
                                                 ColumnOutput* out) const override;
  size_t MemoryBytes() const override {
    const auto items = cached();
    return sizeof(*this) + plan_.items->MemoryBytes() + (items ? items->MemoryBytes() : 0);
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

// Reads all items of a page.
class ItemsRead {
 public:
  static arrow::Result<std::unique_ptr<ItemsRead>> Make(const Plan& plan, arrow::MemoryPool* pool) {
    auto self = std::make_unique<ItemsRead>();
    ARROW_ASSIGN_OR_RAISE(self->out_, ColumnOutput::Make(plan.item_type, plan.num_items, pool));
    self->rows_ = {.first = 0, .count = plan.num_items, .out = 0};
    if (plan.num_items > 0) {
      ARROW_ASSIGN_OR_RAISE(self->read_,
                            plan.items->Start(std::span(&self->rows_, 1), self->out_.get()));
    }
    return self;
  }

  arrow::Result<std::span<io::RangeRead>> Next() {
    if (!read_) return std::span<io::RangeRead>();
    return read_->Next();
  }

  arrow::Result<std::shared_ptr<const Items>> Decode(const Plan& plan) {
    if (read_) ARROW_RETURN_NOT_OK(read_->Decode());
    auto items = std::make_shared<Items>();
    ARROW_ASSIGN_OR_RAISE(items->data, out_->Finish(StorageOf(plan.item_type)));
    items->is_null.resize(plan.base + plan.num_items);
    for (uint64_t i = 0; i < items->is_null.size(); ++i) {
      items->is_null[i] =
          i < plan.base || items->data->IsNull(static_cast<int64_t>(i - plan.base)) ? 1 : 0;
    }
    if (plan.is_declared) TakeValid(plan.item_type, items.get());
    return items;
  }

 private:
  PageRows rows_;
  std::unique_ptr<ColumnOutput> out_;
  std::unique_ptr<PageRead> read_;
};

class DictionaryRead final : public PageRead {
 public:
  DictionaryRead(const DictionaryDecoder& decoder, std::span<const PageRows> rows,
                 ColumnOutput* out, std::unique_ptr<ItemsRead> items_read)
      : decoder_(decoder),
        rows_(rows),
        out_(out),
        indices_(decoder.plan().indices),
        items_(items_read ? nullptr : decoder.cached()),
        items_read_(std::move(items_read)) {}

  arrow::Result<std::span<io::RangeRead>> Next() override {
    ++step_;
    if (step_ == 1) {
      for (const PageRows& r : rows_) indices_.Add(r.first, r.count, &reads_);
      index_reads_ = reads_.size();
      if (items_read_) {
        ARROW_ASSIGN_OR_RAISE(item_reads_, items_read_->Next());
        reads_.insert(reads_.end(), item_reads_.begin(), item_reads_.end());
      }
      return std::span(reads_);
    }
    if (!items_read_) return std::span<io::RangeRead>();
    if (step_ == 2) {
      for (size_t i = 0; i < item_reads_.size(); ++i) {
        item_reads_[i].data = reads_[index_reads_ + i].data;
      }
    }
    return items_read_->Next();
  }

  arrow::Status Decode() override {
    ARROW_RETURN_NOT_OK(indices_.Load(reads_, out_->pool()));
    if (items_read_) {
      ARROW_ASSIGN_OR_RAISE(items_, items_read_->Decode(decoder_.plan()));
      decoder_.Keep(items_);
    }
    for (size_t i = 0; i < rows_.size(); ++i) {
      switch (decoder_.plan().indices.bits) {
        case 8:
          ARROW_RETURN_NOT_OK(Append<uint8_t>(i));
          break;
        case 16:
          ARROW_RETURN_NOT_OK(Append<uint16_t>(i));
          break;
        case 32:
          ARROW_RETURN_NOT_OK(Append<uint32_t>(i));
          break;
        default:
          ARROW_RETURN_NOT_OK(Append<uint64_t>(i));
      }
    }
    return arrow::Status::OK();
  }

 private:
  template <typename Index>
  arrow::Status Append(size_t run) {
    const PageRows& r = rows_[run];
    std::vector<Index> indices(r.count);
    ARROW_RETURN_NOT_OK(indices_.Copy(run, reinterpret_cast<uint8_t*>(indices.data())));
    const std::vector<uint8_t>& is_null = items_->is_null;
    uint64_t nulls = 0;
    for (const Index index : indices) {
      if (index >= is_null.size()) {
        return Corrupt("", "dictionary index is out of range: ", uint64_t{index}, ", first ",
                       decoder_.plan().base, ", items ", decoder_.plan().num_items);
      }
      nulls += is_null[index];
    }
    if (nulls != 0) {
      ARROW_ASSIGN_OR_RAISE(uint8_t* const validity, out_->validity().Bits());
      for (uint64_t i = 0; i < r.count; ++i) {
        if (is_null[indices[i]] != 0) {
          arrow::bit_util::ClearBit(validity, static_cast<int64_t>(r.out + i));
        }
      }
      out_->validity().AddNulls(nulls);
    }
    if (decoder_.plan().is_declared) return WriteNumbers(r.out, indices);
    return out_->type().offset_bits == 64 ? GatherStrings<Index, int64_t>(r.out, indices)
                                          : GatherStrings<Index, int32_t>(r.out, indices);
  }

  // Writes which items of the output's dictionary the indices name; 0 for null ones.
  template <typename Index>
  arrow::Status WriteNumbers(uint64_t slot, const std::vector<Index>& indices) {
    ARROW_ASSIGN_OR_RAISE(const std::span<const uint64_t> numbers,
                          out_->dictionary().NumbersOf(items_->valid));
    const auto write = [&](auto* to) {
      using Word = std::remove_pointer_t<decltype(to)>;
      for (uint64_t i = 0; i < indices.size(); ++i) {
        uint64_t number = 0;
        if (items_->is_null[indices[i]] == 0) {
          number = items_->valid_number[indices[i]];
          if (!numbers.empty()) number = numbers[number];
        }
        to[slot + i] = static_cast<Word>(number);
      }
    };
    uint8_t* const values = out_->values();
    switch (out_->type().bits_per_item) {
      case 8:
        write(values);
        break;
      case 16:
        write(reinterpret_cast<uint16_t*>(values));
        break;
      case 32:
        write(reinterpret_cast<uint32_t*>(values));
        break;
      default:
        write(reinterpret_cast<uint64_t*>(values));
    }
    return arrow::Status::OK();
  }

  template <typename Index, typename T>
  arrow::Status GatherStrings(uint64_t slot, const std::vector<Index>& indices) {
    const uint64_t base = decoder_.plan().base;
    const std::vector<uint8_t>& is_null = items_->is_null;
    const T* const offsets = items_->data->GetValues<T>(1);
    const uint8_t* const from = items_->data->buffers[2]->data();
    uint64_t bytes = 0;
    for (const Index index : indices) {
      if (is_null[index] == 0) {
        bytes += static_cast<uint64_t>(offsets[index - base + 1] - offsets[index - base]);
      }
    }
    VariableOutput& out = out_->variable();
    ARROW_RETURN_NOT_OK(out.StartRun(slot));
    ARROW_ASSIGN_OR_RAISE(uint8_t* to, out.Reserve(bytes));
    T* const ends = out.ends<T>();
    uint64_t end = out.size();
    for (uint64_t i = 0; i < indices.size(); ++i) {
      const Index index = indices[i];
      if (is_null[index] == 0) {
        const T first = offsets[index - base];
        const auto size = static_cast<uint64_t>(offsets[index - base + 1] - first);
        if (size != 0) std::memcpy(to, from + first, size);
        to += size;
        end += size;
      }
      ends[i] = static_cast<T>(end);  // FinishRun refuses sums that T cannot hold
    }
    out.AdvanceBytes(bytes);
    return out.FinishRun(indices.size());
  }

  const DictionaryDecoder& decoder_;
  std::span<const PageRows> rows_;
  ColumnOutput* out_;
  int step_ = 0;
  std::vector<io::RangeRead> reads_;
  size_t index_reads_ = 0;
  V20SourceRead indices_;
  std::shared_ptr<const Items> items_;
  std::unique_ptr<ItemsRead> items_read_;  ///< if the items are not known yet
  std::span<io::RangeRead> item_reads_;
};

arrow::Result<std::unique_ptr<PageRead>> DictionaryDecoder::Start(std::span<const PageRows> rows,
                                                                  ColumnOutput* out) const {
  std::unique_ptr<ItemsRead> items_read;
  if (!cached()) {
    ARROW_ASSIGN_OR_RAISE(items_read, ItemsRead::Make(plan_, out->pool()));
  }
  return std::make_unique<DictionaryRead>(*this, rows, out, std::move(items_read));
}

// The most items that the page can have: one more than rows, or a bit of its buffers each. What
// they take in memory is thus bounded before it is allocated.
uint64_t MostItems(const PageDescription& page) {
  uint64_t most = page.length;
  for (const PageBuffer& buffer : page.buffers) {
    uint64_t bits;
    if (__builtin_mul_overflow(buffer.size, uint64_t{8}, &bits) ||
        __builtin_add_overflow(most, bits, &most)) {
      return UINT64_MAX;
    }
  }
  return most == UINT64_MAX ? most : most + 1;
}

}  // namespace

arrow::Result<std::unique_ptr<PageDecoder>> MakeV20DictionaryDecoder(const PageDescription& page,
                                                                     const ArrayEncoding& root,
                                                                     const LeafType& type) {
  const bool is_declared = type.kind == LeafKind::kDictionary;
  Plan plan{.item_type = is_declared ? type.children[0] : type,
            .num_items = root.num_items,
            .base = is_declared ? 0U : 1U,
            .is_declared = is_declared};
  if (plan.item_type.is_list()) {
    return Unsupported(page.path, "Dictionaries of lists are not supported, column: ", page.column);
  }
  const ArrayEncoding& indices = WithoutNoNulls(root.children[0]);
  const uint64_t bits = indices.bits;
  if (bits != 8 && bits != 16 && bits != 32 && bits != 64) {
    return Corrupt(page.path, "dictionary indices must be 8, 16, 32 or 64 bits wide, found ", bits,
                   ", column: ", page.column);
  }
  ARROW_ASSIGN_OR_RAISE(plan.indices, V20Source::Make(page, indices, page.length, bits));
  if (plan.num_items > MostItems(page)) {
    return Corrupt(page.path,
                   "dictionary claims more items than its page can hold: ", plan.num_items,
                   ", column: ", page.column);
  }
  // Items have no dictionary of their own.
  plan.item_type.is_dictionary_string = false;
  PageDescription items = page;
  items.length = plan.num_items;
  ARROW_ASSIGN_OR_RAISE(plan.items, MakeV20DecoderOf(items, root.children[1], plan.item_type));
  return std::make_unique<DictionaryDecoder>(std::move(plan));
}

}  // namespace pennon::encoding
