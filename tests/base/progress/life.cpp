// The life of the progress threads: they are there while the library is, handle no signal, use no processor time when nothing happens, even
// with a receive that is never matched, and nothing of them is left when the last user of the library has finalized.
#include <dirent.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include "mpi/check.hpp"

namespace {

using test::equal;

int threads_of_process() {
  int n = 0;
  DIR* tasks = opendir("/proc/self/task");
  while (const dirent* entry = readdir(tasks)) n += entry->d_name[0] != '.';
  closedir(tasks);
  return n;
}

double processor_seconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](timeval t) { return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec); };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

std::atomic<int> handled_elsewhere = 0;
pid_t first_thread;

void handle(int) {
  if (static_cast<pid_t>(syscall(SYS_gettid)) != first_thread) ++handled_elsewhere;
}

void handle_signals() {
  first_thread = static_cast<pid_t>(syscall(SYS_gettid));
  struct sigaction action {};
  action.sa_handler = handle;
  sigaction(SIGUSR1, &action, nullptr);
  for (int i = 0; i < 20; ++i) {
    kill(getpid(), SIGUSR1);
    usleep(200);
  }
  equal(handled_elsewhere.load(), 0, "signals that a progress thread handled");
}

void idle() {
  int nothing = 0;
  MPI_Request never;
  MPI_Irecv(&nothing, 1, MPI_INT, test::rank(), 9, MPI_COMM_WORLD, &never);
  MPI_Barrier(MPI_COMM_WORLD);
  usleep(50'000);
  const double before = processor_seconds();
  usleep(500'000);
  const double used = processor_seconds() - before;
  equal(used < 0.01, true, "under 2% of a core while nothing happens");
  MPI_Cancel(&never);
  MPI_Wait(&never, MPI_STATUS_IGNORE);
}

}  // namespace

int main(int argc, char** argv) {
  std::thread([] {}).join();  // a sanitizer has a thread of its own as soon as there has been a second one
  const int before = threads_of_process();
  MPI_Session session;
  MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
  equal(threads_of_process(), before + 2, "threads while a session is open");
  MPI_Session_finalize(&session);
  equal(threads_of_process(), before, "threads after the session");

  MPI_Init(&argc, &argv);
  equal(threads_of_process(), before + 2, "threads while MPI is initialized");
  handle_signals();
  idle();
  MPI_Finalize();
  equal(threads_of_process(), before, "threads after MPI_Finalize");
}
