// From the levels of a nested column's pages to Arrow's validity bitmaps and list offsets.
//
// The path from a leaf to the root is a list of layers, innermost first: the leaf, then every
// struct and list above it. Levels are numbered from the inside too: a repetition level says how
// many list layers, counted from the innermost, the entry starts anew (0 = it continues all); a
// definition level says which layer is null or empty there (0 = none).
//
//   list<int32>, item null 1, list null 2, list empty 3      rows  [1,2]  []  null  [null,3]
//     repetition  1 0   1   1   1 0
//     definition  0 0   3   2   1 0
//
// Pages of one column may differ in which of their layers can be null or empty: each is taken apart
// by its own kinds and appended. Source: docs/format-notes.md, "Levels". All input is untrusted.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <arrow/buffer.h>
#include <arrow/buffer_builder.h>
#include <arrow/memory_pool.h>
#include <arrow/result.h>

#include "pennon/encoding/page.h"
#include "pennon/wire/page_layout.h"

namespace pennon::encoding {

/// What the schema says of one field on the path from a leaf to the root.
struct PathLayer {
  bool is_list = false;  ///< a list, large_list or map; else a leaf, struct or fixed-size list
  int offset_bits = 32;  ///< of a list: 32 or 64
  uint32_t dimension =
      1;  ///< fixed-size list of structs: its items; they are slots one layer below
  bool never_null = false;  ///< a struct without fields: its level means nothing
};

/// One layer of all that was appended, as Arrow buffers.
struct NestingBuffers {
  uint64_t length = 0;
  uint64_t null_count = 0;
  std::shared_ptr<arrow::Buffer> validity;  ///< null if nothing is null
  std::shared_ptr<arrow::Buffer> offsets;   ///< of a list: length + 1, the first is 0
  uint64_t items = 0;                       ///< of a list: the last offset
};

/// Takes the levels of one leaf's pages apart, page by page. Not thread-safe.
class NestingReader {
 public:
  /// For a leaf with `layers`, innermost first, at least one. Only the `wanted` innermost layers
  /// (at least one) get buffers. A fixed-size list of structs below a list is kUnsupported.
  static arrow::Result<NestingReader> Make(std::vector<PathLayer> layers, size_t wanted,
                                           arrow::MemoryPool* pool);

  /// Slots of the column for each row: the product of the dimensions.
  uint64_t slots_per_row() const { return slots_per_row_; }
  /// Whether a layer is a list, so that the number of values follows from levels only.
  bool has_list() const { return lists_ > 0; }
  /// Values of the leaf appended so far, null ones too.
  uint64_t values() const { return outputs_[0].length; }

  /// Appends `slots` slots of a page whose layers are of `kinds`, innermost first. Levels that do
  /// not describe exactly these slots, or kinds that are not those of the schema, are kCorrupt.
  arrow::Status AppendPage(PageLevels levels, std::span<const wire::LayerKind> kinds,
                           uint64_t slots);

  /// Gives the buffers of layer `layer` < `wanted`; once for each.
  arrow::Result<NestingBuffers> Finish(size_t layer);

 private:
  /// A wanted layer as far as it is appended.
  struct Output {
    explicit Output(arrow::MemoryPool* pool) : validity(pool), offsets(pool) {}
    uint64_t length = 0;
    arrow::TypedBufferBuilder<bool> validity;  ///< shorter than `length` if the rest is valid
    arrow::BufferBuilder offsets;
    uint64_t items = 0;
  };
  /// The slots of the current layer within a page: their definition levels (null = all 0).
  struct Slots {
    const uint16_t* definition = nullptr;
    uint64_t count = 0;
  };
  /// The levels that one list layer of a page owns.
  struct ListLevels {
    uint16_t base = 0;   ///< highest level of the layers inside
    uint16_t empty = 0;  ///< level of an empty list; kNoLevel: none
    uint16_t outer = 0;  ///< highest level up to the next list layer outside, exclusive
  };

  NestingReader(std::vector<PathLayer> layers, size_t wanted, arrow::MemoryPool* pool);
  arrow::Status CheckLevels(const PageLevels& levels, std::span<const wire::LayerKind> kinds,
                            uint64_t slots) const;
  arrow::Status AppendValidity(Output* out, Slots slots, uint16_t base, uint16_t empty);
  Slots KeepVisible(const PageLevels& levels, uint16_t top);
  Slots KeepEvery(Slots slots, uint64_t step);
  arrow::Result<Slots> AppendList(size_t layer, const ListLevels& list, PageLevels* levels);

  std::vector<PathLayer> layers_;
  std::vector<Output> outputs_;
  uint64_t slots_per_row_ = 1;
  uint16_t lists_ = 0;
  std::vector<uint16_t> kept_;   ///< levels of slots, where not all entries are slots
  std::vector<uint8_t> packed_;  ///< a page's bitmap
};

}  // namespace pennon::encoding
