// Join list: what many make for one reader, each hung before those that were there, and never taken out again: rings and boxes of
// those who send to a rank.
//
// Source: the push half of Treiber's stack (Systems programming: coping with parallelism, 1986). The reader remembers how far it has
// read, so a look for something new is one load of a line that nobody writes.
//
// Name says where one is, 0 for nowhere; so the list works in memory that processes map at different addresses. The link to the next
// older one is the maker's, final before the list shows it.
// Order: none is promised beyond that of the swaps. Progress: push is lock free (a swap fails only because another one succeeded), the
// reader wait free.
//
// Memory orders: the swap releases what was made and the link, newest() acquires it; swaps continue each other's release, so older
// ones come with it. The hint is relaxed.
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

  // The reader: the last one that was made, from where the links lead to the older ones.
  Name newest() const { return newest_.load(order::acquire); }
  // Whether that is another than this one.
  bool is_beyond(Name known) const { return newest_.load(order::relaxed) != known; }

 private:
  typename P::template atomic<Name> newest_{Name()};
};

}  // namespace heddle::sync
