// The engine that a safety model composes: so many VNIs under one kind of access, and one way of waiting.
#pragma once

#include <sched.h>
#include <unistd.h>

#include <atomic>
#include <memory>
#include <mutex>
#include <utility>

#include "base/instruments/span.hpp"
#include "base/platform/native.hpp"
#include "base/progress/idle_cores.hpp"
#include "base/threads/library_thread.hpp"
#include "base/threads/thread_ref.hpp"
#include "launch/boot/wait_record.hpp"
#include "launch/rank/rank.hpp"
#include "messaging/engine/blocked.hpp"
#include "messaging/engine/engine.hpp"
#include "messaging/engine/presets.hpp"
#include "messaging/engine/rank_vnis.hpp"
#include "messaging/engine/user_level_waiting.hpp"
#include "messaging/engine/waiting.hpp"

namespace heddle::engine {

template <class Access, class Waiting>
class ComposedEngine final : public Engine, private progress::Attended {
 public:
  // make_access(state) is the access to one VNI.
  template <class MakeAccess>
  ComposedEngine(Rank& rank, safety::Model model, MakeAccess&& make_access)
      : Engine(std::move(model)),
        rank_(rank),
        vnis_(rank, vnis(), make_access),
        polls_are_cheap_(Waiting::peeks(this->model()) && !rank.networks),
        lookouts_(new Lookout[static_cast<std::size_t>(vnis())]) {
    rank.machine.waiting = &rank.node->waiting();
    if (rank.job->usable_cores() <= rank.job->machine_ranks()) rank.machine.called_other = &own_bell().called_another;
  }

  Vni& vni(int index) override {
    if (index < vnis()) return vnis_[index];
    return vnis_.asked().find_or_make(index, [&] {
      auto vni = make_asked_vni(rank_, index);
      if (help_ != nullptr) defer(vni->state());
      return vni;
    });
  }

  void wait(Request* const* requests, std::size_t n, bool any) override {
    WaitSet set(requests, n, any);
    if (set.satisfied()) return;
    const instruments::Span span(counters(), Time::wait);
    if (const threads::ThreadRef caller = threads::user_level()) [[unlikely]] {
      UserLevelWaiting(*this, caller).wait(set);
    } else {
      Waiting::wait(*this, set);
    }
    leave();
  }
  void wait_until(bool (*holds)(const void*), const void* what, const boot::Wait& wait) override {
    const instruments::Span span(counters(), Time::wait);
    const auto condition = [&] { return holds(what); };
    if (const threads::ThreadRef caller = threads::user_level()) [[unlikely]] {
      UserLevelWaiting(*this, caller).wait_until(condition, wait);
    } else {
      Waiting::wait_until(*this, condition, &wait);
    }
    leave();
  }
  void notify(int world_rank) override { route().wake(world_rank); }
  bool test(const Request& request) override {
    const bool moved = Waiting::progress(*this, home_of(request));
    leave();
    if (request.done.load(std::memory_order_acquire) != 0) return true;
    ComposedEngine::tested_in_vain(moved);
    return false;
  }
  bool progress(const Request* needed) override {
    const bool moved = Waiting::progress(*this, needed != nullptr ? home_of(*needed) : 0);
    leave();
    return moved;
  }
  void tested_in_vain(bool moved) override {
    static constinit thread_local FruitlessTests tests;
    tests.count(moved, rank_.machine);
  }
  lln::Left send_left(bool anyway) override {
    if (!vnis_.any_of([](const auto& vni) { return vni.any_waiting(); })) {
      if (!defers_.load(std::memory_order_relaxed)) return lln::Left::nothing;
      const std::uint32_t by_now = departures();
      return by_now != std::exchange(seen_departures_, by_now) ? lln::Left::gone : lln::Left::nothing;
    }
    // Where one thread does everything it is called; what it cannot send now it has asked for room for when it sleeps again.
    if (is_served()) {
      wake_blocked();
      return lln::Left::called;
    }
    const std::uint32_t by_now = departures();
    const bool in_use = by_now != std::exchange(seen_departures_, by_now);
    if (in_use && !anyway) return lln::Left::in_use;
    (void)advance(false);
    seen_departures_ = departures();
    if (in_use) return lln::Left::in_use;
    return seen_departures_ != by_now ? lln::Left::sent : lln::Left::refused;
  }
  // While the program comes back again and again it looks itself.
  bool poll_around() override {
    const std::uint32_t by_now = taken();
    const bool used = by_now != std::exchange(seen_taken_, by_now);
    if (!used) vnis_.front().state().parts().completion.call_progress_thread();
    return used;
  }
  void poll_once() override {
    if (!something_to_do() && !rank_.pollables->any()) [[likely]]
      return;
    poll(0, {});
    leave();
  }

