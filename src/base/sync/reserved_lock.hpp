// A lock that is reserved for its first user, at the price of two plain stores, until a second thread comes.
//
// Source: lock reservation (Kawachiya, Koseki, Onodera, OOPSLA 2002); quickly reacquirable locks (Dice, Moir, Scherer,
// 2003), with the asymmetric fence that both lacked: the owner stores "inside" and reads if it is still the owner, the
// revoker stores "revoking" and reads if the owner is inside. One of the two must see the other; the owner does it with
// every acquisition, so its fence is for the compiler only, and the revoker, once in the life of the lock, makes every
// core pass a full one (platform: light_fence, heavy_fence).
//
// Afterwards it is the lock `Inner`, plus one load of a line that is not written any more.
//
// Invariants: owner_ goes from no thread to a thread to `revoking` to `revoked`, or from no thread to `revoked`, and
// stays there. inside_ is written by the owner alone. No thread holds `inner_` before owner_ is `revoked`, none enters
// as owner afterwards. Safety: mutual exclusion. Progress: that of Inner; the revoker waits for one critical section of
// the owner, the others for the revoker. When: where one thread makes nearly all calls: an MPI program that turns out
// not to be threaded. A thread that ends may leave its reservation to one that gets its name (P::self) later; that one
// is then as good.
//
// Memory orders: inside_ to 0, release, and the revoker's await, acquire: hand over the owner's last critical section.
// owner_ to `revoked`, release, and its await, acquire: pass that on to every other thread, the former owner too. The
// fences order the rest: the relaxed accesses before them carry no data. One mutant survives: inside_ to 0 of an owner
// that withdraws, relaxed. The checker's light fence is a full one and orders it already; the real one is not, and the
// revoker may take this store for the end of an earlier section.
#pragma once

#include "base/platform/platform.hpp"
#include "base/sync/lock.hpp"

namespace heddle::sync {

template <platform::Platform P, Lock Inner>
class ReservedLock {
  using order = platform::order;

 public:
  class node {
    friend class ReservedLock;
    bool reserved = false;
    [[no_unique_address]] typename Inner::node inner;
  };

  void lock(node& mine) {
    if (enter_as_owner()) [[likely]] {
      mine.reserved = true;
    } else {
      lock_shared(mine);
    }
  }

  bool try_lock(node& mine) {
    mine.reserved = enter_as_owner() || reserve();
    if (mine.reserved) return true;
    revoke();
    return inner_.try_lock(mine.inner);
  }

  void unlock(node& mine) {
    if (mine.reserved) {
      inside_.store(0, order::release);
    } else {
      inner_.unlock(mine.inner);
    }
  }

 private:
  // Values of owner_ that are no thread's name.
  static constexpr std::uintptr_t unreserved = 0;
  static constexpr std::uintptr_t revoking = 1;
  static constexpr std::uintptr_t revoked = 2;

  bool enter_as_owner() {
    const std::uintptr_t me = P::self();
    if (owner_.load(order::relaxed) != me) return false;
    inside_.store(1, order::relaxed);
    P::light_fence();
    if (owner_.load(order::relaxed) == me) [[likely]]
      return true;
    inside_.store(0, order::release);
    return false;
  }

  // Takes the reservation if no thread has it, and enters.
  bool reserve() {
    std::uintptr_t seen = unreserved;
    return owner_.load(order::relaxed) == unreserved &&
           owner_.compare_exchange(seen, P::self(), order::relaxed, order::relaxed) && enter_as_owner();
  }

  [[gnu::noinline]] void lock_shared(node& mine) {
    mine.reserved = reserve();
    if (mine.reserved) return;
    revoke();
    inner_.lock(mine.inner);
  }

  void revoke() {
    std::uintptr_t seen = owner_.load(order::acquire);
    if (seen == revoked) [[likely]]
      return;
    if (seen != revoking && owner_.compare_exchange(seen, revoking, order::relaxed, order::relaxed)) {
      P::heavy_fence();
      P::await(inside_, order::acquire, [](std::uint32_t inside) { return inside == 0; });
      owner_.store(revoked, order::release);
    } else {
      P::await(owner_, order::acquire, [](std::uintptr_t owner) { return owner == revoked; });
    }
  }

  typename P::template atomic<std::uintptr_t> owner_{unreserved};
  typename P::template atomic<std::uint32_t> inside_{0};
  Inner inner_;
};

}  // namespace heddle::sync
