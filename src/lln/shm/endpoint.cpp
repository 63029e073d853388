#include "lln/shm/endpoint.hpp"

#include <algorithm>
#include <vector>

namespace heddle::lln::shm {

Endpoint::Endpoint(std::byte* heap, std::size_t bytes, const Place& place, Claiming claiming, SlotCount slots)
    : heap_(heap, bytes, sizeof(Common) + static_cast<std::size_t>(place.ranks) * most_vnis * sizeof(Box),
            bytes_for_channels(place.ranks)),
      boxes_(heap_.at<Box>(heap_.reserved() + sizeof(Common))),
      place_(place),
      claiming_(claiming),
      slot_claiming_(claiming == Claiming::concurrent ? sync::Claiming::concurrent : sync::Claiming::exclusive),
      slots_(slots),
      producers_(new Producer[static_cast<std::size_t>(place.ranks)]),
      consumers_(new std::unique_ptr<Consumer>[static_cast<std::size_t>(place.ranks)]) {
  if (place.vni == 0) {
    platform::Native::fence_fully(true);
    if (platform::Native::heavy_fence_reaches()) common().reaching.fetch_add(1, std::memory_order_seq_cst);
    agree_on_fences();
  }
  if (claiming == Claiming::by_flux) fluxes_ = std::make_unique<Fluxes>(heap_, &box(0), place.rank, place.ranks);
}

Endpoint::~Endpoint() = default;

void Endpoint::ring(int peer) {
  if (bell(peer).ring()) own_bell().called_another.store(1, std::memory_order_relaxed);
}

Consumer* Endpoint::channel_from(int peer) const {
  for (int i = 0; i < consumer_count_.load(std::memory_order_relaxed); ++i)
    if (consumers_[i]->channel().sender == peer) return consumers_[i].get();
  return nullptr;
}

// The peer must be able to answer, also when the segment is full by then. So the first of the two to open a channel takes memory
// for both; of two that do so at once each keeps a block that nobody touches.
bool Endpoint::open(int peer) {
  Offset offset = nowhere;
  Offset spare = nowhere;
  SlotCount slots = slots_;
  if (const Consumer* const back = channel_from(peer)) {
    offset = back->channel().spare;
    slots = static_cast<SlotCount>(back->channel().slot_count);
    if (offset != nowhere) heap_.join(offset);
  }
  if (offset == nowhere) {
    slots = slots_;
    offset = heap_.allocate(Channel::bytes(slots), 1, Heap::Purpose::channel);
    if (offset == nowhere) return false;
    if (channel_from(peer) == nullptr) {
      spare = heap_.allocate(Channel::bytes(slots), 1, Heap::Purpose::channel);
      if (spare == nowhere) {
        heap_.release(offset, Channel::bytes(slots));
        return false;
      }
    }
  }
  Channel* channel = new (heap_.at<Channel>(offset)) Channel(place_.rank, slots, spare);
  std::atomic<Offset>& list = box(peer).inbound;
  Offset first = list.load(std::memory_order_relaxed);
  do {
    channel->next_inbound = first;
  } while (!list.compare_exchange_weak(first, offset, std::memory_order_release, std::memory_order_relaxed));
  producers_[peer].attach(channel);
  agree_on_fences();
  return true;
}

// Channels that appeared since the last look join the polling round.
void Endpoint::admit() {
  const Offset newest = own_box().inbound.load(std::memory_order_acquire);
  const Offset known = known_inbound_.load(std::memory_order_relaxed);
  const int before = consumer_count_.load(std::memory_order_relaxed);
  int n = before;
  for (Offset o = newest; o != known; o = heap_.at<Channel>(o)->next_inbound) {
    heap_.join(o);
    consumers_[n++] = std::make_unique<Consumer>(heap_.at<Channel>(o));
  }
  // All there are made, or another look makes them again.
  for (int i = before; fluxes_ != nullptr && i < n; ++i) fluxes_->join(*consumers_[i]);
  consumer_count_.store(n, std::memory_order_release);
  known_inbound_.store(newest, std::memory_order_relaxed);
  agree_on_fences();
}

}  // namespace heddle::lln::shm