  bool sweep(const message::Verdicts& verdicts) override {
    bool complete = true;
    vnis_.for_each([&](auto& vni) { complete &= vni.sweep(verdicts); });
    return complete;
  }
  Vni& revoked_vni() override { return vnis_.revoked(); }

  void begin_help(const cpu_set_t& cores, const progress::Setting& setting) override {
    if (is_served()) return;  // what submits to a communication thread has its helper already
    help_ = std::make_unique<progress::IdleCores>(attended(), own_bell(), cores, setting.deferral);
    setting_ = setting;
    defers_.store(setting.deferral != progress::Deferral::none, std::memory_order_relaxed);
    vnis_.for_each([&](auto& vni) { defer(vni.state()); });
  }
  void end_help() override {
    defers_.store(false, std::memory_order_relaxed);
    vnis_.for_each([](auto& vni) { vni.state().deferral().end(); });
    help_.reset();
  }

  void send_deferred(lln::FunctionRef<bool(int)> concerns) override {
    const auto awaited = [&](int peer) { return concerns(peer) && !rank_.job->has_finished(peer); };
    const auto unsent = [&] {
      bool any = false;
      vnis_.for_each([&](auto& vni) { any |= vni.is_anything_unsent(awaited); });
      return any;
    };
    constexpr int most_yields = 1000;  // then the peer computes, and the core is left to it
    constexpr useconds_t pause = 100;
    int yields = 0;
    while (unsent()) {
      if (poll_fully().made_progress) {
        yields = 0;
      } else if (yields < most_yields) {
        sched_yield();
        ++yields;
      } else {
        usleep(pause);
      }
    }
  }
  bool flush(int& peer) override {
    constexpr std::int64_t limit = std::int64_t{flush_limit} * 1'000'000'000;
    std::int64_t end = platform::Native::now() + limit;
    vnis_.for_each([](auto& vni) { vni.flush(); });
    while (any_unsent()) {
      if (poll_fully().made_progress) {
        end = platform::Native::now() + limit;
        continue;
      }
      if (platform::Native::now() >= end) {
        peer = -1;
        vnis_.for_each([&](auto& vni) { peer = std::max(peer, vni.slow_peer()); });
        return false;
      }
      sched_yield();
    }
    return true;
  }

  void begin_serving() override {
    if (is_served() || thread_level() != MPI_THREAD_MULTIPLE) return;
    std::call_once(server_started_, [this] {
      threads::start_library_thread([this] {
        for (;;) {
          platform::Native::park(serving_, 0, platform::Scope::process);
          sleep_until([this] { return serving_.load(std::memory_order_acquire) == 0; }, false);
        }
      });
    });
    if (serving_.fetch_add(1, std::memory_order_acq_rel) == 0)
      platform::Native::unpark(serving_, 1, platform::Scope::process);
  }
  void end_serving() override {
    if (is_served() || thread_level() != MPI_THREAD_MULTIPLE) return;
    if (serving_.fetch_sub(1, std::memory_order_acq_rel) == 1) wake_blocked();
  }

  // ---- for the ways of waiting

  Rank& rank() const { return rank_; }
  const Machine& machine() const { return rank_.machine; }

  // Whether a look for messages is a system call as a rule.
  bool polls_are_expensive() const { return rank_.networks != nullptr; }
  Lookout& lookout(int home) { return lookouts_[static_cast<std::size_t>(home)]; }

  // What the set still needs, for people.
  boot::Wait describe(WaitSet& set) {
    boot::Wait wait{.any = set.any()};
    vnis_.for_each_of(set, [&](auto& vni) { vni.expect(set, nullptr, wait); });
    return wait;
  }

