// Aligned text and Markdown tables.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

namespace pennon::cli {

/// How columns are aligned: numbers to the right.
struct TextColumn {
  std::string name;
  bool right = false;
};

/// Prints an aligned table; widths come from the first rows, later wider cells push out.
class TextTable {
 public:
  /// `most_width` caps a cell's printed width (0 = none); longer ones end in "…".
  TextTable(std::vector<TextColumn> columns, std::ostream* out, bool markdown, size_t most_width);
  /// Prints what is held back.
  ~TextTable();
  TextTable(const TextTable&) = delete;
  TextTable& operator=(const TextTable&) = delete;

  void Add(std::vector<std::string> cells);

 private:
  void Start();
  void PrintRow(const std::vector<std::string>& cells);

  std::vector<TextColumn> columns_;
  std::ostream* out_;
  bool markdown_;
  size_t most_width_;
  bool started_ = false;
  std::vector<size_t> widths_;
  std::vector<std::vector<std::string>> held_;
};

}  // namespace pennon::cli
