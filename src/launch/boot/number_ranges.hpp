// Numbers in a message: "0-3,8".
#pragma once

#include <algorithm>
#include <string>
#include <vector>

namespace heddle::boot {

inline std::string number_ranges(std::vector<int> numbers) {
  std::sort(numbers.begin(), numbers.end());
  std::string text;
  for (std::size_t i = 0; i < numbers.size();) {
    std::size_t end = i;
    while (end + 1 < numbers.size() && numbers[end + 1] == numbers[end] + 1) ++end;
    text += (text.empty() ? "" : ",") + std::to_string(numbers[i]);
    if (end > i) text += '-' + std::to_string(numbers[end]);
    i = end + 1;
  }
  return text;
}

}  // namespace heddle::boot
