// A rank's counters: those of its VNIs, and sums for freed communicators.
#pragma once

#include <map>
#include <mutex>
#include <string>
#include <tuple>

#include "base/instruments/counters.hpp"
#include "base/threads/mutex.hpp"

namespace heddle::instruments {

// The VNI of a communicator in figures, besides its number.
inline constexpr int no_vni = -1;      // there was no message, or they are spread by assertions
inline constexpr int over_lanes = -2;  // each message has the VNI of its tag (messaging/p2p/lanes.hpp)

class CounterRegistry {
 public:
  void enter(int index, Counters& vni);
  void leave(const Counters& vni);

  // Calls f(index, counters) for each VNI, in order; none is removed meanwhile.
  template <class F>
  void for_each_vni(F&& f) const {
    std::lock_guard guard(mutex_);
    for (const auto& [index, vni] : vnis_) f(index, *vni);
  }
  Totals all_vnis() const;

  // Freed communicators. Equal ones are summed up, so that a program that makes and frees them all the time does not
  // fill the memory.
  struct Kind {
    std::string name;
    int size = 0;  // 0: of any
    int vni = no_vni;
    friend bool operator<(const Kind& a, const Kind& b) {
      return std::tie(a.name, a.size, a.vni) < std::tie(b.name, b.size, b.vni);
    }
  };
  struct Gone {
    Totals totals;
    std::uint64_t communicators = 0;
  };
  void remember(const Kind& kind, const Totals& totals);
  std::map<Kind, Gone> gone() const;

 private:
  static constexpr std::size_t most_kinds = 64;

  mutable threads::Mutex mutex_;
  std::map<int, Counters*> vnis_;  // by index
  std::map<Kind, Gone> gone_;
};

}  // namespace heddle::instruments