  // The VNI of a request that the set still needs, if it is one of the rank's model: of a wait for any one after the other. The
  // others are looked at now and then: progress is global.
  int home(const WaitSet& set) const { return vnis() == 1 ? 0 : home_of(*set.next()); }
  int home_of(const Request& request) const {
    const int index = RankVnis<Access>::index_of(request);
    return index < vnis() ? index : 0;
  }

  // One attempt to move everything: the VNI `home`, the others (without waiting for them), those that were asked for
  // (when something is to be done there), and schedules.
  progress::PollResult poll(int home, Urgency urgency, int most = lln::poll_batch) {
    return poll(home, {.urgency = urgency, .peek = Waiting::peeks(model()), .most = most});
  }
  // For a condition, which whatever comes to any VNI may make true.
  progress::PollResult poll_for_condition(Urgency urgency) {
    return poll(0, {.urgency = urgency, .peek = Waiting::peeks(model()), .all_alike = Waiting::peeks(model())});
  }
  // The same as the first, with `how` for the VNI `home`. `of_program`: the caller is a thread of the program.
  progress::PollResult poll(int home, const PollMode& how, bool of_program = true) {
    progress::PollResult result = vnis_[home].poll(how);
    if (vnis() > 1 &&
        (polls_are_cheap_ || how.all_alike || polls_.fetch_add(1, std::memory_order_relaxed) % global_polls == 0))
      for (int i = 0; i < vnis(); ++i)
        if (i != home) progress::add(result, vnis_[i].poll({.most = how.most}));
    if (vnis_.asked().any()) [[unlikely]]
      vnis_.asked().for_each(
          [&](Vni& vni) { progress::add(result, vni.poll({.urgency = how.urgency, .most = how.most})); });
    if (rank_.pollables->any()) {
      progress::add(result, rank_.pollables->poll(of_program, Missed::reported));
      // A schedule that another thread held may now have to be looked at again, and that thread may be leaving.
      if (result.made_progress) wake_blocked();
      if (result.made_progress && !of_program) call_program();
    }
    return result;
  }

  // Before sleeping, and instead of it: misses nothing that has arrived.
  progress::PollResult poll_fully(bool of_program = true) {
    progress::PollResult result;
    vnis_.for_each([&](auto& vni) { progress::add(result, vni.poll({.urgency = Urgency::low})); });
    if (rank_.pollables->any()) progress::add(result, rank_.pollables->poll(of_program, Missed::rung_for));
    if (result.made_progress && !of_program) call_program();
    return result;
  }

  // Waits with a counter. sleep(waiter) is how one that isn't the server does that; serve(over) makes progress until
  // over().
  template <class Sleep, class Serve>
  void wait_registered(WaitSet& set, Waiter& me, Sleep&& sleep, Serve&& serve) {
    const boot::Wait wait = register_waiter(set, me);
    const Blocked said(rank_, &wait);
    bool server = roles_.enter(me);
    if (!server) {
      // What this thread left in a backlog is new to a server that already sleeps: only the server asks for room.
      if (something_to_do()) wake_blocked();
      const instruments::ExactSpan span(counters(), Time::blocked);
      server = !sleep(me).complete;
    }
    if (server) serve([&] { return me.counter.complete(); });
    roles_.leave(me);
    withdraw(set);
  }

  // The same where another thread makes all progress.
  void wait_served(WaitSet& set, Waiter& me) {
    const boot::Wait wait = register_waiter(set, me);
    const Blocked said(rank_, &wait);
    wake_blocked();
    (void)me.sleep();
    withdraw(set);
  }
  bool is_served() const { return model().waiting == safety::Waiting::flag; }

