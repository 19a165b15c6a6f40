// The checked tree: every node has its type, operands of a comparison have the same one.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <arrow/datum.h>
#include <arrow/result.h>
#include <arrow/type_fwd.h>

#include <arrow/compute/type_fwd.h>

namespace pennon::expr {

enum class NodeKind { kColumn, kLiteral, kCompare, kIn, kAnd, kOr, kNot, kIsNull, kCall, kCase };

enum class CompareOp { kEqual, kNotEqual, kLess, kLessEqual, kGreater, kGreaterEqual };

/// Computes one value for each of `length` rows from arguments that are arrays of that length or
/// scalars; gives an array, or a scalar that stands for every row. Called once a batch;
/// thread-safe.
using Kernel = std::function<arrow::Result<arrow::Datum>(
    const std::vector<arrow::Datum>& args, int64_t length, arrow::compute::ExecContext* context)>;

struct Node;
using NodePtr = std::shared_ptr<const Node>;

/// Immutable once the binder gave it out.
struct Node {
  NodeKind kind;
  std::shared_ptr<arrow::DataType> type;
  std::vector<NodePtr> args;  ///< kCase: condition, value, …, value for the rest
  int column = -1;   ///< kColumn: index in the input schema; call of struct_field: the child
  std::string name;  ///< kColumn, kCall
  std::shared_ptr<arrow::Scalar> value;  ///< kLiteral
  CompareOp op = CompareOp::kEqual;      ///< kCompare
  std::shared_ptr<arrow::Array> values;  ///< kIn: of the type of args[0]
  Kernel kernel;                         ///< kCall, kIn

  bool is_literal() const { return kind == NodeKind::kLiteral; }
};

/// Returns `op` for exchanged operands: a < b is b > a.
CompareOp Flip(CompareOp op);
/// Returns = <> < <= > >=.
const char* Symbol(CompareOp op);
/// Writes the tree as SQL-like text for people.
std::string ToString(const Node& node);

}  // namespace pennon::expr
