// The machine that a synchronization algorithm runs on, as a concept.
//
// Every algorithm of sync/ is a template over one Platform and touches shared memory, waits and tells time only through
// it. One source so runs on the real machine (native.hpp), under a model checker (checker.hpp) and, later, on a
// simulated NUMA machine.
//
// A platform provides:
//
//     atomic<T>          load, store, exchange, compare_exchange (strong), fetch_add, fetch_sub, fetch_or, fetch_and.
//                        Every call names its memory order: a default would hide a decision that a header must justify
//     plain<T>           shared data that is not atomic: get, set. The checker reports its races
//     block<N>           N bytes of shared payload that are not atomic: write, read
//     mutex              the mutex of the operating system, the baseline that everything is compared with
//     await              waits until a cell satisfies a predicate and returns the satisfying value; the only way to
//                        wait for another thread. The platform chooses how (spin, yield, sleep, suspend)
//     poll               the same, for a bounded time of about `rounds` polls; returns the last value seen
//     pause, yield       spend about n short delays; let another thread run
//     yield_core         give the core to another thread of the kernel, whatever runtime the caller belongs to
//     await_loads        let no later load begin before the earlier ones are complete: between two polls of one line
//     park, unpark       sleep while a word holds a value, unless woken (may return early); wake up to n sleepers
//     light_fence, heavy_fence
//                        two halves of one sequentially consistent fence, between threads of any processes that use this
//                        platform: the frequent one is cheap, the rare one expensive (going to sleep, for example:
//                        "I sleep", then "is there a message?", against "here is a message", then "who sleeps?").
//                        Between two light ones there is no order
//     full_fence         a whole one of threads that all pass it often
//     self               a large number that no other living thread has: faster than thread
//     thread, cpu, numa  the caller, and where it runs: hints, stale as soon as they are read
//     place              ask that memory lives on a NUMA node
//     now                nanoseconds of a monotonic clock
//     local<T, Tag>      the calling thread's own T
//
// Stores to cells must be visible to `await` and `park`, in this process or another that maps the memory.
#pragma once

#include <atomic>
#include <concepts>
#include <cstddef>
#include <cstdint>

namespace heddle::platform {

// order::acquire, order::release and so on.
using order = std::memory_order;

// Bytes that two cores can't write at once without slowing each other down.
inline constexpr std::size_t cache_line = 64;

// The threads that may sleep on a word: of one process, or of any process that maps it.
enum class Scope : bool { process, machine };

template <class A, class T>
concept AtomicCell = requires(A& cell, const A& view, T value, order o) {
  { view.load(o) } -> std::same_as<T>;
  { cell.store(value, o) } -> std::same_as<void>;
  { cell.exchange(value, o) } -> std::same_as<T>;
  { cell.compare_exchange(value, value, o, o) } -> std::same_as<bool>;
};

template <class A, class T>
concept AtomicCounter = AtomicCell<A, T> && requires(A& cell, T value, order o) {
  { cell.fetch_add(value, o) } -> std::same_as<T>;
  { cell.fetch_sub(value, o) } -> std::same_as<T>;
  { cell.fetch_or(value, o) } -> std::same_as<T>;
  { cell.fetch_and(value, o) } -> std::same_as<T>;
};

template <class P>
concept Platform = AtomicCounter<typename P::template atomic<std::uint32_t>, std::uint32_t> &&
                   AtomicCounter<typename P::template atomic<std::uint64_t>, std::uint64_t> &&
                   AtomicCell < typename P::template atomic<void*>,
void* > &&AtomicCell<typename P::template atomic<bool>, bool>&& requires(
            typename P::template atomic<std::uint32_t>& word, typename P::template plain<int>& datum,
            typename P::template block<64>& payload, typename P::mutex& mutex, bool (*satisfied)(std::uint32_t),
            void* memory, std::size_t bytes, std::uint32_t n) {
  { P::await(word, order::acquire, satisfied) } -> std::same_as<std::uint32_t>;
  { P::poll(word, order::acquire, satisfied, n) } -> std::same_as<std::uint32_t>;
  { datum.get() } -> std::same_as<int>;
  { datum.set(1) } -> std::same_as<void>;
  { payload.write(memory, bytes) } -> std::same_as<void>;
  { payload.read(memory, bytes) } -> std::same_as<void>;
  mutex.lock();
  mutex.unlock();
  { mutex.try_lock() } -> std::same_as<bool>;
  P::pause(n);
  P::yield();
  P::yield_core();
  P::await_loads();
  P::park(word, n, Scope::process);
  P::unpark(word, n, Scope::process);
  P::light_fence();
  P::heavy_fence();
  P::full_fence();
  { P::self() } -> std::same_as<std::uintptr_t>;
  { P::thread() } -> std::same_as<std::uint32_t>;
  { P::cpu() } -> std::same_as<std::uint32_t>;
  { P::numa() } -> std::same_as<std::uint32_t>;
  P::place(memory, bytes, n);
  { P::now() } -> std::same_as<std::int64_t>;
  { P::template local<int, P>() } -> std::same_as<int&>;
};

}  // namespace heddle::platform