  // Sleeps on the rank's doorbell, and progresses whenever it rings, until `holds`.
  template <class F>
  void sleep_until(F&& holds, bool of_program = true) {
    auto& bell = own_bell();
    while (!holds()) {
      rank_.node->agree_on_fences();
      bool idle = bell.wait_once([&] { vnis_.for_each([](auto& vni) { vni.prepare_to_sleep(); }); },
                                 [&] {
                                   const progress::PollResult result = poll_fully(of_program);
                                   return result.made_progress || !result.complete || holds();
                                 },
                                 [&](std::uint32_t rings) {
                                   const instruments::ExactSpan span(counters(), Time::blocked);
                                   bell.sleep(rings);
                                 });
      Patience patience(rank_.machine);
      do {
        if (!poll(0, PollMode{.peek = Waiting::peeks(model())}, of_program).made_progress) continue;
        patience.reset();
        idle = false;
      } while (!holds() && (patience.spend() || keeps_spinning(*this, patience, of_program)));
      if (idle && !holds()) count(counters(), instruments::Count::idle_wakeups);
    }
  }

  // ---- for user-level threads (user_level_waiting.hpp)

  // The server, which is one, serves no longer. False: it has to look once more.
  bool step_down(Waiter& me) {
    if (!start_watch() || !leaves_nothing_of_program() || !roles_.step_down(me)) return false;
    // A watch that is still blocked from its last duty knows nothing of what has been left in a backlog since.
    if (something_to_do()) wake_blocked();
    return true;
  }

  // Suspends the caller until the condition holds, which is looked at whenever the rank's doorbell has rung. Who has to move
  // something first may be a sibling of the caller: it gets its turn however often the bell rings.
  template <class F>
  void listen_until(F&& holds, Waiter& me) {
    const bool watched = start_watch();
    auto& bell = own_bell();
    // A watch that is still blocked from its last duty knows nothing of what this thread has left. It is told once: it calls us whenever the
    // bell rings, and would for every answer of ours to that.
    bool told = false;
    while (!holds()) {
      if (!watched) {  // nobody would wake it
        (void)poll_fully();
        me.thread.yield();
        continue;
      }
      me.expect(1, false);
      (void)bell.wait_once(
          [] {}, holds,
          [&](std::uint32_t rings) {
            roles_.listen(me);
            if (!leaves_nothing_of_program()) {
              told = false;
              roles_.call_listeners();
            } else if (bell.rings.load(std::memory_order_acquire) != rings) {
              roles_.call_listeners();  // what rang before the caller was a listener may have been heard already
            } else if (!std::exchange(told, true) && something_to_do()) {
              wake_blocked();  // the watch, which calls us again when it has looked
            }
            const instruments::ExactSpan span(counters(), Time::blocked);
            (void)me.sleep();
          });
      me.thread.yield();
    }
  }

  // Of the offload model: a thread that does nothing else, for every VNI. It lives as long as the process, like the engine.
  void start_communication_thread() {
    threads::start_library_thread([this] {
      for (int i = 0; i < vnis(); ++i) vnis_[i].access().serve();
      sleep_until([] { return false; });
    });
  }

 private:
  using Time = instruments::Time;
  using Missed = progress::Pollables::Missed;

  static constexpr std::uint32_t global_polls = 16;  // of a VNI to one of all (Amer 2019, Fig. 3a: `if (cond)`)

  // ---- for the helpers (progress::Attended)

  progress::Attended& attended() { return *this; }
  bool ready() const override { return something_to_do(); }
  bool must_ask() const override { return rank_.networks != nullptr; }
  bool any_unsent() const override {
    return vnis_.any_of([](const auto& vni) { return vni.any_unsent(); });
  }
  std::uint32_t taken() const override {
    std::uint32_t taken = 0;
    vnis_.for_each([&](const auto& vni) { taken += vni.taken(); });
    return taken;
  }
  // How often messages that waited have left.
  std::uint32_t departures() const {
    std::uint32_t departures = 0;
    vnis_.for_each([&](const auto& vni) { departures += vni.departures(); });
    return departures;
  }
  progress::PollResult advance(bool full) override {
    progress::PollResult result;
    vnis_.for_each([&](auto& vni) {
      if (full) vni.prepare_to_sleep();
      progress::add(result, vni.poll({.urgency = full ? Urgency::low : Urgency::attempt}));
    });
    if (rank_.pollables->any())
      progress::add(result, rank_.pollables->poll(false, full ? Missed::rung_for : Missed::reported));
    if (result.made_progress) call_program();
    return result;
  }
  // A thread of the program has made progress and does so no longer: what it has begun is the helpers' from here on.
  void leave() {
    if (help_ == nullptr) return;
    if (vnis_.any_of([](const auto& vni) { return vni.something_left(); })) [[unlikely]] {
      vnis_.front().state().parts().completion.call_progress_thread();
    } else if (rank_.networks) [[unlikely]] {
      rank_.networks->watch().schedule_polling();
    }
  }

