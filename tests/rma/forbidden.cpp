// Where the kernel does not let processes reach each other's memory, as in some containers: windows over the program's own
// memory are refused everywhere with a reason, allocated ones work, and messages do.
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include <cerrno>
#include <cstddef>
#include <iterator>
#include <string>

#include "harness.hpp"

using namespace test;

namespace {

// From now on both system calls fail with EPERM.
bool forbid() {
  sock_filter program[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_process_vm_readv, 1, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_process_vm_writev, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const sock_fprog filter{static_cast<unsigned short>(std::size(program)), program};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0;
}

}  // namespace

int main(int argc, char** argv) {
  const bool forbidden = forbid();
  const test::Session session(&argc, &argv);
  check(forbidden, "seccomp");
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  const int expected = size() > 1 ? MPI_ERR_UNSUPPORTED_OPERATION : MPI_SUCCESS;
  int memory[4] = {};
  MPI_Win win = MPI_WIN_NULL;
  equal(class_of(MPI_Win_create(memory, sizeof memory, 4, MPI_INFO_NULL, comm, &win)), expected, "of our memory");
  if (win != MPI_WIN_NULL) MPI_Win_free(&win);
  equal(class_of(MPI_Win_create_dynamic(MPI_INFO_NULL, comm, &win)), expected, "of attached memory");
  if (win != MPI_WIN_NULL) MPI_Win_free(&win);
  MPI_Comm_free(&comm);

  Window<int> window(Flavor::allocate, 1);
  const int target = (rank() + 1) % size();
  MPI_Win_fence(0, window.win);
  MPI_Put(&target, 1, MPI_INT, target, window.disp(target), 1, MPI_INT, window.win);
  MPI_Win_fence(0, window.win);
  equal(window.data[0], rank(), "an allocated window");
}
