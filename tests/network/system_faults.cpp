// Preloaded: of the calls by which rank SYSTEM_FAULTS_RANK takes something from the system, in their order in the process, the one with number
// SYSTEM_FAULTS_AT fails (SYSTEM_FAULTS_FOR: so many from there on). At the end the file SYSTEM_FAULTS_COUNT gets their number. A line names the
// library in whose code a segmentation fault happens.
#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <pthread.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <csignal>

#include <atomic>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

long number(const char* variable, long otherwise) {
  const char* text = std::getenv(variable);
  return text != nullptr ? std::atol(text) : otherwise;
}

// The library takes the rank's number out of the environment when it joins, so it is read before.
struct Plan {
  const bool concerned = number("HEDDLE_RANK", -1) == number("SYSTEM_FAULTS_RANK", 0);
  const long at = number("SYSTEM_FAULTS_AT", LONG_MAX);
  const long end = at == LONG_MAX ? at : at + number("SYSTEM_FAULTS_FOR", 1);
  const char* const count_file = std::getenv("SYSTEM_FAULTS_COUNT");
};
std::atomic<long> calls{0};

const Plan& plan() {
  static const Plan plan;
  return plan;
}

void say_where(int signal) {
  void* frames[3] = {};  // this function's, the kernel's return from it, that of the code that was interrupted
  backtrace(frames, 3);
  Dl_info library{};
  dladdr(frames[2], &library);
  std::fprintf(stderr, "system_faults: signal %d in %s\n", signal,
               library.dli_fname != nullptr ? library.dli_fname : "unknown code");
  std::signal(signal, SIG_DFL);
  raise(signal);
}

struct Report {
  Report() {
    (void)plan();
    void* frames[1];
    backtrace(frames, 1);  // its first call loads a library
    std::signal(SIGSEGV, say_where);
  }
  ~Report() {
    if (!plan().concerned || plan().count_file == nullptr) return;
    if (std::FILE* const file = std::fopen(plan().count_file, "w")) {
      std::fprintf(file, "%ld\n", calls.load());
      std::fclose(file);
    }
  }
} report;

bool fails(const char* what) {
  if (!plan().concerned) return false;
  const long call = ++calls;
  if (call < plan().at || call >= plan().end) return false;
  std::fprintf(stderr, "system_faults: call %ld fails: %s\n", call, what);
  return true;
}

template <class F, class... Arguments>
auto next(const char* name, Arguments... arguments) {
  return reinterpret_cast<F>(dlsym(RTLD_NEXT, name))(arguments...);
}

int refuse(int error) {
  errno = error;
  return -1;
}

}  // namespace

extern "C" {

int socket(int domain, int type, int protocol) noexcept {
  return fails("socket") ? refuse(EMFILE) : next<int (*)(int, int, int)>("socket", domain, type, protocol);
}
int bind(int fd, const sockaddr* address, socklen_t bytes) noexcept {
  return fails("bind") ? refuse(ENOBUFS) : next<int (*)(int, const sockaddr*, socklen_t)>("bind", fd, address, bytes);
}
int epoll_create1(int flags) noexcept {
  return fails("epoll_create1") ? refuse(EMFILE) : next<int (*)(int)>("epoll_create1", flags);
}
int epoll_ctl(int epoll, int operation, int fd, epoll_event* event) noexcept {
  return fails("epoll_ctl") ? refuse(ENOMEM)
                            : next<int (*)(int, int, int, epoll_event*)>("epoll_ctl", epoll, operation, fd, event);
}
int eventfd(unsigned value, int flags) noexcept {
  return fails("eventfd") ? refuse(EMFILE) : next<int (*)(unsigned, int)>("eventfd", value, flags);
}
int timerfd_create(int clock, int flags) noexcept {
  return fails("timerfd_create") ? refuse(EMFILE) : next<int (*)(int, int)>("timerfd_create", clock, flags);
}
int memfd_create(const char* name, unsigned flags) noexcept {
  return fails("memfd_create") ? refuse(EMFILE) : next<int (*)(const char*, unsigned)>("memfd_create", name, flags);
}
void* mmap(void* address, size_t bytes, int protection, int flags, int fd, off_t offset) noexcept {
  if (!fails("mmap"))
    return next<void* (*)(void*, size_t, int, int, int, off_t)>("mmap", address, bytes, protection, flags, fd, offset);
  errno = ENOMEM;
  return MAP_FAILED;
}
int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*body)(void*), void* argument) noexcept {
  if (fails("pthread_create")) return EAGAIN;
  return next<int (*)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*)>("pthread_create", thread, attributes,
                                                                                   body, argument);
}

}  // extern "C"
