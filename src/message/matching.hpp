// Matching: the posted receives (PRQ) and the unexpected messages (UMQ) of one VNI (MPI 5.0, section 3.5).
//
// Both are kept in bins by (context, source, tag), so that a message finds its receive in one step however many are
// posted. Receives with a wildcard stand in a list of their own; each receive carries its age, and of an exact and a
// wildcard candidate the older is taken, which is what one list in order of posting would have given. An unexpected
// message stands in its bin and in a list of all in order of arrival, which wildcard receives and probes search.
//
// All under the VNI's protection, but for announce(): a receive without a wildcard may be left in its bin by any thread,
// beside the one that matches, which takes it in when a message comes that fits nothing it has. While unexpected
// messages are in a bin its gate is closed, and who announces there has to enter the VNI. So a message and a receive never
// miss each other (sync/postings.hpp); a receive whose announcement has returned is matched with all that came before;
// and as long as neither wildcards nor unexpected messages are about, posting takes one atomic operation and waits for
// nobody.
#pragma once

#include <mpi.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "lln/header.hpp"
#include "object/request.hpp"
#include "platform/native.hpp"
#include "sync/postings.hpp"

namespace heddle::message {

// A message that arrived before its receive.
struct Unexpected {
  lln::Header header;
  int sender = 0;                // world rank
  std::size_t bytes = 0;         // of the message
  std::byte* payload = nullptr;  // the message itself, or what its kind needs (a rendezvous' RTS)
  std::size_t payload_bytes = 0;
  Request* local = nullptr;  // a message to ourselves whose data still lie in the sender's buffer
  bool received = false;     // its sender cannot withdraw it any more (claims.hpp)
  Unexpected* bin_next = nullptr;
  Unexpected* bin_prev = nullptr;
  Unexpected* next = nullptr;  // in order of arrival
  Unexpected* prev = nullptr;
  std::byte storage[112];  // payload of the common, small ones
};

class Matcher {
 public:
  // Appends a receive; `request` holds context, source and tag. Not an exact one where such are announced.
  [[gnu::always_inline]] void post(Request& request) {
    if (is_wild(request)) {
      const std::uint64_t wilds = wilds_.load(std::memory_order_relaxed) + 1;
      wilds_.store(wilds, std::memory_order_relaxed);
      request.order = 2 * wilds;
      wild_.append(request);
    } else {
      request.order = order_of_exact();
      bin_of(request).receives.posted.append(request);
    }
  }

  // What became of an announcement: the receive is posted; or start it like any other; or settle its bin.
  enum class Announced : std::uint8_t { posted, not_at_all, at_closed_gate };
  struct Announcement {
    Announced result;
    std::uint32_t bin;
  };
  // Any thread, unprotected. Unless it was not announced, the request may be done when this returns.
  [[gnu::always_inline]] Announcement announce(Request& request) {
    if (is_wild(request)) [[unlikely]]
      return {Announced::not_at_all, 0};
    const std::uint32_t at = bin(request.context, request.source, request.tag);
    request.order = order_of_exact();
    return {bins_[at].receives.announce(request) ? Announced::posted : Announced::at_closed_gate, at};
  }
  // Takes in what was announced in a bin: meet(receive, message) for each that has a message, which is still in its queue.
  template <class Meet>
  void settle(std::uint32_t at, Meet&& meet) {
    Bin& bin = bins_[at];
    bin.receives.settle([&](Request& request) {
      Unexpected* const message = search_bin(bin, request.context, request.source, request.tag);
      if (message != nullptr) meet(request, *message);
      return message != nullptr;
    });
  }

