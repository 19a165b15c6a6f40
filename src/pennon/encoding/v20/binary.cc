#include "pennon/encoding/v20/binary.h"

#include <cstring>
#include <utility>

#include <arrow/util/bit_util.h>

#include "pennon/encoding/v20/page.h"
#include "pennon/error.h"

namespace pennon::encoding {
namespace {

using wire::ArrayEncoding;
using wire::ArrayEncodingKind;
using wire::NullableKind;

// Bytes this small are read with their indices rather than by a second request.
constexpr uint64_t kSmallBytes = 8 << 10;
// FSST values are decoded in steps of this many, so that no step reserves much more than it needs.
constexpr uint64_t kFsstStep = 1024;

// The string column of a page: where its values and their validity are.
struct Plan {
  std::optional<V20Source> validity;  ///< outer Nullable
  std::optional<V20Strings> strings;  ///< Binary, Fsst
  std::optional<V20Source> fixed;     ///< FixedSizeBinary: all bytes, 8 bits each
  uint64_t byte_width = 0;            ///< FixedSizeBinary
  uint64_t length = 0;
};

// One run of rows with its bytes at hand.
struct Run {
  const PageRows* rows;
  const uint64_t* ends;            ///< as stored: rows->count of them
  uint64_t begin = 0;              ///< where the first value starts, among the page's bytes
  uint64_t end = 0;                ///< where the last one ends
  const uint8_t* bytes = nullptr;  ///< from `begin` on
};

inline uint64_t EndOf(uint64_t index, uint64_t adjustment) {
  return index >= adjustment ? index - adjustment : index;
}

class StringsRead final : public PageRead {
 public:
  StringsRead(const Plan& plan, std::span<const PageRows> rows, ColumnOutput* out)
      : plan_(plan),
        strings_(*plan.strings),
        rows_(rows),
        out_(out),
        indices_(plan.strings->indices) {
    if (plan.validity) validity_.emplace(*plan.validity);
  }

  arrow::Result<std::span<io::RangeRead>> Next() override {
    ++step_;
    if (step_ == 1) {
      AddFirst();
      return std::span(reads_);
    }
    if (step_ > 2) return std::span<io::RangeRead>();
    ARROW_RETURN_NOT_OK(TakeIndices());
    if (whole_bytes_) return std::span<io::RangeRead>();
    for (const Run& run : runs_) {
      byte_reads_.push_back(
          {.offset = strings_.bytes.offset + run.begin, .size = run.end - run.begin});
    }
    return std::span(byte_reads_);
  }

  arrow::Status Decode() override {
    ARROW_RETURN_NOT_OK(PlaceBytes());
    if (validity_) {
      ARROW_RETURN_NOT_OK(validity_->Load(reads_, out_->pool()));
      for (size_t i = 0; i < rows_.size(); ++i) {
        const auto at = validity_->BitsOf(i);
        ARROW_RETURN_NOT_OK(
            out_->validity().CopyBits(at.bytes, at.offset, rows_[i].out, rows_[i].count));
      }
    }
    const bool wide = out_->type().offset_bits == 64;
    const bool coded = strings_.symbols && strings_.symbols->coded();
    for (const Run& run : runs_) {
      if (coded) {
        ARROW_RETURN_NOT_OK(wide ? AppendCoded<int64_t>(run) : AppendCoded<int32_t>(run));
      } else {
        ARROW_RETURN_NOT_OK(wide ? AppendPlain<int64_t>(run) : AppendPlain<int32_t>(run));
      }
    }
    return arrow::Status::OK();
  }

 private:
  // Reads of the first step: validity, indices, and all bytes if that costs little or must be.
  void AddFirst() {
    uint64_t wanted = 0;
    for (const PageRows& r : rows_) {
      if (validity_) validity_->Add(r.first, r.count, &reads_);
      // The end of the row before is where the first row starts.
      const uint64_t before = r.first == 0 ? 0 : 1;
      indices_.Add(r.first - before, r.count + before, &reads_);
      wanted += r.count;
    }
    whole_bytes_ = strings_.scheme != GeneralScheme::kNone || strings_.bytes.size <= kSmallBytes ||
                   wanted >= plan_.length - plan_.length / 8;
    if (whole_bytes_) {
      whole_read_ = reads_.size();
      reads_.push_back({.offset = strings_.bytes.offset, .size = strings_.bytes.size});
    }
  }

