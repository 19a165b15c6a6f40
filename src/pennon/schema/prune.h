// Parts of a field tree: what a read of some fields inside structs needs.
#pragma once

#include <cstdint>
#include <span>

#include "pennon/schema.h"

namespace pennon::schema {

/// Whether `field` is a struct whose children have columns of their own: its fields are read, found
/// and overlaid one by one. Lists, maps, packed structs, blobs and leaves are not.
bool IsPlainStruct(const Field& field);

/// A copy of `field` without the children of plain structs that are neither one of `ids` nor above
/// or below one. Children keep their order; types fit what is left. A struct that keeps no child is
/// left whole.
Field Prune(const Field& field, std::span<const int32_t> ids);

}  // namespace pennon::schema
