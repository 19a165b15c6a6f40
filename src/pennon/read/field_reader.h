// The values of one field of one fragment, overlays over them.
//
// What resolves as one value (overlay/coverage.h) is a part: a leaf, a list, a struct that no
// overlay takes apart. A struct whose fields resolve one by one is put together here from its parts
// and from its own NULL-ness, which is a part too: the base's, under the overlays that hold all of
// the struct.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include <arrow/array/data.h>
#include <arrow/result.h>

#include "pennon/overlay/resolve.h"
#include "pennon/read/snapshot.h"
#include "pennon/schema.h"
#include "pennon/table/fragment.h"

namespace pennon::read {

/// Rows [first, end) of a fragment, or, where `listed`, the ascending `rows`.
struct RowChoice {
  uint64_t first = 0;
  uint64_t end = 0;
  std::span<const uint32_t> rows;
  bool listed = false;

  uint64_t length() const { return listed ? rows.size() : end - first; }
};

/// What resolves as one. Thread-safe.
class PartReader {
 public:
  /// Of a fragment of `snapshot`; `overlaid` is the field whose overlays count (that of the
  /// request, or the whole struct where the request is for a part of it), or null for none.
  PartReader(const Snapshot* snapshot, overlay::ColumnRequest request, const Field* overlaid)
      : snapshot_(snapshot), request_(std::move(request)), overlaid_(overlaid) {}

  const overlay::ColumnRequest& request() const { return request_; }
  /// Makes Read give what the base says of the structs above, for every row.
  void KeepBase() { keeps_base_ = true; }

  /// Reads rows. `base_validity` gets an array for each struct above the field if the base has to
  /// say (KeepBase), and is not touched otherwise.
  arrow::Result<std::shared_ptr<arrow::ArrayData>> Read(
      const RowChoice& rows, std::vector<std::shared_ptr<arrow::ArrayData>>* base_validity);
  /// Puts the overlays over base values that are at hand.
  arrow::Result<std::shared_ptr<arrow::ArrayData>> ReadOver(const RowChoice& rows,
                                                            std::shared_ptr<arrow::ArrayData> base);
  /// A guess at the decoded bytes of a row. May read metadata of the base file.
  arrow::Result<uint64_t> RowBytes() const;

 private:
  struct Planned {
    overlay::ColumnPlan plan;
    std::shared_ptr<const overlay::LoadedSources> loaded;
  };
  arrow::Result<Planned> Plan(const RowChoice& rows);
  arrow::Result<std::shared_ptr<const overlay::LoadedSources>> Load(
      const std::shared_ptr<const overlay::WinnerMap>& winners);
  /// Whether what the overlays give to the field may be kept for other reads: the winner map must
  /// say all of what the values are.
  bool keeps_values() const;

  const Snapshot* const snapshot_;
  const overlay::ColumnRequest request_;
  const Field* const overlaid_;
  bool keeps_base_ = false;
  std::mutex mutex_;
  std::shared_ptr<const overlay::WinnerMap> winners_;
  bool winners_known_ = false;
  bool loaded_known_ = false;
  std::shared_ptr<const overlay::LoadedSources> loaded_;
};

/// One field of one fragment. Thread-safe.
class FieldReader {
 public:
  /// Finds where the fragment keeps `field`, a top-level field or what Prune leaves of one. Reads
  /// nothing. `snapshot`, `fragment` and `field` must outlive the reader.
  static arrow::Result<std::unique_ptr<FieldReader>> Open(const Snapshot* snapshot,
                                                          const table::Fragment& fragment,
                                                          uint64_t physical_rows,
                                                          const Field& field);

  /// Reads rows, deleted ones included. What overlays give to windows is read once for all windows
  /// of the fragment while it is small, and kept for later reads (Context::cache_bytes); for listed
  /// rows only what they need is read.
  arrow::Result<std::shared_ptr<arrow::ArrayData>> Read(const RowChoice& rows);
  arrow::Result<uint64_t> RowBytes() const;

 private:
  // A field that is read as one part, or a struct of such.
  struct Node {
    const Field* field = nullptr;
    int part = -1;  // in parts_
    std::vector<Node> children;
    int validity = -1;   // in parts_; -1: the struct is never NULL
    int base_from = -1;  // the part whose base says whether the struct is NULL
    int level = 0;       // structs above
  };
  using BaseValidity = std::vector<std::vector<std::shared_ptr<arrow::ArrayData>>>;

  FieldReader() = default;
  arrow::Result<Node> Build(const Field& field, int level);
  arrow::Status AddPart(const Field& field, const table::DataFile* base, Node* node);
  arrow::Status AddValidity(Node* node);
  arrow::Result<std::shared_ptr<arrow::ArrayData>> Assemble(const Node& node, const RowChoice& rows,
                                                            BaseValidity* base);

  const Snapshot* snapshot_ = nullptr;
  const table::Fragment* fragment_ = nullptr;
  uint64_t physical_rows_ = 0;
  const Field* top_ = nullptr;
  std::vector<std::unique_ptr<Field>> paths_;  // the roots that the parts' requests point into
  std::vector<std::unique_ptr<PartReader>> parts_;
  Node root_;
};

/// A request for something of `fragment` that opens files through the caches of `snapshot`, which
/// must outlive it.
overlay::ColumnRequest MakeRequest(const Snapshot* snapshot, const table::Fragment& fragment,
                                   uint64_t physical_rows);

/// The base file of `fragment` that holds `field`, null if none does. kCorrupt if two hold the same
/// column. Sets `*several` if its columns lie in more than one file, and gives the first.
arrow::Result<const table::DataFile*> FindBaseFile(const table::Fragment& fragment,
                                                   const Field& field, bool* several);

}  // namespace pennon::read
