// Timers with a descriptor, in virtual time.
#pragma once

#include "simulator/machine.hpp"

namespace heddle::simulator {

// Makes the descriptors of the caller's timers readable that have expired. Returns when the next one does; never: none is set.
Time expire_timers();

}  // namespace heddle::simulator
