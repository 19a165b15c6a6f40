// From the tree as written to the checked tree: names are looked up, literals get their types.
#pragma once

#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <arrow/result.h>
#include <arrow/type_fwd.h>

#include "pennon/expr/ast.h"
#include "pennon/expr/kernels.h"
#include "pennon/expr/node.h"

namespace pennon::expr {

/// Binds trees over one input schema. Errors are kInvalidInput and name the position.
class Binder {
 public:
  /// `input` and `sql` (for messages; may be empty) must outlive the binder.
  Binder(const arrow::Schema& input, std::string_view sql) : input_(input), sql_(sql) {}

  /// Binds a tree on its own; literals get their default types.
  arrow::Result<NodePtr> Bind(const Ast& ast);
  /// Binds and requires a boolean; a bare NULL is one.
  arrow::Result<NodePtr> BindCondition(const Ast& ast);
  /// Binds and requires text.
  arrow::Result<NodePtr> BindText(const Ast& ast);
  /// Binds several trees to the one type that all of them meet in, for CASE and coalesce.
  arrow::Result<std::vector<NodePtr>> BindTogether(const std::vector<const Ast*>& asts);
  /// Binds a literal to `type` if it is one that `type` holds exactly (numbers round to floats),
  /// else binds it on its own.
  arrow::Result<NodePtr> BindNear(const Ast& ast, const std::shared_ptr<arrow::DataType>& type);
  /// Binds for storing in `type`: anything that does not fit is an error, here or when evaluated.
  arrow::Result<NodePtr> BindStored(const Ast& ast, const std::shared_ptr<arrow::DataType>& type);

  arrow::Result<NodePtr> BindCompare(CompareOp op, const Ast& left, const Ast& right);
  /// Binds IS NOT DISTINCT FROM.
  arrow::Result<NodePtr> BindSame(const Ast& left, const Ast& right);
  /// Compares a checked value with a literal exactly.
  arrow::Result<NodePtr> CompareLiteral(CompareOp op, NodePtr value, const Ast& literal);
  /// Compares two checked values.
  arrow::Result<NodePtr> CompareNodes(CompareOp op, NodePtr left, NodePtr right, const Ast& at);
  /// Binds `value` IN items[from…].
  arrow::Result<NodePtr> InList(NodePtr value, const std::vector<Ast>& items, size_t from);
  arrow::Result<NodePtr> BindArithmetic(const Ast& ast);
  arrow::Result<NodePtr> BindCast(const Ast& ast);

  /// Adds the position of `at` to an error that has none.
  arrow::Status Error(const Ast& at, const std::string& message) const;
  template <typename T>
  arrow::Result<T> Placed(const Ast& at, arrow::Result<T> result) const {
    return result.ok() ? std::move(result) : Placed(at, result.status());
  }
  arrow::Status Placed(const Ast& at, const arrow::Status& status) const;

  /// Top-level columns read so far, by index in the input schema.
  const std::set<int>& columns() const { return columns_; }

 private:
  arrow::Result<NodePtr> BindUnplaced(const Ast& ast);
  arrow::Result<NodePtr> BindColumn(const Ast& ast);
  arrow::Result<NodePtr> BindLogic(const Ast& ast);
  arrow::Result<NodePtr> BindCase(const Ast& ast);
  arrow::Result<NodePtr> BindIn(const Ast& ast);
  arrow::Result<NodePtr> BindInValues(const Ast& ast);
  arrow::Result<NodePtr> BindLike(const Ast& ast);
  arrow::Result<NodePtr> BindNegate(const Ast& ast);
  arrow::Result<NodePtr> BindList(const Ast& ast);
  arrow::Result<NodePtr> BindSubscript(const Ast& ast);
  arrow::Result<NodePtr> Field(const Ast& at, NodePtr value, const std::string& name);
  arrow::Result<NodePtr> CastNode(const Ast& at, NodePtr value,
                                  const std::shared_ptr<arrow::DataType>& type);

  const arrow::Schema& input_;
  std::string_view sql_;
  std::set<int> columns_;
};

}  // namespace pennon::expr
