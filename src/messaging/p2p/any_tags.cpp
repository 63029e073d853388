#include "messaging/p2p/any_tags.hpp"

#include <memory>
#include <mutex>
#include <utility>

#include "base/platform/native.hpp"
#include "launch/rank/rank.hpp"
#include "messaging/message/vni_state.hpp"
#include "messaging/p2p/lanes.hpp"
#include "messaging/p2p/p2p.hpp"

namespace heddle::p2p {

AnyTag& AnyTags::of(Comm& comm) {
  if (AnyTag* const there = comm.any_tag.load(std::memory_order_acquire)) return *there;
  const std::lock_guard guard(mutex_);
  if (AnyTag* const there = comm.any_tag.load(std::memory_order_relaxed)) return *there;
  AnyTag& any_tag = unused();
  any_tag.begin(comm);
  comm.any_tag.store(&any_tag, std::memory_order_release);
  if (open_++ == 0) watch_lanes(this);
  // A thread that posts a receive in a lane checks afterwards whether it has to move it. One that adds a message checks for a watch.
  platform::Native::heavy_fence();
  any_tag.open();
  return any_tag;
}

AnyTag& AnyTags::unused() {
  for (AnyTag* one = newest_.load(std::memory_order_relaxed); one != nullptr; one = one->older())
    if (one->is_unused()) return *one;
  auto made = std::make_unique<AnyTag>(*this, lanes_, rank_, newest_.load(std::memory_order_relaxed));
  newest_.store(made.get(), std::memory_order_release);
  return *made.release();
}

void AnyTags::watch_lanes(message::UnexpectedWatch* watch) {
  for (std::size_t lane = 0; lane != lanes_.count(); ++lane)
    lanes_[lane].state().parts().unexpected.watch.store(watch, std::memory_order_release);
}

void AnyTags::call() {
  switch (work_.call()) {
    case sync::CalledWork<platform::Native>::Call::add:
      return start_polling(rank_, *this);
    case sync::CalledWork<platform::Native>::Call::wake:
      return notify(rank_, rank_.world_rank);
    case sync::CalledWork<platform::Native>::Call::none:
      return;
  }
}

bool AnyTags::poll() {
  const bool called = work_.begin_poll();
  bool anything_left = false;
  poll_again = false;
  for (AnyTag* one = newest_.load(std::memory_order_acquire); one != nullptr; one = one->older()) {
    switch (one->poll(called)) {
      case AnyTag::Left::nothing:
        break;
      case AnyTag::Left::started:
        anything_left = true;
        break;
      case AnyTag::Left::more:
        anything_left = poll_again = true;
        break;
      case AnyTag::Left::all:
        anything_left = poll_again = true;
        if (called) (void)work_.call();  // for the next poll
        break;
      case AnyTag::Left::over:
        ++closed_;
        break;
    }
  }
  if (!end_closed()) anything_left = poll_again = true;
  if (anything_left) return false;
  poll_again = !work_.end_poll();
  return !poll_again;
}

// False: another thread has the mutex.
bool AnyTags::end_closed() {
  if (closed_ == 0) return true;
  const std::unique_lock guard(mutex_, std::try_to_lock);
  if (!guard.owns_lock()) return false;
  open_ -= std::exchange(closed_, 0);
  if (open_ == 0) watch_lanes(nullptr);
  return true;
}

}  // namespace heddle::p2p
