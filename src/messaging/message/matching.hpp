// Matching: the posted receives (PRQ) and the unexpected messages (UMQ) of one VNI (MPI 5.0, section 3.5).
//
// A posted receive is in the queue of its envelope: (context, source or any, tag or any) (queues.hpp). A message fits at most four
// queues: the one of its own envelope and one for each kind of wildcard. It checks the kinds of which receives are posted. Each receive
// carries an age, and the message takes the oldest receive of these queues, as a single list in order of posting would give. So the cost
// of a call does not depend on the number of receives and messages with other envelopes. Unexpected messages: unexpected_messages.hpp.
//
// All functions run with the VNI's lock held, except announce(). Any thread may announce a receive without wildcards at a gate, while
// another thread matches. The matching thread accepts announced receives into their queues when a message matches none that is queued.
// Envelopes share 256 gates. A gate is closed while it has unexpected messages; then a thread that announces a receive there has to enter
// the VNI. So a message and a receive never miss each other (base/sync/postings.hpp). A receive whose announcement has returned is
// matched with every message that arrived before. Without wildcards and unexpected messages, posting takes one atomic operation and never
// waits.
#pragma once

#include <mpi.h>

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "base/platform/native.hpp"
#include "base/sync/postings.hpp"
#include "messaging/message/envelope.hpp"
#include "messaging/message/queues.hpp"
#include "messaging/message/unexpected_messages.hpp"
#include "network/header.hpp"
#include "objects/object/request.hpp"

namespace heddle::message {

class Matcher {
 public:
  // Appends a receive; `request` holds context, source and tag. Receives that announce() has posted are not posted here.
  [[gnu::always_inline]] void post(Request& request) {
    const Envelope asked = envelope_of(request);
    if (is_wild(asked)) [[unlikely]]
      return post_wild(request);
    request.receive.age = age_of_exact();
    receives_.append(receives_.find(hash_of(asked), asked), request);
  }

  // The result of an announcement. `posted`: the receive is posted. `not_at_all`: the caller starts it as any other receive.
  // `at_closed_gate`: the caller passes the hash to match_announced().
  enum class Announced : std::uint8_t { posted, not_at_all, at_closed_gate };
  struct Announcement {
    Announced result;
    Hash hash;
  };
  // Any thread, lock-free. Unless the result is `not_at_all`, the request may already be complete when this returns.
  [[gnu::always_inline]] Announcement announce(Request& request) {
    const Envelope asked = envelope_of(request);
    if (is_wild(asked)) [[unlikely]]
      return {Announced::not_at_all, 0};
    const Hash hash = hash_of(asked);
    request.receive.age = age_of_exact();
    return {gate_of(hash).receives.announce(request) ? Announced::posted : Announced::at_closed_gate, hash};
  }
  // Accepts the receives that were announced at the gate of `announced`; another thread may have accepted that one already. Calls
  // match(receive, message) for each receive that has a message; the message is still in its queue.
  template <class Match>
  void match_announced(const Request& announced, Hash its_hash, Match&& match) {
    gate_of(its_hash).receives.match_posted([&](Request& request) {
      const Envelope asked = envelope_of(request);
      const Hash hash = &request == &announced ? its_hash : hash_of(asked);
      Unexpected* const message = unexpected_.find_exact(hash, asked);
      if (message != nullptr) return match(request, *message);
      receives_.append(receives_.find(hash, asked), request);
    });
  }

  // Takes the oldest posted receive that matches. Null: the caller has to add the message to the unexpected ones.
  [[gnu::always_inline]] Request* take_receive(const lln::Header& header) {
    const Envelope envelope = envelope_of(header);
    const Hash hash = hash_of(envelope);
    Request** const at = receives_.find(hash, envelope);
    return *at != nullptr && wild_ == 0 ? receives_.take_oldest(at) : take_another(hash, envelope);
  }

