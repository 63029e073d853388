#include "message/claims.hpp"

#include <algorithm>
#include <new>

namespace heddle::message {

using node::nowhere;

// Takes back those that receivers have dropped.
bool Claims::collect() {
  const auto dropped = std::partition(withdrawn_.begin(), withdrawn_.end(), [this](Offset claim) {
    return heap_.at<Word>(claim)->state.load(std::memory_order_acquire) != State::dropped;
  });
  free_.insert(free_.end(), dropped, withdrawn_.end());
  withdrawn_.erase(dropped, withdrawn_.end());
  return !free_.empty();
}

Claims::Offset Claims::make() {
  if (free_.empty() && !collect()) {
    free_.reserve(made_ + words);
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
  return heap.at<Word>(claim)->state.compare_exchange_strong(state, State::received, std::memory_order_acq_rel);
}

bool Claims::is_withdrawn(node::Heap& heap, Offset claim) {
  return claim != nowhere && heap.at<Word>(claim)->state.load(std::memory_order_acquire) == State::withdrawn;
}

void Claims::drop(node::Heap& heap, Offset claim) {
  heap.at<Word>(claim)->state.store(State::dropped, std::memory_order_release);
}

}  // namespace heddle::message
