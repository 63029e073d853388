#include "launch/host/life.hpp"
#include "base/platform/next_function.hpp"

#include <errno.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <linux/futex.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <climits>

#include "launch/boot/cpu_mask.hpp"
#include "launch/host/opened.hpp"
#include "launch/rank/host_interface.hpp"

namespace heddle::host {
namespace {

using Main = int (*)(int, char**, char**);

constexpr int exit_code_not_executable = 126;  // as shells say it

std::atomic<std::uint32_t> ranks_over{0};

struct Beginning {
  Seat& seat;
  const boot::HostPlan& plan;
  const Program& program;
};

[[noreturn]] void refuse(const Seat& seat, const std::string& what) {
  const std::string text = "heddle: rank " + std::to_string(seat.place.rank) + ": " + what + '\n';
  [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, text.data(), text.size());
  end_rank(exit_code_not_executable << 8);
}

// From here on the thread, and those that it creates, have descriptors and a working directory of their own.
void separate(Seat& seat, const boot::HostPlan& plan) {
  constexpr unsigned none = ~0U;  // nothing is closed
  if (unshare(CLONE_FILES) != 0 && syscall(SYS_close_range, none, none, CLOSE_RANGE_UNSHARE) != 0)
    refuse(seat, std::string(
                     "cannot run ranks as threads: the system does not give a thread its own descriptors (unshare: ") +
                     strerror(errno) + ")");
  seat.own_directory = unshare(CLONE_FS) == 0;
  dup2(seat.place.in, STDIN_FILENO);
  dup2(seat.place.out, STDOUT_FILENO);
  dup2(seat.place.err, STDERR_FILENO);
  for (const boot::HostedRank& other : plan.ranks)
    for (int fd : {other.in, other.out, other.err, other.rank == seat.place.rank ? -1 : other.launcher})
      if (fd > STDERR_FILENO) close(fd);
  if (!seat.place.cpus.empty()) {
    const boot::CpuMask mask(seat.place.cpus);
    sched_setaffinity(0, mask.bytes(), mask.set());
  }
}

// Jumps to the program's entry with the stack that the kernel would have made: the count and the texts of the arguments, the
// environment and the auxiliary vector.
[[noreturn]] void jump_to_program(const Seat& seat, std::vector<char*>& arguments, char** environment) {
  std::vector<unsigned long> words{arguments.size() - 1};
  for (char* argument : arguments) words.push_back(reinterpret_cast<unsigned long>(argument));
  for (char** entry = environment;; ++entry) {
    words.push_back(reinterpret_cast<unsigned long>(*entry));
    if (*entry == nullptr) break;
  }
  for (unsigned long type :
       {AT_PAGESZ, AT_HWCAP, AT_HWCAP2, AT_CLKTCK, AT_RANDOM, AT_PLATFORM, AT_SYSINFO_EHDR, AT_SECURE}) {
    words.push_back(type);
    words.push_back(getauxval(type));
  }
  words.insert(words.end(), {AT_NULL, 0});
  const std::size_t count = (words.size() + 1) / 2 * 2;
  auto* stack = static_cast<unsigned long*>(__builtin_alloca_with_align(count * sizeof(unsigned long), 128));
  std::copy(words.begin(), words.end(), stack);
  words = {};  // nothing on this frame is destroyed: the program does not return to it
  asm volatile(
      "mov %0, %%rsp\n\t"
      "xor %%edx, %%edx\n\t"  // no function of the loader to be called at exit
      "xor %%ebp, %%ebp\n\t"
      "jmp *%1"
      :
      : "r"(stack), "r"(seat.images.entry())
      : "memory");
  __builtin_unreachable();
}

[[noreturn]] void run_program(Seat& seat, const boot::HostPlan& plan, const Program& program) {
  seat.first_thread.store(gettid());
  receive_signals(seat);
  separate(seat, plan);
  std::vector<std::string> environment = plan.environment;
  const auto set = [&](const std::string& name, int value) {
    std::erase_if(environment, [&](const std::string& entry) { return entry.starts_with(name + '='); });
    environment.push_back(name + '=' + std::to_string(value));
  };
  set(boot::rank_variable, seat.place.world_rank);
  for (const char* const name : boot::local_rank_variables) set(name, seat.place.local_rank);
  if (seat.place.launcher >= 0) {
    set("PMI_FD", seat.place.launcher);
    set("PMI_RANK", seat.place.world_rank);
  }
  seat.environment.fill(environment);
  seat.streams.open();
  // The program may keep them as long as it likes.
  auto& arguments = *new std::vector<char*>;
  for (const std::string& argument : plan.arguments) arguments.push_back(strdup(argument.c_str()));
  arguments.push_back(nullptr);
  CopyNames names;
  if (const Result<void> loaded = seat.images.load(program, seat.variables, names); !loaded)
    refuse(seat, loaded.failure().text);
  seat.environment.publish();
  seat.streams.publish();
  char* const name = arguments[0];
  char* const slash = strrchr(name, '/');
  seat.variables.get<char*>(Variable::program_name) = name;
  seat.variables.get<char*>(Variable::short_program_name) = slash != nullptr ? slash + 1 : name;
  seat.variables.get<int>(Variable::option_index) = 1;
  seat.variables.get<int>(Variable::option_errors) = 1;
  seat.variables.get<int>(Variable::option_unknown) = '?';
  enter(seat, this_thread);
  seat.rank = MPIX_Heddle_host_make_rank(&open_own);
  seat.images.construct_libraries(static_cast<int>(plan.arguments.size()), arguments.data(), seat.environment.list());
  jump_to_program(seat, arguments, seat.environment.list());
}

void leave_by_cleanup(void*) { leave(); }

void* begin(void* argument) {
  const Beginning beginning = *static_cast<Beginning*>(argument);
  delete static_cast<Beginning*>(argument);
  jmp_buf base;
  this_thread.base = &base;
  this_thread.seat = &beginning.seat;
  pthread_cleanup_push(leave_by_cleanup, nullptr);  // for pthread_exit
  if (_setjmp(base) == 0) run_program(beginning.seat, beginning.plan, beginning.program);
  pthread_cleanup_pop(1);
  return nullptr;
}

// The stack of a process' first thread is as large as its limit says.
std::size_t stack_bytes() {
  constexpr std::size_t usual = std::size_t{8} << 20;
  constexpr std::size_t most = std::size_t{1} << 30;
  rlimit limit{};
  if (getrlimit(RLIMIT_STACK, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return 8 * usual;
  return std::clamp<std::size_t>(limit.rlim_cur, PTHREAD_STACK_MIN, most);
}

constinit platform::Next<int(Main, int, char**, Main, void (*)(), void (*)(), void*)> next_start_main(
    "__libc_start_main");
constinit platform::Next<int(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*)> next_create("pthread_create");

const pid_t host_process = static_cast<pid_t>(syscall(SYS_getpid));

}  // namespace

// Asked of the kernel, since a child of vfork shares our memory.
bool is_forked() { return static_cast<pid_t>(syscall(SYS_getpid)) != host_process; }

bool start_rank(Seat& seat, const boot::HostPlan& plan, const Program& program) {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, stack_bytes());
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  auto* beginning = new Beginning{seat, plan, program};
  seat.threads.store(1);
  pthread_t thread;
  const int error = next_create(&thread, &attributes, begin, beginning);
  pthread_attr_destroy(&attributes);
  if (error == 0) return true;
  delete beginning;
  errno = error;
  return false;
}

void wait_for_ranks(int ranks) {
  for (std::uint32_t over; (over = ranks_over.load()) < static_cast<std::uint32_t>(ranks);)
    syscall(SYS_futex, &ranks_over, FUTEX_WAIT_PRIVATE, over, nullptr, nullptr, 0);
}

void end_rank(int wait_status) {
  Seat& seat = *this_thread.seat;
  if (!seat.over.exchange(true)) {
    if (seat.rank != nullptr) MPIX_Heddle_host_end_rank();
    // Our own copies of the descriptors stay open while threads are left; the reader does not wait for their end.
    seat.record->end.store(boot::ended(wait_status));
    syscall(SYS_kill, getppid(), boot::abort_signal());
    ranks_over.fetch_add(1);
    syscall(SYS_futex, &ranks_over, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
  }
  _longjmp(*this_thread.base, 1);
}

extern "C" {

[[gnu::visibility("default")]] int host_start_main(Main main, int argc, char** argv, Main init, void (*fini)(),
                                                   void (*rtld_fini)(), void* stack_end) asm("__libc_start_main");

// Called by a program's startup code. For a copy of the program it is we that call its main.
int host_start_main(Main main, int argc, char** argv, Main init, void (*fini)(), void (*rtld_fini)(), void* stack_end) {
  Seat* seat = this_thread.seat;
  if (seat == nullptr) return next_start_main(main, argc, argv, init, fini, rtld_fini, stack_end);
  char** environment = seat->environment.list();
  if (init != nullptr)
    init(argc, argv, environment);  // startup code from before glibc 2.34 knows the constructors itself
  else
    seat->images.construct_program(argc, argv, environment);
  exit_rank(main(argc, argv, seat->environment.list()));
}

[[gnu::visibility("default")]] pid_t host_getpid() asm("getpid");

// Programs derive names from it, and send themselves signals: so it differs between ranks, and names the rank's first
// thread.
pid_t host_getpid() {
  const Seat* seat = this_thread.seat;
  return seat != nullptr && !is_forked() ? seat->first_thread.load() : static_cast<pid_t>(syscall(SYS_getpid));
}
}

}  // namespace heddle::host
