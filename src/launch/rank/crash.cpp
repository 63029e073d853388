#include "launch/rank/crash.hpp"

#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <new>
#include <string>
#include <string_view>

#include "base/functions.hpp"
#include "base/platform/thread_end.hpp"
#include "base/threads/carried.hpp"
#include "launch/boot/job.hpp"
#include "launch/rank/backtrace.hpp"
#include "launch/rank/rank.hpp"
#include "launch/rank/settings.hpp"

namespace heddle {

namespace {

constexpr int signals[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT};
constexpr std::size_t stack_bytes = 64 * 1024;

constinit std::atomic<std::int64_t> reporting{0};  // the process, if some rank of it reports
constinit std::atomic<pid_t> reporter{0};          // the thread that reports: one report per process
constinit std::atomic<bool> reported{false};
constinit std::atomic<bool> looking_at_stack{false};
sigjmp_buf broken_stack;  // where the reporter goes on if reading its stack crashes too

class CrashStack {
 public:
  CrashStack() = default;
  CrashStack(const CrashStack&) = delete;
  CrashStack& operator=(const CrashStack&) = delete;
  ~CrashStack() {
    if (stack_ == nullptr) return;
    stack_t there{};
    if (sigaltstack(nullptr, &there) == 0 && there.ss_sp == stack_) {
      const stack_t none{.ss_sp = nullptr, .ss_flags = SS_DISABLE, .ss_size = 0};
      sigaltstack(&none, nullptr);
    }
    munmap(stack_, stack_bytes);
  }
  void take() {
    stack_t there{};
    if (reporting.load() == 0 || sigaltstack(nullptr, &there) != 0 || (there.ss_flags & SS_DISABLE) == 0) return;
    void* const stack =
        mmap(nullptr, stack_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (stack == MAP_FAILED) return;
    const stack_t ours{.ss_sp = stack, .ss_flags = 0, .ss_size = stack_bytes};
    if (sigaltstack(&ours, nullptr) == 0)
      stack_ = stack;
    else
      munmap(stack, stack_bytes);
  }

 private:
  void* stack_ = nullptr;
};

// ---- From here to the end of the handler: only system calls, stores, and reads of memory that a crash leaves alone.

// One line, written at once so that lines of several processes stay whole.
class Line {
 public:
  ~Line() {
    text_[length_++] = '\n';
    [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, text_, length_);
  }
  Line& operator<<(const char* text) {
    while (*text != '\0' && length_ < sizeof text_ - 1) text_[length_++] = *text++;
    return *this;
  }
  Line& operator<<(std::int64_t number) {
    char digits[24];
    char* at = digits + sizeof digits;
    *--at = '\0';
    std::uint64_t rest = number < 0 ? -static_cast<std::uint64_t>(number) : static_cast<std::uint64_t>(number);
    do *--at = static_cast<char>('0' + rest % 10);
    while ((rest /= 10) != 0);
    if (number < 0) *--at = '-';
    return *this << at;
  }
  Line& hex(std::uintptr_t number) {
    char digits[20];
    char* at = digits + sizeof digits;
    *--at = '\0';
    do *--at = "0123456789abcdef"[number % 16];
    while ((number /= 16) != 0);
    return *this << "0x" << at;
  }

