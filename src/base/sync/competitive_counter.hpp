// Synchronization counter that watches the word for a bounded time, and then sleeps.
//
// Source: competitive spinning (Karlin, Li, Manasse and Owicki, SOSP 1991; Trahay 2009, section 3.3): spinning for as
// long as a sleep would cost never costs more than twice the better choice. The rest: see sync_counter.hpp. Safety,
// progress, memory orders: as KernelCounter. When: waits that are mostly short, on cores that are mostly free. In the
// library: not used; waiting threads poll before they sleep (base/safety/patience.hpp). It is measured beside the other two.
#pragma once

#include "base/sync/kernel_counter.hpp"

namespace heddle::sync {

template <platform::Platform P, std::uint32_t Looks = 500, platform::Scope Where = platform::Scope::process>
class CompetitiveCounter : public KernelCounter<P, Where> {
  using order = platform::order;

 public:
  Wake wait() {
    // The wait that follows reads the word again, and acquires.
    P::poll(this->word_, order::relaxed, CounterWord<P>::over, Looks);
    return KernelCounter<P, Where>::wait();
  }
};

}  // namespace heddle::sync
