// Makers of checked nodes. Nodes whose arguments are all literals are computed at once.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <arrow/result.h>
#include <arrow/type_fwd.h>

#include "pennon/expr/node.h"

namespace pennon::expr {

NodePtr MakeLiteral(std::shared_ptr<arrow::Scalar> value);
NodePtr MakeNull(const std::shared_ptr<arrow::DataType>& type);
NodePtr MakeBoolean(bool value);
NodePtr MakeColumn(int index, std::string name, std::shared_ptr<arrow::DataType> type);

/// Makes a call of an arrow::compute scalar function; errors: it takes no such arguments.
arrow::Result<NodePtr> MakeArrowCall(
    const std::string& function, std::vector<NodePtr> args,
    std::shared_ptr<const arrow::compute::FunctionOptions> options = nullptr);

/// Makes a call of a kernel of our own.
arrow::Result<NodePtr> MakeKernelCall(std::string name, std::shared_ptr<arrow::DataType> type,
                                      std::vector<NodePtr> args, Kernel kernel);

/// Makes AND, OR (any number of terms) or NOT of boolean nodes.
arrow::Result<NodePtr> MakeLogic(NodeKind kind, std::vector<NodePtr> terms);
/// Makes a comparison of two nodes of one type.
arrow::Result<NodePtr> MakeCompare(CompareOp op, NodePtr left, NodePtr right);
/// Makes IS NOT DISTINCT FROM of two nodes of one type.
arrow::Result<NodePtr> MakeSame(NodePtr left, NodePtr right);
/// Makes IN with the NULL rules of `options` (arrow's SetLookupOptions behaviour, as an int);
/// `values` has the type of `value`.
arrow::Result<NodePtr> MakeIn(NodePtr value, std::shared_ptr<arrow::Array> values,
                              int null_behavior);
arrow::Result<NodePtr> MakeIsNull(NodePtr value);
/// Makes `answer` where `value` is not NULL, else NULL.
arrow::Result<NodePtr> MakeUnlessNull(NodePtr value, bool answer);
/// Makes CASE of conditions and values of one type.
arrow::Result<NodePtr> MakeCase(std::vector<NodePtr> args);

/// Brings a value to `type` where operands meet: never changes an integer, decimal or text;
/// integers become floats by rounding; wall time becomes a moment in the zone of `type`.
arrow::Result<NodePtr> Coerce(NodePtr value, const std::shared_ptr<arrow::DataType>& type);
/// Converts exactly, or fails when a value does not fit.
arrow::Result<NodePtr> MakeSafeCast(NodePtr value, const std::shared_ptr<arrow::DataType>& type);

}  // namespace pennon::expr
