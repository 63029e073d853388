// The alarm of a rank: what alarm() and setitimer(ITIMER_REAL) set for a process.
#pragma once

#include <sys/time.h>
#include <time.h>

#include <mutex>

namespace heddle::host {

class Alarm {
 public:
  // SIGALRM to this thread after, and then every so often; {} for never. 0, or -1 with an errno.
  int set(pid_t thread, const itimerval& when, itimerval* before);
  int get(itimerval& left);

 private:
  std::mutex mutex_;
  timer_t timer_{};
  bool is_made_ = false;
};

}  // namespace heddle::host