  // Takes the oldest posted receive that matches. Null: the message must be added to the unexpected ones.
  [[gnu::always_inline]] Request* take_receive(const lln::Header& header) {
    Bin& bin = bin_of(header);
    Request* found = search_posted(bin, header);
    if ((found == nullptr || wild_.head != nullptr) && bin.receives.gather()) found = search_posted(bin, header);
    if (wild_.head != nullptr) [[unlikely]] {
      Request* wild = wild_.head;
      while (wild != nullptr && !accepts(*wild, header)) wild = wild->next;
      if (wild != nullptr && (found == nullptr || wild->order < found->order)) {
        wild_.remove(*wild);
        return wild;
      }
    }
    if (found == nullptr) [[unlikely]] {
      found = close(bin, header);
      if (found == nullptr) return nullptr;
    }
    bin.receives.posted.remove(*found);
    return found;
  }

  // What take_receive has taken is posted still: its message has been withdrawn, or has to wait.
  void put_back(Request& request) {
    if (!is_wild(request)) return bin_of(request).receives.posted.prepend(request);
    Request* next = wild_.head;
    while (next != nullptr && next->order < request.order) next = next->next;
    wild_.insert(request, next);
  }

  // A message that take_receive found nothing for has not been added after all.
  void forget(const lln::Header& header) {
    Bin& bin = bin_of(header);
    if (bin.oldest == nullptr) bin.receives.open();
  }

  // The oldest that has not been received and of which this holds.
  template <class F>
  Unexpected* find_unexpected_if(F&& holds) const {
    Unexpected* m = arrivals_.head;
    while (m != nullptr && !holds(*m)) m = m->next;
    return m;
  }

  // Takes in what was announced in a receive's bin, so that a message that comes later finds it there.
  void expect(const Request& request) {
    if (!is_wild(request)) (void)bin_of(request).receives.gather();
  }

  // Takes a posted receive back; false if it is not posted (any more).
  bool withdraw(Request& request) {
    const bool wild = is_wild(request);
    if (!wild) (void)bin_of(request).receives.gather();
    List<Request>& list = wild ? wild_ : bin_of(request).receives.posted;
    for (Request* r = list.head; r != nullptr; r = r->next) {
      if (r != &request) continue;
      list.remove(request);
      return true;
    }
    return false;
  }

  // All posted receives: verdict(receive) is an error that one ends with, by end(receive, error), or MPI_SUCCESS.
  template <class Verdict, class End>
  void sift(Verdict&& verdict, End&& end) {
    for (Bin& bin : bins_) {
      (void)bin.receives.gather();
      sift(bin.receives.posted, verdict, end);
    }
    sift(wild_, verdict, end);
  }

  void add_unexpected(Unexpected& message) {
    Bin& bin = bin_of(message.header);
    message.bin_next = nullptr;
    message.bin_prev = bin.newest;
    (bin.newest ? bin.newest->bin_next : bin.oldest) = &message;
    bin.newest = &message;
    arrivals_.append(message);
  }

  // The oldest unexpected message that fits, or null; it stays.
  Unexpected* find_unexpected(std::uint64_t context, int source, int tag) const {
    return arrivals_.head == nullptr ? nullptr : search_unexpected(context, source, tag);
  }

  void remove_unexpected(Unexpected& message) {
    Bin& bin = bin_of(message.header);
    (message.bin_prev ? message.bin_prev->bin_next : bin.oldest) = message.bin_next;
    (message.bin_next ? message.bin_next->bin_prev : bin.newest) = message.bin_prev;
    arrivals_.remove(message);
    if (bin.oldest == nullptr) bin.receives.open();
  }

 private:
  struct Bin;

  Unexpected* search_unexpected(std::uint64_t context, int source, int tag) const {
    if (source != MPI_ANY_SOURCE && tag != MPI_ANY_TAG)
      return search_bin(bins_[bin(context, source, tag)], context, source, tag);
    for (Unexpected* m = arrivals_.head; m != nullptr; m = m->next)
      if (m->header.context == context && (source == MPI_ANY_SOURCE || source == m->header.source) &&
          (tag == MPI_ANY_TAG || tag == m->header.tag))
        return m;
    return nullptr;
  }

