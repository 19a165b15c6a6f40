// Field numbers of the messages of a fragment (package lance.table).
#pragma once

#include <cstdint>

namespace pennon::wire {

namespace data_fragment {
enum : uint32_t {
  kId = 1,
  kFiles = 2,
  kDeletionFile = 3,
  kPhysicalRows = 4,
  kInlineRowIds = 5,
  kInlineLastUpdatedAt = 7,
  kInlineCreatedAt = 9,
  kOverlays = 11,
  kColumnRowIds = 12,
  kColumnLastUpdatedAt = 13,
  kColumnCreatedAt = 14,
};
}  // namespace data_fragment

namespace data_file {
enum : uint32_t {
  kPath = 1,
  kFields = 2,
  kColumnIndices = 3,
  kMajorVersion = 4,
  kMinorVersion = 5,
  kSizeBytes = 6,
  kBaseId = 7,
};
}  // namespace data_file

namespace overlay_file {
enum : uint32_t {
  kDataFile = 1,
  kSharedOffsetBitmap = 2,
  kCommittedVersion = 3,
  kFieldCoverage = 4
};
inline constexpr uint32_t kOffsetBitmaps = 1;  // in FieldCoverage
}  // namespace overlay_file

namespace deletion_file {
enum : uint32_t { kFileType = 1, kReadVersion = 2, kId = 3, kNumDeletedRows = 4, kBaseId = 7 };
}  // namespace deletion_file

}  // namespace pennon::wire
