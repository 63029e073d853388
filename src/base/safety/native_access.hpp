// The kinds of access on the real machine, as the library has them: with counters, and with nodes that threads keep.
#pragma once

#include "base/instruments/guard.hpp"
#include "base/platform/native.hpp"
#include "base/safety/combining_access.hpp"
#include "base/safety/environment.hpp"
#include "base/safety/flux_access.hpp"
#include "base/safety/inject_access.hpp"
#include "base/safety/lock_access.hpp"
#include "base/safety/offload_access.hpp"
#include "base/safety/queue_access.hpp"
#include "base/safety/split_access.hpp"
#include "base/safety/thread_node.hpp"
#include "base/safety/waiter.hpp"

namespace heddle::safety::native {

struct Here {
  using Platform = platform::Native;
  using Wakeups = heddle::Wakeups;
  using Counters = instruments::Counters;
  template <class Node>
  using NodeFor = safety::NodeFor<Node>;
  template <class Node>
  using KeptNode = safety::KeptNode<Node>;

  template <sync::Lock L>
  [[gnu::always_inline]] static void acquire(Counters& counters, L& lock, typename L::node& node) {
    instruments::acquire(counters, lock, node);
  }
  template <sync::Lock L>
  [[gnu::always_inline]] static void acquire_low(Counters& counters, L& lock, typename L::node& node) {
    instruments::acquire_low(counters, lock, node);
  }
  template <sync::Lock L>
  [[gnu::always_inline]] static void acquire_beside(Counters& counters, L& lock, typename L::node& node) {
    instruments::acquire_beside(counters, lock, node);
  }
  template <sync::Lock L>
  [[gnu::always_inline]] static bool try_acquire(Counters& counters, L& lock, typename L::node& node) {
    return instruments::try_acquire(counters, lock, node);
  }
  // Operations of others, executed by the caller, which holds the lock.
  static void combined(Counters& counters, std::uint64_t n) { instruments::combined(counters, n); }
  static void count_acquisition(Counters& counters) { instruments::count(counters, instruments::Count::acquisitions); }
  static bool counting() { return instruments::counting(); }
};
static_assert(Environment<Here>);

template <sync::Lock Lock>
using LockAccess = safety::LockAccess<Lock, Here>;
template <sync::Lock Lock>
using InjectAccess = safety::InjectAccess<Lock, Here>;
template <sync::Lock Lock>
using FluxAccess = safety::FluxAccess<Lock, Here>;
template <sync::Lock Lock>
using SplitAccess = safety::SplitAccess<Lock, Here>;
template <sync::Lock Lock>
using QueueAccess = safety::QueueAccess<Lock, Here>;
using CombiningAccess = safety::CombiningAccess<Here>;
template <class State>
using OffloadAccess = safety::OffloadAccess<State, Here>;

}  // namespace heddle::safety::native
