// A VNI with one kind of access (safety/*_access.hpp). Everything below the virtual call is inlined.
#pragma once

#include <new>
#include <type_traits>
#include <utility>

#include "base/instruments/span.hpp"
#include "base/progress/poll_result.hpp"
#include "base/safety/urgency.hpp"
#include "base/safety/waiter.hpp"
#include "base/safety/work.hpp"
#include "launch/rank/rank.hpp"
#include "messaging/engine/blocked.hpp"
#include "messaging/engine/message_context.hpp"
#include "messaging/engine/vni.hpp"
#include "messaging/engine/wait_set.hpp"
#include "messaging/message/request_cache.hpp"
#include "messaging/message/vni_state.hpp"

namespace heddle::engine {

template <class Access>
class ComposedVni final : public Vni {
 public:
  template <class MakeAccess>
  ComposedVni(Rank& rank, wake::Wake& wake, int index, MakeAccess&& make)
      : Vni(index), rank_(rank), state_(message_context(rank, wake, index), index, claiming), access_(make(state_)) {
    rank.counter_registry.enter(index, state_.parts().counters);
    if (rank.networks) state_.parts().route.open(rank.networks->open(index));
  }
  ~ComposedVni() override { rank_.counter_registry.leave(state_.parts().counters); }

  instruments::Counters& counters() override { return state_.parts().counters; }

  message::VniState& state() override { return state_; }
  Access& access() { return access_; }

  bool try_send(const message::SendArgs& args) override {
    return try_by(
        args, [&] { return Access::by_flux ? outgoing().send_by_flux(args) : outgoing().inject(args); },
        [&] { return outgoing().try_send(args); });
  }
  bool try_isend(const message::SendArgs& args) override {
    if (state_.deferral().concerns(args.bytes)) [[unlikely]]
      return false;
    return try_by(
        args, [&] { return Access::by_flux ? outgoing().send_by_flux(args) : outgoing().inject(args); },
        [&] { return outgoing().try_isend(args); });
  }
  void start_send(Request& request) override {
    start(request, [](message::VniState& state, Request& r, Wakeups& wakeups) { state.start_send(r, wakeups); });
  }
  void start_isend(Request& request) override {
    state_.deferral().fetch(request, outgoing().outbox());
    start(request, [](message::VniState& state, Request& r, Wakeups& wakeups) { state.start_isend(r, wakeups); });
  }
  void start_recv(Request& request) override {
    if constexpr (Access::announces) {
      using enum message::Matcher::Announced;
      const Span span(counters(), Time::issue);
      const message::Matcher::Announcement announcement = state_.parts().matcher.announce(request);
      if (announcement.result == posted) [[likely]]
        return;
      if (announcement.result == not_at_all) return begin_alone(StartRecv(), request);
      return match_announced(request, announcement.hash);
    }
    start(request, StartRecv());
  }

  message::Unexpected* probe(std::uint64_t context, int source, int tag, bool take, Probed& found) override {
    message::Unexpected* message = nullptr;
    // A probe drains the VNI while it has access to it: threads that only probe would otherwise keep a FIFO lock so busy that no thread
    // ever finds it free to make progress.
    try {
      access_.run([&](Wakeups& wakeups) {
        if (state_.something_to_do()) drain_before_probe(wakeups);
        message = state_.probe(context, source, tag, take);
        if (message != nullptr) found = {message->header.source, message->header.tag, message->bytes};
      });
    } catch (
        const std::bad_alloc&) {  // of the drain: what came after a message that there is no memory for is not seen yet
      note_shortage();
    }
    return message;
  }
  void begin_probing() override { state_.parts().unexpected.probers.fetch_add(1, std::memory_order_relaxed); }
  void end_probing() override { state_.parts().unexpected.probers.fetch_sub(1, std::memory_order_relaxed); }
  void start_matched_recv(Request& request, message::Unexpected& message) override {
    access_.run([&](Wakeups& wakeups) { state_.start_matched_recv(request, message, wakeups); });
  }

