#include "mpi/comm/hints.hpp"

#include <algorithm>
#include <iterator>
#include <optional>

#include "messaging/engine/asked_models.hpp"
#include "objects/object/group.hpp"
#include "objects/object/session.hpp"

namespace heddle {

namespace {

// The program's assertions about its use of the communicator, with their possible values.
constexpr std::string_view assertions[] = {
    "mpi_assert_no_any_tag",
    "mpi_assert_no_any_source",
    "mpi_assert_exact_length",
    "mpi_assert_allow_overtaking",
    "mpi_assert_strict_persistent_collective_ordering",
};

bool is_hint(const std::pair<std::string, std::string>& entry) {
  const auto& [key, value] = entry;
  if (key == "mpi_assert_memory_alloc_kinds" || key == model_key) return true;
  if (std::find(std::begin(assertions), std::end(assertions), key) == std::end(assertions)) return false;
  return value == "true" || value == "false";
}

}  // namespace

Context promised(const InfoEntries& hints) {
  Context all = 0;
  for (const auto& [key, value] : hints) {
    if (value != "true") continue;
    if (key == "mpi_assert_no_any_tag") all |= promise_no_any_tag;
    if (key == "mpi_assert_no_any_source") all |= promise_no_any_source;
  }
  return all;
}

Error choose_model(Rank& rank, const Group& group, const Info* info, int& number) {
  if (const auto asked = info ? info->get(model_key) : std::nullopt) return engine::ask_for_model(rank, *asked, number);
  number = group.session ? group.session->asked_model : 0;
  return success;
}

InfoEntries known_hints(const Info* info) {
  if (!info) return {};
  InfoEntries hints = info->entries();
  std::erase_if(hints, [](const auto& entry) { return !is_hint(entry); });
  return hints;
}

}  // namespace heddle
