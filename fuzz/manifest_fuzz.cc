// A manifest or transaction of any bytes: opening it gives a value or an error, never a crash. A
// manifest that opens is used: its row ids and versions are decoded, its overlays' coverages
// parsed, and a next version is spliced from it and read again. Of a transaction, what it touched
// is read.
#include <cstdint>
#include <string>
#include <string_view>

#include <arrow/buffer.h>

#include "pennon/base/bitmap.h"
#include "pennon/commit/footprint.h"
#include "pennon/commit/transaction.h"
#include "pennon/table/manifest.h"
#include "pennon/table/manifest_writer.h"
#include "pennon/table/row_lineage.h"
#include "taker.h"

namespace {

using namespace pennon;
using namespace pennon::table;

// A claimed length is not allocated for its own sake here.
constexpr uint64_t kMostRows = 1 << 16;

void ReadTransaction(std::string_view bytes) {
  const auto transaction = commit::ParseTransaction(bytes, "fuzz");
  if (!transaction.ok()) return;
  (void)commit::ReadFootprint(*transaction, "fuzz");
  (void)commit::TransactionFileName(*transaction);
  if (transaction->kind == commit::OperationKind::kUnknown) return;
  const auto again = commit::ParseTransaction(commit::EncodeTransaction(*transaction), "again");
  fuzz::Require(again.ok() && again->kind == transaction->kind &&
                again->operation == transaction->operation && again->uuid == transaction->uuid);
}

void UseFragment(const Fragment& fragment) {
  for (const OverlayFile& overlay : fragment.overlays) {
    for (size_t i = 0; i < overlay.data_file.fields.size(); ++i)
      (void)Bitmap::Parse(overlay.CoverageAt(i));
  }
  if (fragment.physical_rows > kMostRows) return;
  const auto ids = DecodeRowIds(fragment.row_ids.bytes, fragment.physical_rows);
  if (ids.ok()) {
    const auto again = DecodeRowIds(EncodeRowIds(*ids), fragment.physical_rows);
    fuzz::Require(again.ok() && *again == *ids);
  }
  const auto versions = DecodeRowVersions(fragment.created_at.bytes, fragment.physical_rows);
  if (versions.ok()) {
    const auto again = DecodeRowVersions(EncodeRowVersions(*versions), fragment.physical_rows);
    fuzz::Require(again.ok() && *again == *versions);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  ReadTransaction(bytes);
  const auto manifest = Manifest::Parse(arrow::Buffer::FromString(bytes), "fuzz");
  if (!manifest.ok()) return 0;
  if (!(*manifest)->inline_transaction().empty())
    ReadTransaction((*manifest)->inline_transaction());
  for (const Fragment& fragment : (*manifest)->fragments()) UseFragment(fragment);
  ManifestEdit edit;
  edit.version = (*manifest)->version() + 1;
  edit.transaction_file = "t.txn";
  const auto next = BuildNextManifest(**manifest, edit);
  if (!next.ok()) return 0;
  fuzz::Require(Manifest::Parse(arrow::Buffer::FromString(*next), "next").ok());
  return 0;
}
