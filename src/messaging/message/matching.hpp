// Matching: the posted receives (PRQ) and the unexpected messages (UMQ) of one VNI (MPI 5.0, section 3.5).
//
// A posted receive is in the queue of what it asks for: (context, source or any, tag or any) (queues.hpp). A message fits at most four
// queues, one for each kind of wildcard, and looks at those of which any receive is posted. Each receive carries its age, and of the
// oldest of each queue the oldest is taken, which is what one list in order of posting would have given. Unexpected messages:
// unexpected_messages.hpp. So the cost of a call does not depend on how many receives and messages with other envelopes there are.
//
// All with the VNI's lock held, but for announce(): a receive without a wildcard may be left at a gate by any thread, beside the one that
// matches, which accepts it into its queue when a message comes that fits nothing it has. Envelopes share 256 gates. While there are
// unexpected messages at a gate it is closed, and a thread that announces there has to enter the VNI. So a message and a receive never
// miss each other (base/sync/postings.hpp); a receive whose announcement has returned is matched with all that came before;
// and as long as neither wildcards nor unexpected messages are about, posting takes one atomic operation and waits for
// nobody.
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
  // Appends a receive; `request` holds context, source and tag. Not one that announce() posts.
  [[gnu::always_inline]] void post(Request& request) {
    const Envelope asked = envelope_of(request);
    if (is_wild(asked)) [[unlikely]]
      return post_wild(request);
    request.receive.age = age_of_exact();
    receives_.append(receives_.find(hash_of(asked), asked), request);
  }

  // What became of an announcement: the receive is posted; or start it like any other; or resolve with what is returned here.
  enum class Announced : std::uint8_t { posted, not_at_all, at_closed_gate };
  struct Announcement {
    Announced result;
    Hash hash;
  };
  // Any thread, lock-free. Unless it was not announced, the request may be done when this returns.
  [[gnu::always_inline]] Announcement announce(Request& request) {
    const Envelope asked = envelope_of(request);
    if (is_wild(asked)) [[unlikely]]
      return {Announced::not_at_all, 0};
    const Hash hash = hash_of(asked);
    request.receive.age = age_of_exact();
    return {gate_of(hash).receives.announce(request) ? Announced::posted : Announced::at_closed_gate, hash};
  }
  // Accepts what was announced at the gate of `announced`, perhaps also that by now: match(receive, message) for each that has a
  // message, which is still in its queue.
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

  // Takes the oldest posted receive that matches. Null: the message must be added to the unexpected ones.
  [[gnu::always_inline]] Request* take_receive(const lln::Header& header) {
    const Envelope envelope = envelope_of(header);
    const Hash hash = hash_of(envelope);
    Request** const at = receives_.find(hash, envelope);
    return *at != nullptr && wild_ == 0 ? receives_.take_oldest(at) : take_another(hash, envelope);
  }

  // What take_receive has just taken is posted still, the oldest of its queue: its message has been withdrawn, or has to wait.
  void put_back(Request& request) {
    const Envelope asked = envelope_of(request);
    if (is_wild(asked)) note_posted(asked);
    receives_.prepend(receives_.find(asked), request);
  }

  // A message that take_receive found nothing for has not been added after all.
  void forget(const lln::Header& header) {
    Gate& gate = gate_of(hash_of(envelope_of(header)));
    if (gate.unexpected == 0) gate.receives.open();
  }

  // Accepts what was announced at a receive's gate, so that a message that comes later finds it in its queue.
  void expect(const Request& request) {
    const Envelope asked = envelope_of(request);
    if (is_wild(asked)) return;
    if (Request* const first = gate_of(hash_of(asked)).receives.gather()) accept(*first);
  }

  // Takes a posted receive back; false if it is not posted (any more).
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

  // All posted receives: verdict(receive) is an error that one ends with, by end(receive, error), or MPI_SUCCESS.
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
  // The oldest unexpected message that fits, or null; it stays.
  Unexpected* find_unexpected(std::uint64_t context, int source, int tag) {
    return unexpected_.any() ? unexpected_.find({context, source, tag}) : nullptr;
  }
  // The oldest with this envelope of which this holds.
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
    std::uint32_t unexpected = 0;  // messages; while there are any it is closed
  };

  // There is no receive in the queue of exact ones, or wildcards are posted.
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

  // Into their queues: `first` and those behind it, which have been announced.
  [[gnu::noinline]] void accept(Request& first) {
    Request* next = &first;
    while (next != nullptr) next = accept_run(receives_.find(*next), *next);
  }
  // Into the queue that is there: `first` and those behind it that ask for the same. The first that does not, or null.
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

  // A message is about to be unexpected, unless a receive has just been announced that fits.
  [[gnu::noinline]] Request* close(Gate& gate, Hash hash, Envelope envelope) {
    Request* const first = gate.receives.close();
    if (first == nullptr) return nullptr;
    accept(*first);
    Request** const at = receives_.find(hash, envelope);
    if (*at == nullptr) return nullptr;
    gate.receives.open();
    return receives_.take_oldest(at);
  }

  // The queue with the oldest receive that such a message fits, of that of exact ones at `at` and of those with wildcards. It is taken next.
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

  // Wildcard receives have even ages. Exact ones that were posted between the same two of them need no order: one is behind
  // those wildcards that its thread, or a thread that synchronized with it, has posted.
  std::uint64_t age_of_exact() const { return 2 * wilds_.load(std::memory_order_relaxed) + 1; }

  static constexpr std::size_t gates = 256;
  // Not by the bits that choose a bucket: then all that is accepted from one gate would be in one bucket.
  Gate& gate_of(Hash hash) { return gates_[hash / 256 % gates]; }

  static bool is_wild(const Envelope& asked) { return asked.source == MPI_ANY_SOURCE || asked.tag == MPI_ANY_TAG; }

  // Threads that announce read the first of these, so nothing beside it changes with every message.
  Gate gates_[gates];
  std::atomic<std::uint64_t> wilds_{0};  // receives with a wildcard, ever; written with the lock held
  std::size_t wild_ = 0;                 // of those, that are posted
  std::size_t wild_of_kind_[kinds] = {};
  alignas(platform::cache_line) Queues<Request> receives_;
  UnexpectedMessages unexpected_;
};

}  // namespace heddle::message
