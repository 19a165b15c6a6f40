#include "pennon/commit/committer.h"

#include <chrono>
#include <optional>
#include <utility>

#include <arrow/buffer.h>

#include "pennon/error.h"

namespace pennon::commit {
namespace {

constexpr uint64_t kMostInlineTransaction = uint64_t{20}
                                            << 20;  // table.md 2.2: above, only the file is written
constexpr int kReadBackTries = 3;

bool IsKind(const arrow::Status& status, ErrorKind kind) {
  const ErrorDetail* detail = GetErrorDetail(status);
  return detail != nullptr && detail->kind() == kind;
}

int64_t NowNanos() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

class Loop {
 public:
  Loop(const CommitRequest& request, const RetryPolicy& policy)
      : request_(request), backoff_(policy), current_(request.read), uuid_(table::NewUuid()) {}

  arrow::Result<CommitOutcome> Run() {
    arrow::Status status = RunUntilDone();
    if (status.ok()) {
      table::WriteVersionHint(request_.table, outcome_.manifest->version());
      outcome_.attempts = backoff_.attempts();
      return std::move(outcome_);
    }
    if (!outcome_unknown_) {
      for (const std::string& path : request_.new_files) (void)request_.table.store->Delete(path);
    }
    return status;
  }

 private:
  // What stands at the version that we tried to make.
  enum class Standing { kOurs, kForeign, kNothing };

  arrow::Status RunUntilDone() {
    while (true) {
      backoff_.StartAttempt();
      ARROW_RETURN_NOT_OK(CatchUp());
      if (outcome_.manifest) return arrow::Status::OK();
      ARROW_RETURN_NOT_OK(Attempt());
      if (outcome_.manifest) return arrow::Status::OK();
      if (!backoff_.Wait()) {
        return CommitConflict(
            true,
            "Other writers won every attempt to commit; try again when the table is less busy: ",
            backoff_.attempts(), " attempts");
      }
    }
  }

  // Reads the versions made since `current_`, checks each for conflicts, and ends at the newest.
  arrow::Status CatchUp() {
    ARROW_ASSIGN_OR_RAISE(const std::vector<table::ManifestName> names,
                          table::ListVersions(request_.table));
    const uint64_t newest = names.back().version;
    outcome_.naming = names.back().naming;
    if (newest < current_->version()) {
      return CommitConflict(false,
                            "Table was replaced since it was opened: expected at least version ",
                            current_->version(), ", found ", newest, "; open it again");
    }
    for (uint64_t version = current_->version() + 1; version <= newest; ++version) {
      ARROW_RETURN_NOT_OK(StepTo(version));
      if (outcome_.manifest) return arrow::Status::OK();
    }
    return table::CheckWritable(*current_);
  }

  arrow::Status StepTo(uint64_t version) {
    auto opened = table::OpenManifest(request_.table, version);
    if (!opened.ok()) return CannotCheck(opened.status(), version);
    if ((*opened)->version() != version) {
      return Corrupt((*opened)->path(), "Manifest names another version than its file: expected ",
                     version, ", found ", (*opened)->version());
    }
    auto transaction = ReadTransaction(request_.table, **opened);
    if (!transaction.ok()) return CannotCheck(transaction.status(), version);
    if (transaction->uuid == uuid_) {  // an attempt whose answer got lost
      outcome_.manifest = *opened;
      return arrow::Status::OK();
    }
    const NewerVersion newer{request_.table, *current_, **opened, *transaction};
    ARROW_RETURN_NOT_OK(request_.operation->CheckAgainst(newer));
    current_ = *opened;
    return arrow::Status::OK();
  }

  // A version in between that cannot be looked at: only work planned on the newest version can be
  // committed.
  static arrow::Status CannotCheck(const arrow::Status& status, uint64_t version) {
    if (!IsKind(status, ErrorKind::kNotFound)) return status;
    return CommitConflict(
        true,
        "Cannot check for conflicts with a version that was removed or has no transaction; "
        "plan the write anew on the newest version; version ",
        version, ": ", status.message());
  }