  // Posts the receive that take_receive() has just taken again, as the oldest of its queue: its message was withdrawn, or cannot be taken
  // now.
  void put_back(Request& request) {
    const Envelope asked = envelope_of(request);
    if (is_wild(asked)) note_posted(asked);
    receives_.prepend(receives_.find(asked), request);
  }

  // The caller has not added a message as unexpected, though take_receive() has found no receive for it.
  void forget(const lln::Header& header) {
    Gate& gate = gate_of(hash_of(envelope_of(header)));
    if (gate.unexpected == 0) gate.receives.open();
  }

  // Accepts the receives announced at the gate of `request`, so that a message that comes later finds them in their queue.
  void expect(const Request& request) {
    const Envelope asked = envelope_of(request);
    if (is_wild(asked)) return;
    if (Request* const first = gate_of(hash_of(asked)).receives.gather()) accept(*first);
  }

  // Removes a posted receive. False: it is not posted (any more).
  bool withdraw(Request& request) {
    expect(request);
    Request** const at = receives_.find(request);
    Request* posted = *at;
    while (posted != nullptr && posted != &request) posted = posted->next;
    if (posted == nullptr) return false;
    receives_.remove(at, request);
    note_removed(request);
    return true;
  }

  // Checks all posted receives: verdict(receive) returns MPI_SUCCESS, or an error. With an error the receive is removed, and end(receive,
  // error) is called.
  template <class Verdict, class End>
  void sift(Verdict&& verdict, End&& end) {
    for (Gate& gate : gates_)
      if (Request* const first = gate.receives.gather()) accept(*first);
    int error = MPI_SUCCESS;
    receives_.sift([&](Request& request) { return (error = verdict(request)) != MPI_SUCCESS; },
                   [&](Request& request) {
                     note_removed(request);
                     end(request, error);
                   });
  }

  void add_unexpected(Unexpected& message) {
    message.hash = hash_of(envelope_of(message));
    ++gate_of(message.hash).unexpected;
    unexpected_.add(message);
  }
  void remove_unexpected(Unexpected& message) {
    Gate& gate = gate_of(message.hash);
    if (--gate.unexpected == 0) gate.receives.open();
    unexpected_.remove(message);
  }
  // Any thread.
  bool any_unexpected() const { return unexpected_.any(); }
  // The oldest unexpected message that fits, or null. The message stays in its queue.
  Unexpected* find_unexpected(std::uint64_t context, int source, int tag) {
    return unexpected_.any() ? unexpected_.find({context, source, tag}) : nullptr;
  }
  // The oldest unexpected message with this envelope for which `holds` is true.
  template <class F>
  Unexpected* find_unexpected_if(const Envelope& envelope, F&& holds) {
    return unexpected_.find_if(envelope, holds);
  }
  // f(message) may remove it.
  template <class F>
  void for_each_unexpected(F&& f) {
    unexpected_.for_each(f);
  }

 private:
  struct Links {
    static Request* next(const Request& request) { return request.next; }
    static void set_next(Request& request, Request* other) { request.next = other; }
  };
  struct alignas(platform::cache_line) Gate {
    sync::Postings<platform::Native, Request, Links> receives;
    std::uint32_t unexpected = 0;  // messages; while there are any, the gate is closed
  };

  // No receive without wildcards is queued, or receives with wildcards are posted.
  [[gnu::noinline]] Request* take_another(Hash hash, Envelope envelope) {
    Gate& gate = gate_of(hash);
    if (Request* const first = gate.receives.gather()) {
      if (wild_ == 0 && envelope_of(*first) == envelope) [[likely]] {
        Request* rest = first->next;
        if (rest != nullptr && envelope_of(*rest) == envelope) rest = accept_run(receives_.find(hash, envelope), *rest);
        if (rest != nullptr) accept(*rest);
        return first;
      }
      accept(*first);
    }
    Request** at = receives_.find(hash, envelope);
    if (wild_ != 0) [[unlikely]]
      at = choose(at, envelope);
    return *at != nullptr ? receives_.take_oldest(at) : close(gate, hash, envelope);
  }

