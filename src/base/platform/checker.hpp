// The checker: Relacy explores interleavings and the effects of weak memory orders (https://github.com/dvyukov/relacy).
//
// Everything that an algorithm shares goes through Relacy's own cells, plain data included, so that a race on it is
// found. Four things differ from calling Relacy directly:
//
// - A wait does not spin. A thread whose predicate fails on the newest value is set aside until a thread stores to
//   the cell; a predicate that no thread will satisfy is then reported as a deadlock at once, and executions stay short.
//   Being set aside and woken orders nothing: only the memory orders of the algorithm do.
// - park and unpark order nothing either, and may return early. Real futexes give less freedom; code that passes here
//   passes there.
// - A store may come before one that was executed earlier, where nothing orders the two (see LastStore).
// - Every memory order is looked up by the place in the source that names it, so that a running checker can weaken
//   one (see Mutation) without compiling anything again. Steps without an order that could be weakened (a fence, a
//   wake-up, a store to plain data) can be left out.
#pragma once

#include <relacy/base.hpp>
// clang-format off: the order of these is Relacy's.
#include <relacy/atomic.hpp>
#include <relacy/atomic_fence.hpp>
#include <relacy/context.hpp>
#include <relacy/context_base_impl.hpp>
#include <relacy/stdlib/condition_variable.hpp>
#include <relacy/stdlib/event.hpp>
#include <relacy/stdlib/mutex.hpp>
#include <relacy/stdlib/semaphore.hpp>
// clang-format on
#include <relacy/test_suite.hpp>
#include <relacy/var.hpp>

#include <algorithm>
#include <array>
#include <cstring>
#include <source_location>
#include <span>
#include <string_view>

#include "base/platform/platform.hpp"

namespace heddle::platform {

using Place = std::source_location;

// One memory order as written in the source: where, and which of the orders of that call (a compare_exchange
// has two).
struct Site {
  std::string_view file;  // without its folders
  unsigned line = 0;
  unsigned column = 0;
  unsigned slot = 0;
  bool operator==(const Site&) const = default;
};

// The kind of step at a site.
enum class Step : std::uint8_t { ordered, fence, wake, store };

// The checker's changes to the source: records the sites it passes, weakens the order at one of them, or leaves the
// step out. Takes no memory from the heap, which Relacy watches.
class Mutation {
 public:
  struct Seen {
    Site site;
    Step step;
    order given;  // of an ordered one
  };

  void record() { recording_ = true; }
  void weaken(Site site, order to) {
    active_ = true;
    site_ = site;
    weakened_ = to;
  }
  void leave_out(Site site) {
    active_ = true;
    leaves_out_ = true;
    site_ = site;
  }
  bool active() const { return active_; }
  std::span<const Seen> seen() const { return {seen_.data(), count_}; }
  void forget() { count_ = 0; }

  order effective(order given, const Place& place, unsigned slot) {
    if (recording_) [[unlikely]]
      note({{base_name(place), place.line(), place.column(), slot}, Step::ordered, given});
    return active_ && !leaves_out_ && is_here(place, slot) ? weakened_ : given;
  }
  bool left_out(Step step, const Place& place) {
    if (recording_) [[unlikely]]
      note({{base_name(place), place.line(), place.column(), 0}, step, order::relaxed});
    return leaves_out_ && is_here(place, 0);
  }

 private:
  bool is_here(const Place& place, unsigned slot) const {
    return place.line() == site_.line && place.column() == site_.column && slot == site_.slot &&
           base_name(place) == site_.file;
  }
  static std::string_view base_name(const Place& place) {
    const std::string_view path = place.file_name();
    return path.substr(path.rfind('/') + 1);
  }

  void note(const Seen& visit) {
    const auto known = [&](const Seen& other) { return other.site == visit.site; };
    if (count_ == seen_.size() || std::ranges::any_of(seen(), known)) return;
    seen_[count_++] = visit;
  }

