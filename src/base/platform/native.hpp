// The real machine: hardware atomics, futexes, and waiting that suits more threads than cores.
//
// A wait polls its cell for a bounded number of pauses (about the price of a context switch, so that it never costs
// more than twice the best choice), then yields between polls, then naps between polls. A cell that is only stored to
// can't wake a sleeper, hence the naps are short; algorithms whose waits may be long park on a word instead.
//
// Yields and naps go to the thread runtime of the calling thread (threads/): a kernel thread that carries user-level
// ones is never put to sleep here.
#pragma once

#include <linux/futex.h>
#include <linux/membarrier.h>
#include <pthread.h>
#include <sched.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstring>
#include <system_error>
#include <utility>

#include "base/platform/instructions.hpp"
#include "base/platform/platform.hpp"

namespace heddle::platform {

// The wait of a user-level thread; null: all threads are kernel threads.
struct UserLevel {
  // Lets others run if the caller is user-level; else false. `rests` counts the calls of this wait.
  bool (*rest)(std::uint32_t& rests) noexcept;
};
inline constinit std::atomic<const UserLevel*> user_level{nullptr};

// The length of each stage of a wait. Written before threads start by code that knows the machine better (quota, ranks
// per node); the default values suit cores that are shared.
struct Patience {
  std::uint32_t looks = 100;   // with a pause between, before the first yield
  std::uint32_t yields = 400;  // before the first nap
  std::int32_t nap = 50'000;   // nanoseconds
};
inline constinit Patience patience{};

namespace detail {

// membarrier(2) makes every core that runs a registered process pass a full fence: this process, and any other that
// runs this code. Where the kernel or a container refuses it, the light side fences too. Tested once, when the program
// is loaded: with one thread that is cheap. Until then the fences are symmetric. Processes that share memory may get
// different results (one of them may have a filter on system calls): then the light side of each of them fences, and
// they agree on that themselves (base/node/node.hpp).
inline long membarrier(int command) noexcept { return syscall(SYS_membarrier, command, 0, 0); }
inline constinit std::atomic<bool> symmetric_fences{true};
inline const bool knows_membarrier = [] {
  const bool known = membarrier(MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED) == 0;
  symmetric_fences.store(!known, std::memory_order_relaxed);
  return known;
}();

inline bool rested_in_runtime(std::uint32_t& rests) {
  const UserLevel* const runtimes = user_level.load(std::memory_order_acquire);
  return runtimes != nullptr && runtimes->rest(rests);
}

[[gnu::noinline]] inline void rest(std::uint32_t& rests) {
  if (rested_in_runtime(rests)) return;
  if (rests < patience.yields) {
    ++rests;
    sched_yield();
  } else {
    const timespec nap{0, patience.nap};
    nanosleep(&nap, nullptr);
  }
}

}  // namespace detail

template <class T>
class NativeAtomic {
 public:
  constexpr NativeAtomic() noexcept : cell_(T()) {}
  constexpr explicit NativeAtomic(T value) noexcept : cell_(value) {}

  T load(order o) const noexcept { return cell_.load(o); }
  void store(T value, order o) noexcept { cell_.store(value, o); }
  T exchange(T value, order o) noexcept { return cell_.exchange(value, o); }
  bool compare_exchange(T& expected, T desired, order success, order failure) noexcept {
    return cell_.compare_exchange_strong(expected, desired, success, failure);
  }
  T fetch_add(T value, order o) noexcept { return cell_.fetch_add(value, o); }
  T fetch_sub(T value, order o) noexcept { return cell_.fetch_sub(value, o); }
  T fetch_or(T value, order o) noexcept { return cell_.fetch_or(value, o); }
  T fetch_and(T value, order o) noexcept { return cell_.fetch_and(value, o); }

 private:
  friend struct Native;
  std::atomic<T> cell_;
  static_assert(std::atomic<T>::is_always_lock_free, "shared between processes, so it can't hide a lock");
};

template <class T>
class NativePlain {
 public:
  constexpr NativePlain() noexcept(noexcept(T())) : value_() {}
  constexpr explicit NativePlain(T value) : value_(std::move(value)) {}
  T get() const { return value_; }
  void set(T value) { value_ = std::move(value); }

 private:
  T value_;
};

template <std::size_t Bytes>
class NativeBlock {
 public:
  void write(const void* from, std::size_t bytes) noexcept { std::memcpy(bytes_, from, bytes); }
  void read(void* to, std::size_t bytes) const noexcept { std::memcpy(to, bytes_, bytes); }
  // For writing and reading in place, which only the real machine has.
  std::byte* data() noexcept { return bytes_; }
  const std::byte* data() const noexcept { return bytes_; }

 private:
  alignas(8) std::byte bytes_[Bytes];
};

class NativeMutex {
 public:
  NativeMutex() noexcept = default;
  NativeMutex(const NativeMutex&) = delete;
  NativeMutex& operator=(const NativeMutex&) = delete;
  ~NativeMutex() { pthread_mutex_destroy(&mutex_); }
  // In the kernel a user-level thread would keep its kernel thread's other user-level threads from running, and one of
  // them may be the owner, which lets others run while it waits for something else.
  void lock() noexcept {
    if (user_level.load(order::acquire) == nullptr) [[likely]] {
      pthread_mutex_lock(&mutex_);
    } else {
      for (std::uint32_t rests = 0; !try_lock();) detail::rest(rests);
    }
  }
  bool try_lock() noexcept { return pthread_mutex_trylock(&mutex_) == 0; }
  void unlock() noexcept { pthread_mutex_unlock(&mutex_); }

