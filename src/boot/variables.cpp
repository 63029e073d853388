#include "boot/variables.hpp"

#include <algorithm>
#include <iterator>

#include "boot/edit_distance.hpp"

namespace heddle::boot {

namespace {

bool is_known(std::string_view name) {
  const auto begins = [name](std::string_view prefix) { return name.starts_with(prefix); };
  return std::any_of(std::begin(reserved_prefixes), std::end(reserved_prefixes), begins) ||
         std::any_of(variables.begin(), variables.end(), [name](const Variable& one) { return one.name == name; });
}

}  // namespace

std::string_view nearest_variable(std::string_view name) {
  std::string_view nearest;
  // Of what comes behind the prefix that all share, more than half must be right.
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
  std::string sentence = "no variable of Heddle, and without effect: " + list;
  if (all_resemble) return sentence;
  sentence += ". Those that are:";
  for (const Variable& one : variables)
    if (one.reader == Reader::library) sentence += (&one == variables.data() ? " " : ", ") + std::string(one.name);
  return sentence;
}

}  // namespace heddle::boot