  // Tries once to make the next version. OK without an outcome = the race was lost.
  arrow::Status Attempt() {
    const uint64_t version = current_->version() + 1;
    if (version >= uint64_t{1} << 63) {  // those are detached (table.md 1.1)
      return InvalidInput("Table has used up its version numbers: version ", current_->version());
    }
    ARROW_ASSIGN_OR_RAISE(table::ManifestEdit edit,
                          request_.operation->Apply(request_.table, *current_, version));
    Transaction transaction;
    transaction.read_version = current_->version();
    transaction.uuid = uuid_;
    transaction.kind = request_.operation->kind();
    transaction.operation = request_.operation->EncodeMessage();
    const std::string transaction_bytes = EncodeTransaction(transaction);
    edit.version = version;
    edit.timestamp_ns = NowNanos();
    edit.transaction_file = TransactionFileName(transaction);
    if (transaction_bytes.size() <= kMostInlineTransaction)
      edit.inline_transaction = transaction_bytes;
    ARROW_ASSIGN_OR_RAISE(std::string manifest_bytes, table::BuildNextManifest(*current_, edit));
    const std::string path =
        request_.table.root + "/_versions/" + table::FormatManifestName(version, outcome_.naming);
    auto buffer = arrow::Buffer::FromString(std::move(manifest_bytes));
    ARROW_ASSIGN_OR_RAISE(
        auto manifest, table::Manifest::Parse(buffer, path));  // never publish what cannot be read

    const std::string transaction_path =
        request_.table.root + "/_transactions/" + edit.transaction_file;
    arrow::Status put = request_.table.store->Put(transaction_path, transaction_bytes);
    if (put.ok()) {
      outcome_.bytes_written = transaction_bytes.size() + static_cast<uint64_t>(buffer->size());
      put = Publish(path, version, *buffer, std::move(manifest));
    }
    if (!outcome_.manifest && !outcome_unknown_)
      (void)request_.table.store->Delete(transaction_path);
    return put;
  }

  // Creates the manifest file, and finds out what happened if the store's answer leaves a doubt.
  arrow::Status Publish(const std::string& path, uint64_t version, const arrow::Buffer& bytes,
                        std::shared_ptr<const table::Manifest> manifest) {
    const arrow::Status put =
        request_.table.store->PutIfAbsent(path, static_cast<std::string_view>(bytes));
    if (put.ok()) {
      outcome_.manifest = std::move(manifest);
      return put;
    }
    outcome_unknown_ = true;
    auto standing = WhatStandsAt(version);
    if (!standing.ok()) {
      return put.WithMessage("Outcome of the commit is unknown, look for version ", version,
                             " before trying again: ", put.message(),
                             "; reading it back: ", standing.status().message());
    }
    if (*standing == Standing::kOurs) {
      outcome_.manifest = std::move(manifest);
      return arrow::Status::OK();
    }
    if (*standing == Standing::kForeign) {  // lost for certain, whatever the store said
      outcome_unknown_ = false;
      return arrow::Status::OK();
    }
    if (IsKind(put, ErrorKind::kAlreadyExists)) {  // there a moment ago, gone now
      outcome_unknown_ = false;
      return arrow::Status::OK();
    }
    return put.WithMessage("Storing the new version failed, and it is not there now; version ",
                           version, ": ", put.message());
  }

  arrow::Result<Standing> WhatStandsAt(uint64_t version) {
    arrow::Status last;
    for (int i = 0; i < kReadBackTries; ++i) {
      auto opened = table::OpenManifest(request_.table, version);
      if (opened.ok()) {
        auto transaction = ReadTransaction(request_.table, **opened);
        if (transaction.ok())
          return transaction->uuid == uuid_ ? Standing::kOurs : Standing::kForeign;
        // Ours always has its transaction; a version that has none is foreign.
        if (IsKind(transaction.status(), ErrorKind::kNotFound)) return Standing::kForeign;
        last = transaction.status();
      } else {
        if (IsKind(opened.status(), ErrorKind::kNotFound)) return Standing::kNothing;
        last = opened.status();
      }
    }
    return last;
  }

  const CommitRequest& request_;
  Backoff backoff_;
  std::shared_ptr<const table::Manifest> current_;
  const std::string uuid_;
  CommitOutcome outcome_;
  bool outcome_unknown_ = false;
};

}  // namespace

arrow::Result<CommitOutcome> Commit(const CommitRequest& request, const RetryPolicy& policy) {
  return Loop(request, policy).Run();
}

}  // namespace pennon::commit
