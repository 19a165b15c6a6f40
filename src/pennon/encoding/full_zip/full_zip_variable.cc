// Full-zip pages of strings and of packed structs with strings: the half of full_zip.h whose
// records vary in size.

#include <algorithm>
#include <cstring>
#include <limits>
#include <optional>
#include <utility>

#include "pennon/encoding/full_zip/full_zip.h"
#include "pennon/encoding/full_zip/full_zip_records.h"
#include "pennon/encoding/kernels/block_values.h"
#include "pennon/encoding/kernels/fsst.h"
#include "pennon/encoding/kernels/general.h"
#include "pennon/encoding/packed_struct/packed_struct.h"
#include "pennon/error.h"

namespace pennon::encoding {

using wire::CompressionKind;

namespace {

/// The fixed facts of a page.
struct VariableFacts {
  PageBuffer records, index;
  uint64_t num_rows = 0;
  uint64_t index_width = 0;   ///< bytes of an index word
  uint64_t length_bytes = 0;  ///< 4 or 8
  ControlWords control;
  std::optional<GeneralScheme> general;
  std::optional<FsstTable> fsst;
  std::optional<VariablePackedRows> packed;  ///< the values are rows of a packed struct
  bool nulls_are_empty = false;              ///< PageDescription::nulls_are_empty
};

/// Appends decoded values to the output, one run at a time.
class ValueWriter {
 public:
  ValueWriter(const VariableFacts& facts, VariableOutput* out) : facts_(facts), out_(out) {}

  /// Prepares for a run whose records take `record_bytes` bytes.
  arrow::Status StartRun(uint64_t slot, uint64_t record_bytes) {
    ARROW_RETURN_NOT_OK(out_->StartRun(slot));
    start_ = end_ = out_->size();
    if (facts_.general) return arrow::Status::OK();
    const uint64_t most =
        facts_.fsst ? facts_.fsst->MaxDecodedBytes(record_bytes) + FsstTable::kSlack : record_bytes;
    ARROW_ASSIGN_OR_RAISE(base_, out_->Reserve(most));
    return arrow::Status::OK();
  }

  /// Appends one value and moves end().
  arrow::Status Append(std::span<const uint8_t> value) {
    if (facts_.general) {
      if (value.empty()) return arrow::Status::OK();
      ARROW_RETURN_NOT_OK(
          DecompressTo(*facts_.general, value, std::numeric_limits<int32_t>::max(), &scratch_));
      value = scratch_;
      const uint64_t most = facts_.fsst
                                ? facts_.fsst->MaxDecodedBytes(value.size()) + FsstTable::kSlack
                                : value.size();
      out_->AdvanceBytes(end_ - start_);
      start_ = end_;
      ARROW_ASSIGN_OR_RAISE(base_, out_->Reserve(most));
    }
    uint8_t* const at = base_ + (end_ - start_);
    if (facts_.fsst) {
      const uint8_t* const stop = facts_.fsst->Decode(value, at);
      if (stop == nullptr) return facts_.fsst->InvalidValue(value);
      end_ += static_cast<uint64_t>(stop - at);
    } else {
      if (!value.empty()) std::memcpy(at, value.data(), value.size());
      end_ += value.size();
    }
    return arrow::Status::OK();
  }

  /// Where the last value ends, counted from the array's first byte.
  uint64_t end() const { return end_; }

  arrow::Status FinishRun(uint64_t count) {
    out_->AdvanceBytes(end_ - start_);
    return out_->FinishRun(count);
  }

 private:
  const VariableFacts& facts_;
  VariableOutput* out_;
  uint8_t* base_ = nullptr;  ///< where byte `start_` of the array is
  uint64_t start_ = 0;
  uint64_t end_ = 0;
  std::vector<uint8_t> scratch_;
};

class VariableRead : public PageRead {
 public:
  VariableRead(const VariableFacts& facts, std::span<const PageRows> rows, ColumnOutput* out)
      : facts_(facts), rows_(rows), out_(out) {}

