#include "pennon/wire/data_file_messages.h"

#include <protozero/pbf_writer.hpp>

namespace pennon::wire {
namespace {

// Encoding{direct{encoding: Any{type_url, value}}}
void AddDirect(protozero::pbf_writer* parent, uint32_t tag, const std::string& message,
               const std::string& value) {
  std::string any;
  protozero::pbf_writer any_writer(any);
  any_writer.add_string(1, "/" + message);
  any_writer.add_bytes(2, value);
  protozero::pbf_writer encoding(*parent, tag);
  protozero::pbf_writer direct(encoding, 2);
  direct.add_bytes(1, any);
}

void AddPage(protozero::pbf_writer* column, const PageEntry& page,
             const std::string& encoding_message) {
  protozero::pbf_writer writer(*column, 2);
  writer.add_packed_uint64(1, page.buffer_offsets.begin(), page.buffer_offsets.end());
  writer.add_packed_uint64(2, page.buffer_sizes.begin(), page.buffer_sizes.end());
  if (page.length != 0) writer.add_uint64(3, page.length);
  AddDirect(&writer, 4, encoding_message, page.encoding);
  if (page.priority != 0) writer.add_uint64(5, page.priority);
}

}  // namespace

std::string WriteColumnMetadata(std::span<const PageEntry> pages,
                                const std::string& encoding_message, ColumnKind kind) {
  std::string out;
  protozero::pbf_writer writer(out);
  // ColumnEncoding{values: Empty}, or {blob: Blob{inner: that}}
  std::string column("\x0a\x00", 2);
  if (kind == ColumnKind::kBlobPlaces) column = std::string("\x1a\x04\x0a\x02", 4) + column;
  AddDirect(&writer, 1, "lance.encodings.ColumnEncoding", column);
  for (const PageEntry& page : pages) AddPage(&writer, page, encoding_message);
  return out;
}

std::string WriteFileDescriptor(std::span<const FieldMessage> fields, uint64_t length) {
  std::string out;
  protozero::pbf_writer writer(out);
  {
    protozero::pbf_writer schema(writer, 1);
    for (const FieldMessage& field : fields) schema.add_message(1, EncodeFieldMessage(field));
  }
  if (length != 0) writer.add_uint64(2, length);
  return out;
}

}  // namespace pennon::wire
