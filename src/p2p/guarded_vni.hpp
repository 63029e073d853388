// A VNI whose state is guarded by a lock: the models `global` and `mtx`, and all later ones whose submission is "wait
// for the lock". Sources: Amer 2019, section 2 (the global lock); Dang 2017, section 3 (mutex, contending).
//
// Waiting goes through three stages: contend for progress while patience lasts (patience.hpp), then sleep. Of the
// threads of a rank that sleep, one is the server: it sleeps on the rank's doorbell, which peers ring, and drives
// progress for all; each of the others sleeps on its own counter and is woken when its own requests are done, or when
// the server leaves and it is to take over. So a message wakes one thread, and a thread that is woken has something to
// do.
//
// A thread that only wants to progress does not queue for the lock: whoever holds it is making the progress.
#pragma once

#include <utility>

#include "instruments/guard.hpp"
#include "p2p/core.hpp"
#include "p2p/request_cache.hpp"
#include "p2p/vni.hpp"
#include "progress/pollables.hpp"
#include "rank/rank.hpp"
#include "safety/patience.hpp"
#include "safety/waiter.hpp"
#include "sync/lock.hpp"

namespace heddle::p2p {

template <sync::Lock Lock>
class GuardedVni final : public Vni {
 public:
  GuardedVni(Rank& rank, const char* model) : core_(rank), rank_(rank), model_(model) {
    rank.machine.waiting = &core_.endpoint().common().waiting;
  }

  bool try_send(const SendArgs& args) override {
    return guarded(core_.counters(), lock_, Time::issue, [&] { return core_.try_send(args); });
  }
  void start_send(Request& request) override {
    protect([&](Wakeups& wakeups) { core_.start_send(request, wakeups); });
  }
  void start_recv(Request& request) override {
    protect([&](Wakeups& wakeups) { core_.start_recv(request, wakeups); });
  }

  Unexpected* probe(std::uint64_t context, int source, int tag, bool take, Probed& found) override {
    // Drains itself while it has the lock: threads that do nothing but probe would otherwise keep a FIFO lock so busy
    // that none of them ever found it free for progress.
    progress();
    Unexpected* message = nullptr;
    protect([&](Wakeups& wakeups) {
      if (core_.something_to_do()) drain(wakeups);
      message = core_.find_unexpected(context, source, tag);
      if (message == nullptr) return;
      found = {message->header.source, message->header.tag, message->bytes};
      if (take) core_.take_unexpected(*message);
    });
    return message;
  }
  // A probe has no request that could be completed: its sleeper is woken by every unexpected message.
  Unexpected* wait_probe(std::uint64_t context, int source, int tag, bool take, Probed& found) override {
    Span span(core_.counters(), Time::wait);
    Patience patience(rank_.machine);
    do {
      if (Unexpected* message = probe(context, source, tag, take, found)) return message;
    } while (patience.spend());
    core_.probers.fetch_add(1, std::memory_order_relaxed);
    Unexpected* message = nullptr;
    sleep_until([&] {
      if (message == nullptr) message = probe(context, source, tag, take, found);  // asked again when it has one
      return message != nullptr;
    });
    core_.probers.fetch_sub(1, std::memory_order_relaxed);
    return message;
  }
  void start_matched_recv(Request& request, Unexpected& message) override {
    protect([&](Wakeups& wakeups) { core_.start_matched_recv(request, message, wakeups); });
  }

  bool cancel_recv(Request& request) override {
    bool cancelled = false;
    protect([&](Wakeups& wakeups) { cancelled = core_.cancel_recv(request, wakeups); });
    return cancelled;
  }
  Error complete(Request& request) override {
    bool orphan = false;
    protect([&](Wakeups& wakeups) {
      orphan = request.freed;
      if (!orphan) core_.finish(request, wakeups);
    });
    return orphan ? give_back_done(request) : success;  // not under protection: destroying may call the user
  }
  bool disown(Request& request) override {
    bool done = false;
    protect([&](Wakeups&) {
      done = request.done.load(std::memory_order_relaxed) != 0;
      if (!done) request.freed = true;
    });
    return done;
  }

