/* Signals and alarms of a rank: each has its own handlers, and gets what it sends itself, what its timers send, and what is
   sent to the process. */
#include <errno.h>
#include <mpi.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static volatile sig_atomic_t got[NSIG];
static volatile sig_atomic_t told;
static sigjmp_buf back;
static int rank, wrong;

static void count(int signal) { ++got[signal]; }
static void tell(int signal, siginfo_t* info, void* context) {
  (void)context;
  told = info->si_signo == signal ? 100 + rank : -1;
}
static void jump(int signal) { siglongjmp(back, signal); }

static void expect(int holds, const char* what) {
  if (holds) return;
  fprintf(stderr, "rank %d: %s\n", rank, what);
  wrong = 1;
}

static void wait_for(volatile sig_atomic_t* value, int wanted) {
  for (int i = 0; i < 10000 && *value < wanted; ++i) usleep(1000);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);

  /* Odd ranks ignore what even ranks count. */
  struct sigaction before;
  expect(signal(SIGUSR1, rank % 2 ? SIG_IGN : count) == SIG_DFL, "SIGUSR1 had an action at the start");
  MPI_Barrier(MPI_COMM_WORLD);
  sigaction(SIGUSR1, NULL, &before);
  expect(before.sa_handler == (rank % 2 ? SIG_IGN : count), "sigaction tells of another rank's action");
  raise(SIGUSR1);
  kill(getpid(), SIGUSR1);
  if (rank % 2 == 0) wait_for(&got[SIGUSR1], 2);
  MPI_Barrier(MPI_COMM_WORLD);
  expect(got[SIGUSR1] == (rank % 2 ? 0 : 2), "a rank's own signals did not all arrive, or where they should not");

  /* With information, once, and with the signal blocked meanwhile. */
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_sigaction = tell;
  action.sa_flags = SA_SIGINFO | SA_RESETHAND;
  sigaction(SIGUSR2, &action, NULL);
  raise(SIGUSR2);
  expect(told == 100 + rank, "a handler with information was not called as it should be");
  sigaction(SIGUSR2, NULL, &before);
  expect(before.sa_handler == SIG_DFL, "SA_RESETHAND did not reset");

  /* A segmentation fault that the program expects. */
  char* forbidden = mmap(NULL, 1, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  signal(SIGSEGV, jump);
  int caught = sigsetjmp(back, 1);
  if (caught == 0) *(volatile char*)forbidden = 1;
  expect(caught == SIGSEGV, "a segmentation fault was not caught");
  caught = sigsetjmp(back, 1);
  if (caught == 0) *(volatile char*)forbidden = 1;
  expect(caught == SIGSEGV, "a second segmentation fault was not caught");

  /* Only rank 0 sets an alarm; the others have no handler and live on. */
  if (rank == 0) {
    struct itimerval soon = {{0, 20000}, {0, 20000}}, never = {{0, 0}, {0, 0}}, left;
    signal(SIGALRM, count);
    expect(alarm(1000) == 0, "there was an alarm already");
    expect(setitimer(ITIMER_REAL, &soon, &left) == 0 && left.it_value.tv_sec > 990, "alarm and setitimer are not one");
    wait_for(&got[SIGALRM], 3);
    setitimer(ITIMER_REAL, &never, NULL);
    expect(got[SIGALRM] >= 3, "the alarm did not come again and again");
    getitimer(ITIMER_REAL, &left);
    expect(left.it_value.tv_sec == 0 && left.it_value.tv_usec == 0, "the alarm was not switched off");
  }
  MPI_Barrier(MPI_COMM_WORLD);
  expect(rank == 0 || got[SIGALRM] == 0, "another rank's alarm came here");

  /* A blocked signal waits. */
  sigset_t set, pending;
  sigemptyset(&set);
  sigaddset(&set, SIGTERM);
  signal(SIGTERM, count);
  sigprocmask(SIG_BLOCK, &set, NULL);
  raise(SIGTERM);
  sigpending(&pending);
  expect(got[SIGTERM] == 0 && sigismember(&pending, SIGTERM) == 1, "a blocked signal did not wait");
  sigprocmask(SIG_UNBLOCK, &set, NULL);
  expect(got[SIGTERM] == 1, "a signal that had waited did not come");

  /* The parent, which is mpiexec, forwards this one to all. */
  signal(SIGUSR2, count);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) kill(getppid(), SIGUSR2);
  wait_for(&got[SIGUSR2], 1);
  expect(got[SIGUSR2] >= 1, "a signal for the whole job did not come");
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Finalize();
  return wrong;
}
