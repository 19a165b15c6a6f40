// One node of a stored schema (message lance.file.Field). The list that holds the nodes is the tree
// in pre-order.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include <arrow/result.h>

namespace pennon::wire {

/// What Field.encoding says; nothing reads it in 2.x files, yet every writer states it.
enum class FieldEncoding : uint32_t { kNone = 0, kPlain = 1, kVarBinary = 2, kDictionary = 3 };

struct FieldMessage {
  std::string name;
  int32_t id = 0;
  int32_t parent_id = 0;
  std::string logical_type;
  bool nullable = false;
  FieldEncoding encoding = FieldEncoding::kNone;
  std::string extension_name;  ///< a copy of metadata["ARROW:extension:name"]
  std::map<std::string, std::string> metadata;
  bool primary_key = false;
  uint32_t primary_key_position = 0;  ///< 1-based, 0 = none
  uint32_t clustering_key_position = 0;
};

/// Decodes one Field; names and types that are not UTF-8 are kCorrupt. `path` is for messages.
arrow::Result<FieldMessage> ParseFieldMessage(std::string_view bytes, std::string_view path);
std::string EncodeFieldMessage(const FieldMessage& field);

}  // namespace pennon::wire
