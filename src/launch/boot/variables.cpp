#include "launch/boot/variables.hpp"

#include <algorithm>
#include <iterator>

#include "launch/boot/edit_distance.hpp"

namespace heddle::boot {

namespace {

bool is_known(std::string_view name) {
  const auto begins = [name](std::string_view prefix) { return name.starts_with(prefix); };
  return std::any_of(std::begin(reserved_prefixes), std::end(reserved_prefixes), begins) ||
         std::any_of(variables.begin(), variables.end(), [name](const Variable& one) { return one.name == name; });
}

}  // namespace

std::string spelled(std::string_view value) {
  constexpr std::string_view blanks = " \t";
  std::string text;
  for (std::size_t at = 0; at < value.size();) {
    const std::size_t end = std::min(value.find_first_of(",:=", at), value.size());
    std::string_view word = value.substr(at, end - at);
    word.remove_prefix(std::min(word.find_first_not_of(blanks), word.size()));
    word = word.substr(0, word.find_last_not_of(blanks) + 1);
    const bool is_file = word.find('/') != std::string_view::npos;
    for (const char c : word) text += is_file || c < 'A' || c > 'Z' ? c : static_cast<char>(c - 'A' + 'a');
    if (end < value.size()) text += value[end];
    at = end + 1;
  }
  return text;
}

std::string spelled(std::string_view name, std::string_view value) {
  const bool words = std::any_of(variables.begin(), variables.end(),
                                 [name](const Variable& one) { return one.name == name && one.words; });
  return words ? spelled(value) : std::string(value);
}

std::string_view nearest_variable(std::string_view name) {
  std::string_view nearest;
  // More than half of the part behind the common prefix must match.
  std::size_t least = (name.size() - std::min(name.size(), variable_prefix.size())) / 2 + 1;
  for (const Variable& one : variables) {
    if (one.reader == Reader::launch) continue;
    const std::size_t edits = edit_distance(name, one.name);
    if (edits >= least) continue;
    least = edits;
    nearest = one.name;
  }
  return nearest;
}

std::string unknown_variables(const std::vector<std::string>& names) {
  std::string list;
  bool all_resemble = true;
  for (const std::string& name : names) {
    if (!name.starts_with(variable_prefix) || is_known(name)) continue;
    const std::string_view nearest = nearest_variable(name);
    list += (list.empty() ? "" : ", ") + name;
    if (!nearest.empty()) list += " (did you mean " + std::string(nearest) + "?)";
    all_resemble = all_resemble && !nearest.empty();
  }
  if (list.empty()) return "";
  std::string sentence = "unknown variables, ignored: " + list;
  if (all_resemble) return sentence;
  sentence += ". The known ones:";
  for (const Variable& one : variables)
    if (one.reader == Reader::library) sentence += (&one == variables.data() ? " " : ", ") + std::string(one.name);
  return sentence;
}

}  // namespace heddle::boot
