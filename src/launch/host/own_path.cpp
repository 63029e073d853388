// Covers the functions of libc that read a link. A system call that a program makes itself (Go's os.Executable) reads the
// host's path; MPI_Comm_spawn takes that path for the program, too.
#include "launch/host/own_path.hpp"
#include "base/platform/next_function.hpp"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <string_view>

#include "launch/host/seat.hpp"

namespace heddle::host {
namespace {

constinit platform::Next<ssize_t(const char*, char*, std::size_t)> next_readlink("readlink");
constinit platform::Next<ssize_t(int, const char*, char*, std::size_t)> next_readlinkat("readlinkat");
constinit platform::Next<char*(const char*, char*)> next_realpath("realpath");

std::string own_path;

// True if a rank asks for the program that it runs.
bool is_asked_for(const char* path) {
  const Seat* seat = this_thread.seat;
  if (seat == nullptr || path == nullptr || own_path.empty()) return false;
  std::string_view rest = path;
  if (!rest.starts_with("/proc/") || !rest.ends_with("/exe")) return false;
  rest = rest.substr(6, rest.size() - 10);
  return rest == "self" || rest == "thread-self" || rest == std::to_string(getpid());
}

ssize_t copy_own_path(char* to, std::size_t bytes) {
  const std::size_t copied = std::min(bytes, own_path.size());
  std::copy_n(own_path.data(), copied, to);  // without a null, as readlink does
  return static_cast<ssize_t>(copied);
}

char* resolve(const char* path, char* resolved) {
  return next_realpath(is_asked_for(path) ? own_path.c_str() : path, resolved);
}

}  // namespace

void set_own_path(const std::string& program) {
  char* real = next_realpath(program.c_str(), static_cast<char*>(nullptr));
  own_path = real != nullptr ? real : program;
  free(real);
}

extern "C" {

// Under names of our own, since the headers of libc declare the others with attributes that ours have not. The second
// of each pair is for programs compiled with _FORTIFY_SOURCE.
[[gnu::visibility("default")]] ssize_t host_readlink(const char* path, char* to, std::size_t bytes) asm("readlink");
[[gnu::visibility("default")]] ssize_t host_readlink_chk(const char* path, char* to, std::size_t bytes,
                                                         std::size_t room) asm("__readlink_chk");
[[gnu::visibility("default")]] ssize_t host_readlinkat(int folder, const char* path, char* to,
                                                       std::size_t bytes) asm("readlinkat");
[[gnu::visibility("default")]] ssize_t host_readlinkat_chk(int folder, const char* path, char* to, std::size_t bytes,
                                                           std::size_t room) asm("__readlinkat_chk");
[[gnu::visibility("default")]] char* host_realpath(const char* path, char* resolved) asm("realpath");
[[gnu::visibility("default")]] char* host_realpath_chk(const char* path, char* resolved,
                                                       std::size_t room) asm("__realpath_chk");
[[gnu::visibility("default")]] char* host_canonicalize_file_name(const char* path) asm("canonicalize_file_name");

ssize_t host_readlink(const char* path, char* to, std::size_t bytes) {
  return is_asked_for(path) ? copy_own_path(to, bytes) : next_readlink(path, to, bytes);
}

ssize_t host_readlink_chk(const char* path, char* to, std::size_t bytes, std::size_t room) {
  if (bytes > room) abort();
  return host_readlink(path, to, bytes);
}

ssize_t host_readlinkat(int folder, const char* path, char* to, std::size_t bytes) {
  return is_asked_for(path) ? copy_own_path(to, bytes) : next_readlinkat(folder, path, to, bytes);
}

ssize_t host_readlinkat_chk(int folder, const char* path, char* to, std::size_t bytes, std::size_t room) {
  if (bytes > room) abort();
  return host_readlinkat(folder, path, to, bytes);
}

char* host_realpath(const char* path, char* resolved) { return resolve(path, resolved); }

char* host_realpath_chk(const char* path, char* resolved, std::size_t) { return resolve(path, resolved); }

char* host_canonicalize_file_name(const char* path) { return resolve(path, nullptr); }
}

}  // namespace heddle::host
