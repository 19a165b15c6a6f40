// What the writer makes of the fields of a file: the columns, in file order, and how each is
// written.
//
//   2.0         a column for each list (offsets), struct (a header) and leaf
//   2.1, 2.2    a column for each leaf; what lies above it is in its levels
//
// Source: docs/format-notes.md, "Which schema field owns a column".
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <arrow/result.h>
#include <arrow/type_fwd.h>

#include "pennon/encoding/encoding_hints.h"
#include "pennon/encoding/leaf_type.h"
#include "pennon/encoding/nested/shredding.h"
#include "pennon/file/reader.h"
#include "pennon/schema.h"

namespace pennon::file {

enum class ColumnForm {
  kPlain,         ///< values of LeafType
  kDictionary,    ///< an Arrow dictionary
  kPackedStruct,  ///< a struct whose children share the column
  kBlob,          ///< byte strings outside the pages
  kBlobV2,        ///< the same as 2.2 tables have them: blob_v2_writer.h
  kEmptyStruct,   ///< a struct without children
  kListOffsets,   ///< 2.0: where each list ends
  kStructHeader,  ///< 2.0: says how long its children are
};

/// How one column is written.
struct ColumnPlan {
  ColumnForm form = ColumnForm::kPlain;
  int32_t field_id = -1;
  size_t top = 0;             ///< position of the top-level field at or above the column's
  encoding::Nesting nesting;  ///< from that field to the column's
  bool declare_all = false;   ///< whether all pages state the layers that the fields allow
  encoding::LeafType leaf;    ///< kPlain, kBlob; kDictionary: the indexes
  encoding::LeafType items;   ///< kDictionary: the items
  std::vector<encoding::LeafType> children;  ///< kPackedStruct
  arrow::Status refusal;  ///< kPackedStruct: why the version cannot hold a value of the column
  encoding::PageOptions options;
  std::shared_ptr<arrow::DataType> type;  ///< of the field
  std::string name;                       ///< of the field from the top, for messages
};

/// The columns that hold `fields` in a file of `version`, in their order. What the version cannot
/// hold is a kUnsupported error naming the column.
arrow::Result<std::vector<ColumnPlan>> PlanColumns(const std::vector<Field>& fields,
                                                   FileVersion version);

}  // namespace pennon::file
