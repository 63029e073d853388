// The test of errands: thread 0 sends thread 1, which sleeps in between, and is told each time what came of it. A lost wake-up is a
// deadlock.
#pragma once

#include "base/sync/errand.hpp"
#include "kit.hpp"

namespace heddle::test {

template <platform::Platform P>
class ErrandBody {
  using Errand = sync::Errand<P>;
  static constexpr std::uint32_t last = 1;  // others are larger

 public:
  // Rounds: errands.
  ErrandBody(unsigned /*threads*/, unsigned rounds) : errands_(rounds) {}

  void thread(unsigned id) {
    if (id == 0) {
      for (unsigned i = 0; i != errands_; ++i) {
        asked_.set(i);
        const std::uint32_t what = last + 1 + i;
        errand_.send(what);
        errand_.sleep_until_done(what);
        require<P>(errand_.result() == (i % 2 == 0), "the result of another");
        require<P>(answered_.get() == i + 1, "told of the end before it");
      }
      errand_.send(last);
    } else {
      for (std::uint32_t what = errand_.await(); what != last; what = errand_.await()) {
        require<P>(asked_.get() == what - last - 1, "sent before it was said what for");
        answered_.set(asked_.get() + 1);
        errand_.end(asked_.get() % 2 == 0, true);
      }
    }
  }

  void finish() { require<P>(answered_.get() == errands_, "not all were done"); }

 private:
  const unsigned errands_;
  Errand errand_;
  typename P::template plain<unsigned> asked_{0};
  typename P::template plain<unsigned> answered_{0};
};

}  // namespace heddle::test
