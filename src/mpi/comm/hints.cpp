#include "mpi/comm/hints.hpp"

#include <optional>

#include "messaging/engine/asked_models.hpp"
#include "objects/object/group.hpp"
#include "objects/object/session.hpp"

namespace heddle {

namespace {

struct Promise {
  KnownKey key;
  Context bit;
};
constexpr Promise promise_keys[] = {
    {"mpi_assert_no_any_tag", promise_no_any_tag},
    {"mpi_assert_no_any_source", promise_no_any_source},
};

}  // namespace

Context promised(const InfoEntries& hints) {
  Context all = 0;
  for (const auto& [key, value] : hints) {
    for (const Promise& promise : promise_keys)
      if (key == promise.key && value == "true") all |= promise.bit;
  }
  return all;
}

Error choose_model(Rank& rank, const Group& group, const Info* info, int& number) {
  if (const auto asked = value_of(info, model_key)) return engine::ask_for_model(rank, *asked, number);
  number = group.session ? group.session->asked_model : 0;
  return success;
}

InfoEntries known_hints(const Info* info) {
  InfoEntries hints = known_entries(info, InfoReader::communicator);
  std::erase_if(hints, [](const auto& hint) { return !find_info_key(hint.first)->allows(hint.second); });
  return hints;
}

}  // namespace heddle
