// The calling thread handles no signal as long as this lives, and threads that it makes meanwhile never do: signals are
// the program's. Faults of the thread itself are not blocked: the kernel would end the process without its handler, and
// without a report.
#pragma once

#include <pthread.h>
#include <signal.h>

#include <initializer_list>

namespace heddle::threads {

class SignalsBlocked {
 public:
  SignalsBlocked() {
    sigset_t all;
    sigfillset(&all);
    for (const int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT}) sigdelset(&all, fault);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~SignalsBlocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  SignalsBlocked(const SignalsBlocked&) = delete;
  SignalsBlocked& operator=(const SignalsBlocked&) = delete;

 private:
  sigset_t before_;
};

}  // namespace heddle::threads
