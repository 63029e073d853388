#include "base/instruments/ledger.hpp"

namespace heddle::instruments {

void Ledger::enter(int index, Counters& vni) {
  std::lock_guard guard(mutex_);
  vnis_.emplace(index, &vni);
}

void Ledger::leave(const Counters& vni) {
  std::lock_guard guard(mutex_);
  std::erase_if(vnis_, [&](const auto& entry) { return entry.second == &vni; });
}

Totals Ledger::all_vnis() const {
  Totals sum;
  for_each_vni([&](int, const Counters& vni) { sum += vni.totals(); });
  return sum;
}

void Ledger::remember(const Look& look, const Totals& totals) {
  std::lock_guard guard(mutex_);
  auto place = gone_.find(look);
  if (place == gone_.end()) place = gone_.try_emplace(gone_.size() < most_looks ? look : Look{.name = "others"}).first;
  place->second.totals += totals;
  ++place->second.communicators;
}

std::map<Ledger::Look, Ledger::Gone> Ledger::gone() const {
  std::lock_guard guard(mutex_);
  return gone_;
}

}  // namespace heddle::instruments
