// What a data file says of itself, message by message, of any bytes: a value or an error, never a
// crash. What parses can be described in words.
//
//   [message: b % 5][version: b % 3][u16 size of the file, in pages of 256 bytes][bytes]
#include <cstdint>
#include <span>
#include <string_view>

#include "pennon/encoding/encoding_text.h"
#include "pennon/encoding/v20/page.h"
#include "pennon/wire/array_encoding.h"
#include "pennon/wire/column_metadata.h"
#include "pennon/wire/file_descriptor.h"
#include "pennon/wire/file_footer.h"
#include "pennon/wire/page_layout.h"
#include "taker.h"

namespace {

using namespace pennon;
using fuzz::Require;

void ReadFooter(std::span<const uint8_t> bytes, uint64_t file_size) {
  if (bytes.size() < wire::kFooterBytes) return;
  const auto footer = wire::ParseFileFooter(bytes.first(wire::kFooterBytes), file_size, "fuzz");
  if (!footer.ok()) return;
  Require(footer->minor <= 2);
  Require(footer->gbo_start + footer->num_global_buffers * wire::kTableEntryBytes <= file_size);
  Require(footer->cmo_start + footer->num_columns * wire::kTableEntryBytes <= file_size);
  const auto table = bytes.subspan(wire::kFooterBytes);
  const size_t entries = table.size() / wire::kTableEntryBytes;
  if (entries >= footer->num_global_buffers)
    (void)wire::CheckGlobalBuffers(*footer, table, file_size, "fuzz");
  for (size_t i = 0; i < entries; ++i) {
    const auto at = wire::TableEntry(table, i);
    if (!wire::CheckColumnLocation(*footer, at, "fuzz").ok()) continue;
    Require(at.position <= file_size && at.size <= file_size - at.position);
  }
}

void ReadColumn(std::string_view bytes, uint64_t file_size, uint16_t minor) {
  const char* const message =
      minor == 0 ? "lance.encodings.ArrayEncoding" : "lance.encodings21.PageLayout";
  const auto column = wire::ParseColumnMetadata(bytes, message, file_size, minor > 0, "fuzz");
  if (!column.ok()) return;
  for (const wire::PageMetadata& page : column->pages) {
    for (const auto& buffer : page.buffers)
      Require(buffer.position <= file_size && buffer.size <= file_size - buffer.position);
    (void)encoding::DescribePage(page.encoding, page.buffers.size(), minor, "fuzz");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  fuzz::Taker in(std::span(data, size));
  const uint8_t message = in.Byte();
  const uint16_t minor = in.Byte() % 3;
  const uint64_t file_size = uint64_t{in.Short()} * 256;
  const auto rest = in.Rest();
  const std::string_view bytes(reinterpret_cast<const char*>(rest.data()), rest.size());
  switch (message % 5) {
    case 0:
      ReadFooter(rest, file_size);
      break;
    case 1:
      ReadColumn(bytes, file_size, minor);
      break;
    case 2:
      (void)encoding::DescribePage(bytes, file_size / 256 % 8, minor, "fuzz");
      if (minor == 0) (void)encoding::V20ListItems(bytes, "fuzz");
      break;
    case 3:
      (void)wire::ParseFileDescriptor(bytes, "fuzz");
      break;
    default: {
      // What is written of a tree is read as that tree.
      const auto tree = wire::ParseArrayEncoding(bytes, "fuzz");
      if (!tree.ok()) break;
      const auto written = wire::SerializeArrayEncoding(*tree);
      if (!written.ok()) break;
      const auto again = wire::ParseArrayEncoding(*written, "fuzz");
      Require(again.ok() && *again == *tree);
    }
  }
  return 0;
}
