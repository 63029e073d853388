#include "simulator/scheduler.hpp"

#include <dlfcn.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>

#include <algorithm>
#include <climits>
#include <cstdio>

#include "simulator/kernel/real.hpp"
#include "simulator/simulation.hpp"

namespace heddle::simulator {

constinit thread_local Thread* self = nullptr;

namespace {

// How far a core may be ahead of the others while it uses what it has in its cache: lines that only it uses, and all.
constexpr Time quantum = 100 * nanosecond;
constexpr Time short_quantum = 10 * nanosecond;
// Looks outside, a millisecond apart, before a standstill is called a deadlock.
constexpr unsigned looks_outside = 3000;

// The functions in which a thread sleeps, as far as they are known by name. Programs keep frame pointers.
std::string callers(const Thread& thread) {
  std::string text;
  void* const* frame = thread.frame;
  for (int depth = 0; frame != nullptr && depth < 24; ++depth) {
    Dl_info info{};
    if (dladdr(frame[1], &info) == 0 || info.dli_fname == nullptr) break;
    char place[512];
    std::snprintf(place, sizeof place, "\n      %s+0x%lx %s", info.dli_fname,
                  reinterpret_cast<std::uintptr_t>(frame[1]) - reinterpret_cast<std::uintptr_t>(info.dli_fbase),
                  info.dli_sname != nullptr ? info.dli_sname : "");
    text += place;
    auto* const next = static_cast<void* const*>(frame[0]);
    if (next <= frame) break;
    frame = next;
  }
  return text;
}

}  // namespace

void Baton::give() {
  here_.store(1);
  system_call(SYS_futex, reinterpret_cast<long>(&here_), FUTEX_WAKE_PRIVATE, 1);
}

void Baton::take() {
  while (here_.exchange(0) == 0) system_call(SYS_futex, reinterpret_cast<long>(&here_), FUTEX_WAIT_PRIVATE, 0);
}

// After so long a thread of a random schedule is taken for one that polls.
constexpr Time longest_turn = 30'000 * nanosecond;
// It always finds a core.
constexpr unsigned cores_of_random_schedules = 4096;

Scheduler::Scheduler(const Settings& settings)
    : settings_(settings), cpus_(settings.fuzz ? cores_of_random_schedules : settings.machine.cpus) {}

Thread& Scheduler::add() {
  threads_.push_back(std::make_unique<Thread>(static_cast<int>(threads_.size()), settings_.machine.cpus));
  Thread& thread = *threads_.back();
  if (fuzz_.on()) thread.priority = fuzz_.first_priority();
  if (self != nullptr) {  // inherits, as from a thread that creates one
    thread.allowed = self->allowed;
    thread.background = self->background;
    thread.files = self->files;
    thread.cpu = self->cpu;
  }
  return thread;
}

void Scheduler::start_first(Thread& thread) {
  cpus_[0].running = &thread;
  set_limit();
}

void Scheduler::start(Thread& thread) {
  // Until there is a second thread time depends on what the program was given: the length of paths, numbers of processes.
  // The run begins here.
  if (threads_.size() == 2) {
    constexpr Time beginning = 10'000'000 * nanosecond;
    clock = (clock / beginning + 1) * beginning;
    simulation->memory.begin(settings_.seed);
    if (fuzz_.on()) change_at_ = fuzz_.next_change(clock);
  }
  make_ready(thread, clock + machine().thread_start);
}

void Scheduler::set_limit() {
  if (fuzz_.on()) {
    limit = std::min({change_at_, resumed_at_ + longest_turn, timers_.empty() ? never : timers_.top().at});
    if (!turns_.empty() && self != nullptr && turns_.top().order < self->priority) limit = 0;
    return;
  }
  const Cpu& mine = cpus_[self != nullptr ? self->cpu : 0];
  in_turn = turns_.empty() ? never : turns_.top().order + short_quantum;
  limit = std::min(turns_.empty() ? never : turns_.top().order + quantum, timers_.empty() ? never : timers_.top().at);
  limit = std::min(limit, rotation_of(mine));
}

Time Scheduler::rotation_of(const Cpu& cpu) const {
  if (cpu.queue.empty()) return never;
  const bool foreground = std::ranges::any_of(cpu.queue, [](const Thread* t) { return !t->background; });
  if (foreground && (cpu.preempt || cpu.running->background)) return cpu.slice_began;
  return foreground || cpu.running->background ? cpu.slice_began + machine().slice : never;
}

void Scheduler::catch_up() {
  if (self->frozen != 0) {
    limit = never;
    return;
  }
  fire_timers(clock);
  Cpu& mine = cpus_[self->cpu];
  if (fuzz_.on()) {
    if (clock > change_at_ || clock > resumed_at_ + longest_turn) {
      if (clock > change_at_) change_at_ = fuzz_.next_change(clock);
      change();
    } else if (!turns_.empty() && turns_.top().order < self->priority) {
      add_turn(self->cpu);
      run_next();
    }
  } else if (rotation_of(mine) <= clock) {
    rotate();
  } else if (!turns_.empty() && turns_.top().order < clock) {
    mine.clock = clock;
    add_turn(self->cpu);
    run_next();
  }
  set_limit();
}

void Scheduler::add_turn(unsigned cpu) {
  turns_.push({fuzz_.on() ? cpus_[cpu].running->priority : cpus_[cpu].clock, cpu});
}

void Scheduler::change() {
  for (const auto& thread : threads_)
    if (!thread->stores.empty() && fuzz_.leaves()) thread->stores.leave_one(settings_.weak ? fuzz_.below(64) : 0);
  self->priority = fuzz_.lowest_priority();
  add_turn(self->cpu);
  run_next();
}

void Scheduler::polls() {
  if (!fuzz_.on() || self->frozen != 0 || turns_.empty()) return;
  change();
  set_limit();
}

void Scheduler::run_next() {
  if (clock > settings_.limit)
    stop("the virtual time has passed its limit. Raise --limit, or look for a hang." + sleeping());
  for (;;) {
    Time soonest = never;
    if (!turns_.empty()) soonest = fuzz_.on() ? clock : turns_.top().order;
    if (!timers_.empty() && timers_.top().at <= soonest) {
      if (soonest == never && only_external()) outside();
      fire_timers(timers_.top().at);
      continue;
    }
    if (soonest != never) break;
    deadlock();
  }
  const unsigned cpu = turns_.top().cpu;
  turns_.pop();
  Thread& next = *cpus_[cpu].running;
  if (fuzz_.on())
    resumed_at_ = clock;
  else
    clock = cpus_[cpu].clock;
  if (&next == self) return;
  Thread* const me = self;
  next.baton.give();
  if (me->over) return;
  me->baton.take();
  await_leaving();
}

// libc gives back memory at the end of a thread. Beside what the next thread does that would differ from run to run.
void Scheduler::await_leaving() {
  const int gone = leaving_.exchange(0);
  if (gone == 0) return;
  const long process = system_call(SYS_getpid);
  while (system_call(SYS_tgkill, process, gone, 0) == 0) system_call(SYS_sched_yield);
}

void Scheduler::begin(Thread& thread) {
  thread.baton.take();
  await_leaving();
}

bool Scheduler::only_external() const {
  return std::ranges::all_of(sleepers_, [](const Thread* thread) { return thread->external || !thread->timed; });
}

void Scheduler::outside() {
  // A launcher waits for its children, however long they run.
  const bool parent = system_call(SYS_waitid, P_ALL, 0, 0, WEXITED | WNOHANG | WNOWAIT, 0) == 0;
  if (!parent && ++in_vain_ > looks_outside) deadlock();
  const timespec pause{0, 1'000'000};
  system_call(SYS_nanosleep, reinterpret_cast<long>(&pause));
}

void Scheduler::fire_timers(Time until) {
  while (!timers_.empty() && timers_.top().at <= until) {
    const Timer timer = timers_.top();
    timers_.pop();
    Thread& thread = *timer.thread;
    if (!thread.blocked || thread.sleep != timer.sleep) continue;
    if (fuzz_.on()) clock = std::max(clock, timer.at);
    if (!timer.external) in_vain_ = 0;
    thread.timed_out = true;
    std::erase(sleepers_, &thread);
    make_ready(thread, timer.at);
  }
}

bool Scheduler::shares_core(unsigned number) const {
  const unsigned first = number / machine().cpus_per_core * machine().cpus_per_core;
  for (unsigned cpu = first; cpu != first + machine().cpus_per_core; ++cpu)
    if (cpu != number && cpus_[cpu].running != nullptr) return true;
  return false;
}

// The nearest processor that is `free`, its own first, those of idle cores before others; the number of processors if none is.
template <class Free>
unsigned Scheduler::nearest(const Thread& thread, Free free) const {
  const unsigned cpus = machine().cpus;
  unsigned best = cpus;
  unsigned least = ~0U;
  for (unsigned i = 0; i < cpus; ++i) {
    const unsigned cpu = (thread.cpu + i) % cpus;
    if (!thread.allowed[cpu] || !free(cpus_[cpu])) continue;
    const auto away = i == 0 ? 0U : 1U + static_cast<unsigned>(machine().between(thread.cpu, cpu));
    const unsigned cost = away + (shares_core(cpu) ? static_cast<unsigned>(distances) + 1 : 0);
    if (cost >= least) continue;
    least = cost;
    best = cpu;
  }
  return best;
}

unsigned Scheduler::choose(const Thread& thread) const {
  if (fuzz_.on()) return static_cast<unsigned>(thread.number);
  const unsigned cpus = machine().cpus;
  const unsigned idle = nearest(thread, [](const Cpu& cpu) { return cpu.running == nullptr; });
  if (idle != cpus) return idle;
  if (!thread.background) {
    const unsigned background =
        nearest(thread, [](const Cpu& cpu) { return cpu.running->background && cpu.queue.empty(); });
    if (background != cpus) return background;
  }
  unsigned best = thread.cpu;
  for (unsigned i = 0; i < cpus; ++i) {
    const unsigned cpu = (thread.cpu + i) % cpus;
    if (!thread.allowed[cpu]) continue;
    if (!thread.allowed[best] || cpus_[cpu].queue.size() < cpus_[best].queue.size()) best = cpu;
  }
  return best;
}

void Scheduler::make_ready(Thread& thread, Time at) {
  thread.blocked = false;
  thread.waits_for = nullptr;
  thread.ready = at;
  const unsigned chosen = choose(thread);
  Cpu& cpu = cpus_[chosen];
  if (cpu.running == nullptr) {
    place(thread, chosen, at + machine().wake_latency);
    return;
  }
  thread.cpu = chosen;
  cpu.queue.push_back(&thread);
  if (!thread.background && (cpu.running->background || at - std::min(at, cpu.slice_began) > machine().granularity)) {
    cpu.preempt = true;
    if (self != nullptr && cpu.running == self) limit = 0;
  }
}

void Scheduler::place(Thread& thread, unsigned number, Time at) {
  Cpu& cpu = cpus_[number];
  cpu.running = &thread;
  cpu.clock = std::max(cpu.clock, at);
  cpu.slice_began = cpu.clock;
  cpu.preempt = false;
  thread.cpu = number;
  ++thread.counts.switches;
  add_turn(number);
  limit = std::min(limit, cpu.clock + quantum);
  in_turn = std::min(in_turn, cpu.clock + short_quantum);
}

Thread* Scheduler::take_from(Cpu& cpu, unsigned for_cpu, bool background) {
  const auto found = std::ranges::find_if(
      cpu.queue, [&](const Thread* thread) { return thread->background == background && thread->allowed[for_cpu]; });
  if (found == cpu.queue.end()) return nullptr;
  Thread* const thread = *found;
  cpu.queue.erase(found);
  return thread;
}

void Scheduler::vacate(Cpu& cpu) {
  const auto number = static_cast<unsigned>(&cpu - cpus_.data());
  cpu.running = nullptr;
  cpu.clock = clock;
  cpu.preempt = false;
  Thread* next = nullptr;
  for (const bool background : {false, true})
    for (unsigned i = 0; next == nullptr && i < machine().cpus; ++i)
      next = take_from(cpus_[(number + i) % machine().cpus], number, background);
  if (next != nullptr) place(*next, number, std::max(clock, next->ready) + machine().switch_context);
}

void Scheduler::rotate() {
  Cpu& mine = cpus_[self->cpu];
  const unsigned number = self->cpu;
  Thread* next = take_from(mine, number, false);
  if (next == nullptr) next = take_from(mine, number, true);
  if (next == nullptr) return;
  self->ready = clock;
  mine.queue.push_back(self);
  mine.clock = clock;
  place(*next, number, std::max(clock, next->ready) + machine().switch_context);
  give_way(nullptr);
}

void Scheduler::give_way(const char* in) {
  const Thread& me = *self;
  const unsigned cpu = me.cpu;
  const Time start = clock;
  run_next();
  if (trace != nullptr) [[unlikely]]
    trace->waited(me, cpu, start, clock, in);
}

void Scheduler::yield() {
  ++self->counts.yields;
  clock += machine().yield;
  catch_up();
  polls();
  if (self->frozen == 0 && !cpus_[self->cpu].queue.empty()) rotate();
  set_limit();
}

bool Scheduler::sleep(const void* what, Time until, const char* in, bool external) {
  Thread& me = *self;
  if (me.frozen != 0) stop(std::string(in) + " blocks inside of the loader");
  if (until <= clock) return false;
  me.frame = static_cast<void* const*>(__builtin_frame_address(0));
  ++me.counts.sleeps;
  ++me.sleep;
  me.blocked = true;
  me.timed_out = false;
  me.waits_for = what;
  me.waits_in = in;
  sleepers_.push_back(&me);
  me.external = external;
  me.timed = until != never;
  if (until != never) timers_.push({until, &me, me.sleep, external});
  vacate(cpus_[me.cpu]);
  give_way(in);
  set_limit();
  return !me.timed_out;
}

unsigned Scheduler::wake(const void* what, unsigned n) { return wake_and_move(what, n, nullptr, 0); }

unsigned Scheduler::wake_and_move(const void* what, unsigned n, const void* instead, unsigned more) {
  unsigned woken = 0;
  for (std::size_t i = 0; i < sleepers_.size();) {
    Thread& thread = *sleepers_[i];
    if (thread.waits_for != what || (woken == n && more == 0)) {
      ++i;
    } else if (woken != n) {
      sleepers_.erase(sleepers_.begin() + static_cast<std::ptrdiff_t>(i));
      make_ready(thread, clock);
      ++woken;
    } else {
      thread.waits_for = instead;
      --more;
      ++i;
    }
  }
  if (woken != 0) in_vain_ = 0;
  if (self != nullptr) self->counts.wakes += woken;
  return woken;
}

void Scheduler::end() {
  Thread& me = *self;
  me.stores.leave_all();
  me.over = true;
  wake(&me, UINT_MAX);
  leaving_.store(static_cast<int>(system_call(SYS_gettid)));
  vacate(cpus_[me.cpu]);
  run_next();
}

void Scheduler::publish_stores() {
  for (const auto& thread : threads_) thread->stores.leave_all();
}

void Scheduler::moved(Thread& thread) {
  if (fuzz_.on() || thread.allowed[thread.cpu]) return;
  if (&thread != self) {  // elsewhere when it is woken; a running one goes on until then
    for (Cpu& cpu : cpus_)
      if (std::erase(cpu.queue, &thread) != 0) make_ready(thread, clock);
    return;
  }
  Cpu& old = cpus_[thread.cpu];
  make_ready(thread, clock);  // its own core is not idle, and not allowed
  vacate(old);
  give_way(nullptr);
  set_limit();
}

std::string Scheduler::sleeping() const {
  std::string who;
  for (const Thread* thread : sleepers_)
    who += "\n  thread " + std::to_string(thread->number) + ": " + thread->waits_in + callers(*thread);
  return who;
}

void Scheduler::deadlock() {
  stop("deadlock at " + std::to_string(clock / nanosecond) +
       " ns: no thread is left that could wake those that are blocked." + sleeping());
}

}  // namespace heddle::simulator