  // Accepts `first` and the announced receives linked behind it into their queues.
  [[gnu::noinline]] void accept(Request& first) {
    Request* next = &first;
    while (next != nullptr) next = accept_run(receives_.find(*next), *next);
  }
  // Appends `first` and the receives behind it with the same envelope to the queue at `at`. Returns the first receive with another
  // envelope, or null.
  [[gnu::always_inline]] Request* accept_run(Request** at, Request& first) {
    Request* last = &first;
    Request* next = first.next;
    for (; next != nullptr && envelope_of(*next) == envelope_of(first); next = next->next) {
      next->prev = last;
      last = next;
    }
    receives_.append(at, first, *last);
    return next;
  }

  // Closes the gate for a message that has no receive. Returns a matching receive that was announced at the last moment, or null.
  [[gnu::noinline]] Request* close(Gate& gate, Hash hash, Envelope envelope) {
    Request* const first = gate.receives.close();
    if (first == nullptr) return nullptr;
    accept(*first);
    Request** const at = receives_.find(hash, envelope);
    if (*at == nullptr) return nullptr;
    gate.receives.open();
    return receives_.take_oldest(at);
  }

  // Finds the queue with the oldest receive that matches the message: the queue at `at`, or one with wildcards. The caller takes that
  // receive.
  [[gnu::noinline]] Request** choose(Request** at, Envelope envelope) {
    unsigned chosen = exact;
    const auto consider = [&](unsigned kind) {
      if (wild_of_kind_[kind] == 0) return;
      Request** const other = receives_.find(asked_by(kind, envelope));
      if (*other == nullptr || (*at != nullptr && (*at)->receive.age < (*other)->receive.age)) return;
      at = other;
      chosen = kind;
    };
    consider(any_source);
    consider(any_tag);
    consider(any_source | any_tag);
    if (chosen != exact) {
      --wild_;
      --wild_of_kind_[chosen];
    }
    return at;
  }

  [[gnu::noinline]] void post_wild(Request& request) {
    const std::uint64_t wilds = wilds_.load(std::memory_order_relaxed) + 1;
    wilds_.store(wilds, std::memory_order_relaxed);
    request.receive.age = 2 * wilds;
    const Envelope asked = envelope_of(request);
    note_posted(asked);
    receives_.append(receives_.find(asked), request);
  }
  void note_posted(const Envelope& wild) {
    ++wild_;
    ++wild_of_kind_[kind_of(wild)];
  }
  void note_removed(const Request& request) {
    const Envelope asked = envelope_of(request);
    if (!is_wild(asked)) return;
    --wild_;
    --wild_of_kind_[kind_of(asked)];
  }

  // Receives with wildcards have even ages. Receives without wildcards that were posted between the same two of them have the same age
  // and need no order: each is newer than the wildcard receives that its own thread, or a thread that synchronized with it, has posted.
  std::uint64_t age_of_exact() const { return 2 * wilds_.load(std::memory_order_relaxed) + 1; }

  static constexpr std::size_t gates = 256;
  // Chosen by other bits than the bucket: otherwise all receives accepted from one gate would be in one bucket.
  Gate& gate_of(Hash hash) { return gates_[hash / 256 % gates]; }

  static bool is_wild(const Envelope& asked) { return asked.source == MPI_ANY_SOURCE || asked.tag == MPI_ANY_TAG; }

  // Announcing threads read `wilds_`, so no data that change with every message are on its cache line.
  Gate gates_[gates];
  std::atomic<std::uint64_t> wilds_{0};  // all receives with a wildcard so far; written with the lock held
  std::size_t wild_ = 0;                 // posted ones
  std::size_t wild_of_kind_[kinds] = {};
  alignas(platform::cache_line) Queues<Request> receives_;
  UnexpectedMessages unexpected_;
};

}  // namespace heddle::message