  bool recording_ = false;
  bool active_ = false;
  bool leaves_out_ = false;
  Site site_;
  order weakened_ = order::relaxed;
  std::array<Seen, 1024> seen_;
  std::size_t count_ = 0;
};
inline Mutation mutation;

// The number of the execution that is being explored; a new one starts with fresh thread-local data.
inline std::uint64_t execution = 0;

namespace detail {

inline rl::memory_order relacy_order(order o) {
  switch (o) {
    case order::relaxed:
      return rl::mo_relaxed;
    case order::consume:
      return rl::mo_consume;
    case order::acquire:
      return rl::mo_acquire;
    case order::release:
      return rl::mo_release;
    case order::acq_rel:
      return rl::mo_acq_rel;
    case order::seq_cst:
      return rl::mo_seq_cst;
  }
  return rl::mo_seq_cst;
}

// Relacy has no compare_exchange whose failure is stronger than its success.
inline order no_stronger(order failure, order success) {
  const bool acquires = success == order::acquire || success == order::acq_rel || success == order::seq_cst;
  return acquires ? failure : order::relaxed;
}

inline rl::debug_info info(const Place& place) {
  return rl::debug_info(place.function_name(), place.file_name(), static_cast<unsigned>(place.line()));
}

inline rl::memory_order look_up(order given, const Place& place) {
  return relacy_order(mutation.effective(given, place, 0));
}

// The number of waits of each thread, for tests of algorithms that promise never to.
inline std::array<std::uint64_t, 8> waits{};
inline void note_wait() { ++waits[rl::ctx().current_thread()]; }

// Threads set aside until something happens. Unlike Relacy's own wait sets it adds no happens-before.
class Aside {
 public:
  void wait(bool may_wake_early, const Place& place) {
    rl::context& c = rl::ctx();
    const rl::thread_id_t self = c.current_thread();
    waiting_ |= 1U << self;
    c.park_current_thread(false, may_wake_early, false, info(place));
    waiting_ &= ~(1U << self);
  }

  void wake(std::uint32_t n, const Place& place) {
    for (rl::thread_id_t i = 0; waiting_ != 0 && n != 0; ++i) {
      if ((waiting_ & (1U << i)) == 0) continue;
      waiting_ &= ~(1U << i);
      --n;
      rl::ctx().unpark_thread(i, false, info(place));
    }
  }

 private:
  std::uint32_t waiting_ = 0;
};

// Relacy orders the stores to a cell as it executes them. But a store that does not happen before another may come
// after it; without a read in between, that reads as if the second had not been. This detects the case: a node that is
// cleared, published without release, linked to, and only then visibly cleared for all.
class LastStore {
 public:
  bool may_come_after_us() const {
    const rl::thread_info_base* const self = rl::ctx().threadx_;
    return unseen_ && self->index_ != writer_ && self->acq_rel_order_[writer_] < when_;
  }
  void note_store() {
    const rl::thread_info_base* const self = rl::ctx().threadx_;
    writer_ = self->index_;
    when_ = self->own_acq_rel_order_;
    unseen_ = true;
  }
  // A read-modify-write comes right after what it has read, so nothing can be put before it any more.
  void note_exchange() { unseen_ = false; }
  void note_load() {
    if (rl::ctx().threadx_->index_ != writer_) unseen_ = false;
  }

 private:
  bool unseen_ = false;
  rl::thread_id_t writer_ = 0;
  rl::timestamp_t when_ = 0;
};

}  // namespace detail

template <class T>
class CheckedAtomic {
 public:
  CheckedAtomic() : CheckedAtomic(T()) {}
  explicit CheckedAtomic(T value) { cell_.store(value, rl::mo_relaxed, detail::info(Place::current())); }

  T load(order o, Place place = Place::current()) const {
    last_.note_load();
    return cell_.load(detail::look_up(o, place), detail::info(place));
  }
  void store(T value, order o, Place place = Place::current()) {
    if (last_.may_come_after_us() && rl::ctx().rand(2, rl::sched_type_user) == 1) return;
    cell_.store(value, detail::look_up(o, place), detail::info(place));
    last_.note_store();
    awaiting_.wake(all, place);
  }
  T exchange(T value, order o, Place place = Place::current()) {
    return stored(cell_.exchange(value, detail::look_up(o, place), detail::info(place)), place);
  }
  bool compare_exchange(T& expected, T desired, order success, order failure, Place place = Place::current()) {
    const order on_success = mutation.effective(success, place, 0);
    const order on_failure = detail::no_stronger(mutation.effective(failure, place, 1), on_success);
    const bool done =
        cell_.compare_exchange_strong(expected, desired, detail::relacy_order(on_success), detail::info(place),
                                      detail::relacy_order(on_failure), detail::info(place));
    return done ? stored(true, place) : false;
  }
  T fetch_add(T value, order o, Place place = Place::current()) {
    return stored(cell_.fetch_add(value, detail::look_up(o, place), detail::info(place)), place);
  }
  T fetch_sub(T value, order o, Place place = Place::current()) {
    return stored(cell_.fetch_sub(value, detail::look_up(o, place), detail::info(place)), place);
  }
  T fetch_or(T value, order o, Place place = Place::current()) {
    return stored(cell_.fetch_or(value, detail::look_up(o, place), detail::info(place)), place);
  }
  T fetch_and(T value, order o, Place place = Place::current()) {
    return stored(cell_.fetch_and(value, detail::look_up(o, place), detail::info(place)), place);
  }

 private:
  friend struct Checker;
  static constexpr std::uint32_t all = ~0U;

  template <class R>
  R stored(R result, const Place& place) {
    last_.note_exchange();
    awaiting_.wake(all, place);
    return result;
  }

