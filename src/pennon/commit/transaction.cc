#include "pennon/commit/transaction.h"

#include <protozero/pbf_writer.hpp>

#include "pennon/error.h"
#include "pennon/wire/message_reader.h"
#include "pennon/wire/transaction_fields.h"

namespace pennon::commit {
namespace {

namespace field = wire::transaction;

bool IsKnown(uint32_t number) {
  return number >= static_cast<uint32_t>(OperationKind::kAppend) &&
         number <= static_cast<uint32_t>(OperationKind::kDataOverlay);
}

bool IsPlainName(std::string_view name) {
  return !name.empty() && name != "." && name != ".." && name.find('/') == std::string_view::npos &&
         name.find('\0') == std::string_view::npos;
}

arrow::Result<std::string> ReadWhole(const table::TableLocation& table, const std::string& path) {
  ARROW_ASSIGN_OR_RAISE(auto file, table.store->Open(path));
  constexpr uint64_t kMost = uint64_t{1} << 31;  // a protobuf message is never longer
  if (file->size() > kMost) {
    return Corrupt(path, "Transaction file is too long: expected at most ", kMost, " bytes, found ",
                   file->size());
  }
  std::string bytes(file->size(), '\0');
  if (!bytes.empty()) {
    ARROW_RETURN_NOT_OK(file->ReadAt(0, {reinterpret_cast<uint8_t*>(bytes.data()), bytes.size()}));
  }
  return bytes;
}

}  // namespace

std::string_view OperationName(OperationKind kind) {
  static constexpr std::string_view kNames[] = {
      "Append",       "Delete",          "Overwrite",         "CreateIndex", "Rewrite",
      "Merge",        "Restore",         "ReserveFragments",  "Update",      "Project",
      "UpdateConfig", "DataReplacement", "UpdateMemWalState", "Clone",       "UpdateBases",
      "DataOverlay"};
  if (!IsKnown(static_cast<uint32_t>(kind))) return "unknown operation";
  return kNames[static_cast<uint32_t>(kind) - field::kFirstOperation];
}

arrow::Result<Transaction> ParseTransaction(std::string_view bytes, std::string_view path) {
  Transaction result;
  ARROW_RETURN_NOT_OK(wire::Decode(path, "transaction", [&] {
    wire::pbf_reader reader = wire::ReaderOf(bytes);
    while (reader.next()) {
      const uint32_t number = reader.tag();
      const bool is_bytes = reader.wire_type() == wire::kBytes;
      if (number == field::kReadVersion && reader.wire_type() == wire::kVarint) {
        result.read_version = reader.get_uint64();
      } else if (number == field::kUuid && is_bytes) {
        result.uuid = wire::ViewOf(reader);
      } else if (number >= field::kFirstOperation && number <= field::kLastOperation && is_bytes) {
        result.kind =
            IsKnown(number) ? static_cast<OperationKind>(number) : OperationKind::kUnknown;
        result.operation = wire::ViewOf(reader);
      } else {
        reader.skip();
      }
    }
    return arrow::Status::OK();
  }));
  return result;
}

std::string EncodeTransaction(const Transaction& transaction) {
  std::string bytes;
  protozero::pbf_writer writer(bytes);
  if (transaction.read_version != 0)
    writer.add_uint64(field::kReadVersion, transaction.read_version);
  writer.add_string(field::kUuid, transaction.uuid);
  writer.add_message(static_cast<uint32_t>(transaction.kind), transaction.operation);
  return bytes;
}

std::string TransactionFileName(const Transaction& transaction) {
  return JoinParts(transaction.read_version, "-", transaction.uuid, ".txn");
}

arrow::Result<Transaction> ReadTransaction(const table::TableLocation& table,
                                           const table::Manifest& manifest) {
  if (!manifest.inline_transaction().empty()) {
    return ParseTransaction(manifest.inline_transaction(), manifest.path());
  }
  if (manifest.transaction_file().empty()) {
    return NotFound(manifest.path(),
                    "Version has no transaction, so nothing can be committed over it from an older "
                    "version: open the newest version and write again; version ",
                    manifest.version());
  }
  if (!IsPlainName(manifest.transaction_file())) {
    return Corrupt(manifest.path(),
                   "Transaction file name is not a plain file name: ", manifest.transaction_file());
  }
  const std::string path = table.root + "/_transactions/" + manifest.transaction_file();
  ARROW_ASSIGN_OR_RAISE(std::string bytes, ReadWhole(table, path));
  return ParseTransaction(bytes, path);
}

}  // namespace pennon::commit
