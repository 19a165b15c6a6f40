#include "pennon/encoding/constant/constant.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <optional>
#include <utility>

#include <arrow/util/bit_util.h>

#include "pennon/encoding/constant/constant_nested.h"
#include "pennon/encoding/nested/levels.h"
#include "pennon/error.h"

namespace pennon::encoding {

namespace {

/// The fixed facts of a page.
struct ConstantFacts {
  LeafType type;
  bool all_null = false;
  std::optional<std::string> inline_value;
  PageBuffer scalar;  ///< used if there is no inline value
  std::optional<PageBuffer> levels;
  LevelLimits limits;
};

/// Whether a page without values holds nulls of `type`; rows of a struct without children are
/// valid.
bool HasNulls(const LeafType& type) {
  return type.kind != LeafKind::kNull && !(type.kind == LeafKind::kStruct && type.children.empty());
}

/// Takes the value out of a scalar buffer: the last of its buffers (offsets, if any, come before
/// it).
arrow::Result<std::span<const uint8_t>> ScalarOf(std::span<const uint8_t> bytes,
                                                 const LeafType& type) {
  const uint32_t expected = type.kind == LeafKind::kVariable ? 2 : 1;
  uint32_t count = 0;
  if (bytes.size() >= 4) std::memcpy(&count, bytes.data(), 4);
  if (count != expected || bytes.size() < 4 + 4 * size_t{count}) {
    return Corrupt("", "a constant page's scalar has a wrong number of buffers: expected ",
                   expected, ", found ", count);
  }
  size_t at = 4 + 4 * size_t{count};
  std::span<const uint8_t> buffer;
  for (uint32_t i = 0; i < count; ++i) {
    uint32_t size;
    std::memcpy(&size, bytes.data() + 4 + 4 * size_t{i}, 4);
    if (size > bytes.size() - at)
      return Corrupt("", "a constant page's scalar is longer than its buffer: ", size);
    buffer = bytes.subspan(at, size);
    at += size;
    if (type.kind != LeafKind::kVariable || i == 1) continue;
    uint64_t offsets[2] = {0, 0};
    const auto width = static_cast<size_t>(type.offset_bits / 8);
    if (buffer.size() != 2 * width)
      return Corrupt("", "a constant page's scalar has offsets of a wrong size");
    std::memcpy(&offsets[0], buffer.data(), width);
    std::memcpy(&offsets[1], buffer.data() + width, width);
    uint32_t text = 0;
    std::memcpy(&text, bytes.data() + 8, 4);
    if (offsets[0] != 0 || offsets[1] != text)
      return Corrupt("", "a constant page's scalar has wrong offsets");
  }
  return buffer;
}

class ConstantRead : public PageRead {
 public:
  ConstantRead(const ConstantFacts& facts, std::span<const PageRows> rows, ColumnOutput* out)
      : facts_(facts), rows_(rows), out_(out) {}

  arrow::Result<std::span<io::RangeRead>> Next() override {
    if (planned_ || facts_.all_null) return std::span<io::RangeRead>();
    planned_ = true;
    if (facts_.levels) {
      for (const PageRows& rows : rows_) {
        reads_.push_back(
            {.offset = facts_.levels->offset + 2 * rows.first, .size = 2 * rows.count});
      }
    }
    if (!facts_.inline_value)
      reads_.push_back({.offset = facts_.scalar.offset, .size = facts_.scalar.size});
    return std::span(reads_);
  }

  arrow::Status Decode() override {
    if (facts_.all_null) return DecodeNulls();
    std::span<const uint8_t> value;
    if (facts_.inline_value) {
      value = {reinterpret_cast<const uint8_t*>(facts_.inline_value->data()),
               facts_.inline_value->size()};
    } else {
      ARROW_ASSIGN_OR_RAISE(value, ScalarOf({reads_.back().data, facts_.scalar.size}, facts_.type));
    }
    if (facts_.type.kind == LeafKind::kFixed) {
      const uint64_t expected = facts_.type.is_boolean() ? 1 : facts_.type.bits_per_slot() / 8;
      if (value.size() != expected) {
        return Corrupt("", "a constant page's scalar has the wrong size: expected ", expected,
                       " bytes, found ", value.size());
      }
    }
    for (size_t i = 0; i < rows_.size(); ++i) {
      const PageRows& rows = rows_[i];
      const uint8_t* const levels = facts_.levels ? reads_[i].data : nullptr;
      if (levels != nullptr) {
        ARROW_RETURN_NOT_OK(LevelsToValidity(levels, rows.count, facts_.limits.max_def, rows.out,
                                             &out_->validity()));
      }
      if (facts_.type.kind == LeafKind::kFixed) {
        FillFixed(value, rows);
      } else {
        ARROW_RETURN_NOT_OK(out_->variable().offset_bits() == 32
                                ? FillVariable<uint32_t>(value, levels, rows)
                                : FillVariable<uint64_t>(value, levels, rows));
      }
    }
    return arrow::Status::OK();
  }

 private:
  arrow::Status DecodeNulls() {
    for (const PageRows& rows : rows_) {
      if (HasNulls(facts_.type)) {
        ARROW_RETURN_NOT_OK(out_->validity().SetNull(rows.out, rows.count));
      }
      ARROW_RETURN_NOT_OK(out_->WriteEmpty(rows.out, rows.count));
    }
    return arrow::Status::OK();
  }

