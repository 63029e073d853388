// The kernel's queues of sleeping threads, in virtual time.
#pragma once

#include <cstdint>

#include "simulator/machine.hpp"

namespace heddle::simulator {

// Puts the caller to sleep while the word has that value, until the time; as futex(2) returns, negative for an error.
// `external`: processes that are not simulated may change the word.
long futex_wait(const volatile std::uint32_t* word, std::uint32_t value, Time until, const char* in,
                bool external = false);
unsigned futex_wake(const volatile std::uint32_t* word, unsigned n);

}  // namespace heddle::simulator