  bool try_stamped(const message::SendArgs& args, std::uint64_t stamp) override {
    return try_by(
        args, [&] { return outgoing().send_stamped(args, stamp, true); },
        [&] { return outgoing().send_stamped(args, stamp, false); });
  }
  bool unpost(Request& receive) override {
    bool unposted = false;
    run_surely([&](Wakeups&) { unposted = state_.unpost(receive); });
    return unposted;
  }
  bool take_all(std::uint64_t context, bool begins, lln::FunctionRef<void(message::Unexpected&)> take) override {
    bool complete = false;
    try {
      access_.run([&](Wakeups& wakeups) { complete = state_.take_all(context, begins, take, wakeups); });
    } catch (const std::bad_alloc&) {
      note_shortage();
    }
    return complete;
  }
  // Each access first executes what is queued. That nothing is pending would not be enough: a thread may be executing it now.
  void finish_submissions() override {
    if constexpr (Access::submits) run_surely([](Wakeups&) {});
  }
  void put_back(message::Unexpected& message) override {
    run_surely([&](Wakeups&) { state_.put_back(message); });
  }
  bool is_in_use() const override { return state_.is_in_use(); }

  bool cancel(Request& request) override {
    bool cancelled = false;
    access_.run([&](Wakeups& wakeups) { cancelled = state_.cancel(request, wakeups); });
    return cancelled;
  }
  Error complete(Request& request) override {
    bool orphan = false;
    run_surely([&](Wakeups& wakeups) {
      orphan = request.owner == Owner::none;
      if (!orphan) state_.parts().completion.finish(request, wakeups);
    });
    return orphan ? message::give_back_done(request) : success;  // without the lock: destroying may call the user
  }
  bool disown(Request& request) override {
    bool done = false;
    run_surely([&](Wakeups&) { done = state_.disown(request); });
    return done;
  }

  bool sweep(const message::Verdicts& verdicts) override {
    bool complete = false;
    try {
      access_.run([&](Wakeups& wakeups) { complete = state_.sweep(verdicts, wakeups); });
    } catch (const std::bad_alloc&) {
      note_shortage();
    }
    return complete;
  }
  bool resolve(Request& receive, bool at_its_end) override {
    bool goes_on = false;
    run_surely([&](Wakeups& wakeups) { goes_on = state_.resolve(receive, at_its_end, wakeups); });
    return goes_on;
  }

  bool something_to_do() const override { return state_.something_to_do() || access_.pending(); }
  bool something_begun() const override { return state_.something_begun() || access_.pending(); }
  std::uint32_t taken() const override { return state_.parts().route.taken(); }
  bool any_unsent() const override { return state_.any_unsent(); }
  bool any_waiting() const override { return state_.parts().outgoing.outbox().any(); }
  std::uint32_t departures() const override { return state_.parts().outgoing.outbox().departures(); }

  // Without memory for an arrival the poll is incomplete, and a later poll takes the message. The poll must not throw: its caller may be
  // a thread of the library, or have requests of other operations under way.
  progress::PollResult poll(const PollMode& how) override {
    try {
      return poll_inside(how);
    } catch (const std::bad_alloc&) {
      note_shortage();
      return {.made_progress = true, .complete = false};
    }
  }

  void expect(WaitSet& set, Waiter* waiter, boot::Wait& wait) override {
    run_surely([&](Wakeups& wakeups) {
      set.for_each([&](Request& request) {
        if (!is_mine(request)) return;
        if (request.done.load(std::memory_order_acquire) == 0) {
          if (waiter != nullptr) request.waiter = waiter;
          add_request(wait, request);
        } else if (waiter != nullptr) {
          state_.parts().completion.signal(*waiter, wakeups);
        }
      });
    });
  }
  void forget(WaitSet& set) override {
    run_surely([&](Wakeups&) {
      set.for_each([&](Request& request) {
        if (is_mine(request)) request.waiter = nullptr;
      });
    });
  }

