// The engine that a safety model composes: its VNIs, with one kind of access, and one way of waiting.
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
#include "messaging/engine/visits.hpp"
#include "messaging/engine/waiting.hpp"
#include "messaging/wake/wake.hpp"

namespace heddle::engine {

template <class Access, class Waiting>
class ComposedEngine final : public Engine, private progress::Attended {
 public:
  // make_access(state) returns the access to one VNI.
  template <class MakeAccess>
  ComposedEngine(Rank& rank, safety::Model model, MakeAccess&& make_access)
      : Engine(std::move(model)),
        rank_(rank),
        wake_(rank.node->own_bell(), rank.networks ? &rank.networks->watch() : nullptr),
        vnis_(rank, wake_, vnis(), make_access),
        visits_(Waiting::peeks(this->model()) && !rank.networks),
        lookouts_(new Lookout[static_cast<std::size_t>(vnis())]) {
    rank.machine.waiting = &rank.node->waiting();
    if (rank.job->usable_cores() <= rank.job->machine_ranks()) rank.machine.called_other = &own_bell().called_another;
  }

  Vni& vni(int index) override {
    if (index < vnis()) return vnis_[index];
    return vnis_.asked().find_or_make(index, [&] {
      auto vni = make_asked_vni(rank_, wake_, index);
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
    bool moved = Waiting::progress(*this, needed != nullptr ? home_of(*needed) : 0);
    if (needed == nullptr && visits_.are_cheap())  // the caller's condition may depend on any VNI
      for (int i = 1; i < vnis(); ++i) moved |= vnis_[i].poll({}).made_progress;
    leave();
    return moved;
  }
  bool poll_for(const Request& request) override {
    if (is_served()) return false;
    (void)vnis_[home_of(request)].poll({.urgency = Urgency::attempt, .peek = true});
    leave();
    return true;
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
    // The communication thread sends what it can. Before it blocks again it requests notice of room for the rest.
    if (is_served()) {
      wake_.on(wake::Event::work_for_communication_thread);
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
  // If the program has polled since the last call, it makes progress itself. Otherwise a progress thread polls.
  bool poll_around() override {
    const std::uint32_t by_now = taken();
    const bool used = by_now != std::exchange(seen_taken_, by_now);
    if (!used) wake_.on(wake::Event::program_left);
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
    if (is_served()) return;  // the communication thread makes all progress already
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
    constexpr int most_yields = 1000;  // after these the peer computes: leave the core to it
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
    if (serving_.fetch_sub(1, std::memory_order_acq_rel) == 1) wake_.on(wake::Event::service_ended);
  }

  // ---- for the ways of waiting

  Rank& rank() const { return rank_; }
  const Machine& machine() const { return rank_.machine; }

  // True if a poll is usually a system call.
  bool polls_are_expensive() const { return rank_.networks != nullptr; }
  Lookout& lookout(int home) { return lookouts_[static_cast<std::size_t>(home)]; }

  // Describes, for reports, the events that the set still needs.
  boot::Wait describe(WaitSet& set) {
    boot::Wait wait{.any = set.any()};
    vnis_.for_each_of(set, [&](auto& vni) { vni.expect(set, nullptr, wait); });
    return wait;
  }

  // The VNI of a request that the set still needs (a wait for any takes its requests in turn); VNI 0 for a requested model.
  int home(const WaitSet& set) const { return vnis() == 1 ? 0 : home_of(*set.next()); }
  int home_of(const Request& request) const {
    const int index = RankVnis<Access>::index_of(request);
    return index < vnis() ? index : 0;
  }

  // One attempt to progress everything: the VNI `home`; the others now and then (visits.hpp), without waiting for them; VNIs of requested
  // models that have work; and schedules.
  progress::PollResult poll(int home, Urgency urgency, int most = lln::poll_batch) {
    return poll(home, {.urgency = urgency, .peek = Waiting::peeks(model()), .most = most});
  }
  // For a condition: an arrival at any VNI may make it true.
  progress::PollResult poll_for_condition(Urgency urgency) {
    return poll(0, {.urgency = urgency, .peek = Waiting::peeks(model()), .all_alike = Waiting::peeks(model())});
  }
  // As the first overload, with `how` for the VNI `home`. `of_program`: the caller is a thread of the program.
  progress::PollResult poll(int home, const PollMode& how, bool of_program = true) {
    progress::PollResult result = vnis_[home].poll(how);
    if (vnis() > 1 && (how.all_alike || visits_.are_due(result.made_progress)))
      for (int i = 0; i < vnis(); ++i)
        if (i != home) progress::add(result, vnis_[i].poll({.most = how.most}));
    if (vnis_.asked().any()) [[unlikely]]
      vnis_.asked().for_each(
          [&](Vni& vni) { progress::add(result, vni.poll({.urgency = how.urgency, .most = how.most})); });
    if (rank_.pollables->any()) {
      progress::add(result, rank_.pollables->poll(of_program, Missed::reported));
      // The progress may concern a schedule that another thread held during this poll, and that thread may be about to leave the library.
      if (result.made_progress) wake_.on(wake::Event::schedule_moved);
      if (result.made_progress && !of_program) call_program();
    }
    return result;
  }

  // Before blocking, and instead of it: misses no arrival.
  progress::PollResult poll_fully(bool of_program = true) {
    progress::PollResult result;
    vnis_.for_each([&](auto& vni) { progress::add(result, vni.poll({.urgency = Urgency::low})); });
    if (rank_.pollables->any()) progress::add(result, rank_.pollables->poll(of_program, Missed::rung_for));
    if (result.made_progress && !of_program) call_program();
    return result;
  }

  // Waits with a counter: sleep(waiter) for a thread that is not the server; serve(over), which makes progress until over(), for the
  // server.
  template <class Sleep, class Serve>
  void wait_registered(WaitSet& set, Waiter& me, Sleep&& sleep, Serve&& serve) {
    const boot::Wait wait = register_waiter(set, me);
    const Blocked said(rank_, &wait);
    bool server = roles().enter(me);
    if (!server) {
      // A server that blocked before this thread deferred a send does not know of it, and only the server requests notice of room.
      if (something_to_do()) wake_.on(wake::Event::backlog_left);
      const instruments::ExactSpan span(counters(), Time::blocked);
      server = !sleep(me).complete;
    }
    if (server) serve([&] { return me.counter.complete(); });
    roles().leave(me);
    withdraw(set);
  }

  // The same where the communication thread makes all progress.
  void wait_served(WaitSet& set, Waiter& me) {
    const boot::Wait wait = register_waiter(set, me);
    const Blocked said(rank_, &wait);
    wake_.on(wake::Event::work_for_communication_thread);
    (void)me.sleep();
    withdraw(set);
  }
  bool is_served() const { return model().waiting == safety::Waiting::flag; }

  // Blocks on the rank's doorbell, and makes progress whenever it rings, until `holds`.
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
        const PollMode all{.peek = Waiting::peeks(model()), .all_alike = visits_.are_cheap()};
        if (!poll(0, all, of_program).made_progress) continue;
        patience.reset();
        idle = false;
      } while (!holds() && (patience.spend() || keeps_spinning(*this, patience, of_program)));
      if (idle && !holds()) count(counters(), instruments::Count::idle_wakeups);
    }
  }

  // ---- for user-level threads (user_level_waiting.hpp)

  // The server gives up its role. False: it has to poll once more.
  bool step_down(Waiter& me) {
    if (!start_watch() || !leaves_nothing_of_program() || !roles().step_down(me)) return false;
    // A watch that has been blocked since it served last does not know of sends that were deferred since.
    if (something_to_do()) wake_.on(wake::Event::backlog_left);
    return true;
  }

  // Suspends the caller until the condition holds. The caller checks it whenever the rank's doorbell has rung, and then yields: a sibling
  // may have to act before the condition can hold.
  template <class F>
  void listen_until(F&& holds, Waiter& me) {
    const bool watched = start_watch();
    auto& bell = own_bell();
    // A watch that has been blocked since it served last does not know of sends that this thread deferred. Wake it once only: each
    // wake-up rings the bell, and after each ring the watch resumes this thread.
    bool told = false;
    while (!holds()) {
      if (!watched) {  // no thread would resume the caller
        (void)poll_fully();
        me.thread.yield();
        continue;
      }
      me.expect(1, false);
      (void)bell.wait_once(
          [] {}, holds,
          [&](std::uint32_t rings) {
            roles().listen(me);
            if (!leaves_nothing_of_program()) {
              told = false;
              wake_.on(wake::Event::doorbell_rang);
            } else if (bell.rings.load(std::memory_order_acquire) != rings) {
              wake_.on(
                  wake::Event::doorbell_rang);  // the watch may have handled this ring before the caller was a listener
            } else if (!std::exchange(told, true) && something_to_do()) {
              wake_.on(wake::Event::backlog_left);  // the watch, which polls and then resumes the caller
            }
            const instruments::ExactSpan span(counters(), Time::blocked);
            (void)me.sleep();
          });
      me.thread.yield();
    }
  }

  // Offload model: starts the communication thread, which serves every VNI. It lives as long as the process, like the engine.
  void start_communication_thread() {
    threads::start_library_thread([this] {
      for (int i = 0; i < vnis(); ++i) vnis_[i].access().serve();
      sleep_until([] { return false; });
    });
  }

 private:
  using Time = instruments::Time;
  using Missed = progress::Pollables::Missed;

  // ---- for the progress threads (progress::Attended)

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
  // The number of times that messages have left an outbox.
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
  // A thread of the program stops making progress: from here on progress threads continue its operations. Arrivals need no call: while the
  // detector does not poll, it listens, and the sender has called it.
  void leave() {
    if (help_ == nullptr) return;
    if (vnis_.any_of([](const auto& vni) { return vni.something_begun(); })) [[unlikely]] {
      wake_.on(wake::Event::program_left);
    } else if (rank_.networks) [[unlikely]] {
      wake_.on(wake::Event::program_left_network);
    }
  }

  lln::Route& route() { return vnis_.front().state().parts().route; }
  Roles& roles() { return wake_.roles(); }
  node::Doorbell& own_bell() { return rank_.node->own_bell(); }
  // Events of the rank, not of one VNI, are counted at its first VNI.
  instruments::Counters& counters() { return vnis_.front().state().parts().counters; }
  // A message that has moved may be what a schedule waits for that only threads of the program may poll: wakes these threads.
  void call_program() {
    if (rank_.pollables->any_of_program()) wake_.on(wake::Event::program_work);
  }
  // Starts the watch, unless it runs: the thread of the library that blocks on the doorbell while no waiting thread does. False: the
  // system has no thread left, and waiting user-level threads go on polling.
  bool start_watch() {
    std::call_once(watch_started_, [this] {
      // The count before the watch starts: it handles every later ring.
      const std::uint32_t rung = own_bell().rings.load(std::memory_order_acquire);
      watched_ = start_or_report("user-level threads that wait poll without end", [this, heard = rung]() mutable {
        for (;;) {
          roles().await_active();
          const auto relieved = [&] {
            const std::uint32_t rings = own_bell().rings.load(std::memory_order_acquire);
            if (rings != heard) {
              wake_.on(wake::Event::doorbell_rang);
              call_program();
            }
            heard = rings;
            return !roles().is_watch_active();
          };
          sleep_until(relieved, false);
        }
      });
    });
    return watched_;
  }

  // True if a user-level thread may be suspended: no pollable that only threads of the program may poll can move now. A progress thread
  // that moves something later wakes these threads (call_program); while it is about to, the poll is not complete.
  bool leaves_nothing_of_program() {
    if (!rank_.pollables->any_of_program()) return true;
    const progress::PollResult result = poll_fully();
    return !result.made_progress && result.complete;
  }

  bool something_to_do() const {
    return vnis_.any_of([](const auto& vni) { return vni.something_to_do(); });
  }

  // Lets progress threads submit the sends of this VNI, if the setting requests it.
  void defer(message::VniState& state) {
    if (setting_.deferral != progress::Deferral::none) state.deferral().begin(setting_.from, *help_);
  }

  // Registers `me` with every request of the set. A request that is done, or completes meanwhile, signals it too. Returns a description
  // of the wait for reports.
  boot::Wait register_waiter(WaitSet& set, Waiter& me) {
    boot::Wait wait{.any = set.any()};
    me.expect(set.size(), set.any());
    vnis_.for_each_of(set, [&](auto& vni) { vni.expect(set, &me, wait); });
    return wait;
  }
  // After a wait for any the other requests must not signal any more. (After a wait for all, all have signaled.)
  void withdraw(WaitSet& set) {
    if (set.any()) vnis_.for_each_of(set, [&](auto& vni) { vni.forget(set); });
  }

  Rank& rank_;
  wake::Wake wake_;
  RankVnis<Access> vnis_;
  std::once_flag watch_started_;
  bool watched_ = false;
  std::once_flag server_started_;
  platform::Native::atomic<std::uint32_t> serving_{0};  // calls of begin_serving() without their end_serving()
  std::unique_ptr<progress::IdleCores> help_;
  progress::Setting setting_;  // of the progress threads
  Visits visits_;
  const std::unique_ptr<Lookout[]> lookouts_;  // one for each VNI
  std::uint32_t seen_taken_ = 0;               // at the last call of poll_around()
  std::uint32_t seen_departures_ = 0;          // at the last call of send_left()
  // True if sends are left to idle cores, without a timer for each of them.
  std::atomic<bool> defers_{false};
};

}  // namespace heddle::engine
