// Whether an overlay commit still holds on top of a version committed since (format: table.md 6.4,
// row DataOverlay).
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include <arrow/result.h>

#include "pennon/base/bitmap.h"
#include "pennon/commit/footprint.h"

namespace pennon::commit {

/// The outcome for one newer version.
enum class Verdict {
  kCompatible,    ///< append ours on top
  kRetry,         ///< redo the work on the newer version
  kIncompatible,  ///< the table is another one now
};

/// A verdict and, unless compatible, the reason as the end of a sentence.
struct Finding {
  Verdict verdict = Verdict::kCompatible;
  std::string reason;
};

/// What our overlays touch and rest upon.
struct OverlayFootprint {
  std::map<uint64_t, Bitmap> covered;  ///< fragment id -> union of the coverages
  /// Fields that the new values were computed from: a change to them at a covered row asks for a
  /// retry, so that no update is lost. Empty for a write of given values, where the later commit
  /// wins.
  std::vector<int32_t> read_fields;
};

/// Gives the offsets that a transaction deleted in a fragment; called only where the rules need it.
using DeletedRows = std::function<arrow::Result<Bitmap>(uint64_t fragment_id)>;

/// Checks our overlays against `theirs`, the operation of one newer version.
arrow::Result<Finding> CheckOverlayConflict(const OverlayFootprint& ours, const Footprint& theirs,
                                            const DeletedRows& deleted_by_theirs);

}  // namespace pennon::commit
