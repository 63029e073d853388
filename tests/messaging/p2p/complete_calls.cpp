// A call that is complete returns without a system call and without a yield: tests of requests that are done, flushes and syncs of a
// window. Counted by the kernel, which sends a signal for each system call of a thread that has asked for it
// (PR_SET_SYSCALL_USER_DISPATCH); with and without threads of the rank that wait in MPI meanwhile.
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <ucontext.h>

#include <array>
#include <atomic>
#include <csignal>
#include <thread>
#include <vector>

#include "mpi/check.hpp"

namespace {

using test::check;

constexpr int repeats = 1000;
constexpr int tag = 1;

// One watched thread at a time. The kernel looks at `selector` at each system call of it.
volatile char selector = SYSCALL_DISPATCH_FILTER_ALLOW;
volatile std::sig_atomic_t system_calls = 0;
volatile std::sig_atomic_t first_call = -1;

void on_system_call(int /*signal*/, siginfo_t* info, void* /*context*/) {
  selector = SYSCALL_DISPATCH_FILTER_ALLOW;  // the call is not made, and the handler's own return must be
  if (system_calls == 0) first_call = info->si_syscall;
  system_calls = system_calls + 1;
}

// False: this kernel cannot.
bool watch_this_thread() {
  struct sigaction action = {};
  action.sa_sigaction = on_system_call;
  action.sa_flags = SA_SIGINFO;
  sigaction(SIGSYS, &action, nullptr);
  return prctl(PR_SET_SYSCALL_USER_DISPATCH, PR_SYS_DISPATCH_ON, 0, 0, &selector) == 0;
}

template <class Prepare, class F>
void makes_no_system_call(const char* what, Prepare&& prepare, F&& f) {
  prepare();
  f();  // what is done once, is done now
  system_calls = 0;
  for (int i = 0; i < repeats && system_calls == 0; ++i) {
    prepare();
    selector = SYSCALL_DISPATCH_FILTER_BLOCK;
    f();
    selector = SYSCALL_DISPATCH_FILTER_ALLOW;
  }
  if (system_calls != 0) std::fprintf(stderr, "system call %d\n", static_cast<int>(first_call));
  test::equal(system_calls, 0, what);
}

template <class F>
void makes_no_system_call(const char* what, F&& f) {
  makes_no_system_call(
      what, [] {}, f);
}

// Until it is done, without completing it.
void await(MPI_Request request) {
  for (int done = 0; !done;) MPI_Request_get_status(request, &done, MPI_STATUS_IGNORE);
}

void requests(MPI_Comm comm) {
  constexpr int n = 4;
  std::array<int, n> in{}, out{};
  std::array<MPI_Request, n> all;
  const int self = 0;
  for (int i = 0; i < n; ++i) MPI_Irecv(&in[i], 1, MPI_INT, self, tag, comm, &all[i]);
  for (int i = 0; i < n; ++i) MPI_Send(&out[i], 1, MPI_INT, self, tag, comm);
  for (MPI_Request request : all) await(request);
  int flag = 0;
  makes_no_system_call("MPI_Request_get_status of a request that is done", [&] {
    MPI_Request_get_status(all[0], &flag, MPI_STATUS_IGNORE);
    check(flag, "flag");
  });
  makes_no_system_call("MPI_Request_get_status_all of requests that are done", [&] {
    MPI_Request_get_status_all(n, all.data(), &flag, MPI_STATUSES_IGNORE);
    check(flag, "flag");
  });
  MPI_Waitall(n, all.data(), MPI_STATUSES_IGNORE);

  MPI_Request persistent;
  MPI_Recv_init(in.data(), 1, MPI_INT, self, tag, comm, &persistent);
  makes_no_system_call("MPI_Test of a persistent request that is not active", [&] {
    MPI_Test(&persistent, &flag, MPI_STATUS_IGNORE);
    check(flag, "flag");
  });
  makes_no_system_call(
      "MPI_Test of a receive that is done",
      [&] {
        MPI_Start(&persistent);
        MPI_Send(out.data(), 1, MPI_INT, self, tag, comm);
        await(persistent);
      },
      [&] {
        MPI_Test(&persistent, &flag, MPI_STATUS_IGNORE);
        check(flag, "flag");
      });
  MPI_Request_free(&persistent);

  MPI_Request both[2];
  makes_no_system_call(
      "MPI_Testall of requests that are done",
      [&] {
        MPI_Irecv(in.data(), 1, MPI_INT, self, tag, comm, &both[0]);
        MPI_Isend(out.data(), 1, MPI_INT, self, tag, comm, &both[1]);
        for (MPI_Request request : both) await(request);
      },
      [&] {
        MPI_Testall(2, both, &flag, MPI_STATUSES_IGNORE);
        check(flag, "flag");
      });
  makes_no_system_call(
      "MPI_Testany where one is done",
      [&] {
        MPI_Irecv(in.data(), 1, MPI_INT, self, tag, comm, &both[0]);
        MPI_Isend(out.data(), 1, MPI_INT, self, tag, comm, &both[1]);
        await(both[0]);
      },
      [&] {
        int index;
        MPI_Testany(2, both, &index, &flag, MPI_STATUS_IGNORE);
        check(flag, "flag");
        MPI_Testany(2, both, &index, &flag, MPI_STATUS_IGNORE);
        check(flag, "flag");
      });
}

void window(MPI_Win win, int target, int* memory) {
  int value = 7;
  makes_no_system_call("MPI_Win_flush of nothing", [&] { MPI_Win_flush(target, win); });
  makes_no_system_call("MPI_Win_flush_all of nothing", [&] { MPI_Win_flush_all(win); });
  makes_no_system_call("MPI_Win_flush_local of nothing", [&] { MPI_Win_flush_local(target, win); });
  makes_no_system_call("MPI_Win_sync", [&] { MPI_Win_sync(win); });
  makes_no_system_call("MPI_Put and MPI_Win_flush", [&] {
    MPI_Put(&value, 1, MPI_INT, target, 0, 1, MPI_INT, win);
    MPI_Win_flush(target, win);
  });
  makes_no_system_call("MPI_Get and MPI_Win_flush_local", [&] {
    MPI_Get(memory, 1, MPI_INT, target, 0, 1, MPI_INT, win);
    MPI_Win_flush_local(target, win);
  });
  MPI_Request request;
  makes_no_system_call(
      "MPI_Test of an MPI_Rput", [&] { MPI_Rput(&value, 1, MPI_INT, target, 0, 1, MPI_INT, win, &request); },
      [&] {
        int flag;
        MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
        check(flag, "flag");
      });
}

void all_of_it(MPI_Comm self, MPI_Win win) {
  std::thread([&] {
    if (!watch_this_thread()) {
      std::puts("this kernel has no PR_SET_SYSCALL_USER_DISPATCH");
      return;
    }
    int got = 0;
    requests(self);
    window(win, 1, &got);
  }).join();
}

}  // namespace

int main(int argc, char** argv) {
  const test::Session session(&argc, &argv);
  MPI_Comm self;
  MPI_Comm_dup(MPI_COMM_SELF, &self);
  void* memory;
  MPI_Win win;
  MPI_Win_allocate(sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
  MPI_Win_lock_all(0, win);
  if (test::rank() == 0) {
    all_of_it(self, win);
    // Threads that wait, more than cores: then a thread that tests without result yields.
    constexpr int waiting = 6;
    std::vector<std::thread> threads;
    for (int t = 0; t < waiting; ++t)
      threads.emplace_back([t] {
        int got;
        MPI_Recv(&got, 1, MPI_INT, 1, tag + t, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      });
    all_of_it(self, win);
    MPI_Send(nullptr, 0, MPI_INT, 1, tag, MPI_COMM_WORLD);
    for (std::thread& thread : threads) thread.join();
  } else if (test::rank() == 1) {
    MPI_Recv(nullptr, 0, MPI_INT, 0, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int t = 0; t < 6; ++t) MPI_Send(&t, 1, MPI_INT, 0, tag + t, MPI_COMM_WORLD);
  }
  MPI_Win_unlock_all(win);
  MPI_Win_free(&win);
  MPI_Comm_free(&self);
}
