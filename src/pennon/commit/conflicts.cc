#include "pennon/commit/conflicts.h"

#include <algorithm>
#include <array>
#include <optional>

#include "pennon/error.h"

namespace pennon::commit {
namespace {

// What the table says of one kind of foreign operation.
enum class Rule {
  kOk,
  kRetry,
  kIncompatible,
  kUnlessRemoved,      // retry if a fragment of ours is gone
  kUnlessMoved,        // that, and retry if covered rows went to another fragment
  kUnlessNotNullable,  // retry if a column may have become non-nullable under our values
};

struct Row {
  OperationKind theirs;
  Rule rule;
};

constexpr std::array<Row, 16> kOverlayRow = {{
    {OperationKind::kAppend, Rule::kOk},
    {OperationKind::kDelete, Rule::kUnlessRemoved},
    {OperationKind::kOverwrite, Rule::kIncompatible},
    {OperationKind::kCreateIndex, Rule::kOk},
    {OperationKind::kRewrite, Rule::kUnlessRemoved},
    {OperationKind::kMerge, Rule::kRetry},
    {OperationKind::kRestore, Rule::kIncompatible},
    {OperationKind::kReserveFragments, Rule::kOk},
    {OperationKind::kUpdate, Rule::kUnlessMoved},
    {OperationKind::kProject, Rule::kUnlessNotNullable},
    {OperationKind::kUpdateConfig, Rule::kOk},
    {OperationKind::kDataReplacement, Rule::kOk},
    {OperationKind::kDataOverlay, Rule::kOk},
    {OperationKind::kClone, Rule::kOk},
    {OperationKind::kUpdateBases, Rule::kOk},
    {OperationKind::kUpdateMemWalState, Rule::kIncompatible},
}};

Rule RuleFor(OperationKind theirs) {
  const auto* row = std::find_if(kOverlayRow.begin(), kOverlayRow.end(),
                                 [theirs](const Row& entry) { return entry.theirs == theirs; });
  return row == kOverlayRow.end() ? Rule::kIncompatible : row->rule;
}

std::optional<uint64_t> FirstRemoved(const OverlayFootprint& ours, const Footprint& theirs) {
  for (const uint64_t id : theirs.removed_fragments) {
    if (ours.covered.contains(id)) return id;
  }
  return std::nullopt;
}

arrow::Result<std::optional<uint64_t>> FirstMoved(const OverlayFootprint& ours,
                                                  const Footprint& theirs,
                                                  const DeletedRows& deleted_by_theirs) {
  if (!theirs.moves_rows) return std::nullopt;
  for (const uint64_t id : theirs.updated_fragments) {
    const auto covered = ours.covered.find(id);
    if (covered == ours.covered.end()) continue;
    ARROW_ASSIGN_OR_RAISE(const Bitmap moved, deleted_by_theirs(id));
    if (moved.Intersects(covered->second)) return id;
  }
  return std::nullopt;
}

// A fragment in which theirs changed cells that ours was computed from.
std::optional<uint64_t> FirstStaleInput(const OverlayFootprint& ours, const Footprint& theirs) {
  for (const ChangedCells& cells : theirs.cells) {
    const auto covered = ours.covered.find(cells.fragment_id);
    if (covered == ours.covered.end()) continue;
    const bool shares_field =
        std::any_of(cells.fields.begin(), cells.fields.end(), [&ours](int32_t field) {
          return std::find(ours.read_fields.begin(), ours.read_fields.end(), field) !=
                 ours.read_fields.end();
        });
    if (!shares_field) continue;
    if (!cells.offsets || cells.offsets->Intersects(covered->second)) return cells.fragment_id;
  }
  return std::nullopt;
}

}  // namespace

arrow::Result<Finding> CheckOverlayConflict(const OverlayFootprint& ours, const Footprint& theirs,
                                            const DeletedRows& deleted_by_theirs) {
  const Rule rule = RuleFor(theirs.kind);
  if (rule == Rule::kIncompatible) {
    const bool known = theirs.kind != OperationKind::kUnknown;
    return Finding{Verdict::kIncompatible,
                   known ? "it replaced or reset the table's rows"
                         : "it did something this version of pennon does not know"};
  }
  if (rule == Rule::kRetry) {
    return Finding{Verdict::kRetry, "it replaced the list of fragments"};
  }
  if (rule == Rule::kUnlessRemoved || rule == Rule::kUnlessMoved) {
    if (const auto id = FirstRemoved(ours, theirs)) {
      return Finding{Verdict::kRetry,
                     JoinParts("it removed the fragment that the overlay is for: fragment ", *id)};
    }
  }
  if (rule == Rule::kUnlessMoved) {
    ARROW_ASSIGN_OR_RAISE(const auto id, FirstMoved(ours, theirs, deleted_by_theirs));
    if (id) {
      return Finding{
          Verdict::kRetry,
          JoinParts("it moved rows that the overlay covers to a new fragment, from fragment ",
                    *id)};
    }
  }
  if (rule == Rule::kUnlessNotNullable && !theirs.preserves_nullability) {
    return Finding{Verdict::kRetry, "it may have made a column non-nullable"};
  }
  if (const auto id = FirstStaleInput(ours, theirs)) {
    return Finding{
        Verdict::kRetry,
        JoinParts("it changed values that the update was computed from, in fragment ", *id)};
  }
  return Finding{};
}

}  // namespace pennon::commit
