#include "pennon/expr/text_functions.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <string>
#include <string_view>
#include <utility>

#include <arrow/array.h>
#include <arrow/builder.h>
#include <arrow/compute/api_scalar.h>
#include <arrow/compute/exec.h>
#include <arrow/scalar.h>
#include <arrow/type.h>

#include "pennon/expr/kernels.h"
#include "pennon/expr/types.h"

namespace pennon::expr {
namespace {

using arrow::Datum;

// An argument as an array; a scalar is an array of one that every row reads.
template <typename ArrayType>
struct RowValues {
  std::shared_ptr<arrow::Array> array;
  int64_t stride = 1;

  static arrow::Result<RowValues> Of(const Datum& value, arrow::MemoryPool* pool) {
    if (!value.is_scalar()) return RowValues{value.make_array(), 1};
    ARROW_ASSIGN_OR_RAISE(std::shared_ptr<arrow::Array> one,
                          arrow::MakeArrayFromScalar(*value.scalar(), 1, pool));
    return RowValues{std::move(one), 0};
  }
  const ArrayType& typed() const { return static_cast<const ArrayType&>(*array); }
  bool IsNull(int64_t row) const { return typed().IsNull(row * stride); }
  auto Get(int64_t row) const { return typed().GetView(row * stride); }
};

int64_t RowsOf(const std::vector<Datum>& args, int64_t length) {
  const bool is_constant =
      std::all_of(args.begin(), args.end(), [](const Datum& arg) { return arg.is_scalar(); });
  return is_constant ? 1 : length;
}

arrow::Result<Datum> Finished(arrow::ArrayBuilder& builder, const std::vector<Datum>& args) {
  ARROW_ASSIGN_OR_RAISE(std::shared_ptr<arrow::Array> array, builder.Finish());
  const bool is_constant =
      std::all_of(args.begin(), args.end(), [](const Datum& arg) { return arg.is_scalar(); });
  if (!is_constant) return Datum(std::move(array));
  ARROW_ASSIGN_OR_RAISE(std::shared_ptr<arrow::Scalar> scalar, array->GetScalar(0));
  return Datum(std::move(scalar));
}

// Runs `row(texts)` over `count` text arguments of one array type; NULL in gives NULL out.
template <size_t count, typename ArrayType, typename Builder, typename Row>
arrow::Result<Datum> RunRows(const std::vector<Datum>& args, int64_t length,
                             arrow::compute::ExecContext* context, const Row& row) {
  std::array<RowValues<ArrayType>, count> values;
  for (size_t i = 0; i < count; ++i) {
    ARROW_ASSIGN_OR_RAISE(values[i], RowValues<ArrayType>::Of(args[i], context->memory_pool()));
  }
  const int64_t rows = RowsOf(args, length);
  Builder builder(context->memory_pool());
  ARROW_RETURN_NOT_OK(builder.Reserve(rows));
  for (int64_t i = 0; i < rows; ++i) {
    std::array<std::string_view, count> texts;
    bool is_null = false;
    for (size_t a = 0; a < count; ++a) {
      is_null = is_null || values[a].IsNull(i);
      if (!is_null) texts[a] = values[a].Get(i);
    }
    if (is_null) {
      ARROW_RETURN_NOT_OK(builder.AppendNull());
    } else {
      ARROW_RETURN_NOT_OK(builder.Append(row(texts)));
    }
  }
  return Finished(builder, args);
}

// Brings texts to one type: string, or large_string if any of them is.
arrow::Result<std::vector<NodePtr>> Unify(std::vector<NodePtr> texts, bool* is_large) {
  *is_large = std::any_of(texts.begin(), texts.end(), [](const NodePtr& text) {
    return text->type->id() == arrow::Type::LARGE_STRING;
  });
  for (NodePtr& text : texts) {
    ARROW_ASSIGN_OR_RAISE(text,
                          Coerce(std::move(text), *is_large ? arrow::large_utf8() : arrow::utf8()));
  }
  return texts;
}

template <size_t count, typename Builder, typename Row>
arrow::Result<NodePtr> MakeRowFunction(std::string name, std::shared_ptr<arrow::DataType> type,
                                       std::vector<NodePtr> texts, Row row) {
  bool is_large = false;
  ARROW_ASSIGN_OR_RAISE(texts, Unify(std::move(texts), &is_large));
  Kernel kernel = [row, is_large](const std::vector<Datum>& args, int64_t length,
                                  arrow::compute::ExecContext* context) {
    return is_large ? RunRows<count, arrow::LargeStringArray, Builder>(args, length, context, row)
                    : RunRows<count, arrow::StringArray, Builder>(args, length, context, row);
  };
  return MakeKernelCall(std::move(name), std::move(type), std::move(texts), std::move(kernel));
}

bool IsContinuation(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

size_t NextCharacter(std::string_view text, size_t at) {
  ++at;
  while (at < text.size() && IsContinuation(text[at])) ++at;
  return at;
}

int64_t CountCharacters(std::string_view text) {
  return std::count_if(text.begin(), text.end(), [](char c) { return !IsContinuation(c); });
}

std::string ReplaceAll(std::string_view text, std::string_view from, std::string_view to) {
  if (from.empty()) return std::string(text);
  std::string out;
  size_t at = 0;
  for (size_t hit = text.find(from); hit != std::string_view::npos; hit = text.find(from, at)) {
    out.append(text.substr(at, hit - at)).append(to);
    at = hit + from.size();
  }
  return out.append(text.substr(at));
}

// Characters [start, start + count) of `text`, counted from 1; what lies outside is left out.
std::string_view Slice(std::string_view text, int64_t start, int64_t count) {
  int64_t end = 0;
  if (__builtin_add_overflow(start, count, &end)) end = std::numeric_limits<int64_t>::max();
  size_t first = text.size(), last = text.size();
  int64_t character = 1;
  for (size_t at = 0; at < text.size(); at = NextCharacter(text, at), ++character) {
    if (character >= start && first == text.size()) first = at;
    if (character >= end) {
      last = at;
      break;
    }
  }
  return first < last ? text.substr(first, last - first) : std::string_view();
}

// The shortest digits that read back as `value`, laid out as Lance does: plain up to 16 digits
// before the point (13 for floats) and 5 zeros after it (6), else with an exponent.
template <typename Float>
std::string FloatText(Float value) {
  constexpr int kMaxBefore = sizeof(Float) == 8 ? 16 : 13;
  constexpr int kMinPoint = sizeof(Float) == 8 ? -5 : -6;
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  if (value == 0) return std::signbit(value) ? "-0.0" : "0.0";
  char buffer[64];
  const auto end = std::to_chars(buffer, buffer + sizeof(buffer), std::abs(value),
                                 std::chars_format::scientific);
  const std::string_view text(buffer, end.ptr - buffer);
  const size_t e = text.find('e');
  std::string digits(text.substr(0, 1));
  if (e > 2) digits += text.substr(2, e - 2);
  const int point = std::stoi(std::string(text.substr(e + 1))) + 1;  // digits before the point
  const int count = static_cast<int>(digits.size());
  std::string out = value < 0 ? "-" : "";
  if (count <= point && point <= kMaxBefore)
    return out + digits + std::string(point - count, '0') + ".0";
  if (0 < point && point <= kMaxBefore)
    return out + digits.substr(0, point) + "." + digits.substr(point);
  if (kMinPoint < point && point <= 0) return out + "0." + std::string(-point, '0') + digits;
  out += digits.substr(0, 1);
  if (count > 1) out += "." + digits.substr(1);
  return out + "e" + std::to_string(point - 1);
}

template <typename ArrayType>
arrow::Result<Datum> FloatTexts(const std::vector<Datum>& args, int64_t length,
                                arrow::compute::ExecContext* context) {
  ARROW_ASSIGN_OR_RAISE(auto values, RowValues<ArrayType>::Of(args[0], context->memory_pool()));
  const int64_t rows = RowsOf(args, length);
  arrow::StringBuilder builder(context->memory_pool());
  for (int64_t i = 0; i < rows; ++i) {
    ARROW_RETURN_NOT_OK(values.IsNull(i) ? builder.AppendNull()
                                         : builder.Append(FloatText(values.Get(i))));
  }
  return Finished(builder, args);
}

}  // namespace

bool MatchesLike(std::string_view text, std::string_view pattern, char escape) {
  size_t t = 0, p = 0;
  size_t retry_text = 0, retry_pattern = std::string_view::npos;  // where the last % may take more
  while (true) {
    if (p < pattern.size() && pattern[p] == '%') {
      retry_pattern = ++p;
      retry_text = t;
      continue;
    }
    if (t == text.size() && p == pattern.size()) return true;
    if (t < text.size() && p < pattern.size()) {
      const bool is_any = pattern[p] == '_' && escape != '_';
      const bool is_escaped = escape != '\0' && pattern[p] == escape && p + 1 < pattern.size();
      if (is_any) {
        t = NextCharacter(text, t);
        ++p;
        continue;
      }
      if (text[t] == pattern[p + is_escaped]) {
        ++t;
        p += 1 + is_escaped;
        continue;
      }
    }
    if (retry_pattern == std::string_view::npos || retry_text >= text.size()) return false;
    retry_text = NextCharacter(text, retry_text);
    t = retry_text;
    p = retry_pattern;
  }
}

arrow::Result<NodePtr> MakeLike(NodePtr text, NodePtr pattern, char escape, bool ignore_case) {
  if (ignore_case) {
    ARROW_ASSIGN_OR_RAISE(text, MakeArrowCall("utf8_lower", {std::move(text)}));
    ARROW_ASSIGN_OR_RAISE(pattern, MakeArrowCall("utf8_lower", {std::move(pattern)}));
  }
  return MakeRowFunction<2, arrow::BooleanBuilder>(
      "like", arrow::boolean(), {std::move(text), std::move(pattern)},
      [escape](const auto& row) { return MatchesLike(row[0], row[1], escape); });
}

arrow::Result<NodePtr> MakeStartsWith(NodePtr text, NodePtr part) {
  return MakeRowFunction<2, arrow::BooleanBuilder>(
      "starts_with", arrow::boolean(), {std::move(text), std::move(part)},
      [](const auto& row) { return row[0].starts_with(row[1]); });
}

arrow::Result<NodePtr> MakeEndsWith(NodePtr text, NodePtr part) {
  return MakeRowFunction<2, arrow::BooleanBuilder>(
      "ends_with", arrow::boolean(), {std::move(text), std::move(part)},
      [](const auto& row) { return row[0].ends_with(row[1]); });
}

arrow::Result<NodePtr> MakeContains(NodePtr text, NodePtr part) {
  return MakeRowFunction<2, arrow::BooleanBuilder>(
      "contains", arrow::boolean(), {std::move(text), std::move(part)},
      [](const auto& row) { return row[0].find(row[1]) != std::string_view::npos; });
}

arrow::Result<NodePtr> MakePosition(NodePtr text, NodePtr part) {
  return MakeRowFunction<2, arrow::Int64Builder>(
      "strpos", arrow::int64(), {std::move(text), std::move(part)}, [](const auto& row) -> int64_t {
        const size_t at = row[0].find(row[1]);
        return at == std::string_view::npos ? 0 : CountCharacters(row[0].substr(0, at)) + 1;
      });
}

arrow::Result<NodePtr> MakeReplace(NodePtr text, NodePtr from, NodePtr to) {
  return MakeRowFunction<3, arrow::StringBuilder>(
      "replace", arrow::utf8(), {std::move(text), std::move(from), std::move(to)},
      [](const auto& row) { return ReplaceAll(row[0], row[1], row[2]); });
}

arrow::Result<NodePtr> MakeSubstring(NodePtr text, NodePtr start, NodePtr count) {
  ARROW_ASSIGN_OR_RAISE(text, Coerce(std::move(text), arrow::large_utf8()));
  if (!count)
    count = MakeLiteral(std::make_shared<arrow::Int64Scalar>(std::numeric_limits<int64_t>::max()));
  for (NodePtr* number : {&start, &count}) {
    ARROW_ASSIGN_OR_RAISE(*number, MakeSafeCast(std::move(*number), arrow::int64()));
  }
  Kernel kernel = [](const std::vector<Datum>& args, int64_t length,
                     arrow::compute::ExecContext* context) -> arrow::Result<Datum> {
    arrow::MemoryPool* pool = context->memory_pool();
    ARROW_ASSIGN_OR_RAISE(auto texts, RowValues<arrow::LargeStringArray>::Of(args[0], pool));
    ARROW_ASSIGN_OR_RAISE(auto starts, RowValues<arrow::Int64Array>::Of(args[1], pool));
    ARROW_ASSIGN_OR_RAISE(auto counts, RowValues<arrow::Int64Array>::Of(args[2], pool));
    const int64_t rows = RowsOf(args, length);
    arrow::StringBuilder builder(pool);
    for (int64_t i = 0; i < rows; ++i) {
      const bool is_null = texts.IsNull(i) || starts.IsNull(i) || counts.IsNull(i);
      if (!is_null && counts.Get(i) < 0)
        return arrow::Status::Invalid("the length of a substring is negative: ", counts.Get(i));
      ARROW_RETURN_NOT_OK(is_null
                              ? builder.AppendNull()
                              : builder.Append(Slice(texts.Get(i), starts.Get(i), counts.Get(i))));
    }
    return Finished(builder, args);
  };
  return MakeKernelCall("substring", arrow::utf8(),
                        {std::move(text), std::move(start), std::move(count)}, std::move(kernel));
}

arrow::Result<NodePtr> MakeFloatText(NodePtr value) {
  const bool is_double = value->type->id() == arrow::Type::DOUBLE;
  return MakeKernelCall(
      "text", arrow::utf8(), {std::move(value)},
      is_double ? Kernel(FloatTexts<arrow::DoubleArray>) : Kernel(FloatTexts<arrow::FloatArray>));
}

}  // namespace pennon::expr
