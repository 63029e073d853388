// The environment of a kind of access beside its lock, as a concept: so the same source runs in the library and under
// the checker.
//
//     Platform              the machine (base/platform/platform.hpp)
//     Wakeups               collects the threads to wake; wakes them when it ends
//     NodeFor<Node>         *node is a node for one acquisition; made of the lock's address
//     KeptNode<Node>        the same for a node that should outlive it
//     Counters              the counters of a VNI; acquire() and so on take a lock and count its cost
//
// native_access.hpp is the library's.
#pragma once

#include <concepts>
#include <cstdint>

#include "base/platform/platform.hpp"
#include "base/safety/no_lock.hpp"
#include "base/sync/lock.hpp"

namespace heddle::safety {

template <class E>
concept Environment = platform::Platform<typename E::Platform> && std::default_initializable<typename E::Wakeups> &&
    requires(typename E::Counters& counters, NoLock& lock, NoLock::node& node, std::uint64_t n) {
  typename E::template NodeFor<sync::NoNode>;
  typename E::template KeptNode<sync::NoNode>;
  E::acquire(counters, lock, node);
  E::acquire_low(counters, lock, node);
  E::acquire_beside(counters, lock, node);
  { E::try_acquire(counters, lock, node) } -> std::same_as<bool>;
  E::combined(counters, n);
  E::count_acquisition(counters);
  { E::counting() } -> std::same_as<bool>;
};

}  // namespace heddle::safety
