// Kernels on text that Arrow has only for constant patterns, or not at all.
#pragma once

#include <memory>
#include <vector>

#include <arrow/result.h>
#include <arrow/type_fwd.h>

#include "pennon/expr/node.h"

namespace pennon::expr {

/// Whether `pattern` (% any text, _ one character, `escape` before a literal one; '\0': no escape)
/// matches all of `text`. Takes time in |text| * |pattern| at worst.
bool MatchesLike(std::string_view text, std::string_view pattern, char escape);

/// Each takes text arguments of any text type; NULL in gives NULL out.
arrow::Result<NodePtr> MakeLike(NodePtr text, NodePtr pattern, char escape, bool ignore_case);
arrow::Result<NodePtr> MakeStartsWith(NodePtr text, NodePtr part);
arrow::Result<NodePtr> MakeEndsWith(NodePtr text, NodePtr part);
arrow::Result<NodePtr> MakeContains(NodePtr text, NodePtr part);
/// 1-based character of the first occurrence, 0 without one.
arrow::Result<NodePtr> MakePosition(NodePtr text, NodePtr part);
arrow::Result<NodePtr> MakeReplace(NodePtr text, NodePtr from, NodePtr to);
/// Characters from the 1-based `start` on (which may lie before the text), `count` of them (or all:
/// null).
arrow::Result<NodePtr> MakeSubstring(NodePtr text, NodePtr start, NodePtr count);
/// The text of a float as Lance writes it: 1.0, 1e16, NaN, inf.
arrow::Result<NodePtr> MakeFloatText(NodePtr value);

}  // namespace pennon::expr
