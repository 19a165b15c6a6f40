// The row DataOverlay of the conflict table (table.md 6.4), as data.
#include "pennon/commit/conflicts.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "pennon/error.h"

namespace pennon::commit {
namespace {

using K = OperationKind;
using V = Verdict;

Bitmap Offsets(std::vector<uint32_t> values) { return Bitmap::Of(values); }

// Ours: cells of field 7 at offsets 1 and 3 of fragment 0, and at 2 of fragment 5.
OverlayFootprint Ours(std::vector<int32_t> read_fields = {}) {
  OverlayFootprint ours;
  ours.covered[0] = Offsets({1, 3});
  ours.covered[5] = Offsets({2});
  ours.read_fields = std::move(read_fields);
  return ours;
}

struct Case {
  std::string name;
  Footprint theirs;
  Verdict verdict;
  std::vector<uint32_t> deleted = {};  // what theirs deleted in each fragment
};

Footprint Of(K kind) {
  Footprint theirs;
  theirs.kind = kind;
  return theirs;
}
Footprint Removes(K kind, std::vector<uint64_t> ids) {
  Footprint theirs = Of(kind);
  theirs.removed_fragments = std::move(ids);
  return theirs;
}
Footprint Moves(std::vector<uint64_t> updated, bool moves = true) {
  Footprint theirs = Of(K::kUpdate);
  theirs.updated_fragments = std::move(updated);
  theirs.moves_rows = moves;
  return theirs;
}
Footprint Nullability(K kind, bool preserved) {
  Footprint theirs = Of(kind);
  theirs.preserves_nullability = preserved;
  return theirs;
}
Footprint Changes(K kind, uint64_t fragment, std::vector<int32_t> fields,
                  std::optional<Bitmap> offsets) {
  Footprint theirs = Of(kind);
  theirs.cells.push_back({fragment, std::move(fields), std::move(offsets)});
  if (kind == K::kUpdate) theirs.updated_fragments = {fragment};
  return theirs;
}

const std::vector<Case>& Cases() {
  static const std::vector<Case> cases = {
      {"append", Of(K::kAppend), V::kCompatible},
      {"delete of rows", Moves({0}, false), V::kCompatible, {1}},
      {"delete of another fragment", Removes(K::kDelete, {1, 2}), V::kCompatible},
      {"delete of our fragment", Removes(K::kDelete, {2, 5}), V::kRetry},
      {"overwrite", Of(K::kOverwrite), V::kIncompatible},
      {"index build", Of(K::kCreateIndex), V::kCompatible},
      {"compaction elsewhere", Removes(K::kRewrite, {3, 4}), V::kCompatible},
      {"compaction of our fragment", Removes(K::kRewrite, {0, 1}), V::kRetry},
      {"merge", Nullability(K::kMerge, true), V::kRetry},
      {"restore", Of(K::kRestore), V::kIncompatible},
      {"reserved fragments", Of(K::kReserveFragments), V::kCompatible},
      {"rows moved, none of ours", Moves({0, 1}), V::kCompatible, {0, 2, 4}},
      {"rows moved, one of ours", Moves({0, 1}), V::kRetry, {2, 3}},
      {"rows moved from another fragment", Moves({1}), V::kCompatible, {1, 2, 3}},
      {"rows deleted by an update without new fragments",
       Moves({0}, false),
       V::kCompatible,
       {1, 3}},
      {"update removed our fragment", Removes(K::kUpdate, {5}), V::kRetry},
      {"update removed another fragment", Removes(K::kUpdate, {6}), V::kCompatible},
      {"column rewritten", Changes(K::kUpdate, 0, {7}, {}), V::kCompatible},
      {"columns renamed or dropped", Nullability(K::kProject, true), V::kCompatible},
      {"column made non-nullable", Nullability(K::kProject, false), V::kRetry},
      {"config", Of(K::kUpdateConfig), V::kCompatible},
      {"column replaced", Changes(K::kDataReplacement, 0, {7}, {}), V::kCompatible},
      {"overlay on the same cells", Changes(K::kDataOverlay, 0, {7}, Offsets({1, 3})),
       V::kCompatible},
      {"clone", Of(K::kClone), V::kCompatible},
      {"bases", Of(K::kUpdateBases), V::kCompatible},
      {"MemWAL state", Of(K::kUpdateMemWalState), V::kIncompatible},
      {"an operation of the future", Of(K::kUnknown), V::kIncompatible},
  };
  return cases;
}

Finding Check(const OverlayFootprint& ours, const Case& test) {
  const auto deleted = [&test](uint64_t) -> arrow::Result<Bitmap> {
    return Bitmap::Of(test.deleted);
  };
  return CheckOverlayConflict(ours, test.theirs, deleted).ValueOrDie();
}

TEST(ConflictsTest, FollowsTheTable) {
  for (const Case& test : Cases()) {
    const Finding finding = Check(Ours(), test);
    EXPECT_EQ(finding.verdict, test.verdict) << test.name;
    EXPECT_EQ(finding.reason.empty(), test.verdict == V::kCompatible) << test.name;
  }
}

TEST(ConflictsTest, NamesTheFragment) {
  EXPECT_THAT(Check(Ours(), {"", Removes(K::kRewrite, {9, 5}), V::kRetry}).reason,
              testing::HasSubstr("fragment 5"));
}

TEST(ConflictsTest, ValuesComputedFromChangedCellsAreStale) {
  const std::vector<Case> cases = {
      {"overlay, same field and row", Changes(K::kDataOverlay, 0, {7}, Offsets({3, 9})), V::kRetry},
      {"overlay, same field, other rows", Changes(K::kDataOverlay, 0, {7}, Offsets({2, 9})),
       V::kCompatible},
      {"overlay, other field", Changes(K::kDataOverlay, 0, {8}, Offsets({1, 3})), V::kCompatible},
      {"overlay, other fragment", Changes(K::kDataOverlay, 4, {7}, Offsets({1, 3})),
       V::kCompatible},
      {"column rewritten", Changes(K::kUpdate, 5, {6, 7}, {}), V::kRetry},
      {"column replaced", Changes(K::kDataReplacement, 5, {7}, {}), V::kRetry},
      {"append", Of(K::kAppend), V::kCompatible},
  };
  for (const Case& test : cases)
    EXPECT_EQ(Check(Ours({4, 7}), test).verdict, test.verdict) << test.name;
}

TEST(ConflictsTest, ReadsDeletionsOnlyWhereRowsMoved) {
  const auto fail = [](uint64_t) -> arrow::Result<Bitmap> {
    return InvalidInput("not to be read");
  };
  for (const Case& test : Cases()) {
    const bool needs = test.theirs.moves_rows && test.theirs.updated_fragments.front() == 0;
    EXPECT_EQ(CheckOverlayConflict(Ours(), test.theirs, fail).ok(), !needs) << test.name;
  }
}

}  // namespace
}  // namespace pennon::commit
