// idle: what a rank costs that waits in MPI_Recv for a message that comes after `--seconds` (10): its
// processor time, all threads of the process counted, in percent of a core. The sender sleeps meanwhile and
// calls nothing.
#include <stdio.h>
#include <time.h>

#include "bench.h"

static double processor_seconds(void) {
  struct timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

int main(int argc, char** argv) {
  bench b = {.seconds = 10, .samples = 1};
  bench_begin(&b, "idle", 2, &argc, &argv);
  MPI_Barrier(b.control);
  double percent = 0;
  if (b.rank) {
    struct timespec pause = {(time_t)b.seconds, (long)(1e9 * (b.seconds - (double)(time_t)b.seconds))};
    nanosleep(&pause, NULL);
    MPI_Send(&b.seconds, 1, MPI_DOUBLE, 0, 0, b.comms[0]);
  } else {
    double began = bench_now(), used = processor_seconds(), said = 0;
    MPI_Recv(&said, 1, MPI_DOUBLE, 1, 0, b.comms[0], MPI_STATUS_IGNORE);
    used = processor_seconds() - used;
    if (said != b.seconds) bench_wrong(&b, "message", (long long)b.seconds, (long long)said);
    bench_checked(1);
    percent = 100 * used / (bench_now() - began);
  }
  bench_report_samples(&b, &percent, 1, "processor time while blocked", "%");
  bench_end(&b);
}
