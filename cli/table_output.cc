#include "table_output.h"

#include <algorithm>
#include <ostream>
#include <utility>

namespace pennon::cli {
namespace {

constexpr size_t kHeldRows = 1000;

// Code points, which is close enough to columns for aligned output.
size_t WidthOf(const std::string& text) {
  return static_cast<size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}

std::string Shorten(const std::string& text, size_t most) {
  if (most == 0 || WidthOf(text) <= most) return text;
  size_t kept = 0;
  size_t end = 0;
  for (; end < text.size(); ++end) {
    if ((text[end] & 0xC0) != 0x80 && kept++ == most - 1) break;
  }
  return text.substr(0, end) + "…";
}

// A line break or tab inside a cell would break the table.
std::string OneLine(std::string text, bool markdown) {
  std::string out;
  for (char c : text) {
    if (c == '\n') {
      out += "\\n";
    } else if (c == '\t') {
      out += "\\t";
    } else if (c == '\r') {
      out += "\\r";
    } else if (markdown && c == '|') {
      out += "\\|";
    } else {
      out += c;
    }
  }
  return out;
}

}  // namespace

TextTable::TextTable(std::vector<TextColumn> columns, std::ostream* out, bool markdown,
                     size_t most_width)
    : columns_(std::move(columns)), out_(out), markdown_(markdown), most_width_(most_width) {}

TextTable::~TextTable() {
  if (!started_) Start();
}

void TextTable::Add(std::vector<std::string> cells) {
  for (auto& cell : cells) cell = Shorten(OneLine(std::move(cell), markdown_), most_width_);
  if (started_) {
    PrintRow(cells);
    return;
  }
  held_.push_back(std::move(cells));
  if (held_.size() >= kHeldRows) Start();
}

void TextTable::Start() {
  started_ = true;
  for (size_t i = 0; i < columns_.size(); ++i) {
    size_t width = WidthOf(columns_[i].name);
    for (const auto& row : held_) width = std::max(width, WidthOf(row[i]));
    widths_.push_back(std::max<size_t>(width, markdown_ ? 3 : 1));
  }
  std::vector<std::string> names;
  std::vector<std::string> rules;
  for (size_t i = 0; i < columns_.size(); ++i) {
    names.push_back(columns_[i].name);
    std::string rule(widths_[i], '-');
    if (markdown_ && columns_[i].right) rule.back() = ':';
    rules.push_back(rule);
  }
  PrintRow(names);
  PrintRow(rules);
  for (const auto& row : held_) PrintRow(row);
  held_.clear();
}

void TextTable::PrintRow(const std::vector<std::string>& cells) {
  std::string line;
  for (size_t i = 0; i < cells.size(); ++i) {
    size_t width = WidthOf(cells[i]);
    std::string pad(width < widths_[i] ? widths_[i] - width : 0, ' ');
    std::string cell = columns_[i].right ? pad + cells[i] : cells[i] + pad;
    if (markdown_) {
      line += (i == 0 ? "| " : " | ") + cell;
    } else {
      line += (i == 0 ? "" : "  ") + cell;
    }
  }
  if (markdown_) {
    line += " |";
  } else {
    line.erase(line.find_last_not_of(' ') + 1);
  }
  *out_ << line << "\n";
}

}  // namespace pennon::cli
