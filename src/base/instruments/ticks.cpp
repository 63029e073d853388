#include "base/instruments/ticks.hpp"

#include "base/platform/native.hpp"

namespace heddle::instruments {

namespace {

using platform::Native;

struct Moment {
  std::uint64_t ticks = 0;
  std::int64_t nanoseconds = 0;
};
Moment now() { return {ticks(), Native::now()}; }

const Moment& first() {
  static const Moment moment = now();
  return moment;
}

}  // namespace

void start_ticks() { first(); }

double seconds(std::uint64_t ticks) {
  constexpr std::int64_t long_enough = 2'000'000;  // an error of 20 ns at each end is then 0.002%
  const Moment& begin = first();
  Moment end = now();
  while (end.nanoseconds - begin.nanoseconds < long_enough) end = now();
  const double rate =
      static_cast<double>(end.ticks - begin.ticks) / static_cast<double>(end.nanoseconds - begin.nanoseconds);
  return static_cast<double>(ticks) / rate * 1e-9;
}

}  // namespace heddle::instruments
