// The fields whose values lie in one column, whatever stands below them in the schema.
#pragma once

#include <memory>

#include <arrow/result.h>
#include <arrow/type_fwd.h>

#include "pennon/encoding/leaf_type.h"
#include "pennon/schema.h"

namespace pennon::file {

/// Whether all of `field` is in one column: a field with none below it, a packed struct or a blob.
bool OwnsOneColumn(const Field& field);

/// The shape of the values of `field`, for which OwnsOneColumn is true.
arrow::Result<encoding::LeafType> LeafTypeOf(const Field& field);

/// The Arrow type that its values are read as: that of the field, large_binary for a blob.
std::shared_ptr<arrow::DataType> LeafArrowType(const Field& field);

}  // namespace pennon::file