  bool progress() override { return look().moved; }

  void wait(Request* const* requests, std::size_t n, bool any) override {
    Set set{requests, n, any};
    if (set.satisfied()) return;
    Span span(core_.counters(), Time::wait);
    Patience patience(rank_.machine);
    for (;;) {
      if (progress()) patience.reset();
      if (set.satisfied()) return;
      if (!patience.spend()) break;
    }
    wait_asleep(set);
  }

  void wait_until(bool (*holds)(const void*), const void* what) override {
    Span span(core_.counters(), Time::wait);
    Patience patience(rank_.machine);
    do {
      if (holds(what)) return;
      if (progress()) patience.reset();
    } while (patience.spend());
    sleep_until([&] { return holds(what); });
  }
  void notify(int world_rank) override { core_.endpoint().wake(world_rank); }
  lln::shm::Heap& shared_memory() override { return core_.endpoint().heap(); }

  const char* model() const override { return model_; }
  instruments::Counters& counters() override { return core_.counters(); }

 private:
  using Count = instruments::Count;
  using ExactSpan = instruments::ExactSpan;
  using Span = instruments::Span;
  using Time = instruments::Time;

  // The requests that a thread waits for.
  struct Set {
    Request* const* requests;
    std::size_t n;
    bool any;
    std::size_t first = 0;  // all: those before are done

    bool satisfied() {
      if (any) {
        for (std::size_t i = 0; i < n; ++i)
          if (requests[i] != nullptr && is_done(*requests[i])) return true;
        return false;
      }
      while (first < n && (requests[first] == nullptr || is_done(*requests[first]))) ++first;
      return first == n;
    }
    static bool is_done(const Request& r) { return r.done.load(std::memory_order_acquire) != 0; }
  };

  template <class F>
  void protect(F&& f) {
    Wakeups wakeups;  // flushed last, after the lock is free
    guarded(core_.counters(), lock_, Time::issue, [&] { f(wakeups); });
  }

  // One attempt to move everything. What another thread is just doing is left to it, and the pass is then incomplete:
  // that thread may have looked before the event that this one would have seen.
  // `queue`: wait for the lock, so that the pass can't miss what has arrived.
  progress::Pass look(bool queue = false) {
    progress::Pass pass;
    if (core_.something_to_do()) {
      typename Lock::node node;
      Wakeups wakeups;
      if (queue) instruments::acquire(core_.counters(), lock_, node);
      if (queue || instruments::try_acquire(core_.counters(), lock_, node)) {
        pass.moved = drain(wakeups);
        lock_.unlock(node);
        if (!pass.moved) count(core_.counters(), Count::wasted);
      } else {
        pass.complete = false;
      }
      if (core_.transfers().any()) add(pass, advance_transfers(wakeups));
    }
    if (rank_.pollables.any()) {
      add(pass, rank_.pollables.poll());
      // A schedule that another thread held may now have to be looked at again, and that thread may be leaving.
      if (pass.moved) core_.rouse();
    }
    return pass;
  }

  bool drain(Wakeups& wakeups) {
    Span span(core_.counters(), Time::poll);
    const bool moved = core_.drain(wakeups);
    if (!moved) span.was(Time::empty);
    return moved;
  }

  static void add(progress::Pass& pass, progress::Pass more) {
    pass.moved |= more.moved;
    pass.complete &= more.complete;
  }

  progress::Pass advance_transfers(Wakeups& wakeups) {
    progress::Pass pass;
    for (std::uint32_t left = core_.transfers().count(); left != 0; --left) {
      Transfer* transfer = core_.transfers().claim();
      if (transfer == nullptr) {
        pass.complete = false;
        break;
      }
      const Transfers::Step step = core_.transfers().move(*transfer);
      pass.moved |= step != Transfers::Step::waits;
      if (step == Transfers::Step::over) {
        guarded(core_.counters(), lock_, Time::poll, [&] { core_.end_transfer(*transfer, wakeups); });
      } else {
        core_.transfers().put_back(*transfer);
      }
    }
    return pass;
  }

  // ---- sleeping

