// The unexpected messages (UMQ) of one VNI: those that arrived before their receive, until one takes them.
//
// A message is in the queue of its envelope, where a receive or a probe without a wildcard finds it, and in the list of all in order of
// arrival. For each kind of wildcard there is an index: queues by the envelope that such a receive asks for, as (context, any source,
// tag). The first search of a kind that does not end within a few messages of the list makes its index, and from then on all messages are
// in it, until none is left. So each message enters each index at most once, a search takes one step, and a program without wildcards,
// or whose unexpected messages are few, pays for no index.
//
// With the VNI lock held.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <new>

#include "messaging/message/envelope.hpp"
#include "messaging/message/queues.hpp"
#include "network/header.hpp"
#include "objects/object/request.hpp"

namespace heddle::message {

struct Unexpected;

// A message's place in the index of one kind.
struct Place {
  Unexpected* message;
  Envelope asked;
  Hash hash;
  Place* next;
  Place* prev;
  Place* next_queue;
};
inline const Envelope& envelope_of(const Place& place) { return place.asked; }
using Places = std::array<Place, kinds - 1>;

struct Unexpected {
  // Where it comes from, and so which protocol goes on with it.
  enum class Origin : std::uint8_t { self, this_node, other_node };

  lln::Header header;
  Origin origin = Origin::self;
  int sender = 0;                // world rank
  Hash hash = 0;                 // of the envelope, while it is among the unexpected ones
  std::size_t bytes = 0;         // of the message
  std::byte* payload = nullptr;  // the message itself, or what its kind needs (a rendezvous' RTS)
  std::size_t payload_bytes = 0;
  Request* local = nullptr;    // a message to ourselves whose data still lie in the sender's buffer
  bool received = false;       // its sender cannot withdraw it any more (claims.hpp)
  Unexpected* next = nullptr;  // in the queue of its envelope
  Unexpected* prev = nullptr;
  Unexpected* next_queue = nullptr;
  Unexpected* later = nullptr;  // in order of arrival
  Unexpected* earlier = nullptr;
  std::unique_ptr<Places> places;  // once there was an index; kept for the next message
  std::byte storage[112];          // payload of the common, small ones
};
inline Envelope envelope_of(const Unexpected& message) { return envelope_of(message.header); }

class UnexpectedMessages {
 public:
  bool any() const { return oldest_ != nullptr; }

  void add(Unexpected& message) {
    queues_.append(queues_.find(message.hash, envelope_of(message)), message);
    message.later = nullptr;
    message.earlier = newest_;
    (newest_ != nullptr ? newest_->later : oldest_) = &message;
    newest_ = &message;
    if (indexed_ != 0) [[unlikely]]
      enter(message, indexed_);
  }

  [[gnu::always_inline]] void remove(Unexpected& message) {
    (message.earlier != nullptr ? message.earlier->later : oldest_) = message.later;
    (message.later != nullptr ? message.later->earlier : newest_) = message.earlier;
    if (indexed_ == 0 && queues_.is_oldest(message)) [[likely]]
      return queues_.remove_oldest(message.hash, message);
    remove_from_queues(message);
  }

  // The oldest that a receive or a probe would get, or null.
  [[gnu::noinline]] Unexpected* find(Envelope e) {
    const unsigned kind = kind_of(e);
    if (kind == exact) return find_exact(hash_of(e), e);
    return (indexed_ >> kind & 1) != 0 ? find_in_index(kind, e) : find_in_list(kind, e);
  }
  Unexpected* find_exact(Hash hash, const Envelope& e) { return *queues_.find(hash, e); }
  // The oldest with this envelope, which is no wildcard, of which this holds.
  template <class F>
  Unexpected* find_if(const Envelope& e, F&& holds) {
    Unexpected* message = *queues_.find(e);
    while (message != nullptr && !holds(*message)) message = message->next;
    return message;
  }

  // In order of arrival; f(message) may remove it.
  template <class F>
  void for_each(F&& f) {
    Unexpected* next = nullptr;
    for (Unexpected* message = oldest_; message != nullptr; message = next) {
      next = message->later;
      f(*message);
    }
  }

 private:
  // As many are looked at before an index is made.
  static constexpr int few = 8;

  struct Index {
    Queues<Place> by_kind[kinds - 1];
  };

  Unexpected* find_in_index(unsigned kind, const Envelope& e) {
    const Place* const place = *index_->by_kind[kind - 1].find(e);
    return place != nullptr ? place->message : nullptr;
  }
  [[gnu::noinline]] Unexpected* find_in_list(unsigned kind, Envelope e) {
    Unexpected* message = oldest_;
    for (int n = 0; n != few; ++n, message = message->later)
      if (message == nullptr || fits(kind, e, *message)) return message;
    if (make_index(kind)) return find_in_index(kind, e);
    while (message != nullptr && !fits(kind, e, *message)) message = message->later;
    return message;
  }
  static bool fits(unsigned kind, const Envelope& e, const Unexpected& m) {
    return m.header.context == e.context && ((kind & any_source) != 0 || m.header.source == e.source) &&
           ((kind & any_tag) != 0 || m.header.tag == e.tag);
  }

  // False: there is no memory for it.
  bool make_index(unsigned kind) {
    if (!index_) index_.reset(new (std::nothrow) Index);
    if (!index_) return false;
    indexed_ |= 1u << kind;
    for (Unexpected* message = oldest_; message != nullptr && indexed_ != 0; message = message->later)
      enter(*message, 1u << kind);
    return indexed_ != 0;
  }
  // Into the indexes of these kinds. Where there is no memory, all indexes are given up.
  [[gnu::noinline]] void enter(Unexpected& message, unsigned of_kinds) {
    if (!message.places) message.places.reset(new (std::nothrow) Places);
    if (!message.places) return give_up_indexes();
    for (unsigned kind = 1; kind != kinds; ++kind) {
      if ((of_kinds >> kind & 1) == 0) continue;
      Place& place = (*message.places)[kind - 1];
      place.message = &message;
      place.asked = asked_by(kind, envelope_of(message));
      place.hash = hash_of(place.asked);
      Queues<Place>& queues = index_->by_kind[kind - 1];
      queues.append(queues.find(place.hash, place.asked), place);
    }
  }
  [[gnu::noinline]] void remove_from_queues(Unexpected& message) {
    queues_.remove(message.hash, message);
    if (indexed_ == 0) return;
    for (unsigned kind = 1; kind != kinds; ++kind)
      if ((indexed_ >> kind & 1) != 0) leave((*message.places)[kind - 1], index_->by_kind[kind - 1]);
    if (oldest_ == nullptr) indexed_ = 0;
  }
  static void leave(Place& place, Queues<Place>& queues) { queues.remove(place.hash, place); }
  [[gnu::cold]] void give_up_indexes() {
    indexed_ = 0;
    index_.reset();
    for (Unexpected* message = oldest_; message != nullptr; message = message->later) message->places.reset();
  }

  Queues<Unexpected> queues_;
  Unexpected* oldest_ = nullptr;
  Unexpected* newest_ = nullptr;
  unsigned indexed_ = 0;  // kinds of which there is an index, a bit each
  std::unique_ptr<Index> index_;
};

}  // namespace heddle::message
