#include "messaging/message/protocol/local/claims.hpp"

#include <algorithm>
#include <new>

namespace heddle::message {

using node::nowhere;

// Moves claims back to the free list whose messages are finished at the receiver.
void Claims::collect(std::vector<Offset>& from, State over) {
  const auto through = std::partition(from.begin(), from.end(), [&](Offset claim) {
    return heap_.at<Word>(claim)->state.load(std::memory_order_acquire) != over;
  });
  free_.insert(free_.end(), through, from.end());
  from.erase(through, from.end());
}

std::size_t Claims::unread() {
  collect(left_, State::received);
  return left_.size();
}

Claims::Offset Claims::make() {
  if (free_.empty()) {
    collect(withdrawn_, State::dropped);
    collect(left_, State::received);
  }
  if (free_.empty()) {
    free_.reserve(made_ + words);
    left_.reserve(made_ + words);
    const Offset block = heap_.allocate(words * sizeof(Word));
    if (block == nowhere) return nowhere;
    made_ += words;
    for (std::size_t i = words; i-- > 0;) free_.push_back(block + i * sizeof(Word));
  }
  const Offset claim = free_.back();
  free_.pop_back();
  new (heap_.at<Word>(claim)) Word{State::open};
  return claim;
}

bool Claims::withdraw(Offset claim) {
  withdrawn_.reserve(made_);
  State state = State::open;
  if (!heap_.at<Word>(claim)->state.compare_exchange_strong(state, State::withdrawn, std::memory_order_acq_rel))
    return false;
  withdrawn_.push_back(claim);
  return true;
}

bool Claims::receive(node::Heap& heap, Offset claim) {
  if (claim == nowhere) return true;
  State state = State::open;
  return heap.reached<Word>(claim)->state.compare_exchange_strong(state, State::received, std::memory_order_acq_rel);
}

bool Claims::is_withdrawn(node::Heap& heap, Offset claim) {
  return claim != nowhere && heap.reached<Word>(claim)->state.load(std::memory_order_acquire) == State::withdrawn;
}

void Claims::drop(node::Heap& heap, Offset claim) {
  heap.reached<Word>(claim)->state.store(State::dropped, std::memory_order_release);
}

}  // namespace heddle::message
