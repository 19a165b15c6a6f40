// From an Arrow array of a nested type to what a leaf column of a 2.1 or 2.2 file stores: one
// (repetition, definition) pair an entry, and the leaf's values.
//
//   repetition    0 = the next item of the innermost list, k = the first item of the k-th list from
//                 the inside; the number of lists = a new row
//   definition    0 = a value; else the level of the outermost layer that is null or empty there.
//                 Layers own levels innermost first: an item layer one (null), a list layer up to
//                 two (null, empty)
//
// An entry whose definition belongs to a list, or to a layer around one, owns no value; what lies
// under null lists is dropped. Source: docs/format-notes.md, "Levels". Stateless, thread-safe.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <arrow/array/data.h>
#include <arrow/buffer.h>
#include <arrow/memory_pool.h>
#include <arrow/result.h>

#include "pennon/encoding/nested/page_nesting.h"

namespace pennon::encoding {

enum class NestingKind {
  kItem,           ///< a struct, the entries of a map, or the leaf itself
  kList,           ///< list, large_list or map
  kFixedSizeList,  ///< fixed_size_list of structs
};

/// One field on the way from a top-level field to a leaf.
struct NestingLayer {
  NestingKind kind = NestingKind::kItem;
  bool nullable = true;
  int child = -1;      ///< position of the next layer among the children; -1 for the leaf
  std::string column;  ///< the field's name from the top, for messages
};

/// The way to one leaf, outermost field first; the last one is the leaf.
using Nesting = std::vector<NestingLayer>;

/// Whether a struct stands above a list: then all pages of the column must state the same layers,
/// or the reference reader miscounts the struct's nulls.
bool HasItemAboveList(const Nesting& nesting);

/// Rows of one leaf column, taken apart.
struct ShreddedRows {
  PageNesting nesting;
  std::shared_ptr<arrow::ArrayData> values;  ///< of the entries that own one, null ones too
  /// Of `values`, bit 0 first; null if all are valid. Takes the place of the array's own: structs
  /// around a value may be null, too.
  std::shared_ptr<arrow::Buffer> validity;
  uint64_t null_count = 0;  ///< of `values`
};

/// Takes `array`, of the type of the outermost layer, apart along `nesting`. With `declare_all` the
/// layers state what the fields allow, otherwise what the rows have. A null in a field that is not
/// nullable is a kInvalidInput error.
arrow::Result<ShreddedRows> Shred(const arrow::ArrayData& array, const Nesting& nesting,
                                  bool declare_all, arrow::MemoryPool* pool);

}  // namespace pennon::encoding
