// Errors of pennon: arrow::Status with one detail that says what kind of failure it was and where.
// Thread-safe: details are immutable once made.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>

#include <arrow/status.h>

namespace pennon {

/// What went wrong, for callers that must tell the cases apart.
enum class ErrorKind {
  kInvalidInput,    ///< the caller's argument is wrong (Status::Invalid)
  kNotFound,        ///< a table, version or file is missing (Status::IOError)
  kCorrupt,         ///< stored bytes cannot be decoded or contradict each other (Status::IOError)
  kUnsupported,     ///< a feature flag, type, version or encoding that pennon does not read
                    ///< (NotImplemented)
  kAlreadyExists,   ///< create-if-absent lost (Status::AlreadyExists)
  kCommitConflict,  ///< a concurrent commit cannot be rebased over (Status::Cancelled)
  kIo,              ///< the store failed (Status::IOError)
};

/// Where it went wrong; every part is optional.
struct ErrorPlace {
  std::string path;                  ///< file, as the store names it
  std::optional<uint64_t> fragment;  ///< fragment id
  std::optional<int32_t> field;      ///< field id
  std::optional<uint64_t> offset;    ///< byte offset in `path`, or row offset in the fragment
};

/// The detail on every arrow::Status that pennon makes.
class ErrorDetail : public arrow::StatusDetail {
 public:
  ErrorDetail(ErrorKind kind, ErrorPlace place, bool retry_helps = false)
      : kind_(kind), place_(std::move(place)), retry_helps_(retry_helps) {}

  const char* type_id() const override;
  std::string ToString() const override;

  ErrorKind kind() const { return kind_; }
  const ErrorPlace& place() const { return place_; }
  /// For kCommitConflict: whether redoing the work on the newest version can succeed.
  bool retry_helps() const { return retry_helps_; }

 private:
  ErrorKind kind_;
  ErrorPlace place_;
  bool retry_helps_;
};

/// Returns the detail of `status`, or null if pennon did not make it.
const ErrorDetail* GetErrorDetail(const arrow::Status& status);

/// Builds a status of `kind` with `message` at `place`.
arrow::Status MakeError(ErrorKind kind, ErrorPlace place, std::string message,
                        bool retry_helps = false);

/// Streams `parts` into one text.
template <typename... Parts>
std::string JoinParts(Parts&&... parts) {
  std::ostringstream out;
  (out << ... << std::forward<Parts>(parts));
  return out.str();
}

/// Builds the error of each kind; the message parts are streamed: fixed text first, values last.
template <typename... Parts>
arrow::Status InvalidInput(Parts&&... parts) {
  return MakeError(ErrorKind::kInvalidInput, {}, JoinParts(std::forward<Parts>(parts)...));
}
template <typename... Parts>
arrow::Status NotFound(std::string_view path, Parts&&... parts) {
  return MakeError(ErrorKind::kNotFound, {.path = std::string(path)},
                   JoinParts(std::forward<Parts>(parts)...));
}
template <typename... Parts>
arrow::Status Corrupt(std::string_view path, Parts&&... parts) {
  return MakeError(ErrorKind::kCorrupt, {.path = std::string(path)},
                   JoinParts(std::forward<Parts>(parts)...));
}
template <typename... Parts>
arrow::Status Unsupported(std::string_view path, Parts&&... parts) {
  return MakeError(ErrorKind::kUnsupported, {.path = std::string(path)},
                   JoinParts(std::forward<Parts>(parts)...));
}
template <typename... Parts>
arrow::Status CommitConflict(bool retry_helps, Parts&&... parts) {
  return MakeError(ErrorKind::kCommitConflict, {}, JoinParts(std::forward<Parts>(parts)...),
                   retry_helps);
}

}  // namespace pennon
