// Submission "always hand over": a communication thread executes everything (the offload model of Amer 2019, Fig. 1c;
// Vaidyanathan 2015). Application threads enqueue work and leave, or wait for its result; they never touch the VNI.
//
// The thread that runs `serve` is the communication thread; it executes what is queued before each piece of work of its
// own. So what a thread of the program has left comes before what the communication thread does once it has heard of that: the two look at
// the same nonblocking collective, say, one after the other, and its messages keep their order. In the paper it polls without end on a
// core of its own. Here it sleeps when neither the queue nor the network has anything for it, and submitting wakes it (State::wake),
// so that an idle rank costs nothing.
#pragma once

#include <cstdint>
#include <exception>

#include "base/safety/environment.hpp"
#include "base/safety/work.hpp"
#include "base/sync/ticket_queue.hpp"

namespace heddle::safety {

template <class State, Environment Env, std::uint32_t Slots = 1024>
class OffloadAccess {
  using P = typename Env::Platform;
  using Wakeups = typename Env::Wakeups;
  using order = platform::order;

 public:
  using Work = safety::Work<Wakeups>;

  static constexpr bool submits = true;
  static constexpr bool injects = false;
  static constexpr bool by_flux = false;
  static constexpr bool announces = false;

  explicit OffloadAccess(State& state) : state_(state) {}

  // Makes the calling thread the communication thread.
  void serve() { server_.store(P::self(), order::relaxed); }

  void submit(const Work& work) {
    if (try_run([&](Wakeups& wakeups) { work.run(work.what, wakeups); })) return;
    while (!queue_.enqueue(work)) P::yield();  // the bound is the backpressure
    queued_.fetch_add(1, order::relaxed);
    state_.wake();
  }

  template <class F>
  void run(F&& f) {
    if (try_run(f)) return;
    typename P::template atomic<std::uint32_t> executed{0};
    std::exception_ptr thrown;
    const auto call = [&](Wakeups& wakeups) {
      try {
        f(wakeups);
      } catch (...) {
        thrown = std::current_exception();
      }
      executed.store(1, order::release);  // the last touch of the caller's frame
    };
    submit(work_of<Wakeups>(call));
    P::await(executed, order::acquire, [](std::uint32_t done) { return done != 0; });
    if (thrown) std::rethrow_exception(thrown);
  }

  template <class F>
  void run_low(F&& f) {
    run(f);
  }

  // Only the communication thread ever finds the VNI free.
  template <class F>
  bool try_run(F&& f) {
    if (!is_server()) return false;
    Wakeups wakeups;
    Work work;
    while (queue_.dequeue(work)) {
      queued_.fetch_sub(1, order::relaxed);
      work.run(work.what, wakeups);
    }
    f(wakeups);
    return true;
  }

  bool pending() const { return queued_.load(order::relaxed) != 0; }

 private:
  bool is_server() const { return server_.load(order::relaxed) == P::self(); }

  State& state_;
  typename P::template atomic<std::uintptr_t> server_{0};
  alignas(platform::cache_line) typename P::template atomic<std::int32_t> queued_{0};  // a hint; short-term negative
  sync::TicketQueue<P, Work, Slots> queue_;
};

}  // namespace heddle::safety
