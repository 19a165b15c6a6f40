// Values for fields inside a struct, in the shape of the struct: as NULL as it is in the table.
//
// Lance lets an overlay change the fields of a struct; whether it may change the NULL-ness of the
// struct itself readers disagree on. So no overlay of pennon's does.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <arrow/result.h>
#include <arrow/type_fwd.h>

#include "pennon/read/snapshot.h"
#include "pennon/schema.h"
#include "pennon/table/fragment.h"

namespace pennon::write {

/// New values for `field`, at or below the top-level field `top`, in its type and in ascending
/// order of offset.
struct FieldCells {
  std::string name;  ///< as given, for messages
  const Field* top = nullptr;
  const Field* field = nullptr;
  std::vector<uint32_t> offsets;
  std::shared_ptr<arrow::Array> values;
};

/// A top-level struct cut down to the fields that are set, and its values.
struct StructCells {
  Field field;
  std::shared_ptr<arrow::Array> values;
};

/// Joins `cells`, of different fields of one top-level plain struct, all with the same offsets
/// (else kInvalidInput). Reads the struct's NULL-ness at the offsets. kInvalidInput, naming the
/// row: a value where a struct above is NULL, a struct that would become NULL or cease to be.
arrow::Result<StructCells> JoinStruct(const std::shared_ptr<const read::Snapshot>& snapshot,
                                      const table::Fragment& fragment,
                                      std::span<const FieldCells> cells);

}  // namespace pennon::write
