// The operation that adds overlay files to fragments (format: table.md 5.6, operation 115).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "pennon/base/bitmap.h"
#include "pennon/commit/conflicts.h"
#include "pennon/commit/operation.h"

namespace pennon::commit {

/// Overlays for one fragment, oldest first. Several groups may name the same fragment: they apply
/// in order.
struct OverlayGroup {
  uint64_t fragment_id = 0;
  std::vector<table::NewOverlay> overlays;
  Bitmap covered;  ///< union of the coverages over all fields
};

/// Appends overlays to the current lists of their fragments and stamps them with the version that
/// the commit makes; on a table with stable row ids the covered rows are stamped as updated by it
/// too.
class DataOverlay : public Operation {
 public:
  /// `read_fields`: see OverlayFootprint.
  explicit DataOverlay(std::vector<OverlayGroup> groups, std::vector<int32_t> read_fields = {});

  OperationKind kind() const override { return OperationKind::kDataOverlay; }
  std::string EncodeMessage() const override;
  arrow::Status CheckAgainst(const NewerVersion& newer) const override;
  arrow::Result<table::ManifestEdit> Apply(const table::TableLocation& table,
                                           const table::Manifest& current,
                                           uint64_t version) const override;

 private:
  std::vector<OverlayGroup> groups_;
  OverlayFootprint footprint_;
};

}  // namespace pennon::commit
