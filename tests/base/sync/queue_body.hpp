// The tests of a queue. Thread 0 consumes, the others produce.
//
// QueueBody: every item comes out once; those of one producer in order; and the order is total: a producer notes in
// each item how many items of its neighbour were enqueued before (their enqueue had returned), and as many must have
// come out before this one. enqueue never waits; if it is full, or out of nodes, it says so.
//
// VisibleBody: an item whose enqueue has returned can be dequeued at once, wherever other producers stand.
#pragma once

#include <array>

#include "base/platform/platform.hpp"
#include "kit.hpp"
#include "queues.hpp"

namespace heddle::test {

// Fails if what runs between construction and destruction waits for another thread; seen under the checker only.
template <platform::Platform P>
class MustNotWait {
 public:
  ~MustNotWait() { require<P>(waits() == before_, "an operation that is wait free has waited"); }

 private:
  static std::uint64_t waits() {
    if constexpr (requires { P::waits(); }) {
      return P::waits();
    } else {
      return 0;
    }
  }
  const std::uint64_t before_ = waits();
};

template <platform::Platform P, class Q, unsigned MaxThreads>
class QueueBody {
  using order = platform::order;
  static constexpr unsigned seen_shift = 12;
  static constexpr std::uint32_t low_bits = (1U << seen_shift) - 1;

 public:
  QueueBody(unsigned threads, unsigned rounds)
      : producers_(threads - 1), rounds_(rounds < low_bits ? rounds : low_bits) {}

  void thread(unsigned id) {
    if (id == 0) {
      consume();
    } else {
      produce(id - 1);
    }
  }

  void finish() { require<P>(received_ == producers_ * rounds_, "items were lost"); }

 private:
  void produce(unsigned self) {
    const unsigned neighbour = (self + 1) % producers_;
    for (std::uint32_t i = 0; i != rounds_; ++i) {
      const std::uint32_t seen = neighbour == self ? 0 : enqueued_[neighbour].load(order::acquire);
      const std::uint32_t item = self << producer_shift | seen << seen_shift | i;
      while (!enqueue(self, item)) P::yield();
      enqueued_[self].store(i + 1, order::release);
    }
  }

  bool enqueue(unsigned self, std::uint32_t item) {
    MustNotWait<P> watch;
    return queue_.enqueue(supplies_[self], item);
  }

  void consume() {
    while (received_ != producers_ * rounds_) {
      std::uint32_t item = 0;
      if (!dequeue(item)) {
        P::yield();
        continue;
      }
      const unsigned producer = item >> producer_shift;
      require<P>(producer < producers_, "an item that no thread enqueued");
      require<P>((item & low_bits) == next_[producer], "the items of one producer came out of order, or twice");
      require<P>(next_[(producer + 1) % producers_] >= (item >> seen_shift & low_bits) || producers_ == 1,
                 "an item overtook one that was enqueued before");
      ++next_[producer];
      ++received_;
    }
  }

  bool dequeue(std::uint32_t& item) {
    MustNotWait<P> watch;
    return queue_.dequeue(supplies_.data(), item);
  }

  const unsigned producers_;
  const std::uint32_t rounds_;
  Q queue_;
  std::array<typename Q::Supply, MaxThreads> supplies_;
  std::array<typename P::template atomic<std::uint32_t>, MaxThreads> enqueued_;
  std::array<std::uint32_t, MaxThreads> next_{};  // the consumer's
  std::uint32_t received_ = 0;
};

template <platform::Platform P, class Q, unsigned MaxThreads>
class VisibleBody {
 public:
  VisibleBody(unsigned threads, unsigned) : threads_(threads) {}

  void thread(unsigned id) {
    queue_.enqueue(supplies_[id], id);
    std::uint32_t item = 0;
    if (id == 0) require<P>(queue_.dequeue(supplies_.data(), item), "an item that was enqueued is hidden");
  }

  void finish() {
    std::uint32_t item = 0;
    for (unsigned i = 1; i != threads_; ++i) require<P>(queue_.dequeue(supplies_.data(), item), "an item was lost");
    require<P>(!queue_.dequeue(supplies_.data(), item), "an item came out twice");
  }

 private:
  const unsigned threads_;
  Q queue_;
  std::array<typename Q::Supply, MaxThreads> supplies_;
};

}  // namespace heddle::test