  void prepare_to_sleep() override {
    run_surely([&](Wakeups&) { state_.prepare_to_sleep(); });
  }
  void flush() override {
    run_surely([&](Wakeups&) { state_.parts().route.flush(); });
  }
  int slow_peer() override {
    int peer = -1;
    run_surely([&](Wakeups&) { peer = state_.slow_peer(); });
    return peer;
  }
  bool is_anything_unsent(lln::FunctionRef<bool(int)> concerns) override {
    bool unsent = false;
    if (state_.parts().outgoing.outbox().any())
      run_surely([&](Wakeups&) {
        outgoing().outbox().for_each_peer([&](const message::OutboxPeer& peer) { unsent |= concerns(peer.peer); });
      });
    return unsent;
  }

 private:
  using Count = instruments::Count;
  using Span = instruments::Span;
  using Time = instruments::Time;

  static constexpr auto claiming = Access::by_flux   ? lln::Claiming::by_flux
                                   : Access::injects ? lln::Claiming::concurrent
                                                     : lln::Claiming::exclusive;

  struct StartRecv {
    [[gnu::always_inline]] void operator()(message::VniState& state, Request& request, Wakeups& wakeups) const {
      state.start_recv(request, wakeups);
    }
  };

  [[gnu::always_inline]] progress::PollResult poll_inside(const PollMode& how) {
    progress::PollResult result;
    if (!how.peek || something_to_do()) {
      // The polls of auto drain the VNI out of line. Inlined they have fewer instructions, and the message rate with 8 threads is 0.70 to 0.81
      // (2-core Intel Xeon VM). The cause is not proven; a shorter poll also shortens the time before the first yield, which is counted in polls
      // (base/safety/patience.hpp).
      if constexpr (Access::announces && !Access::by_flux) {
        enter(how.urgency, result, [&](Wakeups& wakeups) { drain_apart(how, result, wakeups); });
      } else {
        const auto drain = [&](Wakeups & wakeups) __attribute__((always_inline)) {
          drain_for_poll(how, result, wakeups);
        };
        enter(how.urgency, result, drain);
      }
    }
    if (state_.transfers().any()) add(result, advance_transfers());
    return result;
  }

  // The receive is announced, so it can no longer be withdrawn: the caller must search for its message.
  void match_announced(const Request& announced, message::Hash hash) {
    run_surely([&](Wakeups& wakeups) { state_.match_announced(announced, hash, wakeups); });
  }

  // For operations that must not fail. f allocates nothing; the access itself may allocate, once for each thread.
  template <class F>
  void run_surely(F&& f) {
    for (;;) {
      try {
        return access_.run(f);
      } catch (const std::bad_alloc&) {
        note_shortage();
      }
    }
  }

  [[gnu::always_inline]] void drain_for_poll(const PollMode& how, progress::PollResult& result, Wakeups& wakeups) {
    result.made_progress = drain(how.most, wakeups);
    if (result.made_progress) return;
    count_held(counters(), Count::wasted);
    if constexpr (Access::announces) {
      // A receive for another VNI must not be touched here: a message may be matching it there.
      if (how.expected != nullptr && how.expected->vni == this && how.expected->receives)
        state_.parts().matcher.expect(*how.expected);
    }
  }
  [[gnu::noinline]] void drain_apart(const PollMode& how, progress::PollResult& result, Wakeups& wakeups) {
    drain_for_poll(how, result, wakeups);
  }
  template <class Drain>
  [[gnu::always_inline]] void enter(safety::Urgency urgency, progress::PollResult& result, Drain&& drain) {
    switch (urgency) {
      case safety::Urgency::attempt:
        // The poll leaves the work to the thread that has access now, and is incomplete: that thread may have checked for arrivals
        // before the event that this poll would have found.
        result.complete = access_.try_run(drain);
        break;
      case safety::Urgency::low:
        access_.run_low(drain);
        break;
      case safety::Urgency::high:
        access_.run(drain);
        break;
    }
  }
  [[gnu::always_inline]] bool drain(int most, Wakeups& wakeups) {
    Span span(counters(), Time::poll);
    const bool moved = state_.drain(most, wakeups);
    if (!moved) span.was(Time::empty);
    return moved;
  }

