// How often a thread that waits for one VNI polls the other VNIs of its rank.
//
// A poll of another VNI reads the cache lines that the threads there write, and takes these lines from them. With 8 threads on a VNI each
// that is the greatest cost: 13 million messages a second if each poll visits the other VNIs, 76 by the rule below (simulated, the 16
// cores of machines/xeon-16.json). So a thread whose own VNI has messages leaves the other VNIs to their threads. After
// `idle_polls` polls in a row without progress, and after `busy_polls` in any case, it visits them: their messages may have no other
// thread. A rank of one thread has no line to take away, and visits them more often.
//
// Between the dies of a large processor an answer takes longer: with 64 and 256 polls 16 threads of a rank had 43 million messages a
// second on machines/epyc-192.json, with 512 and 4096 they have 112 (docs/adr/0103).
#pragma once

#include <atomic>
#include <cstdint>

namespace heddle::engine {

class Visits {
 public:
  // `cheap`: a poll of a VNI without work reads memory only. Between nodes it usually is a system call, and the papers' ways of waiting
  // enter the VNI with each poll.
  explicit Visits(bool cheap) : cheap_(cheap) {}

  bool are_cheap() const { return cheap_; }

  // After each poll of the caller's own VNI. True: the caller polls the other VNIs, too.
  bool are_due(bool made_progress) {
    if (!cheap_) return ++of_thread_.polls % polls_for_one == 0;
    if (is_only_thread()) return ++of_thread_.polls % polls_alone == 0;
    of_thread_.idle = made_progress ? 0 : of_thread_.idle + 1;
    if (++of_thread_.polls < busy_polls && of_thread_.idle < idle_polls) [[likely]]
      return false;
    of_thread_.polls = of_thread_.idle = 0;
    return true;
  }

 private:
  static constexpr std::uint32_t polls_for_one = 16;  // Amer 2019, Fig. 3a: `if (cond)`
  static constexpr std::uint32_t polls_alone = 8;  // no line is taken from another thread, but each VNI has to be read
  static constexpr std::uint32_t idle_polls =
      512;  // 5 to 25 us, since pauses follow; the answer to a short message takes less
  static constexpr std::uint32_t busy_polls = 4096;

  struct OfThread {
    std::uint32_t polls;
    std::uint32_t idle;  // the last ones, without progress
  };

  // True until a second thread waits in this rank.
  bool is_only_thread() {
    const OfThread* const first = first_.load(std::memory_order_relaxed);
    if (first == &of_thread_) [[likely]]
      return true;
    if (first == nullptr) {
      const OfThread* none = nullptr;
      return first_.compare_exchange_strong(none, &of_thread_, std::memory_order_relaxed);
    }
    if (first != several()) first_.store(several(), std::memory_order_relaxed);
    return false;
  }
  const OfThread* several() const { return &no_thread_; }

  static inline constinit thread_local OfThread of_thread_{};
  const OfThread no_thread_{};  // its address says that there are several
  std::atomic<const OfThread*> first_{nullptr};
  const bool cheap_;
};

}  // namespace heddle::engine