  void FillFixed(std::span<const uint8_t> value, const PageRows& rows) {
    if (facts_.type.is_boolean()) {
      arrow::bit_util::SetBitsTo(out_->values(), static_cast<int64_t>(rows.out),
                                 static_cast<int64_t>(rows.count), value[0] != 0);
      return;
    }
    const size_t size = value.size();
    uint8_t* const begin = out_->values() + rows.out * size;
    // Each copy doubles what is there.
    std::memcpy(begin, value.data(), size);
    const size_t total = rows.count * size;
    for (size_t done = size; done < total;) {
      const size_t step = std::min(done, total - done);
      std::memcpy(begin + done, begin, step);
      done += step;
    }
  }

  template <typename Offset>
  arrow::Status FillVariable(std::span<const uint8_t> value, const uint8_t* levels,
                             const PageRows& rows) {
    VariableOutput& variable = out_->variable();
    ARROW_RETURN_NOT_OK(variable.StartRun(rows.out));
    uint64_t valid = rows.count;
    if (levels != nullptr) {
      valid = 0;
      for (uint64_t i = 0; i < rows.count; ++i)
        valid += (levels[2 * i] | levels[2 * i + 1]) == 0 ? 1 : 0;
    }
    uint64_t total;
    if (__builtin_mul_overflow(valid, value.size(), &total) ||
        (sizeof(Offset) == 4 &&
         total > static_cast<uint64_t>(std::numeric_limits<int32_t>::max()))) {
      return InvalidInput(
          "the values are more bytes than an array can hold: read fewer rows at once; ", rows.count,
          " values of ", value.size(), " bytes");
    }
    ARROW_ASSIGN_OR_RAISE(uint8_t* at, variable.Reserve(total));
    uint64_t end = variable.size();
    auto* const ends = variable.ends<Offset>();
    for (uint64_t i = 0; i < rows.count; ++i) {
      const bool null = levels != nullptr && (levels[2 * i] | levels[2 * i + 1]) != 0;
      if (!null && !value.empty()) {
        std::memcpy(at, value.data(), value.size());
        at += value.size();
        end += value.size();
      }
      ends[i] = static_cast<Offset>(end);
    }
    variable.AdvanceBytes(total);
    return variable.FinishRun(rows.count);
  }

  const ConstantFacts& facts_;
  std::span<const PageRows> rows_;
  ColumnOutput* out_;
  std::vector<io::RangeRead> reads_;
  bool planned_ = false;
};

class ConstantDecoder : public PageDecoder {
 public:
  explicit ConstantDecoder(ConstantFacts facts) : facts_(std::move(facts)) {}
  arrow::Result<std::unique_ptr<PageRead>> Start(std::span<const PageRows> rows,
                                                 ColumnOutput* out) const override {
    return std::make_unique<ConstantRead>(facts_, rows, out);
  }
  size_t MemoryBytes() const override { return sizeof(*this); }

 private:
  ConstantFacts facts_;
};

}  // namespace

arrow::Result<std::shared_ptr<const PageDecoder>> MakeConstantDecoder(
    const PageDescription& page, const wire::ConstantLayout& layout, const LeafType& type) {
  if (layout.layers.size() != 1) return MakeConstantNestedDecoder(page, layout, type);
  ConstantFacts facts;
  facts.type = type;
  ARROW_ASSIGN_OR_RAISE(facts.limits, LevelLimits::Make(layout.layers));
  const size_t count = page.buffers.size();
  if (count > 3 || (layout.inline_value && count != 0 && count != 2)) {
    return Corrupt("", "a constant page has a wrong number of buffers: found ", count);
  }
  facts.inline_value = layout.inline_value;
  facts.all_null = !layout.inline_value && (count == 0 || count == 2);
  if (facts.all_null) {
    if (facts.limits.max_def == 0 && HasNulls(type)) {
      return Corrupt("", "a page without values has a layer that cannot be null");
    }
    return std::make_shared<ConstantDecoder>(std::move(facts));
  }
  if (page.minor < 2)
    return Corrupt("", "a page of one value in a file of version 2.", page.minor,
                   ": only 2.2 has them");
  if (type.kind == LeafKind::kNull || type.kind == LeafKind::kStruct ||
      type.kind == LeafKind::kDictionary || type.bits_per_slot() % 8 != 0) {
    if (!type.is_boolean() || type.is_list()) return Unsupported("", "constant pages of this type");
  }
  if (!layout.inline_value) facts.scalar = page.buffers[0];
  if (count >= 2) {
    const PageBuffer& rep = page.buffers[count - 2];
    const PageBuffer& def = page.buffers[count - 1];
    if (rep.size != 0)
      return Corrupt("", "a page without lists has repetition levels: ", rep.size, " bytes");
    if (layout.definition)
      return Unsupported("", "constant pages with encoded levels next to a value");
    if (def.size != 0) {
      if (def.size / 2 != page.length || def.size % 2 != 0) {
        return Corrupt("", "a constant page's levels have the wrong size: expected ", page.length,
                       " levels, found ", def.size, " bytes");
      }
      facts.levels = def;
    }
  }
  return std::make_shared<ConstantDecoder>(std::move(facts));
}

}  // namespace pennon::encoding