  // Rare, since the caller has just polled: apart, so that a probe in vain stays short.
  [[gnu::noinline]] void drain_before_probe(Wakeups& wakeups) { (void)drain(lln::poll_batch, wakeups); }

  // Sends concurrently with other threads if the access allows it, else alone. If other messages to that peer wait in the outbox, it
  // returns false at once: the caller need not enter the VNI to learn that.
  template <class Inject, class Post>
  [[gnu::always_inline]] bool try_by(const message::SendArgs& args, Inject inject, Post post) {
    const Span span(counters(), Time::issue);
    if constexpr (Access::injects) {
      if (access_.inject(inject)) [[likely]]
        return true;
      if (outgoing().must_wait(args.peer)) [[unlikely]]
        return false;
    }
    bool sent = false;
    const auto send = [&](Wakeups&) { sent = post(); };
    if constexpr (Access::submits) {
      (void)access_.try_run(send);  // false if another thread has access: a queued send needs a request
    } else {
      access_.run(send);
    }
    return sent;
  }

  template <class Start>
  void start(Request& request, Start start) {
    const Span span(counters(), Time::issue);
    if constexpr (Access::submits) {
      static_assert(std::is_empty_v<Start>, "the work outlives this call");
      const safety::Work<Wakeups> work{[](void* what, Wakeups& wakeups) {
                                         Request& r = *static_cast<Request*>(what);
                                         begin(Start(), static_cast<ComposedVni*>(r.vni)->state_, r, wakeups);
                                       },
                                       &request};
      access_.submit(work);
    } else {
      begin_alone(start, request);
    }
  }
  // As start(), for an access whose first use by a thread may allocate. If that fails, no other thread knows the request yet.
  template <class Start>
  [[gnu::always_inline]] void begin_alone(Start start, Request& request) {
    try {
      access_.run([&](Wakeups& wakeups) { begin(start, state_, request, wakeups); });
    } catch (const std::bad_alloc&) {
      fail_alone(request);
    }
  }
  [[gnu::cold, gnu::noinline]] void fail_alone(Request& request) {
    Wakeups wakeups;
    request.error = MPI_ERR_NO_MEM;
    if (request.receives) request.receive.age = 0;
    state_.parts().completion.finish(request, wakeups);
  }
  // An operation that finds no memory completes with that error.
  template <class Start>
  [[gnu::always_inline]] static void begin(Start start, message::VniState& state, Request& request, Wakeups& wakeups) {
    try {
      start(state, request, wakeups);
    } catch (const std::bad_alloc&) {
      state.fail(request, wakeups);
    }
  }

  progress::PollResult advance_transfers() {
    progress::PollResult result;
    for (std::uint32_t left = state_.transfers().count(); left != 0; --left) {
      message::Transfer* transfer = state_.transfers().claim();
      if (transfer == nullptr) {
        result.complete = false;
        break;
      }
      const message::Transfers::Step step = state_.transfers().move(*transfer);
      result.made_progress |= step != message::Transfers::Step::waits;
      if (step == message::Transfers::Step::over) {
        try {
          access_.run([&](Wakeups& wakeups) { state_.end_transfer(*transfer, wakeups); });
        } catch (const std::bad_alloc&) {
          state_.transfers().end_later(*transfer);
          throw;
        }
      } else {
        state_.transfers().put_back(*transfer);
      }
    }
    return result;
  }

  bool is_mine(const Request& request) const { return request.vni == this || (request.vni == nullptr && index() == 0); }

  message::Outgoing& outgoing() { return state_.parts().outgoing; }
  void note_shortage() { state_.shortage().note(state_.parts().route.taken()); }

  Rank& rank_;
  message::VniState state_;
  Access access_;
};

}  // namespace heddle::engine
