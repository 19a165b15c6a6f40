// From the flat list of nodes that a manifest stores to the tree, and back; and from an Arrow
// schema.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <arrow/result.h>
#include <arrow/type_fwd.h>

#include "pennon/schema.h"
#include "pennon/wire/field_message.h"

namespace pennon::schema {

/// Builds the tree. Checks: ids >= 0 and unique, parents before their children, depth at most 64,
/// children that fit the type, top-level names unique (kCorrupt); a logical type that is not known
/// is kUnsupported. `path` is for messages.
arrow::Result<Schema> BuildSchema(std::vector<wire::FieldMessage> nodes,
                                  std::map<std::string, std::string> metadata,
                                  std::string_view path);

/// The nodes of `fields` and all below them, in pre-order, as a manifest stores them.
std::vector<wire::FieldMessage> FlattenFields(std::span<const Field> fields);

/// Numbers the fields of `schema` in pre-order from `first_id`. A type the format cannot hold is
/// kUnsupported, a repeated or reserved column name kInvalidInput.
arrow::Result<Schema> FromArrow(const arrow::Schema& schema, int32_t first_id = 0);

}  // namespace pennon::schema
