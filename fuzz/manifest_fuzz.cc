// A manifest file of any bytes: opening it gives a version or an error, never a crash. What opens
// is used: its row ids and versions are decoded, and a next version is spliced from it and read
// again.
#include <cstdint>
#include <cstdlib>

#include <arrow/buffer.h>

#include "pennon/table/manifest.h"
#include "pennon/table/manifest_writer.h"
#include "pennon/table/row_lineage.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace pennon::table;
  const auto manifest = Manifest::Parse(
      arrow::Buffer::FromString(std::string(reinterpret_cast<const char*>(data), size)), "fuzz");
  if (!manifest.ok()) return 0;
  constexpr uint64_t kMostRows = 1
                                 << 16;  // a claimed length is not allocated for its own sake here
  for (const Fragment& fragment : (*manifest)->fragments()) {
    if (fragment.physical_rows > kMostRows) continue;
    (void)DecodeRowIds(fragment.row_ids.bytes, fragment.physical_rows);
    (void)DecodeRowVersions(fragment.created_at.bytes, fragment.physical_rows);
  }
  ManifestEdit edit;
  edit.version = (*manifest)->version() + 1;
  edit.transaction_file = "t.txn";
  const auto next = BuildNextManifest(**manifest, edit);
  if (!next.ok()) return 0;
  if (!Manifest::Parse(arrow::Buffer::FromString(*next), "next").ok()) std::abort();
  return 0;
}
