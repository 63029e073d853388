// The clocks of a simulated process: they begin with it, and go on in virtual time.
#pragma once

#include <time.h>

#include "simulator/machine.hpp"

namespace heddle::simulator {

timespec read_clock(clockid_t clock);
// The virtual time at which that clock shows the time; `never` is beyond all times.
Time at_time(const timespec& time, clockid_t clock);
// So long from now.
Time in_future(const timespec& time);

}  // namespace heddle::simulator
