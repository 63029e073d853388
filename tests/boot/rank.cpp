// A stand-in for an MPI program: joins the job and does what its arguments say, one after the other.
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "boot/join.hpp"

using namespace heddle;

int main(int argc, char** argv) {
  boot::Job job;
  boot::Problem problem;
  if (!boot::join(job, 1 << 20, problem)) {
    fprintf(stderr, "rank: %s\n", problem.text);
    return 3;
  }
  printf("rank %d of %d\n", job.rank, job.size);
  boot::leave(job);
  return 0;
}