 private:
  char text_[1024];
  std::size_t length_ = 0;
};

const char* signal_name(int signal) {
  const char* name = sigabbrev_np(signal);
  return name != nullptr ? name : "?";
}

bool has_address(int signal, const siginfo_t& info) {
  return info.si_code > 0 && (signal == SIGSEGV || signal == SIGBUS);
}

void say_who(int signal, const siginfo_t& info) {
  const boot::World& job = *current_rank().job;
  Line line;
  line << "heddle: rank " << job.rank_in_world(job.rank()) << " of " << job.size() << " crashed, process "
       << syscall(SYS_getpid) << ", thread " << gettid() << ": signal " << signal << " (SIG" << signal_name(signal)
       << ")";
  if (has_address(signal, info)) (line << " at address ").hex(reinterpret_cast<std::uintptr_t>(info.si_addr));
}

// A number without a spawned rank has an empty record.
bool is_there(const boot::RankRecord& record) { return record.state.load() != boot::RankState::not_started; }

// Ranks that are threads of this process end with it.
void say_who_else() {
  const boot::World& job = *current_rank().job;
  const std::int32_t first = job.record().host;
  int last = job.rank();
  while (job.is_local(last + 1) && is_there(job.record_of(last + 1)) && job.record_of(last + 1).host == first) ++last;
  if (last > first) Line() << "  the process has the ranks " << first << " to " << last << ", which all end";
}

void say_call() {
  const std::atomic<std::uint64_t>* const calls = threads::shown.call;
  const std::uint16_t call = calls != nullptr ? boot::call_of(calls->load(std::memory_order_relaxed)) : 0;
  if (call != 0)
    Line() << "  inside MPI, in " << name(Function{call});
  else
    Line() << "  outside MPI";
}

void say_frame(std::size_t number, std::uintptr_t address) {
  const Frame frame = find_frame(address);
  Line line;
  line << "  #" << static_cast<std::int64_t>(number) << " ";
  if (frame.module == nullptr) {
    line.hex(address);
    return;
  }
  (line << frame.module << "+").hex(frame.offset);
  if (frame.symbol != nullptr) (line << " (" << frame.symbol << "+").hex(frame.distance) << ")";
}

std::uintptr_t instruction(const void* context) {
  const auto& registers = static_cast<const ucontext_t*>(context)->uc_mcontext;
#if defined(__x86_64__)
  return static_cast<std::uintptr_t>(registers.gregs[REG_RIP]);
#elif defined(__aarch64__)
  return registers.pc;
#else
  (void)registers;
  return 0;
#endif
}

void say_frames(const void* context) {
  static std::uintptr_t addresses[most_frames];
  const std::uintptr_t first = instruction(context);
  static constinit std::atomic<std::size_t> said{0};
  if (sigsetjmp(broken_stack, 1) != 0) {
    looking_at_stack.store(false);
    if (said.load() == 0) say_frame(0, first);
    Line() << "  (the stack is broken from here on)";
    return;
  }
  looking_at_stack.store(true);
  const std::size_t count = collect_frames(addresses, first);
  // For callers the instruction before their return address: that is the call.
  for (std::size_t i = 0; i < count; said.store(++i)) say_frame(i, addresses[i] - (i != 0 ? 1 : 0));
  looking_at_stack.store(false);
}

void say_how_to_get_a_core() {
  char pattern[256];
  const int file = open("/proc/sys/kernel/core_pattern", O_RDONLY | O_CLOEXEC);
  const ssize_t length = file >= 0 ? read(file, pattern, sizeof pattern - 1) : 0;
  if (file >= 0) close(file);
  pattern[length > 0 ? length : 0] = '\0';
  if (length > 0 && pattern[length - 1] == '\n') pattern[length - 1] = '\0';
  rlimit limit{};
  Line line;
  if (getrlimit(RLIMIT_CORE, &limit) == 0 && limit.rlim_cur == 0 && pattern[0] != '|')
    line << "  no core file is written: `ulimit -c unlimited` before mpiexec permits it; its name is ";
  else
    line << "  the core goes by /proc/sys/kernel/core_pattern to: ";
  line << (length > 0 ? pattern : "unknown");
}

void report(int signal, const siginfo_t& info, const void* context) {
  say_who(signal, info);
  say_who_else();
  say_call();
  say_frames(context);
  Line() << "  names and lines: addr2line -Cfe FILE OFFSET";
  say_how_to_get_a_core();
}

// The signal ends the process as if there had been no handler: at the instruction that caused it, or sent once more.
void die(int signal, const siginfo_t& info) {
  struct sigaction by_default {};
  sigaction(signal, &by_default, nullptr);
  if (info.si_code <= 0) syscall(SYS_tgkill, syscall(SYS_getpid), gettid(), signal);
}

// Another thread is reporting, and the process ends when it is done.
void wait_for_the_end() {
  for (int i = 0; i < 200 && !reported.load(); ++i) {
    constexpr timespec moment{0, 10'000'000};
    nanosleep(&moment, nullptr);
  }
}

void on_crash(int signal, siginfo_t* info, void* context) {
  const pid_t self = gettid();
  if (reporter.load() == self && looking_at_stack.load()) siglongjmp(broken_stack, 1);
  pid_t unclaimed = 0;
  // And not a child that it has forked.
  const bool is_rank = current_rank().job != nullptr && reporting.load() == syscall(SYS_getpid);
  if (is_rank && reporter.compare_exchange_strong(unclaimed, self)) {
    report(signal, *info, context);
    reported.store(true);
  } else if (is_rank) {
    wait_for_the_end();
  }
  die(signal, *info);
}

}  // namespace

Result<void> report_crashes() {
  const std::string wanted = setting("HEDDLE_BACKTRACE");
  if (wanted == "0") return {};
  if (!wanted.empty() && wanted != "1") return refuse("=%s is neither 0 nor 1", wanted.c_str());
  for (const int signal : signals) {
    struct sigaction action {};
    if (sigaction(signal, nullptr, &action) != 0 || (action.sa_flags & SA_SIGINFO) != 0 || action.sa_handler != SIG_DFL)
      continue;
    action.sa_sigaction = on_crash;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
    sigaction(signal, &action, nullptr);
  }
  reporting.store(syscall(SYS_getpid));
  take_crash_stack();
  return {};
}

void take_crash_stack() {
  try {
    platform::OfThread<CrashStack>::get().take();
  } catch (const std::bad_alloc&) {  // a thread that has overflown its stack ends without a report
  }
}

}  // namespace heddle
