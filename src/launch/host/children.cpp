// Programs that a rank starts: they get the rank's environment where libc would give them that of the host. A rank does
// not become another program itself: the kernel would end the other ranks of the process, and their pending messages to
// peers would be lost.
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>

#include "base/platform/next_function.hpp"
#include "launch/host/life.hpp"
#include "launch/host/seat.hpp"

namespace heddle::host {
namespace {

constinit platform::Next<int(const char*)> next_system("system");
constinit platform::Next<int(const char*, char*const*, char*const*)> next_execve("execve"), next_execvpe("execvpe");
constinit platform::Next<int(int, char* const*, char* const*)> next_fexecve("fexecve");
constinit platform::Next<int(int, const char*, char* const*, char* const*, int)> next_execveat("execveat");
constinit platform::Next<FILE*(const char*, const char*)> next_popen("popen");
constinit platform::Next<int(FILE*)> next_pclose("pclose");

char** environment() { return this_thread.seat != nullptr ? this_thread.seat->environment.list() : environ; }

// False, with errno: the caller is a rank.
bool may_become(const char* program) {
  const Seat* const seat = this_thread.seat;
  if (seat == nullptr || is_forked()) return true;
  fprintf(stderr,
          "heddle: rank %d cannot become '%.400s' (exec): it is a thread, and all ranks of its process would end. "
          "Start the program without a wrapper that executes it (env, nice, a shell), or use --ranks processes\n",
          seat->place.rank, program);
  errno = ENOTSUP;
  return false;
}

// 0 or an errno.
int start_shell(const char* command, const posix_spawn_file_actions_t* actions, pid_t& child) {
  char shell[] = "sh", option[] = "-c";
  char* const words[] = {shell, option, const_cast<char*>(command), nullptr};
  return posix_spawn(&child, "/bin/sh", actions, nullptr, words, environment());
}

int wait_for(pid_t child) {
  int status = 0;
  while (waitpid(child, &status, 0) < 0)
    if (errno != EINTR) return -1;
  return status;
}

FILE* open_command(const char* command, const char* mode) {
  const bool reads = *mode == 'r';
  if ((!reads && *mode != 'w') || (mode[1] != '\0' && strcmp(mode + 1, "e") != 0)) {
    errno = EINVAL;
    return nullptr;
  }
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return nullptr;
  const int ours = ends[reads ? 0 : 1];
  const int theirs = ends[reads ? 1 : 0];
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, theirs, reads ? STDOUT_FILENO : STDIN_FILENO);
  pid_t child = 0;
  const int error = start_shell(command, &actions, child);
  posix_spawn_file_actions_destroy(&actions);
  close(theirs);
  if (error != 0) {
    close(ours);
    errno = error;
    return nullptr;
  }
  if (mode[1] != 'e') fcntl(ours, F_SETFD, 0);
  FILE* file = fdopen(ours, reads ? "r" : "w");
  if (file == nullptr)
    close(ours);
  else
    this_thread.seat->streams.opened_command(file, child);
  return file;
}

// The arguments of execl and its like, the first of which is given, as execv takes them. Without the heap: the caller is
// usually a child of fork.
constexpr std::size_t most_arguments = 4096;
struct Words {
  char* list[most_arguments];
  bool fill(const char* first, va_list* rest) {
    std::size_t n = 0;
    for (const char* word = first; n < most_arguments; word = va_arg(*rest, const char*)) {
      list[n++] = const_cast<char*>(word);
      if (word == nullptr) return true;
    }
    errno = E2BIG;
    return false;
  }
};

}  // namespace

extern "C" {

[[gnu::visibility("default")]] int host_execv(const char*, char* const*) asm("execv");
[[gnu::visibility("default")]] int host_execvp(const char*, char* const*) asm("execvp");
[[gnu::visibility("default")]] int host_execve(const char*, char* const*, char* const*) asm("execve");
[[gnu::visibility("default")]] int host_execvpe(const char*, char* const*, char* const*) asm("execvpe");
[[gnu::visibility("default")]] int host_fexecve(int, char* const*, char* const*) asm("fexecve");
[[gnu::visibility("default")]] int host_execveat(int, const char*, char* const*, char* const*, int) asm("execveat");
[[gnu::visibility("default")]] int host_execle(const char*, const char*, ...) asm("execle");
[[gnu::visibility("default")]] int host_execl(const char*, const char*, ...) asm("execl");
[[gnu::visibility("default")]] int host_execlp(const char*, const char*, ...) asm("execlp");
[[gnu::visibility("default")]] int host_system(const char*) asm("system");
[[gnu::visibility("default")]] FILE* host_popen(const char*, const char*) asm("popen");
[[gnu::visibility("default")]] int host_pclose(FILE*) asm("pclose");

int host_execve(const char* path, char* const* words, char* const* variables) {
  return may_become(path) ? next_execve(path, words, variables) : -1;
}
int host_execvpe(const char* file, char* const* words, char* const* variables) {
  return may_become(file) ? next_execvpe(file, words, variables) : -1;
}
int host_fexecve(int file, char* const* words, char* const* variables) {
  return may_become(words[0]) ? next_fexecve(file, words, variables) : -1;
}
int host_execveat(int folder, const char* path, char* const* words, char* const* variables, int flags) {
  return may_become(path) ? next_execveat(folder, path, words, variables, flags) : -1;
}

int host_execv(const char* path, char* const* words) { return host_execve(path, words, environment()); }
int host_execvp(const char* file, char* const* words) { return host_execvpe(file, words, environment()); }

int host_execl(const char* path, const char* first, ...) {
  va_list rest;
  va_start(rest, first);
  Words words;
  const bool good = words.fill(first, &rest);
  va_end(rest);
  return good ? host_execve(path, words.list, environment()) : -1;
}

// The environment comes behind the null that ends the words.
int host_execle(const char* path, const char* first, ...) {
  va_list rest;
  va_start(rest, first);
  Words words;
  const bool good = words.fill(first, &rest);
  char* const* const variables = good ? va_arg(rest, char* const*) : nullptr;
  va_end(rest);
  return good ? host_execve(path, words.list, variables) : -1;
}

int host_execlp(const char* file, const char* first, ...) {
  va_list rest;
  va_start(rest, first);
  Words words;
  const bool good = words.fill(first, &rest);
  va_end(rest);
  return good ? host_execvpe(file, words.list, environment()) : -1;
}

int host_system(const char* command) {
  if (this_thread.seat == nullptr || command == nullptr) return next_system(command);
  pid_t child = 0;
  if (start_shell(command, nullptr, child) != 0) return W_EXITCODE(127, 0);
  return wait_for(child);
}

FILE* host_popen(const char* command, const char* mode) {
  return this_thread.seat != nullptr ? open_command(command, mode) : next_popen(command, mode);
}

int host_pclose(FILE* file) {
  const pid_t child = this_thread.seat != nullptr ? this_thread.seat->streams.command_of(file) : 0;
  if (child == 0) return next_pclose(file);
  fclose(file);
  return wait_for(child);
}
}

}  // namespace heddle::host
