// The common interface of this library's locks.
//
// A lock is used with a node that the caller provides, one for each acquisition in progress; it may live on the stack,
// is reused freely once unlock has returned, and has no meaning for the caller. Locks that queue their callers need it,
// the others have an empty one, and so code over locks is written once.
//
//     Lock::node node;
//     lock.lock(node);  ...  lock.unlock(node);
//
// Locks with two classes of caller add lock_low: its callers are served only while no caller of lock waits (how
// strictly, each header says).
#pragma once

#include <concepts>

namespace heddle::sync {

template <class L>
concept Lock = std::default_initializable<typename L::node> && requires(L& lock, typename L::node& node) {
  lock.lock(node);
  { lock.try_lock(node) } -> std::same_as<bool>;
  lock.unlock(node);
};

template <class L>
concept TwoClassLock = Lock<L> && requires(L& lock, typename L::node& node) {
  lock.lock_low(node);
};

// The node of locks that keep nothing for their callers.
struct NoNode {};

// Acquires as low class where the lock knows classes.
template <Lock L>
void lock_low(L& lock, typename L::node& node) {
  if constexpr (TwoClassLock<L>) {
    lock.lock_low(node);
  } else {
    lock.lock(node);
  }
}

// Holds a lock for a scope.
template <Lock L>
class Guard {
 public:
  explicit Guard(L& lock) : lock_(lock) { lock_.lock(node_); }
  Guard(const Guard&) = delete;
  Guard& operator=(const Guard&) = delete;
  ~Guard() { lock_.unlock(node_); }

 private:
  L& lock_;
  typename L::node node_;
};

}  // namespace heddle::sync
