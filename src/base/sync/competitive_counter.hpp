// Synchronization counter that watches the word for a bounded time, and then sleeps.
//
// Source: competitive spinning (Karlin, Li, Manasse and Owicki, SOSP 1991; Trahay 2009, section 3.3): spinning for as
// long as a sleep would cost is never more than twice as dear as the better choice. The rest: see sync_counter.hpp.
// Safety, progress, memory orders: as KernelCounter.
// When: waits that are mostly short, on cores that are mostly free.
// In the library: not used; who waits polls before it sleeps (base/safety/patience.hpp). It is measured beside the other two.
#pragma once

#include "base/sync/kernel_counter.hpp"

namespace heddle::sync {

template <platform::Platform P, std::uint32_t Looks = 500, platform::Scope Where = platform::Scope::process>
class CompetitiveCounter : public KernelCounter<P, Where> {
  using order = platform::order;

 public:
  Wake wait() {
    // What is seen here is looked at again by the wait that follows, which acquires.
    P::poll(this->word_, order::relaxed, CounterWord<P>::over, Looks);
    return KernelCounter<P, Where>::wait();
  }
};

}  // namespace heddle::sync