  // Finds from the indices where the runs' bytes lie.
  arrow::Status TakeIndices() {
    ARROW_RETURN_NOT_OK(indices_.Load(reads_, out_->pool()));
    uint64_t total = 0;
    for (const PageRows& r : rows_) total += r.count + 1;
    ends_.resize(total);
    uint64_t* at = ends_.data();
    const uint64_t adjustment = strings_.null_adjustment;
    for (size_t i = 0; i < rows_.size(); ++i) {
      const PageRows& r = rows_[i];
      const uint64_t before = r.first == 0 ? 0 : 1;
      ARROW_RETURN_NOT_OK(indices_.Copy(i, reinterpret_cast<uint8_t*>(at)));
      Run run{.rows = &r, .ends = at + before};
      run.begin = before == 0 ? 0 : EndOf(at[0], adjustment);
      run.end = EndOf(run.ends[r.count - 1], adjustment);
      // Compressed bytes have their size checked once it is known.
      const uint64_t limit =
          strings_.scheme == GeneralScheme::kNone ? strings_.bytes.size : adjustment - 1;
      if (run.begin > run.end || run.end > limit) {
        return Corrupt("", "string offsets must ascend and stay inside their bytes: found ",
                       run.begin, " to ", run.end, " of ", limit);
      }
      runs_.push_back(run);
      at += r.count + before;
    }
    return arrow::Status::OK();
  }

  // Says where each run's bytes are in memory.
  arrow::Status PlaceBytes() {
    if (!whole_bytes_) {
      for (size_t i = 0; i < runs_.size(); ++i) runs_[i].bytes = byte_reads_[i].data;
      return arrow::Status::OK();
    }
    const uint8_t* base = reads_[whole_read_].data;
    uint64_t size = strings_.bytes.size;
    ARROW_ASSIGN_OR_RAISE(content_, strings_.Content(base, out_->pool()));
    if (content_) {
      base = content_->data();
      size = static_cast<uint64_t>(content_->size());
    }
    for (Run& run : runs_) {
      if (run.end > size) {
        return Corrupt("", "string offsets must stay inside their bytes: found ", run.end, " of ",
                       size);
      }
      run.bytes = base + run.begin;
    }
    return arrow::Status::OK();
  }

  arrow::Status Descending() {
    return Corrupt("", "string offsets must not decrease, in a page of rows: ", plan_.length);
  }

  // Marks the null rows of a run, unless the outer bitmap said which they are.
  arrow::Status MarkNulls(const Run& run, uint64_t nulls) {
    if (validity_ || nulls == 0) return arrow::Status::OK();
    ARROW_ASSIGN_OR_RAISE(uint8_t* const bits, out_->validity().Bits());
    const uint64_t adjustment = strings_.null_adjustment;
    for (uint64_t i = 0; i < run.rows->count; ++i) {
      if (run.ends[i] >= adjustment)
        arrow::bit_util::ClearBit(bits, static_cast<int64_t>(run.rows->out + i));
    }
    out_->validity().AddNulls(nulls);
    return arrow::Status::OK();
  }

  template <typename T>
  arrow::Status AppendPlain(const Run& run) {
    VariableOutput& out = out_->variable();
    ARROW_RETURN_NOT_OK(out.StartRun(run.rows->out));
    const uint64_t bytes = run.end - run.begin;
    ARROW_ASSIGN_OR_RAISE(uint8_t* const to, out.Reserve(bytes));
    if (bytes != 0) std::memcpy(to, run.bytes, bytes);
    const uint64_t shift = out.size() - run.begin;  // FinishRun refuses sums that T cannot hold
    const uint64_t adjustment = strings_.null_adjustment;
    T* ends = out.ends<T>();
    uint64_t before = run.begin;
    uint64_t nulls = 0;
    bool falls = false;
    for (uint64_t i = 0; i < run.rows->count; ++i) {
      const uint64_t index = run.ends[i];
      const bool null = index >= adjustment;
      const uint64_t end = index - (null ? adjustment : 0);
      falls |= end < before;
      before = end;
      nulls += null;
      ends[i] = static_cast<T>(end + shift);
    }
    if (falls) return Descending();
    out.AdvanceBytes(bytes);
    ARROW_RETURN_NOT_OK(out.FinishRun(run.rows->count));
    return MarkNulls(run, nulls);
  }

