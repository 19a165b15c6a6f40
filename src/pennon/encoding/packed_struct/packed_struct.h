// Structs whose children share one column: the values of all children of a row, in order, then
// those of the next row.
//
//   PackedStruct           fixed-width children only, whole bytes each; `values` is Flat of their
//                          sum. In mini-block chunks.
//   VariablePackedStruct   a row is, for each child in order,
//                            fixed     the child's bytes
//                            variable  a length of 4 or 8 bytes, then that many bytes
//                          where the child's own encoding says what its bytes are:
//                            Flat             the value
//                            FixedSizeList    for each list layer with validity, outermost first,
//                                             its bits in whole bytes; then the items
//                            [General] [Fsst] Variable       a string
//                            VariablePackedStruct            a row of that struct
//                          A null row has no bytes. In full-zip pages, whose records are the rows.
//
// Children are never null. Source: docs/format-notes.md, "Packed structs". All input is untrusted.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include <arrow/result.h>

#include "pennon/encoding/full_zip/fixed_value.h"
#include "pennon/encoding/kernels/fsst.h"
#include "pennon/encoding/kernels/general.h"
#include "pennon/encoding/leaf_type.h"
#include "pennon/encoding/output.h"
#include "pennon/wire/page_layout.h"

namespace pennon::encoding {

/// The bits of a row of a PackedStruct of `type`. An encoding that cannot hold such rows is an
/// error.
arrow::Result<uint64_t> PackedRowBits(const wire::CompressiveEncoding& encoding,
                                      const LeafType& type);

/// Writes `count` rows of a PackedStruct, `stride` bytes apart from `rows`, to the slots of the
/// children of `out` from `slot`.
void WritePackedRows(const uint8_t* rows, uint64_t stride, uint64_t count, uint64_t slot,
                     ColumnOutput* out);

/// Decodes the rows of a VariablePackedStruct. Immutable, thread-safe.
class VariablePackedRows {
 public:
  /// Takes the encoding of structs of `type`. One that cannot hold them is a kCorrupt error, one
  /// that is not read in this position a kUnsupported error.
  static arrow::Result<VariablePackedRows> Make(const wire::CompressiveEncoding& encoding,
                                                const LeafType& type);

  /// Writes rows to the slots of the children of `out` from `slot`. A span without data is a null
  /// row, whose children become zero or empty. A row that is longer or shorter than its children
  /// is a kCorrupt error. The spans are used up.
  arrow::Status Write(std::span<std::span<const uint8_t>> rows, uint64_t slot,
                      ColumnOutput* out) const;

  size_t MemoryBytes() const;

 private:
  struct Child {
    uint64_t bytes = 0;  ///< of a fixed child's value, or of a variable one's length
    bool is_variable = false;
    FixedValue fixed;
    std::optional<GeneralScheme> general;
    std::optional<FsstTable> fsst;
    std::unique_ptr<const VariablePackedRows> nested;
  };

  VariablePackedRows() = default;
  static arrow::Status MakeString(const wire::CompressiveEncoding& encoding, const LeafType& type,
                                  Child* child);
  static arrow::Status WriteFixed(const Child& child, std::span<std::span<const uint8_t>> rows,
                                  uint64_t slot, ColumnOutput* out);
  static arrow::Status WriteStrings(const Child& child, std::span<const std::span<const uint8_t>>,
                                    uint64_t slot, ColumnOutput* out);

  std::vector<Child> children_;
};

}  // namespace pennon::encoding