  void wait_asleep(Set& set) {
    Waiter& me = waiter_of_thread();
    const Role role = enroll(set, me);
    if (role == Role::none) return;
    if (role == Role::sleeper) sleep(me);
    if (me.word.load(std::memory_order_acquire) != Waiter::done) serve(set);
    leave(set, me);
  }

  void sleep(Waiter& me) {
    ExactSpan span(core_.counters(), Time::asleep);
    while (me.word.load(std::memory_order_acquire) == Waiter::waiting) me.sleep();
  }

  enum class Role : std::uint8_t { none, server, sleeper };

  // Registers the thread with its requests; none if there is nothing to wait for any more.
  Role enroll(Set& set, Waiter& me) {
    Role role = Role::none;
    protect([&](Wakeups&) {
      if (set.satisfied()) return;
      me.word.store(Waiter::waiting, std::memory_order_relaxed);
      me.pending = 0;
      for (std::size_t i = 0; i < set.n; ++i) {
        Request* r = set.requests[i];
        if (r == nullptr || Set::is_done(*r)) continue;
        r->waiter = &me;
        ++me.pending;
      }
      if (set.any) me.pending = 1;
      me.server = core_.server == nullptr;
      role = me.server ? Role::server : Role::sleeper;
      if (me.server) {
        core_.server = &me;
      } else {
        me.prev = nullptr;
        me.next = core_.sleepers;
        if (me.next != nullptr) me.next->prev = &me;
        core_.sleepers = &me;
      }
    });
    // What this thread left in the backlog is new to a server that already sleeps: only the server asks for room.
    if (role == Role::sleeper && core_.something_to_do()) core_.rouse();
    return role;
  }

  void leave(Set& set, Waiter& me) {
    protect([&](Wakeups& wakeups) {
      for (std::size_t i = 0; i < set.n; ++i)
        if (Request* r = set.requests[i]; r != nullptr) r->waiter = nullptr;
      if (!me.server) {
        unlink(me);
        return;
      }
      me.server = false;
      core_.server = nullptr;
      if (Waiter* next = core_.sleepers; next != nullptr) {
        unlink(*next);
        next->server = true;
        core_.server = next;
        std::uint32_t waiting = Waiter::waiting;
        next->word.compare_exchange_strong(waiting, Waiter::serve, std::memory_order_release,
                                           std::memory_order_relaxed);
        wakeups.add(next->word);
        count(core_.counters(), Count::wakeups);
      }
    });
  }

  void unlink(Waiter& waiter) {
    (waiter.prev ? waiter.prev->next : core_.sleepers) = waiter.next;
    if (waiter.next != nullptr) waiter.next->prev = waiter.prev;
    waiter.next = waiter.prev = nullptr;
  }

  // Drives progress for the rank until this thread's own requests are done.
  void serve(Set& set) {
    sleep_until([&] { return set.satisfied(); });
  }

  // Sleeps on the rank's doorbell, and progresses whenever it rings, until `holds`.
  template <class F>
  void sleep_until(F&& holds) {
    auto& bell = core_.endpoint().own_bell();
    while (!holds()) {
      const std::uint32_t rings = bell.rings.load(std::memory_order_acquire);
      bell.asleep.fetch_add(1, std::memory_order_relaxed);
      protect([&](Wakeups&) { core_.want_room(); });
      core_.endpoint().fence().heavy();
      const progress::Pass pass = look(true);
      const bool slept = !pass.moved && pass.complete && !holds();
      if (slept) {
        ExactSpan span(core_.counters(), Time::asleep);
        bell.sleep(rings);
      }
      bell.asleep.fetch_sub(1, std::memory_order_relaxed);
      bool idle = slept;
      Patience patience(rank_.machine);
      do {
        if (!progress()) continue;
        patience.reset();
        idle = false;
      } while (!holds() && patience.spend());
      if (idle && !holds()) count(core_.counters(), Count::idle_wakeups);
    }
  }

  static Waiter& waiter_of_thread() {
    static constinit thread_local Waiter waiter;
    return waiter;
  }

  Lock lock_;
  Core core_;
  Rank& rank_;
  const char* model_;
};

}  // namespace heddle::p2p
