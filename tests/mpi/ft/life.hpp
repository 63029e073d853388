// The common part of the tests of failures: errors are returned, a process dies by SIGKILL, and what a call must answer.
#pragma once

#include <mpi-ext.h>
#include <signal.h>
#include <unistd.h>

#include <cstdlib>
#include <vector>

#include "mpi/check.hpp"

namespace test {

// The process ends, or the command that FT_DEATH holds makes an end of it, and perhaps of its node.
[[noreturn]] inline void die() {
  if (const char* how = std::getenv("FT_DEATH"))
    (void)!std::system(how);
  else
    kill(getpid(), SIGKILL);
  for (;;) pause();
}
// With other processes of its machine, which end before; it is for the command to see to them if there is one.
[[noreturn]] inline void die_with(const std::vector<pid_t>& others) {
  for (const pid_t other : others)
    if (other != getpid() && std::getenv("FT_DEATH") == nullptr) kill(other, SIGKILL);
  die();
}

inline void return_errors(MPI_Comm comm) { MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN); }

inline void is_class(int error, int wanted, const char* what,
                     std::source_location at = std::source_location::current()) {
  test::equal(class_of(error), wanted, what, at);
}
inline void succeeds(int error, const char* what, std::source_location at = std::source_location::current()) {
  is_class(error, MPI_SUCCESS, what, at);
}
// A failure, or a communicator that was revoked because of one.
inline bool is_fault(int error) {
  const int c = class_of(error);
  return c == MPIX_ERR_PROC_FAILED || c == MPIX_ERR_PROC_FAILED_PENDING || c == MPIX_ERR_REVOKED;
}

// A group's members as ranks of `comm`.
inline std::vector<int> ranks_of(MPI_Group group, MPI_Comm comm) {
  int n;
  MPI_Group_size(group, &n);
  std::vector<int> own(static_cast<std::size_t>(n)), theirs(own.size());
  for (int i = 0; i < n; ++i) own[static_cast<std::size_t>(i)] = i;
  MPI_Group all;
  MPI_Comm_group(comm, &all);
  MPI_Group_translate_ranks(group, n, own.data(), all, theirs.data());
  MPI_Group_free(&all);
  return theirs;
}
inline std::vector<int> failed_of(MPI_Comm comm) {
  MPI_Group group;
  succeeds(MPIX_Comm_get_failed(comm, &group), "MPIX_Comm_get_failed");
  std::vector<int> failed = ranks_of(group, comm);
  if (group != MPI_GROUP_EMPTY) MPI_Group_free(&group);
  return failed;
}
// Until this process has heard of so many.
inline void await_failures(MPI_Comm comm, std::size_t n) {
  while (failed_of(comm).size() < n) usleep(1000);
}

}  // namespace test
