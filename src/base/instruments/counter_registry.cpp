#include "base/instruments/counter_registry.hpp"

namespace heddle::instruments {

void CounterRegistry::enter(int index, Counters& vni) {
  std::lock_guard guard(mutex_);
  vnis_.emplace(index, &vni);
}

void CounterRegistry::leave(const Counters& vni) {
  std::lock_guard guard(mutex_);
  std::erase_if(vnis_, [&](const auto& entry) { return entry.second == &vni; });
}

Totals CounterRegistry::all_vnis() const {
  Totals sum;
  for_each_vni([&](int, const Counters& vni) { sum += vni.totals(); });
  return sum;
}

void CounterRegistry::remember(const Kind& kind, const Totals& totals) {
  std::lock_guard guard(mutex_);
  auto place = gone_.find(kind);
  if (place == gone_.end()) place = gone_.try_emplace(gone_.size() < most_kinds ? kind : Kind{.name = "others"}).first;
  place->second.totals += totals;
  ++place->second.communicators;
}

std::map<CounterRegistry::Kind, CounterRegistry::Gone> CounterRegistry::gone() const {
  std::lock_guard guard(mutex_);
  return gone_;
}

}  // namespace heddle::instruments