  arrow::Result<std::span<io::RangeRead>> Next() override {
    // The records of a whole page need no index.
    if (step_ == Step::kStart && rows_.size() == 1 && rows_[0].count == facts_.num_rows) {
      step_ = Step::kRecords;
      reads_.push_back({.offset = facts_.records.offset, .size = facts_.records.size});
      return std::span(reads_);
    }
    switch (step_) {
      case Step::kStart:
        step_ = Step::kIndex;
        PlanIndex();
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

  arrow::Status Decode() override {
    for (size_t i = 0; i < rows_.size(); ++i) {
      const std::span<const uint8_t> records(reads_[i].data, reads_[i].size);
      if (facts_.packed) {
        ARROW_RETURN_NOT_OK(DecodePackedRun(records, rows_[i]));
        continue;
      }
      ARROW_RETURN_NOT_OK(out_->variable().offset_bits() == 32
                              ? DecodeRun<uint32_t>(records, rows_[i])
                              : DecodeRun<uint64_t>(records, rows_[i]));
    }
    return arrow::Status::OK();
  }

 private:
  void PlanIndex() {
    const uint64_t width = facts_.index_width;
    for (const PageRows& rows : rows_) {
      const uint64_t first = facts_.index.offset + rows.first * width;
      if (rows.count == 1) {
        reads_.push_back({.offset = first, .size = 2 * width});
        reads_.push_back({.offset = first + width, .size = 0});
      } else {
        reads_.push_back({.offset = first, .size = width});
        reads_.push_back({.offset = first + rows.count * width, .size = width});
      }
    }
  }

  arrow::Status PlanRecords() {
    std::vector<io::RangeRead> records;
    records.reserve(rows_.size());
    for (size_t i = 0; i < rows_.size(); ++i) {
      const bool single = rows_[i].count == 1;
      uint64_t begin = 0, end = 0;
      std::memcpy(&begin, reads_[2 * i].data, facts_.index_width);
      std::memcpy(&end, single ? reads_[2 * i].data + facts_.index_width : reads_[2 * i + 1].data,
                  facts_.index_width);
      if (begin > end || end > facts_.records.size) {
        return Corrupt("", "a row index names records outside of their buffer: ", begin, " to ",
                       end, " of ", facts_.records.size, " bytes");
      }
      records.push_back({.offset = facts_.records.offset + begin, .size = end - begin});
    }
    reads_ = std::move(records);
    return arrow::Status::OK();
  }

  template <typename Offset>
  arrow::Status DecodeRun(std::span<const uint8_t> records, const PageRows& rows) {
    ValueWriter writer(facts_, &out_->variable());
    ARROW_RETURN_NOT_OK(writer.StartRun(rows.out, records.size()));
    Offset* const ends = out_->variable().ends<Offset>();
    const uint8_t* at = records.data();
    const uint8_t* const stop = at + records.size();
    const uint64_t control = facts_.control.bytes();
    uint64_t null_first = 0, null_count = 0;  // the run of nulls not yet written
    for (uint64_t i = 0; i < rows.count; ++i) {
      uint32_t level = 0;
      if (static_cast<uint64_t>(stop - at) < control) return TooShort();
      if (control > 0) level = facts_.control.Level(at);
      at += control;
      if (level > facts_.control.max_level()) return facts_.control.BadLevel(level);
      if (level != 0) {
        if (null_first + null_count != i) {
          ARROW_RETURN_NOT_OK(out_->validity().SetNull(rows.out + null_first, null_count));
          null_first = i;
          null_count = 0;
        }
        ++null_count;
      } else {
        uint64_t length = 0;
        if (static_cast<uint64_t>(stop - at) < facts_.length_bytes) return TooShort();
        std::memcpy(&length, at, facts_.length_bytes);
        at += facts_.length_bytes;
        if (static_cast<uint64_t>(stop - at) < length) return TooShort();
        ARROW_RETURN_NOT_OK(writer.Append({at, static_cast<size_t>(length)}));
        at += length;
      }
      ends[i] = static_cast<Offset>(writer.end());
    }
    if (at != stop)
      return Corrupt("", "records are shorter than their row index says: ", stop - at,
                     " bytes left");
    ARROW_RETURN_NOT_OK(out_->validity().SetNull(rows.out + null_first, null_count));
    return writer.FinishRun(rows.count);
  }

  arrow::Status DecodePackedRun(std::span<const uint8_t> records, const PageRows& rows) {
    std::vector<std::span<const uint8_t>> values(rows.count);
    const uint64_t control = facts_.control.bytes();
    for (uint64_t i = 0; i < rows.count; ++i) {
      if (records.size() < control) return TooShort();
      const uint32_t level = control == 0 ? 0 : facts_.control.Level(records.data());
      records = records.subspan(control);
      if (level > facts_.control.max_level()) return facts_.control.BadLevel(level);
      if (level != 0) {
        ARROW_RETURN_NOT_OK(out_->validity().SetNull(rows.out + i, 1));
        continue;
      }
      uint64_t length = 0;
      if (records.size() < facts_.length_bytes) return TooShort();
      std::memcpy(&length, records.data(), facts_.length_bytes);
      records = records.subspan(facts_.length_bytes);
      if (records.size() < length) return TooShort();
      if (length > 0 || !facts_.nulls_are_empty) values[i] = records.first(length);
      records = records.subspan(length);
    }
    if (!records.empty())
      return Corrupt("", "records are shorter than their row index says: ", records.size(),
                     " bytes left");
    return facts_.packed->Write(values, rows.out, out_);
  }

  static arrow::Status TooShort() {
    return Corrupt("", "a full-zip record runs past the end of its bytes");
  }

  const VariableFacts& facts_;
  std::span<const PageRows> rows_;
  ColumnOutput* out_;
  enum class Step { kStart, kIndex, kRecords } step_ = Step::kStart;
  std::vector<io::RangeRead> reads_;
};

class VariableDecoder : public PageDecoder {
 public:
  explicit VariableDecoder(VariableFacts facts) : facts_(std::move(facts)) {}
  arrow::Result<std::unique_ptr<PageRead>> Start(std::span<const PageRows> rows,
                                                 ColumnOutput* out) const override {
    return std::make_unique<VariableRead>(facts_, rows, out);
  }
  size_t MemoryBytes() const override {
    return sizeof(*this) + (facts_.packed ? facts_.packed->MemoryBytes() : 0);
  }

 private:
  VariableFacts facts_;
};

/// Takes the encoding of values apart: [General] [Fsst] Variable, in either order.
arrow::Status TakeEncoding(const wire::CompressiveEncoding& encoding, uint64_t length_bits,
                           VariableFacts* facts) {
  const wire::CompressiveEncoding* inner = &encoding;
  if (inner->kind == CompressionKind::kGeneral) {
    ARROW_ASSIGN_OR_RAISE(facts->general, GeneralSchemeOf(inner->scheme));
    inner = &inner->children[0];
  }
  if (inner->kind == CompressionKind::kFsst) {
    const auto* table = reinterpret_cast<const uint8_t*>(inner->symbol_table.data());
    ARROW_ASSIGN_OR_RAISE(auto parsed, FsstTable::Parse({table, inner->symbol_table.size()}));
    if (parsed.coded()) facts->fsst = parsed;
    inner = &inner->children[0];
  }
  if (inner->kind != CompressionKind::kVariable || inner->scheme != 0) {
    return Unsupported(
        "", "encoding of strings in full-zip pages: ", wire::CompressionName(inner->kind));
  }
  return ExpectFlat(inner->children[0], length_bits);
}

}  // namespace

arrow::Result<std::shared_ptr<const PageDecoder>> MakeFullZipVariableDecoder(
    const PageDescription& page, const wire::FullZipLayout& layout, const LeafType& type) {
  VariableFacts facts;
  ARROW_ASSIGN_OR_RAISE(facts.control, ControlWords::Make(layout));
  const bool is_struct = type.kind == LeafKind::kStruct;
  if (is_struct ? layout.bits != 32 && layout.bits != 64
                : layout.bits != static_cast<uint64_t>(type.offset_bits)) {
    return Corrupt("", "a full-zip page's lengths have another width than its type: expected ",
                   type.offset_bits, " bits, found ", layout.bits);
  }
  facts.length_bytes = layout.bits / 8;
  if (is_struct) {
    ARROW_ASSIGN_OR_RAISE(facts.packed, VariablePackedRows::Make(layout.values, type));
  } else {
    ARROW_RETURN_NOT_OK(TakeEncoding(layout.values, layout.bits, &facts));
  }
  if (page.buffers.size() != 2) {
    return Corrupt("", "a full-zip page of strings must have two buffers, found ",
                   page.buffers.size());
  }
  facts.records = page.buffers[0];
  facts.index = page.buffers[1];
  facts.num_rows = page.length;
  facts.nulls_are_empty = page.nulls_are_empty;
  const uint64_t words = page.length + 1;
  facts.index_width = words == 0 ? 0 : facts.index.size / words;
  const uint64_t width = facts.index_width;
  if ((width != 1 && width != 2 && width != 4 && width != 8) || facts.index.size % words != 0) {
    return Corrupt("", "a full-zip page's row index has the wrong size: ", facts.index.size,
                   " bytes for ", page.length, " rows");
  }
  return std::make_shared<VariableDecoder>(std::move(facts));
}

}  // namespace pennon::encoding
