// The unexpected messages (UMQ) of one VNI: messages that arrived before their receive, until a receive takes them.
//
// A message is in the queue of its envelope, where a receive or a probe without wildcards finds it, and in a list of all messages in
// order of arrival. Each kind of wildcard has an index: queues by the envelope that such a receive has, for instance (context, any
// source, tag). A search with wildcards first checks a few messages of the list. If it finds none there, it creates the index of its
// kind. From then on all messages are entered in that index, until no message is left. So each message enters each index at most once,
// and a search takes one step. A program without wildcards, or with few unexpected messages, pays for no index.
//
// With the VNI lock held.
#pragma once

#include <array>
#include <atomic>
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
  // The origin of the message, which determines the protocol that continues with it.
  enum class Origin : std::uint8_t { self, this_node, other_node };

  Unexpected() = default;
  Unexpected(const Unexpected&) = delete;
  Unexpected& operator=(const Unexpected&) = delete;
  ~Unexpected() {
    if (payload != storage) delete[] payload;
  }

  lln::Header header;
  Origin origin = Origin::self;
  int sender = 0;                // world rank
  Hash hash = 0;                 // of the envelope, while the message is in the queues
  std::size_t bytes = 0;         // of the message
  std::byte* payload = nullptr;  // the message itself, or the data of its kind (the RTS of a rendezvous)
  std::size_t payload_bytes = 0;
  Request* local = nullptr;    // a message of this rank to itself whose data are still in the sender's buffer
  std::uint32_t pass = 0;      // of the visits to all lanes, that which has taken it
  bool received = false;       // its sender can no longer withdraw it (claims.hpp)
  Unexpected* next = nullptr;  // in the queue of its envelope
  Unexpected* prev = nullptr;
  Unexpected* next_queue = nullptr;
  std::uint64_t stamp =
      0;  // of the last message with a stamp from this sender, up to this one (messaging/p2p/lanes.hpp)
  Unexpected* later = nullptr;  // in order of arrival
  Unexpected* earlier = nullptr;
  std::unique_ptr<Places> places;  // allocated for the first index; kept when the object is reused
  std::byte storage[104];          // payload of most messages, which are small; a larger payload is a block of its own
};
inline Envelope envelope_of(const Unexpected& message) { return envelope_of(message.header); }

class UnexpectedMessages {
 public:
  // Any thread, a hint without the lock.
  bool any() const { return oldest_.load(std::memory_order_relaxed) != nullptr; }

  void add(Unexpected& message) {
    queues_.append(queues_.find(message.hash, envelope_of(message)), message);
    message.later = nullptr;
    message.earlier = newest_;
    if (newest_ != nullptr) {
      newest_->later = &message;
    } else {
      oldest_.store(&message, std::memory_order_relaxed);
    }
    newest_ = &message;
    if (indexed_ != 0) [[unlikely]]
      enter(message, indexed_);
  }

  [[gnu::always_inline]] void remove(Unexpected& message) {
    if (message.earlier != nullptr) {
      message.earlier->later = message.later;
    } else {
      oldest_.store(message.later, std::memory_order_relaxed);
    }
    (message.later != nullptr ? message.later->earlier : newest_) = message.earlier;
    if (indexed_ == 0 && queues_.is_oldest(message)) [[likely]]
      return queues_.remove_oldest(message.hash, message);
    remove_from_queues(message);
  }

  // The oldest message that a receive or a probe with this envelope matches, or null.
  [[gnu::noinline]] Unexpected* find(Envelope e) {
    const unsigned kind = kind_of(e);
    if (kind == exact) return find_exact(hash_of(e), e);
    return (indexed_ >> kind & 1) != 0 ? find_in_index(kind, e) : find_in_list(kind, e);
  }
  Unexpected* find_exact(Hash hash, const Envelope& e) { return *queues_.find(hash, e); }
  // The oldest message with this envelope, which has no wildcards, for which `holds` is true.
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
    for (Unexpected* message = oldest_.load(std::memory_order_relaxed); message != nullptr; message = next) {
      next = message->later;
      f(*message);
    }
  }

 private:
  // The number of messages that a search checks before it creates an index.
  static constexpr int few = 8;

  struct Index {
    Queues<Place> by_kind[kinds - 1];
  };

  Unexpected* find_in_index(unsigned kind, const Envelope& e) {
    const Place* const place = *index_->by_kind[kind - 1].find(e);
    return place != nullptr ? place->message : nullptr;
  }
  [[gnu::noinline]] Unexpected* find_in_list(unsigned kind, Envelope e) {
    Unexpected* message = oldest_.load(std::memory_order_relaxed);
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
    for (Unexpected* message = oldest_.load(std::memory_order_relaxed); message != nullptr && indexed_ != 0;
         message = message->later)
      enter(*message, 1u << kind);
    return indexed_ != 0;
  }
  // Enters the message in the indexes of these kinds. Without memory it drops all indexes.
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
    if (!any()) indexed_ = 0;
  }
  static void leave(Place& place, Queues<Place>& queues) { queues.remove(place.hash, place); }
  [[gnu::cold]] void give_up_indexes() {
    indexed_ = 0;
    index_.reset();
    for (Unexpected* message = oldest_.load(std::memory_order_relaxed); message != nullptr; message = message->later)
      message->places.reset();
  }

  Queues<Unexpected> queues_;
  std::atomic<Unexpected*> oldest_{nullptr};
  Unexpected* newest_ = nullptr;
  unsigned indexed_ = 0;  // kinds that have an index, one bit each
  std::unique_ptr<Index> index_;
};

}  // namespace heddle::message
