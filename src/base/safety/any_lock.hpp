// A lock that is chosen when the program starts: every lock of sync/ behind virtual calls, for free compositions.
#pragma once

#include <cstddef>
#include <memory>

#include "base/platform/platform.hpp"
#include "base/safety/model.hpp"
#include "base/sync/lock.hpp"

namespace heddle::safety {

class AnyLock {
  // Room for the node of any of the locks, or for the pointer to one that the thread keeps. The node lives from a
  // lock() or try_lock() that acquires until unlock().
  static constexpr std::size_t room = 192;

  struct Held {
    virtual ~Held() = default;
    virtual void lock(std::byte* room) = 0;
    virtual void lock_low(std::byte* room) = 0;
    virtual bool try_lock(std::byte* room) = 0;
    virtual void unlock(std::byte* room) = 0;
  };
  template <sync::Lock L>
  struct HeldAs;

 public:
  class node {
    friend class AnyLock;
    alignas(platform::cache_line) std::byte room_[room];
  };

  explicit AnyLock(Lock kind) : held_(make(kind)) {}

  void lock(node& mine) { held_->lock(mine.room_); }
  void lock_low(node& mine) { held_->lock_low(mine.room_); }
  bool try_lock(node& mine) { return held_->try_lock(mine.room_); }
  void unlock(node& mine) { held_->unlock(mine.room_); }

 private:
  static std::unique_ptr<Held> make(Lock kind);

  std::unique_ptr<Held> held_;
};

static_assert(sync::TwoClassLock<AnyLock>);

}  // namespace heddle::safety
