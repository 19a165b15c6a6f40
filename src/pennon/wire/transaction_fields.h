// Field numbers of the Transaction message and of the operations inside it (package lance.table).
#pragma once

#include <cstdint>

namespace pennon::wire {

namespace transaction {
enum : uint32_t {
  kReadVersion = 1,
  kUuid = 2,
  kTag = 3,
  kProperties = 4,
  kFirstOperation = 100,  // any of 100 to 199 is an operation, known or not
  kLastOperation = 199,
};
}  // namespace transaction

namespace append_operation {
enum : uint32_t { kFragments = 1 };
}
namespace delete_operation {
enum : uint32_t { kUpdatedFragments = 1, kDeletedFragmentIds = 2, kPredicate = 3 };
}
namespace rewrite_operation {
enum : uint32_t { kOldFragments = 1, kGroups = 3 };
inline constexpr uint32_t kGroupOldFragments = 1;  // in RewriteGroup
}  // namespace rewrite_operation
namespace merge_operation {
enum : uint32_t { kPreservesNullability = 4 };
}
namespace project_operation {
enum : uint32_t { kPreservesNullability = 2 };
}
namespace update_operation {
enum : uint32_t {
  kRemovedFragmentIds = 1,
  kUpdatedFragments = 2,
  kNewFragments = 3,
  kFieldsModified = 4,
  kMode = 7,
};
inline constexpr uint64_t kRewriteColumns = 1;  // a value of kMode; 0 moves rows
}  // namespace update_operation
namespace data_replacement_operation {
enum : uint32_t { kReplacements = 1 };
enum : uint32_t { kFragmentId = 1, kNewFile = 2 };  // in DataReplacementGroup
}  // namespace data_replacement_operation
namespace data_overlay_operation {
enum : uint32_t { kGroups = 1 };
enum : uint32_t { kFragmentId = 1, kOverlays = 2 };  // in DataOverlayGroup
}  // namespace data_overlay_operation

}  // namespace pennon::wire