  lln::Route& route() { return vnis_.front().state().parts().route; }
  node::Doorbell& own_bell() { return rank_.node->own_bell(); }
  // What concerns the rank and no one VNI is counted at its first.
  instruments::Counters& counters() { return vnis_.front().state().parts().counters; }
  // What has moved, or come, may be what a schedule waits for that only threads of the program may look at.
  void call_program() {
    if (!rank_.pollables->any_of_program()) return;
    roles_.call_server();
    roles_.call_listeners();
    wake_blocked();  // a server that is a kernel thread sleeps on the doorbell, which nobody has rung for what was sent meanwhile
  }
  // The helper that sleeps on the doorbell while no thread that waits can do so: there is one once it is needed. False: the system
  // gives us none, and user-level threads that wait go on polling.
  bool start_watch() {
    std::call_once(watch_started_, [this] {
      // As it is now: what rings before the helper runs is news to it.
      const std::uint32_t rung = own_bell().rings.load(std::memory_order_acquire);
      watched_ = start_or_report("user-level threads that wait poll without end", [this, heard = rung]() mutable {
        for (;;) {
          roles_.await_active();
          const auto relieved = [&] {
            const std::uint32_t rings = own_bell().rings.load(std::memory_order_acquire);
            if (rings != heard) {
              roles_.call_listeners();
              call_program();
            }
            heard = rings;
            return !roles_.is_watch_active();
          };
          sleep_until(relieved, false);
        }
      });
    });
    return watched_;
  }

  // Whether a user-level thread may be suspended: of what only threads of the program may poll nothing can move now. A helper that
  // moves something later calls them (call_program); while it is about to, the poll is not complete.
  bool leaves_nothing_of_program() {
    if (!rank_.pollables->any_of_program()) return true;
    const progress::PollResult result = poll_fully();
    return !result.made_progress && result.complete;
  }

  void wake_blocked() { vnis_.front().state().parts().completion.wake(); }
  bool something_to_do() const {
    return vnis_.any_of([](const auto& vni) { return vni.something_to_do(); });
  }

  // Sends of this VNI may be left to the helpers, if the setting asks for it.
  void defer(message::VniState& state) {
    if (setting_.deferral != progress::Deferral::none) state.deferral().begin(setting_.from, *help_);
  }

  // Every request of the set counts; those that are done by now, or become so meanwhile, signal too. Returns what is waited
  // for, for people.
  boot::Wait register_waiter(WaitSet& set, Waiter& me) {
    boot::Wait wait{.any = set.any()};
    me.expect(set.size(), set.any());
    vnis_.for_each_of(set, [&](auto& vni) { vni.expect(set, &me, wait); });
    return wait;
  }
  // Of a wait for any: the others must not signal any more. (Those of a wait for all have all done so.)
  void withdraw(WaitSet& set) {
    if (set.any()) vnis_.for_each_of(set, [&](auto& vni) { vni.forget(set); });
  }

  Rank& rank_;
  RankVnis<Access> vnis_;
  Roles roles_;
  std::once_flag watch_started_;
  bool watched_ = false;
  std::once_flag server_started_;
  platform::Native::atomic<std::uint32_t> serving_{0};  // calls of begin_serving() without their end
  std::unique_ptr<progress::IdleCores> help_;
  progress::Setting setting_;  // of the help
  // Whether a look at a VNI from outside costs next to nothing: at a network it is a system call as a rule.
  const bool polls_are_cheap_;
  const std::unique_ptr<Lookout[]> lookouts_;  // by VNI
  std::atomic<std::uint32_t> polls_{0};
  std::uint32_t seen_taken_ = 0;       // at the last poll_around()
  std::uint32_t seen_departures_ = 0;  // at the last send_left()
  // Sends are left to idle cores: no thread of the program sets a timer for each of them.
  std::atomic<bool> defers_{false};
};

}  // namespace heddle::engine
