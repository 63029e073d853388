// Text in columns: the first to the left, numbers to the right.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

namespace heddle::tool {

class Table {
 public:
  explicit Table(std::vector<std::string> head) { rows_.push_back(std::move(head)); }
  void add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }

  std::string text() const {
    std::vector<std::size_t> widths(rows_[0].size());
    for (const auto& row : rows_)
      for (std::size_t i = 0; i < widths.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
    std::string text;
    for (const auto& row : rows_) {
      for (std::size_t i = 0; i < widths.size(); ++i) {
        const std::string padding(widths[i] - row[i].size(), ' ');
        text += "  " + (i == 0 ? row[i] + padding : padding + row[i]);
      }
      text += '\n';
    }
    return text;
  }

 private:
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace heddle::tool