  rl::atomic<T> cell_;
  mutable detail::LastStore last_;
  mutable detail::Aside awaiting_;
  mutable detail::Aside parked_;
};

template <class T>
class CheckedPlain {
 public:
  CheckedPlain() : CheckedPlain(T()) {}
  explicit CheckedPlain(T value) : cell_(value) {}
  T get(Place place = Place::current()) const { return cell_(detail::info(place)).load(); }
  void set(T value, Place place = Place::current()) {
    if (!mutation.left_out(Step::store, place)) cell_(detail::info(place)).store(value);
  }

 private:
  rl::var<T> cell_;
};

// The bytes are ordinary; a plain cell beside them stands for all of them when races are looked for.
template <std::size_t Bytes>
class CheckedBlock {
 public:
  void write(const void* from, std::size_t bytes, Place place = Place::current()) {
    touched_.set(1, place);
    std::memcpy(bytes_, from, bytes);
  }
  void read(void* to, std::size_t bytes, Place place = Place::current()) const {
    static_cast<void>(touched_.get(place));
    std::memcpy(to, bytes_, bytes);
  }

 private:
  CheckedPlain<unsigned> touched_;
  std::byte bytes_[Bytes];
};

class CheckedMutex {
 public:
  void lock(Place place = Place::current()) { mutex_.lock(detail::info(place)); }
  bool try_lock(Place place = Place::current()) { return mutex_.try_lock(detail::info(place)); }
  void unlock(Place place = Place::current()) { mutex_.unlock(detail::info(place)); }

 private:
  rl::mutex mutex_;
};

struct Checker {
  template <class T>
  using atomic = CheckedAtomic<T>;
  template <class T>
  using plain = CheckedPlain<T>;
  template <std::size_t Bytes>
  using block = CheckedBlock<Bytes>;
  using mutex = CheckedMutex;

  template <class T, class Predicate>
  static T await(const atomic<T>& cell, order o, Predicate satisfied, Place place = Place::current()) {
    for (;;) {
      const T value = cell.load(o, place);
      if (satisfied(value)) return value;
      detail::note_wait();
      // The load may have seen an old value. If the newest one satisfies, read again; no store may be left to wake us.
      if (satisfied(cell.cell_.debug_value())) {
        rl::ctx().yield(1, detail::info(place));
      } else {
        cell.awaiting_.wait(false, place);
      }
    }
  }

  template <class T, class Predicate>
  static T poll(const atomic<T>& cell, order o, Predicate, std::uint32_t, Place place = Place::current()) {
    return cell.load(o, place);  // one read is within any bound
  }

  static void pause(std::uint32_t) {}  // the awaited event may not come: as short as nothing
  static void yield(Place place = Place::current()) {
    detail::note_wait();
    rl::ctx().yield(1, detail::info(place));
  }
  static void yield_core(Place place = Place::current()) { yield(place); }
  static void await_loads() {}
  static std::uint64_t waits() { return detail::waits[thread()]; }

  static void park(const atomic<std::uint32_t>& word, std::uint32_t expected, Scope, Place place = Place::current()) {
    detail::note_wait();
    rl::ctx().sched();
    if (word.cell_.debug_value() == expected) word.parked_.wait(true, place);
    // A thread that returns has given time to others, and does not see old values forever.
    rl::ctx().yield(1, detail::info(place));
  }

  static void unpark(const atomic<std::uint32_t>& word, std::uint32_t n, Scope, Place place = Place::current()) {
    rl::ctx().sched();
    if (!mutation.left_out(Step::wake, place)) word.parked_.wake(n, place);
  }

  static void light_fence(Place place = Place::current()) { fence(place); }
  static void heavy_fence(Place place = Place::current()) { fence(place); }
  static void full_fence(Place place = Place::current()) { fence(place); }
  static std::uintptr_t self() { return 64 + thread(); }
  static std::uint32_t thread() { return static_cast<std::uint32_t>(rl::ctx().current_thread()); }
  static std::uint32_t cpu() { return thread(); }
  static std::uint32_t numa() { return thread() % 2; }
  static void place(void*, std::size_t, std::uint32_t) {}
  static std::int64_t now() { return 0; }  // time decides nothing here

  template <class T, class Tag>
  static T& local() {
    struct Slot {
      T value;
      std::uint64_t execution;
    };
    static std::array<Slot, 8> slots{};
    Slot& slot = slots[thread()];
    if (slot.execution != execution) slot = {T{}, execution};
    return slot.value;
  }

 private:
  static void fence(const Place& place) {
    if (!mutation.left_out(Step::fence, place)) rl::atomic_thread_fence(rl::mo_seq_cst, detail::info(place));
  }
};

static_assert(Platform<Checker>);

}  // namespace heddle::platform
