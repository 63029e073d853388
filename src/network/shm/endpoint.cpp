#include "network/shm/endpoint.hpp"

#include <algorithm>
#include <utility>

namespace heddle::lln::shm {

Endpoint::Endpoint(node::Node& node, int vni, Claiming claiming, SlotCount slots)
    : node_(node),
      heap_(node.heap()),
      bells_(node.bells()),
      boxes_(heap_.at<Box>(node.for_networks()) + static_cast<std::ptrdiff_t>(vni) * node.place().ranks),
      rank_(node.place().rank),
      claiming_(claiming),
      slot_claiming_(claiming == Claiming::concurrent ? sync::Claiming::concurrent : sync::Claiming::exclusive),
      slots_(slots),
      producers_(static_cast<std::size_t>(node.place().ranks)),
      consumers_(static_cast<std::size_t>(node.place().ranks)) {
  if (claiming == Claiming::by_flux) fluxes_ = std::make_unique<Fluxes>(node, boxes_);
}

Endpoint::~Endpoint() {
  for (int i = 0; i < node_.place().ranks; ++i) {
    if (consumers_[i] == nullptr) break;
    delete consumers_[i];
  }
}

void Endpoint::ring(int peer) {
  if (bell(peer).ring()) bell(rank_).called_another.store(1, std::memory_order_relaxed);
}

Consumer* Endpoint::channel_from(int peer) const {
  for (int i = 0; i < consumer_count_.load(std::memory_order_relaxed); ++i)
    if (consumers_[i]->channel().sender == peer) return consumers_[i];
  return nullptr;
}

// The peer must be able to answer, also when the segment is full by then. So the first of the two to open a channel
// takes memory for both; if both do so at once, each keeps an unused block.
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
  Channel* channel = new (heap_.at<Channel>(offset)) Channel(rank_, slots, spare);
  boxes_[peer].inbound.push(offset, [channel](Offset older) { channel->next_inbound = older; });
  producers_[peer].attach(channel);
  for (const auto& cell : channel->cells) producers_[peer].cells().add(heap_.offset_of(cell));
  node_.agree_on_fences();
  return true;
}

// Channels that appeared since the last call join the polling round.
void Endpoint::admit() {
  const Offset newest = own_box().inbound.newest();
  const Offset known = known_inbound_.load(std::memory_order_relaxed);
  const int before = consumer_count_.load(std::memory_order_relaxed);
  int n = before;
  for (Offset o = newest; o != known; o = heap_.at<Channel>(o)->next_inbound) {
    heap_.join(o);
    delete std::exchange(consumers_[n], nullptr);  // left by a call that found no memory for the next one
    auto* const channel = heap_.at<Channel>(o);
    consumers_[n++] = new Consumer(channel, heap_, producers_[channel->sender].cells());
  }
  // All channels are made here, or a later call makes them again.
  for (int i = before; fluxes_ != nullptr && i < n; ++i) fluxes_->join(*consumers_[i]);
  consumer_count_.store(n, std::memory_order_release);
  known_inbound_.store(newest, std::memory_order_relaxed);
  node_.agree_on_fences();
}

}  // namespace heddle::lln::shm
