// Matching: the posted receives (PRQ) and the unexpected messages (UMQ) of one VNI (MPI 5.0, section 3.5).
//
// Both are kept in bins by (context, source, tag), so that a message finds its receive in one step however many are
// posted. Receives with a wildcard stand in a list of their own; each receive carries its age, and of an exact and a
// wildcard candidate the older is taken, which is what one list in order of posting would have given. An unexpected
// message stands in its bin and in a list of all in order of arrival, which wildcard receives and probes search.
//
// Not thread-safe: the VNI's safety model protects it.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "lln/header.hpp"
#include "object/request.hpp"

namespace heddle::p2p {

// A message that arrived before its receive.
struct Unexpected {
  lln::Header header;
  int sender = 0;                // world rank
  std::size_t bytes = 0;         // of the message
  std::byte* payload = nullptr;  // the message itself, or what its kind needs (a rendezvous' offer)
  std::size_t payload_bytes = 0;
  Request* local = nullptr;  // a message to ourselves whose data still lie in the sender's buffer
  Unexpected* bin_next = nullptr;
  Unexpected* bin_prev = nullptr;
  Unexpected* next = nullptr;  // in order of arrival
  Unexpected* prev = nullptr;
  std::byte storage[112];  // payload of the common, small ones
};

class Matcher {
 public:
  // Appends a receive; `request` holds context, source and tag.
  [[gnu::always_inline]] void post(Request& request) {
    request.order = next_order_++;
    List<Request>& list = is_wild(request) ? wild_ : receives_[bin(request.context, request.source, request.tag)];
    list.append(request);
  }

  // Takes the oldest posted receive that matches, or null.
  [[gnu::always_inline]] Request* take_receive(const lln::Header& header) {
    List<Request>& exact = receives_[bin(header.context, header.source, header.tag)];
    Request* found = exact.head;
    while (found != nullptr && !same(*found, header)) found = found->next;
    if (wild_.head == nullptr) [[likely]] {
      if (found != nullptr) exact.remove(*found);
      return found;
    }
    Request* wild = wild_.head;
    while (wild != nullptr && !accepts(*wild, header)) wild = wild->next;
    if (wild != nullptr && (found == nullptr || wild->order < found->order)) {
      wild_.remove(*wild);
      return wild;
    }
    if (found != nullptr) exact.remove(*found);
    return found;
  }

  // Takes a posted receive back; false if it is not posted (any more).
  bool withdraw(Request& request) {
    List<Request>& list = is_wild(request) ? wild_ : receives_[bin(request.context, request.source, request.tag)];
    for (Request* r = list.head; r != nullptr; r = r->next) {
      if (r != &request) continue;
      list.remove(request);
      return true;
    }
    return false;
  }

  void add_unexpected(Unexpected& message) {
    Bin& list = unexpected_[bin(message.header.context, message.header.source, message.header.tag)];
    message.bin_next = nullptr;
    message.bin_prev = list.tail;
    (list.tail ? list.tail->bin_next : list.head) = &message;
    list.tail = &message;
    arrivals_.append(message);
  }

  // The oldest unexpected message that fits, or null; it stays.
  Unexpected* find_unexpected(std::uint64_t context, int source, int tag) const {
    return arrivals_.head == nullptr ? nullptr : search_unexpected(context, source, tag);
  }

  void remove_unexpected(Unexpected& message) {
    Bin& list = unexpected_[bin(message.header.context, message.header.source, message.header.tag)];
    (message.bin_prev ? message.bin_prev->bin_next : list.head) = message.bin_next;
    (message.bin_next ? message.bin_next->bin_prev : list.tail) = message.bin_prev;
    arrivals_.remove(message);
  }

 private:
  Unexpected* search_unexpected(std::uint64_t context, int source, int tag) const {
    if (source != MPI_ANY_SOURCE && tag != MPI_ANY_TAG) {
      Unexpected* m = unexpected_[bin(context, source, tag)].head;
      while (m != nullptr && !(m->header.tag == tag && m->header.source == source && m->header.context == context))
        m = m->bin_next;
      return m;
    }
    for (Unexpected* m = arrivals_.head; m != nullptr; m = m->next)
      if (m->header.context == context && (source == MPI_ANY_SOURCE || source == m->header.source) &&
          (tag == MPI_ANY_TAG || tag == m->header.tag))
        return m;
    return nullptr;
  }

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
    void remove(T& x) {
      (x.prev ? x.prev->next : head) = x.next;
      (x.next ? x.next->prev : tail) = x.prev;
    }
  };
  struct Bin {
    Unexpected* head = nullptr;
    Unexpected* tail = nullptr;
  };

  static std::size_t bin(std::uint64_t context, int source, int tag) {
    const std::uint64_t key = context * 0x9e3779b97f4a7c15 + static_cast<std::uint32_t>(source) * 0x85ebca6bu +
                              static_cast<std::uint32_t>(tag) * 0xc2b2ae35u;
    return static_cast<std::size_t>((key ^ (key >> 32)) * 0x9e3779b97f4a7c15 >> 56);
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

  std::uint64_t next_order_ = 0;
  List<Request> wild_;
  List<Unexpected> arrivals_;
  List<Request> receives_[bins];
  Bin unexpected_[bins];
};

}  // namespace heddle::p2p
