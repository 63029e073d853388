#include "launch/boot/join.hpp"

#include <errno.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <mutex>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "launch/boot/foreign_launcher.hpp"
#include "launch/boot/launched/launched_world.hpp"
#include "launch/boot/launched/sockets.hpp"
#include "launch/boot/memfd/memfd_world.hpp"
#include "launch/boot/singleton/singleton_world.hpp"

namespace heddle::boot {
namespace {

// The program's output so far should be seen. Another thread may be inside stdio, or have died there: then its lock is
// not ours to wait for.
void flush_if_free(std::FILE* file) {
  if (ftrylockfile(file) != 0) return;
  fflush_unlocked(file);
  funlockfile(file);
}

void write_text(const char* text) {
  std::size_t left = std::strlen(text);
  while (left > 0) {
    const ssize_t written = write(STDERR_FILENO, text, left);
    if (written <= 0) return;
    text += written;
    left -= static_cast<std::size_t>(written);
  }
}

// True if the reader of our standard error has not yet read all that was written there.
bool is_unread() {
  struct stat about {};
  int bytes = 0;
  return fstat(STDERR_FILENO, &about) == 0 && S_ISFIFO(about.st_mode) && ioctl(STDERR_FILENO, FIONREAD, &bytes) == 0 &&
         bytes > 0;
}

// The messages of jobs that ranks of this process could not join. Never destroyed: a thread may end the job while the process ends.
struct Unjoined {
  std::mutex mutex;
  std::vector<std::unique_ptr<Wireup>> wireups;
};
Unjoined& unjoined() {
  static auto& all = *new Unjoined;
  return all;
}
// For the rank of this thread: another one reports the reason.
thread_local bool said_elsewhere = false;
// Or it cannot join the job that it is one of.
thread_local bool one_of_several = false;
constexpr int time_to_say = 2000;   // milliseconds in which another rank reports why there is no job, and ends this one
constexpr int time_to_read = 1000;  // milliseconds in which a launcher reads our output, if it can
constexpr int time_alone = 1000;    // milliseconds in which other ranks that cannot join for the same reason come here
constexpr int time_of_text = 100;   // milliseconds in which the launcher then passes the output on, or it is lost

// Ranks of a node that cannot join for the same reason have no memory to agree which one reports it: the first that
// takes a local name, made of their job and the text, does. Numbers are left out of it: they name ranks and processes.
// False: another rank has the name. A rank that gets no socket at all, or has no memory for the name, also reports it.
bool is_first_to_say(const char* text, Descriptor& name_taken) try {
  std::string reason = text;
  std::erase_if(reason, [](char c) { return '0' <= c && c <= '9'; });
  for (const char* const name : {launcher_variable, "PMIX_NAMESPACE", "PMI_JOBID", "SLURM_JOB_ID", "SLURM_STEP_ID"})
    if (const char* const value = std::getenv(name)) reason += std::string(";") + value;
  char name[100];
  std::snprintf(name, sizeof name, "heddle-refused-%d-%016zx", getsid(getppid()), std::hash<std::string>()(reason));
  name_taken = listen_locally(name);
  return name_taken || errno != EADDRINUSE;
} catch (const std::bad_alloc&) {
  return true;
}

}  // namespace

Result<std::unique_ptr<World>> join(std::size_t singleton_heap_bytes) {
  if (const char* const descriptor = getenv(job_fd_variable)) {
    Result<std::unique_ptr<World>> joined = MemfdWorld::join(descriptor);
    one_of_several = !joined;
    return joined;
  }
  Result<std::unique_ptr<Wireup>> wireup = find_launcher();
  one_of_several = !wireup;
  if (!wireup) return wireup.failure();
  if (*wireup == nullptr) return SingletonWorld::make(singleton_heap_bytes);
  Result<std::unique_ptr<World>> joined = LaunchedWorld::join(*wireup);
  if (joined) return joined;
  const std::lock_guard guard(unjoined().mutex);
  if (*wireup != nullptr) unjoined().wireups.push_back(*std::move(wireup));
  said_elsewhere = joined.failure().said_elsewhere;
  one_of_several = true;
  return joined;
}

void abort(World* world, int code, const char* text) try {
  flush_if_free(stdout);
  flush_if_free(stderr);
  if (world != nullptr) world->abort(code, text);
  // Other ranks may wait for us where the launcher does not end them.
  if (said_elsewhere) {
    usleep(time_to_say * 1000);
  } else {
    Descriptor name;  // held until the others have tried to take it
    if (!one_of_several || is_first_to_say(text, name)) write_line(text);
    if (name) usleep(time_alone * 1000);
  }
  const std::lock_guard guard(unjoined().mutex);
  if (!unjoined().wireups.empty()) let_launcher_pass_on();
  for (const auto& wireup : unjoined().wireups) wireup->abort(exit_code(code), text);
  _exit(exit_code(code));
} catch (const std::bad_alloc&) {  // the text is written; the launcher learns the rest from the exit code
  _exit(exit_code(code));
}

void let_launcher_pass_on() {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point by = Clock::now() + std::chrono::milliseconds(time_to_read);
  while (is_unread() && Clock::now() < by) usleep(1000);
  usleep(time_of_text * 1000);
}

// In one write: other processes may write there, too.
void write_line(const char* text) {
  const std::size_t length = std::strlen(text);
  const bool is_ended = length == 0 || text[length - 1] == '\n';
  char line_end[] = "\n";
  const iovec parts[] = {{.iov_base = const_cast<char*>(text), .iov_len = length},
                         {.iov_base = line_end, .iov_len = is_ended ? std::size_t{0} : std::size_t{1}}};
  const ssize_t written = writev(STDERR_FILENO, parts, 2);
  if (written < 0 || static_cast<std::size_t>(written) >= length) return;
  write_text(text + written);
  if (!is_ended) write_text(line_end);
}

void end_process(int code, const char* text) {
  write_line(text);
  _exit(exit_code(code));
}

}  // namespace heddle::boot