  template <typename T>
  arrow::Status AppendCoded(const Run& run) {
    VariableOutput& out = out_->variable();
    ARROW_RETURN_NOT_OK(out.StartRun(run.rows->out));
    const uint64_t adjustment = strings_.null_adjustment;
    uint64_t offsets[kFsstStep + 1];
    offsets[0] = 0;
    uint64_t nulls = 0;
    uint64_t begin = run.begin;
    for (uint64_t done = 0; done < run.rows->count;) {
      const uint64_t n = std::min(kFsstStep, run.rows->count - done);
      for (uint64_t i = 0; i < n; ++i) {
        const uint64_t index = run.ends[done + i];
        nulls += index >= adjustment;
        const uint64_t end = EndOf(index, adjustment);
        if (end < begin + offsets[i] || end > run.end) return Descending();
        offsets[i + 1] = end - begin;
      }
      const uint64_t room = strings_.symbols->MaxDecodedBytes(offsets[n]) + FsstTable::kSlack;
      ARROW_ASSIGN_OR_RAISE(uint8_t* const to, out.Reserve(room));
      // Decoding writes the end before the first value too; it is there already, and the same.
      ARROW_ASSIGN_OR_RAISE(const int64_t bytes,
                            (strings_.symbols->DecodeValues<uint64_t, T>(
                                offsets, run.bytes + (begin - run.begin), static_cast<int64_t>(n),
                                static_cast<T>(out.size()), out.ends<T>() + done - 1, to,
                                static_cast<int64_t>(room))));
      out.AdvanceBytes(static_cast<uint64_t>(bytes));
      begin += offsets[n];
      done += n;
    }
    ARROW_RETURN_NOT_OK(out.FinishRun(run.rows->count));
    return MarkNulls(run, nulls);
  }

  const Plan& plan_;
  const V20Strings& strings_;
  std::span<const PageRows> rows_;
  ColumnOutput* out_;
  int step_ = 0;
  std::vector<io::RangeRead> reads_;
  std::vector<io::RangeRead> byte_reads_;
  std::optional<V20SourceRead> validity_;
  V20SourceRead indices_;
  bool whole_bytes_ = false;
  size_t whole_read_ = 0;
  std::vector<uint64_t> ends_;
  std::vector<Run> runs_;
  std::shared_ptr<arrow::Buffer> content_;
};

// FixedSizeBinary, and pages of nulls only.
class EqualStringsRead final : public PageRead {
 public:
  EqualStringsRead(const Plan& plan, std::span<const PageRows> rows, ColumnOutput* out)
      : plan_(plan), rows_(rows), out_(out) {
    if (plan.validity) validity_.emplace(*plan.validity);
    if (plan.fixed) bytes_.emplace(*plan.fixed);
  }

  arrow::Result<std::span<io::RangeRead>> Next() override {
    if (std::exchange(asked_, true)) return std::span<io::RangeRead>();
    for (const PageRows& r : rows_) {
      if (validity_) validity_->Add(r.first, r.count, &reads_);
      if (bytes_) bytes_->Add(r.first * plan_.byte_width, r.count * plan_.byte_width, &reads_);
    }
    return std::span(reads_);
  }

  arrow::Status Decode() override {
    if (!bytes_) {
      for (const PageRows& r : rows_) {
        ARROW_RETURN_NOT_OK(out_->validity().SetNull(r.out, r.count));
        ARROW_RETURN_NOT_OK(out_->variable().AppendEmpty(r.out, r.count));
      }
      return arrow::Status::OK();
    }
    ARROW_RETURN_NOT_OK(bytes_->Load(reads_, out_->pool()));
    if (validity_) ARROW_RETURN_NOT_OK(validity_->Load(reads_, out_->pool()));
    for (size_t i = 0; i < rows_.size(); ++i) {
      const PageRows& r = rows_[i];
      if (validity_) {
        const auto at = validity_->BitsOf(i);
        ARROW_RETURN_NOT_OK(out_->validity().CopyBits(at.bytes, at.offset, r.out, r.count));
      }
      ARROW_RETURN_NOT_OK(out_->type().offset_bits == 64 ? Append<int64_t>(i) : Append<int32_t>(i));
    }
    return arrow::Status::OK();
  }

 private:
  template <typename T>
  arrow::Status Append(size_t run) {
    const PageRows& r = rows_[run];
    VariableOutput& out = out_->variable();
    ARROW_RETURN_NOT_OK(out.StartRun(r.out));
    const uint64_t bytes = r.count * plan_.byte_width;
    ARROW_ASSIGN_OR_RAISE(uint8_t* const to, out.Reserve(bytes));
    ARROW_RETURN_NOT_OK(bytes_->Copy(run, to));
    T* ends = out.ends<T>();
    for (uint64_t i = 0; i < r.count; ++i)
      ends[i] = static_cast<T>(out.size() + (i + 1) * plan_.byte_width);
    out.AdvanceBytes(bytes);
    return out.FinishRun(r.count);
  }

