#include "launch/boot/launched/quit_signal.hpp"

#include <errno.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>

#include "launch/boot/job.hpp"

namespace heddle::boot {
namespace {

// They stay open as long as the process: the handler may run at any time. Ranks that are threads have descriptors of
// their own, and in the host the first thread of each, which calls MPI_Init, handles signals.
constinit int event_of_process = -1;
[[gnu::tls_model("initial-exec")]] constinit thread_local int event_of_rank = -1;

void note(int) {
  const int before = errno;
  constexpr std::uint64_t once = 1;
  (void)!write(event_of_process >= 0 ? event_of_process : event_of_rank, &once, sizeof once);
  errno = before;
}

}  // namespace

int note_quit_signal() {
  int& event = std::getenv(rank_variable) != nullptr ? event_of_rank : event_of_process;
  if (event >= 0) return event;
  struct sigaction action {};
  const bool is_free =
      sigaction(SIGQUIT, nullptr, &action) == 0 && (action.sa_flags & SA_SIGINFO) == 0 && action.sa_handler == SIG_DFL;
  if (!is_free || (event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) < 0) return -1;
  action.sa_handler = note;
  action.sa_flags = SA_RESTART;
  (void)sigaction(SIGQUIT, &action, nullptr);
  return event;
}

bool took_quit_signal(int descriptor) {
  std::uint64_t times = 0;
  return read(descriptor, &times, sizeof times) == sizeof times;
}

}  // namespace heddle::boot
