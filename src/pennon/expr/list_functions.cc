#include "pennon/expr/list_functions.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <arrow/array.h>
#include <arrow/builder.h>
#include <arrow/compute/api_vector.h>
#include <arrow/compute/exec.h>
#include <arrow/scalar.h>
#include <arrow/type.h>

#include "pennon/expr/evaluate.h"
#include "pennon/expr/kernels.h"

namespace pennon::expr {
namespace {

using arrow::Datum;

// The rows of a list array as ranges of its values, whatever its kind.
class ListRows {
 public:
  explicit ListRows(const arrow::Array& array) : array_(array) {}

  std::shared_ptr<arrow::Array> values() const {
    switch (array_.type_id()) {
      case arrow::Type::LIST:
        return static_cast<const arrow::ListArray&>(array_).values();
      case arrow::Type::LARGE_LIST:
        return static_cast<const arrow::LargeListArray&>(array_).values();
      default:
        return static_cast<const arrow::FixedSizeListArray&>(array_).values();
    }
  }
  int64_t begin(int64_t row) const {
    switch (array_.type_id()) {
      case arrow::Type::LIST:
        return static_cast<const arrow::ListArray&>(array_).value_offset(row);
      case arrow::Type::LARGE_LIST:
        return static_cast<const arrow::LargeListArray&>(array_).value_offset(row);
      default:
        return static_cast<const arrow::FixedSizeListArray&>(array_).value_offset(row);
    }
  }
  int64_t size(int64_t row) const {
    switch (array_.type_id()) {
      case arrow::Type::LIST:
        return static_cast<const arrow::ListArray&>(array_).value_length(row);
      case arrow::Type::LARGE_LIST:
        return static_cast<const arrow::LargeListArray&>(array_).value_length(row);
      default:
        return static_cast<const arrow::FixedSizeListArray&>(array_).value_length(row);
    }
  }

 private:
  const arrow::Array& array_;
};

arrow::Result<std::shared_ptr<arrow::Array>> AsArray(const Datum& value, int64_t length,
                                                     arrow::MemoryPool* pool) {
  if (!value.is_scalar()) return value.make_array();
  return arrow::MakeArrayFromScalar(*value.scalar(), length, pool);
}

arrow::Result<Datum> Elements(const std::vector<Datum>& args, int64_t length,
                              arrow::compute::ExecContext* context) {
  ARROW_ASSIGN_OR_RAISE(std::shared_ptr<arrow::Array> lists,
                        AsArray(args[0], length, context->memory_pool()));
  ARROW_ASSIGN_OR_RAISE(std::shared_ptr<arrow::Array> wanted,
                        AsArray(args[1], length, context->memory_pool()));
  const auto& indices = static_cast<const arrow::Int64Array&>(*wanted);
  const ListRows rows(*lists);
  arrow::Int64Builder places(context->memory_pool());
  ARROW_RETURN_NOT_OK(places.Reserve(length));
  for (int64_t row = 0; row < length; ++row) {
    const bool is_null = lists->IsNull(row) || indices.IsNull(row);
    const int64_t index = is_null ? 0 : indices.Value(row);
    const int64_t size = is_null ? 0 : rows.size(row);
    if (index > 0 && index <= size) {
      places.UnsafeAppend(rows.begin(row) + index - 1);
    } else if (index < 0 && index >= -size) {
      places.UnsafeAppend(rows.begin(row) + size + index);
    } else {
      places.UnsafeAppendNull();
    }
  }
  ARROW_ASSIGN_OR_RAISE(std::shared_ptr<arrow::Array> taken, places.Finish());
  return arrow::compute::Take(rows.values(), taken, arrow::compute::TakeOptions::NoBoundsCheck(),
                              context);
}

// Evaluates `test` once over all elements of all rows, then gathers row by row.
arrow::Result<Datum> AnyElement(const Node& test, const std::vector<Datum>& args, int64_t length,
                                arrow::compute::ExecContext* context) {
  ARROW_ASSIGN_OR_RAISE(std::shared_ptr<arrow::Array> lists,
                        AsArray(args[0], length, context->memory_pool()));
  const ListRows rows(*lists);
  arrow::Int64Builder elements(context->memory_pool()), parents(context->memory_pool());
  for (int64_t row = 0; row < length; ++row) {
    if (lists->IsNull(row)) continue;
    for (int64_t i = 0; i < rows.size(row); ++i) {
      ARROW_RETURN_NOT_OK(elements.Append(rows.begin(row) + i));
      ARROW_RETURN_NOT_OK(parents.Append(row));
    }
  }
  const int64_t count = elements.length();
  ARROW_ASSIGN_OR_RAISE(std::shared_ptr<arrow::Array> places, elements.Finish());
  ARROW_ASSIGN_OR_RAISE(std::shared_ptr<arrow::Array> owners, parents.Finish());
  const auto unchecked = arrow::compute::TakeOptions::NoBoundsCheck();
  std::vector<Datum> columns(2);
  ARROW_ASSIGN_OR_RAISE(columns[0],
                        arrow::compute::Take(rows.values(), places, unchecked, context));
  if (args.size() > 1) {
    columns[1] = args[1];
    if (!args[1].is_scalar()) {
      ARROW_ASSIGN_OR_RAISE(columns[1], arrow::compute::Take(args[1], owners, unchecked, context));
    }
  }
  ARROW_ASSIGN_OR_RAISE(Datum tested, EvaluateNode(test, columns, count, context));
  ARROW_ASSIGN_OR_RAISE(std::shared_ptr<arrow::Array> hits,
                        AsArray(tested, count, context->memory_pool()));
  const auto& bits = static_cast<const arrow::BooleanArray&>(*hits);
  arrow::BooleanBuilder answer(context->memory_pool());
  ARROW_RETURN_NOT_OK(answer.Reserve(length));
  int64_t at = 0;
  for (int64_t row = 0; row < length; ++row) {
    if (lists->IsNull(row)) {
      answer.UnsafeAppendNull();
      continue;
    }
    bool found = false;
    for (const int64_t end = at + rows.size(row); at < end; ++at)
      found = found || (bits.IsValid(at) && bits.Value(at));
    answer.UnsafeAppend(found);
  }
  ARROW_ASSIGN_OR_RAISE(std::shared_ptr<arrow::Array> array, answer.Finish());
  return Datum(std::move(array));
}

}  // namespace

arrow::Result<NodePtr> MakeElement(NodePtr list, NodePtr index) {
  ARROW_ASSIGN_OR_RAISE(index, MakeSafeCast(std::move(index), arrow::int64()));
  std::shared_ptr<arrow::DataType> type =
      static_cast<const arrow::BaseListType&>(*list->type).value_type();
  return MakeKernelCall("element", std::move(type), {std::move(list), std::move(index)}, Elements);
}

arrow::Result<NodePtr> MakeAnyElement(NodePtr list, NodePtr other, NodePtr test) {
  std::vector<NodePtr> args = {std::move(list)};
  if (other) args.push_back(std::move(other));
  std::string name = "any[" + ToString(*test) + "]";
  Kernel kernel = [test = std::move(test)](const std::vector<Datum>& values, int64_t length,
                                           arrow::compute::ExecContext* context) {
    return AnyElement(*test, values, length, context);
  };
  return MakeKernelCall(std::move(name), arrow::boolean(), std::move(args), std::move(kernel));
}

}  // namespace pennon::expr
