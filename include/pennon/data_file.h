// What a single data file holds: its columns, pages and encodings. Plain values.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <arrow/result.h>

#include "pennon/context.h"

namespace pennon {

/// One page: values that are encoded together.
struct PageInfo {
  uint64_t values = 0;   ///< rows of the column; below a list still rows
  uint64_t bytes = 0;    ///< of its buffers
  std::string layout;    ///< "mini-block", "full-zip", "constant", "blob"; "array" in 2.0
  std::string encoding;  ///< the chain of encodings, outermost first: "Fsst(Variable(Flat32))"
  std::string levels;    ///< how repetition and definition levels are stored; empty if none are
  std::string
      dictionary;  ///< how dictionary items are stored and how many; empty if there are none
  std::vector<uint64_t> buffers;  ///< bytes of each buffer
};

/// One column, in the order of the file.
struct ColumnInfo {
  int number = 0;
  std::string name;  ///< dotted path of the field; empty if the file's own schema does not tell it
  std::string type;  ///< logical type of the field
  uint64_t values = 0;
  uint64_t bytes = 0;
  double bytes_per_value = 0;      ///< bytes / values; 0 without values
  double min_bytes_per_value = 0;  ///< of the page that packs its values best
  std::vector<PageInfo> pages;
};

/// What `pennon file` prints.
struct DataFileInfo {
  std::string path;
  std::string version;  ///< "2.2"
  uint64_t size_bytes = 0;
  uint64_t page_bytes = 0;  ///< of all pages; the rest is metadata, padding and blobs
  uint64_t rows = 0;        ///< of the longest column
  uint32_t global_buffers = 0;
  std::vector<ColumnInfo> columns;
};

/// Describes the data file at `path`, absolute in the terms of the context's store, or a path of
/// the local file system if that is null. A defect is a kCorrupt error; encodings that pennon does
/// not know are named all the same.
arrow::Result<DataFileInfo> DescribeDataFile(const std::string& path, const Context& context = {});

}  // namespace pennon