  static Unexpected* search_bin(const Bin& bin, std::uint64_t context, int source, int tag) {
    Unexpected* m = bin.oldest;
    while (m != nullptr && !(m->header.tag == tag && m->header.source == source && m->header.context == context))
      m = m->bin_next;
    return m;
  }
  static Request* search_posted(const Bin& bin, const lln::Header& header) {
    Request* found = bin.receives.posted.head;
    while (found != nullptr && !same(*found, header)) found = found->next;
    return found;
  }

  // A message of this bin is about to be unexpected, unless a receive has just been announced that fits.
  [[gnu::noinline]] static Request* close(Bin& bin, const lln::Header& header) {
    return bin.receives.close([&] { return search_posted(bin, header); });
  }

  // Wildcard receives have even ages. Exact ones that were posted between the same two of them need no order: one is behind
  // those wildcards that its thread, or who synchronized with it, has posted.
  std::uint64_t order_of_exact() const { return 2 * wilds_.load(std::memory_order_relaxed) + 1; }

  static constexpr std::size_t bins = 256;

  template <class T>
  struct List {
    T* head = nullptr;
    T* tail = nullptr;
    void append(T& x) {
      x.next = nullptr;
      x.prev = tail;
      (tail ? tail->next : head) = &x;
      tail = &x;
    }
    void prepend(T& x) { insert(x, head); }
    // Before `next`, or at the end if that is null.
    void insert(T& x, T* next) {
      x.next = next;
      x.prev = next ? next->prev : tail;
      (x.prev ? x.prev->next : head) = &x;
      (next ? next->prev : tail) = &x;
    }
    void remove(T& x) {
      (x.prev ? x.prev->next : head) = x.next;
      (x.next ? x.next->prev : tail) = x.prev;
    }
  };
  template <class Verdict, class End>
  static void sift(List<Request>& list, Verdict& verdict, End& end) {
    Request* next = nullptr;
    for (Request* r = list.head; r != nullptr; r = next) {
      next = r->next;
      const int error = verdict(*r);
      if (error == MPI_SUCCESS) continue;
      list.remove(*r);
      end(*r, error);
    }
  }
  struct Links {
    static Request* next(const Request& request) { return request.next; }
    static void set_next(Request& request, Request* other) { request.next = other; }
  };
  struct alignas(platform::cache_line) Bin {
    sync::Postings<platform::Native, Request, Links, List<Request>>
        receives;  // the gate is closed while there is an `oldest`
    Unexpected* oldest = nullptr;
    Unexpected* newest = nullptr;
  };

  [[gnu::always_inline]] Bin& bin_of(const Request& r) { return bins_[bin(r.context, r.source, r.tag)]; }
  [[gnu::always_inline]] Bin& bin_of(const lln::Header& h) { return bins_[bin(h.context, h.source, h.tag)]; }
  static std::uint32_t bin(std::uint64_t context, int source, int tag) {
    const std::uint64_t key = context * 0x9e3779b97f4a7c15 + static_cast<std::uint32_t>(source) * 0x85ebca6bu +
                              static_cast<std::uint32_t>(tag) * 0xc2b2ae35u;
    return static_cast<std::uint32_t>((key ^ (key >> 32)) * 0x9e3779b97f4a7c15 >> 56);
  }
  static bool is_wild(const Request& r) { return r.source == MPI_ANY_SOURCE || r.tag == MPI_ANY_TAG; }
  static bool same(const Request& r, const lln::Header& h) {
    return r.tag == h.tag && r.source == h.source && r.context == h.context;
  }
  static bool accepts(const Request& r, const lln::Header& h) {
    return r.context == h.context && (r.source == MPI_ANY_SOURCE || r.source == h.source) &&
           (r.tag == MPI_ANY_TAG || r.tag == h.tag);
  }
  static_assert(bins == 256, "bin() takes the upper 8 bits of its hash");

  std::atomic<std::uint64_t> wilds_{0};  // receives with a wildcard, ever; written under the protection
  List<Request> wild_;
  List<Unexpected> arrivals_;
  Bin bins_[bins];
};

}  // namespace heddle::message
