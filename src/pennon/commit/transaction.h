// The transaction that a version records: what its commit did, so that concurrent commits can be
// checked against it (format: table.md 6.1, proto transaction).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <arrow/result.h>

#include "pennon/table/layout.h"

namespace pennon::commit {

/// The operation of a transaction, by its field number in the message.
enum class OperationKind : uint32_t {
  kUnknown = 0,  ///< none at all, or a number that this version does not know
  kAppend = 100,
  kDelete = 101,
  kOverwrite = 102,
  kCreateIndex = 103,
  kRewrite = 104,
  kMerge = 105,
  kRestore = 106,
  kReserveFragments = 107,
  kUpdate = 108,
  kProject = 109,
  kUpdateConfig = 110,
  kDataReplacement = 111,
  kUpdateMemWalState = 112,
  kClone = 113,
  kUpdateBases = 114,
  kDataOverlay = 115,
};

/// The operation's name as the format spells it, such as "DataOverlay".
std::string_view OperationName(OperationKind kind);

/// A parsed transaction; the operation stays bytes.
struct Transaction {
  uint64_t read_version = 0;
  std::string uuid;
  OperationKind kind = OperationKind::kUnknown;
  std::string operation;  ///< bytes of the operation's own message
};

/// Parses a bare Transaction message; `path` is for messages.
arrow::Result<Transaction> ParseTransaction(std::string_view bytes, std::string_view path);

/// Writes a bare Transaction message.
std::string EncodeTransaction(const Transaction& transaction);

/// The transaction's file name inside _transactions/: `<read_version>-<uuid>.txn`.
std::string TransactionFileName(const Transaction& transaction);

/// Gives the transaction that made `manifest`: the inline copy, else the file. A version that has
/// neither is a kNotFound error naming the version.
arrow::Result<Transaction> ReadTransaction(const table::TableLocation& table,
                                           const table::Manifest& manifest);

}  // namespace pennon::commit
