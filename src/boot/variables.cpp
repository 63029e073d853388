#include "boot/variables.hpp"

#include <algorithm>
#include <iterator>

namespace heddle::boot {

namespace {

bool is_known(std::string_view name) {
  const auto begins = [name](std::string_view prefix) { return name.starts_with(prefix); };
  return std::any_of(std::begin(reserved_prefixes), std::end(reserved_prefixes), begins) ||
         std::any_of(variables.begin(), variables.end(), [name](const Variable& one) { return one.name == name; });
}

char upper(char c) { return 'a' <= c && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; }

// Characters to insert, delete or replace, or neighbours to swap, until the two are the same (the distance of optimal
// string alignment). Capitals and small letters are the same.
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before_last(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) last[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const bool same = upper(a[i - 1]) == upper(b[j - 1]);
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (same ? 0 : 1)});
      const bool swapped = i > 1 && j > 1 && upper(a[i - 1]) == upper(b[j - 2]) && upper(a[i - 2]) == upper(b[j - 1]);
      if (swapped) row[j] = std::min(row[j], before_last[j - 2] + 1);
    }
    std::swap(before_last, last);
    std::swap(last, row);
  }
  return last[b.size()];
}

}  // namespace

std::string_view nearest_variable(std::string_view name) {
  std::string_view nearest;
  // Of what comes behind the prefix that all share, more than half must be right.
  std::size_t least = (name.size() - std::min(name.size(), variable_prefix.size())) / 2 + 1;
  for (const Variable& one : variables) {
    if (one.reader == Reader::launch) continue;
    const std::size_t edits = distance(name, one.name);
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
