// What a commit does, as a value: the loop in committer.h knows operations only by this interface.
#pragma once

#include <cstdint>
#include <string>

#include <arrow/result.h>
#include <arrow/status.h>

#include "pennon/commit/transaction.h"
#include "pennon/table/layout.h"
#include "pennon/table/manifest_writer.h"

namespace pennon::commit {

/// A version that was committed after the one an operation was planned on.
struct NewerVersion {
  const table::TableLocation& table;
  const table::Manifest& before;  ///< the version below it
  const table::Manifest& after;   ///< the version itself
  const Transaction& transaction;
};

/// An operation of table.md 6.3, ready to commit. Immutable: a retry applies it anew to a newer
/// version.
class Operation {
 public:
  virtual ~Operation() = default;

  virtual OperationKind kind() const = 0;
  /// Bytes of the operation's message in the transaction, the same for each attempt.
  virtual std::string EncodeMessage() const = 0;
  /// Passes if the operation still means the same on top of `newer`; else a kCommitConflict error
  /// that says why.
  virtual arrow::Status CheckAgainst(const NewerVersion& newer) const = 0;
  /// The change that makes `version` from `current`. Version, time and transaction of the edit are
  /// the loop's.
  virtual arrow::Result<table::ManifestEdit> Apply(const table::TableLocation& table,
                                                   const table::Manifest& current,
                                                   uint64_t version) const = 0;
};

}  // namespace pennon::commit
