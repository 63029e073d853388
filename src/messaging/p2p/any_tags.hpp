// The communicators of a rank whose receives use MPI_ANY_TAG (any_tag.hpp), polled together.
//
// They are among the rank's pollables (base/progress/pollables.hpp) only while there is work: an unexpected message has arrived in a lane, or a
// thread has left something (base/sync/called_work.hpp). So threads that use other communicators read nothing of them.
//
// A poll waits for no mutex: a thread that holds one may wait for the polling thread, which is the communication thread of the model
// `offload`.
#pragma once

#include <atomic>

#include "base/platform/native.hpp"
#include "base/progress/pollables.hpp"
#include "base/sync/called_work.hpp"
#include "base/threads/mutex.hpp"
#include "messaging/message/unexpected_store.hpp"
#include "messaging/p2p/any_tag.hpp"

namespace heddle {
struct Rank;
}

namespace heddle::p2p {

class AnyTags final : public progress::Pollable, public message::UnexpectedWatch {
 public:
  AnyTags(const Lanes& lanes, Rank& rank) : lanes_(lanes), rank_(rank) {}
  ~AnyTags() { delete newest_.load(std::memory_order_relaxed); }
  AnyTags(const AnyTags&) = delete;
  AnyTags& operator=(const AnyTags&) = delete;

  // That of a communicator; the first call makes it. Throws std::bad_alloc.
  AnyTag& of(Comm& comm);

  // Any thread, also with the lock of a VNI: there is work for a poll. Wakes blocked threads.
  void call();
  // A poll has something to do, or is under way.
  bool is_called() const { return work_.is_called(); }

  void on_unexpected() override { call(); }
  bool poll() override;

 private:
  AnyTag& unused();
  void watch_lanes(message::UnexpectedWatch* watch);
  bool end_closed();

  const Lanes& lanes_;
  Rank& rank_;
  sync::CalledWork<platform::Native> work_;
  std::atomic<AnyTag*> newest_{nullptr};  // those of freed communicators are used again
  threads::Mutex mutex_;                  // guards open_, and the members any_tag of communicators
  int open_ = 0;                          // communicators
  int closed_ = 0;                        // of them, those that a poll has found over
};

}  // namespace heddle::p2p