  const Plan& plan_;
  std::span<const PageRows> rows_;
  ColumnOutput* out_;
  bool asked_ = false;
  std::vector<io::RangeRead> reads_;
  std::optional<V20SourceRead> validity_;
  std::optional<V20SourceRead> bytes_;
};

class BinaryDecoder final : public PageDecoder {
 public:
  explicit BinaryDecoder(Plan plan) : plan_(std::move(plan)) {}
  arrow::Result<std::unique_ptr<PageRead>> Start(std::span<const PageRows> rows,
                                                 ColumnOutput* out) const override {
    if (plan_.strings) return std::make_unique<StringsRead>(plan_, rows, out);
    return std::make_unique<EqualStringsRead>(plan_, rows, out);
  }
  size_t MemoryBytes() const override { return sizeof(*this); }

 private:
  Plan plan_;
};

}  // namespace

arrow::Result<V20Strings> V20Strings::Make(const PageDescription& page, const ArrayEncoding& node,
                                           uint64_t count) {
  V20Strings strings;
  const ArrayEncoding* binary = &node;
  if (node.kind == ArrayEncodingKind::kFsst) {
    ARROW_ASSIGN_OR_RAISE(
        strings.symbols,
        FsstTable::Parse({reinterpret_cast<const uint8_t*>(node.symbol_table.data()),
                          node.symbol_table.size()}));
    binary = &WithoutNoNulls(node.children[0]);
  }
  if (binary->kind != ArrayEncodingKind::kBinary) {
    return Unsupported(page.path, "Page encoding is not supported for strings: ",
                       wire::ArrayEncodingName(binary->kind), ", column: ", page.column);
  }
  strings.null_adjustment = binary->null_adjustment;
  if (strings.null_adjustment == 0 && count != 0) {
    return Corrupt(page.path, "string page lacks its null adjustment, column: ", page.column);
  }
  ARROW_ASSIGN_OR_RAISE(strings.indices, V20Source::Make(page, binary->children[0], count, 64));
  // How many bytes there are only the indices say, so the buffer stands for itself.
  const ArrayEncoding& bytes = WithoutNoNulls(binary->children[1]);
  if (bytes.kind != ArrayEncodingKind::kFlat || bytes.bits != 8) {
    return Unsupported(page.path, "String bytes must be Flat of 8 bits, found ",
                       wire::ArrayEncodingName(bytes.kind), " of ", bytes.bits,
                       " bits, column: ", page.column);
  }
  ARROW_ASSIGN_OR_RAISE(strings.scheme, GeneralSchemeOf(std::string_view(bytes.scheme)));
  ARROW_ASSIGN_OR_RAISE(strings.bytes, FindBuffer(page, bytes.buffer));
  return strings;
}

arrow::Result<std::shared_ptr<arrow::Buffer>> V20Strings::Content(const uint8_t* packed,
                                                                  arrow::MemoryPool* pool) const {
  if (scheme == GeneralScheme::kNone) return nullptr;
  // The adjustment is the number of bytes + 1.
  const uint64_t limit = std::min<uint64_t>(null_adjustment - 1, INT64_MAX);
  return Decompress(scheme, {packed, static_cast<size_t>(bytes.size)}, static_cast<int64_t>(limit),
                    pool);
}

arrow::Result<std::unique_ptr<PageDecoder>> MakeV20BinaryDecoder(const PageDescription& page,
                                                                 const ArrayEncoding& root) {
  Plan plan{.length = page.length};
  const ArrayEncoding* values = &WithoutNoNulls(root);
  if (values->kind == ArrayEncodingKind::kNullable) {
    if (values->nulls == NullableKind::kAllNulls)
      return std::make_unique<BinaryDecoder>(std::move(plan));
    ARROW_ASSIGN_OR_RAISE(plan.validity,
                          V20Source::Make(page, values->children[0], page.length, 1));
    values = &WithoutNoNulls(values->children[1]);
  }
  if (values->kind != ArrayEncodingKind::kFixedSizeBinary) {
    ARROW_ASSIGN_OR_RAISE(plan.strings, V20Strings::Make(page, *values, page.length));
    return std::make_unique<BinaryDecoder>(std::move(plan));
  }
  plan.byte_width = values->byte_width;
  uint64_t bytes;
  if (__builtin_mul_overflow(page.length, plan.byte_width, &bytes)) {
    return Corrupt(page.path, "page claims more values than a file can hold: ", page.length, " of ",
                   plan.byte_width, " bytes, column: ", page.column);
  }
  ARROW_ASSIGN_OR_RAISE(plan.fixed, V20Source::Make(page, values->children[0], bytes, 8));
  return std::make_unique<BinaryDecoder>(std::move(plan));
}

}  // namespace pennon::encoding
