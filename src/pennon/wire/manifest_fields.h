// Field numbers of the Manifest message and of the small ones inside it (package lance.table).
#pragma once

#include <cstdint>

namespace pennon::wire {

namespace manifest {
enum : uint32_t {
  kFields = 1,
  kFragments = 2,
  kVersion = 3,
  kVersionAuxData = 4,
  kSchemaMetadata = 5,
  kIndexSection = 6,
  kTimestamp = 7,
  kTag = 8,
  kReaderFlags = 9,
  kWriterFlags = 10,
  kMaxFragmentId = 11,
  kTransactionFile = 12,
  kWriterVersion = 13,
  kNextRowId = 14,
  kDataFormat = 15,
  kConfig = 16,
  kBasePaths = 18,
  kTableMetadata = 19,
  kBranch = 20,
  kOldTransactionSection = 21,  // where older writers put 23; read when 23 is absent
  kTransactionSection = 23,
  kMaxAllocatedFieldId = 24,
};
}  // namespace manifest

namespace timestamp {
enum : uint32_t { kSeconds = 1, kNanos = 2 };
}
namespace writer_version {
enum : uint32_t { kLibrary = 1, kVersion = 2 };
}
namespace data_format {
enum : uint32_t { kFileFormat = 1, kVersion = 2 };
}
namespace base_path {
enum : uint32_t { kId = 1, kName = 2, kIsDatasetRoot = 3, kPath = 4 };
}
namespace index_metadata {
inline constexpr uint32_t kIndices = 1;  // in IndexSection
inline constexpr uint32_t kCoveringFields = 11;
}  // namespace index_metadata

}  // namespace pennon::wire
