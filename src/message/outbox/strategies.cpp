// Every strategy, by the name that HEDDLE_MODEL=...,strategy=NAME has for it. Who adds one adds its line.
#include "message/outbox/aggregate.hpp"
#include "message/outbox/direct.hpp"
#include "message/outbox/strategy.hpp"

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
    {"direct", make<Direct>},
    {"aggregate", make<Aggregate>},
};

const Entry* find(std::string_view name) {
  for (const Entry& entry : strategies)
    if (entry.name == name) return &entry;
  return nullptr;
}

}  // namespace

bool is_strategy(std::string_view name) { return find(name) != nullptr; }

std::string strategy_names() {
  std::string names;
  for (const Entry& entry : strategies) names += (names.empty() ? "" : ", ") + std::string(entry.name);
  return names;
}

std::unique_ptr<Strategy> make_strategy(std::string_view name) { return find(name)->make(); }

}  // namespace heddle::message
