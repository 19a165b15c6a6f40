// One column of an open data file: its pages, the decoders made for them, and reading rows of it.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include <arrow/array/data.h>
#include <arrow/result.h>

#include "pennon/encoding/page.h"
#include "pennon/file/container.h"
#include "pennon/file/reader.h"
#include "pennon/schema.h"
#include "pennon/wire/column_metadata.h"

namespace pennon::file {

/// What the values of a column are read as.
struct ValueForm {
  encoding::LeafType leaf;
  std::shared_ptr<arrow::DataType> type;  ///< of the result; its LeafType, but for the role
  wire::ColumnEncodingKind encoding = wire::ColumnEncodingKind::kValues;
};

/// Adds file and field to an error that does not name them.
arrow::Status Located(const arrow::Status& status, const std::string& path, const Field& field);

/// Immutable but for its cache of decoders; thread-safe.
class Column {
 public:
  using Decoder = std::shared_ptr<const encoding::PageDecoder>;

  /// The rows of one page that a read wants: rows[first_rows .. end_rows) of the plan.
  struct PagePlan {
    size_t page;
    size_t first_rows;
    size_t end_rows;
    Decoder decoder = nullptr;
    uint64_t count = 0;  ///< rows
    uint64_t bytes = 0;  ///< of the page that these rows take, about
  };
  struct Plan {
    std::vector<encoding::PageRows> rows;
    std::vector<PagePlan> pages;

    std::span<const encoding::PageRows> RowsOf(const PagePlan& page) const {
      return {rows.data() + page.first_rows, page.end_rows - page.first_rows};
    }
  };

  /// Reads and checks the metadata of column `column` of `container`.
  static arrow::Result<std::shared_ptr<const Column>> Open(const Container& container,
                                                           uint32_t column);

  /// Values in the column.
  uint64_t length() const { return starts_.back(); }
  /// Bytes of the pages' buffers.
  uint64_t page_bytes() const { return page_bytes_; }

  /// Reads rows of the column, which holds the leaf `field`, as FileReader::Read does.
  arrow::Result<std::shared_ptr<arrow::ArrayData>> Read(const Container& container,
                                                        const Field& field,
                                                        std::span<const RowRange> ranges,
                                                        uint64_t out_length) const;
  /// The same for values of any form, which are those of `field` or belong to it.
  arrow::Result<std::shared_ptr<arrow::ArrayData>> ReadAs(const Container& container,
                                                          const Field& field, const ValueForm& form,
                                                          std::span<const RowRange> ranges,
                                                          uint64_t out_length) const;

  /// Fails with kInvalidInput unless `ranges` ascend and lie in the column and in the output.
  arrow::Status CheckRanges(std::span<const RowRange> ranges, uint64_t out_length) const;
  /// The first row of each page that has values, then the length.
  std::span<const uint64_t> page_starts() const { return starts_; }
  /// Of the column of a list (2.0): the first item of each page, then how many items there are. A
  /// sum that cannot be counted is a kCorrupt error.
  arrow::Result<std::shared_ptr<const std::vector<uint64_t>>> ItemStarts(
      std::string_view path) const;
  /// Fails with kCorrupt unless the column is the header of a struct (2.0).
  arrow::Status CheckStructHeader(std::string_view path) const;

  /// Checks `ranges` of rows of the column as Read demands them, and splits them by page. The
  /// decoders read values of `type`.
  arrow::Result<Plan> MakePlan(const Container& container, const Field& field,
                               const encoding::LeafType& type, std::span<const RowRange> ranges,
                               uint64_t out_length) const;
  /// Forgets decoders, when a plan has been read, if they take too much memory.
  void TrimCache(const Plan& plan) const;

  size_t MemoryBytes() const;

 private:
  Column() = default;
  arrow::Status CheckEncoding(const Container& container, const ValueForm& form) const;
  Plan SplitByPage(std::span<const RowRange> ranges) const;
  arrow::Result<Decoder> DecoderOf(const Container& container, const Field& field,
                                   const encoding::LeafType& type, size_t page) const;
  arrow::Status ReadPages(const Container& container, const Plan& plan,
                          encoding::ColumnOutput* out) const;
  /// The output of a plan whose values lie in a mapped file as the array wants them; null if not.
  std::unique_ptr<encoding::ColumnOutput> ViewMapped(const Container& container, const Plan& plan,
                                                     const encoding::LeafType& type,
                                                     uint64_t out_length) const;

  std::string bytes_;  ///< what metadata_ points into
  wire::ColumnMetadata metadata_;
  std::vector<uint64_t> starts_;  ///< first row of each page; then the length
  uint64_t page_bytes_ = 0;

  mutable std::mutex mutex_;
  mutable encoding::LeafType decoders_type_;  ///< of the decoders in the cache
  mutable std::vector<Decoder> decoders_;     ///< one a page, null until made
  mutable std::shared_ptr<const std::vector<uint64_t>> item_starts_;  ///< null until asked for
};

}  // namespace pennon::file