 private:
  pthread_mutex_t mutex_ = PTHREAD_MUTEX_INITIALIZER;
};

struct Native {
  template <class T>
  using atomic = NativeAtomic<T>;
  template <class T>
  using plain = NativePlain<T>;
  template <std::size_t Bytes>
  using block = NativeBlock<Bytes>;
  using mutex = NativeMutex;

  template <class T, class Predicate>
  static T await(const atomic<T>& cell, order o, Predicate satisfied) {
    T value = poll(cell, o, satisfied, patience.looks);
    for (std::uint32_t rests = 0; !satisfied(value);) {
      detail::rest(rests);
      value = cell.load(o);
    }
    return value;
  }

  template <class T, class Predicate>
  static T poll(const atomic<T>& cell, order o, Predicate satisfied, std::uint32_t rounds) {
    T value = cell.load(o);
    while (!satisfied(value) && rounds-- != 0) {
      pause_core();
      value = cell.load(o);
    }
    return value;
  }

  static void pause(std::uint32_t n) noexcept {
    while (n-- != 0) pause_core();
  }

  static void yield() {
    std::uint32_t rests = 0;
    detail::rest(rests);
  }

  static void yield_core() noexcept { sched_yield(); }

  static void park(const atomic<std::uint32_t>& word, std::uint32_t expected, Scope scope) {
    std::uint32_t rests = 0;
    if (detail::rested_in_runtime(rests)) {
      sched_yield();  // the thread that will unpark may need this core
    } else {
      futex(word, scope == Scope::process ? FUTEX_WAIT_PRIVATE : FUTEX_WAIT, expected);
    }
  }

  static void unpark(const atomic<std::uint32_t>& word, std::uint32_t n, Scope scope) {
    futex(word, scope == Scope::process ? FUTEX_WAKE_PRIVATE : FUTEX_WAKE, n > INT_MAX ? INT_MAX : n);
  }

  static void prefetch(const void* line) noexcept { ask_for_line(line); }
  static void prefetch_for_write(const void* line) noexcept { ask_for_line_to_write(line); }

  // A loop that polls would otherwise have many loads in flight when its line is taken away, and would have to repeat
  // them all.
  static void await_loads() noexcept { complete_loads(); }

  [[gnu::always_inline]] static void light_fence() noexcept {
    if (detail::symmetric_fences.load(order::relaxed)) [[unlikely]] {
      std::atomic_thread_fence(order::seq_cst);
    } else {
      std::atomic_signal_fence(order::seq_cst);
    }
  }
  static void heavy_fence() noexcept {
    std::atomic_thread_fence(order::seq_cst);
    // Independent of our own light fences: others may already know more than we do.
    if (detail::knows_membarrier) detail::membarrier(MEMBARRIER_CMD_GLOBAL_EXPEDITED);
  }
  static void full_fence() noexcept { std::atomic_thread_fence(order::seq_cst); }
  // True if the heavy fences of this process reach the light ones of every process for which this is true as well.
  static bool heavy_fence_reaches() noexcept { return detail::knows_membarrier; }
  // Makes the light fences of this process full ones, or as light as they can be. They may be light if heavy_fence_reaches()
  // holds for every process that has the other half.
  static void fence_fully(bool fully) noexcept { detail::symmetric_fences.store(fully, order::relaxed); }
  static bool fences_fully() noexcept { return detail::symmetric_fences.load(order::relaxed); }

  static std::uintptr_t self() noexcept {
    static constinit thread_local char here = 0;
    return reinterpret_cast<std::uintptr_t>(&here);
  }

  static std::uint32_t thread() noexcept {
    static constinit std::atomic<std::uint32_t> threads{0};
    static thread_local const std::uint32_t id = threads.fetch_add(1, order::relaxed);
    return id;
  }

  static std::uint32_t cpu() noexcept {
    const int cpu = sched_getcpu();
    return cpu < 0 ? 0 : static_cast<std::uint32_t>(cpu);
  }

  static std::uint32_t numa() noexcept {
    unsigned cpu = 0;
    unsigned node = 0;
    return getcpu(&cpu, &node) == 0 ? node : 0;
  }

  // Best effort: whole pages only, and a kernel without NUMA refuses.
  static void place(void* memory, std::size_t bytes, std::uint32_t node) noexcept {
    constexpr int preferred = 1;  // MPOL_PREFERRED; <numaif.h> would ask for libnuma
    const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
    const auto begin = (reinterpret_cast<std::uintptr_t>(memory) + page - 1) & ~(page - 1);
    const auto end = (reinterpret_cast<std::uintptr_t>(memory) + bytes) & ~(page - 1);
    if (begin >= end || node >= 64) return;
    const unsigned long mask = 1UL << node;
    syscall(SYS_mbind, begin, end - begin, preferred, &mask, 64UL + 1, 0U);
  }

  static std::int64_t now() noexcept {
    timespec t{};
    clock_gettime(CLOCK_MONOTONIC, &t);
    return std::int64_t{t.tv_sec} * 1'000'000'000 + t.tv_nsec;
  }

  template <class T, class Tag>
  static T& local() {
    static thread_local T value{};
    return value;
  }

 private:
  static void futex(const atomic<std::uint32_t>& word, int operation, std::uint32_t value) noexcept {
    syscall(SYS_futex, &word.cell_, operation, value, nullptr, nullptr, 0);
  }
};

static_assert(Platform<Native>);

}  // namespace heddle::platform
