// All strategies, by the name that HEDDLE_MODEL=...,strategy=NAME uses. Add a line for a new one.
#include <algorithm>
#include <iterator>

#include "launch/boot/edit_distance.hpp"
#include "messaging/message/outbox/aggregate.hpp"
#include "messaging/message/outbox/auto.hpp"
#include "messaging/message/outbox/direct.hpp"
#include "messaging/message/outbox/priority.hpp"
#include "messaging/message/outbox/split.hpp"
#include "messaging/message/outbox/strategy.hpp"

namespace heddle::message {

namespace {

struct Entry {
  std::string_view name;
  std::unique_ptr<Strategy> (*make)();
};

template <class S>
std::unique_ptr<Strategy> make() {
  return std::make_unique<S>();
}

constexpr Entry strategies[] = {
    {"direct", make<DirectStrategy>}, {"aggregate", make<AggregateStrategy>}, {"priority", make<PriorityStrategy>},
    {"auto", make<AutoStrategy>},     {"split", make<SplitStrategy>},
};

const Entry* find(std::string_view name) { return std::ranges::find(strategies, name, &Entry::name); }

}  // namespace

bool is_strategy(std::string_view name) { return find(name) != std::end(strategies); }

std::string no_strategy(std::string_view name) {
  std::string text = "strategy=" + std::string(name) + " is none of";
  std::string_view nearest;
  std::size_t least = name.size() / 2 + 1;  // more than half of the letters must be right
  for (const Entry& entry : strategies) {
    text += (&entry == &strategies[0] ? " " : ", ") + std::string(entry.name);
    const std::size_t edits = boot::edit_distance(name, entry.name);
    if (edits >= least) continue;
    least = edits;
    nearest = entry.name;
  }
  return nearest.empty() ? text : text + "; did you mean " + std::string(nearest) + "?";
}

std::unique_ptr<Strategy> make_strategy(std::string_view name) { return find(name)->make(); }

int strategy_number(std::string_view name) { return static_cast<int>(find(name) - std::begin(strategies)); }

std::string_view strategy_name(int number) { return strategies[number].name; }

}  // namespace heddle::message
