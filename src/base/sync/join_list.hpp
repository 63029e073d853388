// Join list: entries that many threads make for one reader, each linked before the older ones, and never removed: rings
// and boxes of the ranks that send to a rank.
//
// Source: the push half of Treiber's stack (Systems programming: coping with parallelism, 1986). The reader remembers
// the last entry that it has read, so a check for new ones is one load of a line that is written only by a push.
//
// Name is an entry's place, 0 for none; so the list works in memory that processes map at different addresses. The link
// to the next older entry is the maker's, final before the list shows the entry. Order: none is promised beyond that of
// the swaps. Progress: push is lock free (a swap fails only because another one succeeded), the reader wait free.
//
// Memory orders: the swap releases the entry and the link, newest() acquires it; swaps continue each other's release,
// so older ones come with it. The hint is relaxed.
#pragma once

#include "base/platform/platform.hpp"

namespace heddle::sync {

template <platform::Platform P, class Name>
class JoinList {
  using order = platform::order;

 public:
  // Any maker; link(older) is called before the list shows the new one, perhaps more than once.
  template <class Link>
  void push(Name made, Link&& link) {
    Name older = newest_.load(order::relaxed);
    do {
      link(older);
    } while (!newest_.compare_exchange(older, made, order::release, order::relaxed));
  }

  // The reader: the newest entry, from which the links lead to the older ones.
  Name newest() const { return newest_.load(order::acquire); }
  // True if the newest entry is another one.
  bool is_beyond(Name known) const { return newest_.load(order::relaxed) != known; }

 private:
  typename P::template atomic<Name> newest_{Name()};
};

}  // namespace heddle::sync
