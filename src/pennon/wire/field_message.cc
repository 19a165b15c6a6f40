#include "pennon/wire/field_message.h"

#include <arrow/util/utf8.h>
#include <protozero/pbf_writer.hpp>

#include "pennon/wire/message_reader.h"

namespace pennon::wire {
namespace {

enum : uint32_t {
  kName = 2,
  kId = 3,
  kParentId = 4,
  kLogicalType = 5,
  kNullable = 6,
  kEncoding = 7,
  kExtensionName = 9,
  kMetadata = 10,
  kPrimaryKey = 12,
  kPrimaryKeyPosition = 13,
  kClusteringKeyPosition = 15,
};

bool IsUtf8(std::string_view text) {
  return arrow::util::ValidateUTF8(reinterpret_cast<const uint8_t*>(text.data()),
                                   static_cast<int64_t>(text.size()));
}

}  // namespace

arrow::Result<FieldMessage> ParseFieldMessage(std::string_view bytes, std::string_view path) {
  arrow::util::InitializeUTF8();
  FieldMessage field;
  ARROW_RETURN_NOT_OK(Decode(path, "schema field", [&] {
    pbf_reader reader = ReaderOf(bytes);
    while (reader.next()) {
      switch (static_cast<uint32_t>(reader.tag_and_type())) {
        case Tag(kName, kBytes):
          field.name = ViewOf(reader);
          break;
        case Tag(kId, kVarint):
          field.id = reader.get_int32();
          break;
        case Tag(kParentId, kVarint):
          field.parent_id = reader.get_int32();
          break;
        case Tag(kLogicalType, kBytes):
          field.logical_type = ViewOf(reader);
          break;
        case Tag(kNullable, kVarint):
          field.nullable = reader.get_bool();
          break;
        case Tag(kEncoding, kVarint):
          field.encoding = static_cast<FieldEncoding>(reader.get_uint32());
          break;
        case Tag(kExtensionName, kBytes):
          field.extension_name = ViewOf(reader);
          break;
        case Tag(kMetadata, kBytes): {
          auto [key, value] = MapEntryOf(reader);
          field.metadata.insert_or_assign(std::move(key), std::move(value));
          break;
        }
        case Tag(kPrimaryKey, kVarint):
          field.primary_key = reader.get_bool();
          break;
        case Tag(kPrimaryKeyPosition, kVarint):
          field.primary_key_position = reader.get_uint32();
          break;
        case Tag(kClusteringKeyPosition, kVarint):
          field.clustering_key_position = reader.get_uint32();
          break;
        default:
          reader.skip();
      }
    }
    return arrow::Status::OK();
  }));
  if (!IsUtf8(field.name) || !IsUtf8(field.logical_type) || !IsUtf8(field.extension_name)) {
    return Corrupt(path, "The name or type of a schema field is not UTF-8: field id ", field.id,
                   ": ", path);
  }
  return field;
}

std::string EncodeFieldMessage(const FieldMessage& field) {
  std::string out;
  protozero::pbf_writer writer(out);
  if (!field.name.empty()) writer.add_string(kName, field.name);
  if (field.id != 0) writer.add_int32(kId, field.id);
  if (field.parent_id != 0) writer.add_int32(kParentId, field.parent_id);
  if (!field.logical_type.empty()) writer.add_string(kLogicalType, field.logical_type);
  if (field.nullable) writer.add_bool(kNullable, true);
  if (field.encoding != FieldEncoding::kNone)
    writer.add_uint32(kEncoding, static_cast<uint32_t>(field.encoding));
  if (!field.extension_name.empty()) writer.add_string(kExtensionName, field.extension_name);
  for (const auto& [key, value] : field.metadata) {
    protozero::pbf_writer entry(writer, kMetadata);
    entry.add_string(1, key);
    entry.add_bytes(2, value);
  }
  if (field.primary_key) writer.add_bool(kPrimaryKey, true);
  if (field.primary_key_position != 0)
    writer.add_uint32(kPrimaryKeyPosition, field.primary_key_position);
  if (field.clustering_key_position != 0)
    writer.add_uint32(kClusteringKeyPosition, field.clustering_key_position);
  return out;
}

}  // namespace pennon::wire
