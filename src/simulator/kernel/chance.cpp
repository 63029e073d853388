// Numbers that a real system chooses anew for each run: in virtual time they are a function of the seed.
#include <sys/random.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstring>

#include "simulator/kernel/real.hpp"
#include "simulator/random.hpp"
#include "simulator/simulation.hpp"

namespace heddle::simulator {
namespace {

// Higher than any thread of a real system (PID_MAX_LIMIT), since signals cannot be sent to it.
constexpr pid_t first_thread = 1 << 22;

void fill(void* to, std::size_t bytes) {
  static Random random(simulation->scheduler.settings().seed ^ 0x5eed);
  for (auto* at = static_cast<char*>(to); bytes != 0;) {
    const std::uint64_t word = random.next();
    const std::size_t part = std::min(bytes, sizeof word);
    std::memcpy(at, &word, part);
    at += part;
    bytes -= part;
  }
}

}  // namespace
}  // namespace heddle::simulator

using heddle::simulator::self;
using heddle::simulator::system_call;
using heddle::simulator::with_errno;

extern "C" {

ssize_t getrandom(void* to, std::size_t bytes, unsigned flags) {
  if (self == nullptr)
    return with_errno(system_call(SYS_getrandom, reinterpret_cast<long>(to), static_cast<long>(bytes), flags));
  heddle::simulator::fill(to, bytes);
  return static_cast<ssize_t>(bytes);
}

pid_t gettid() {
  return self != nullptr ? heddle::simulator::first_thread + self->number : static_cast<pid_t>(system_call(SYS_gettid));
}
}
