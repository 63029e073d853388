// polling: ping-pong of a thread for which another core polls, by the distance of that core. After Trahay 2009, Fig. 8.
//
// The application thread of rank 0 is bound to the first core that it may use. It sends, and then waits for a word of memory: a
// second thread of its rank, bound to a core at the wished distance, is blocked in MPI_Recv and hands over what comes. The
// partner answers from a core of its own, or beside the polling thread where there is none. --mode says who polls:
//
//   own    the application thread itself, which is what the others are compared with
//   core   the other hardware thread of its core
//   l2     a core that shares an L2 cache with it, and nothing nearer
//   l3     ... an L3 cache
//   apart  a core that shares no cache with it
//
// --file names another folder for /sys/devices/system/cpu, which says what cores share.
#define _GNU_SOURCE
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"

enum { NO_CPU = -1 };

typedef struct {
  bench* b;
  char* out;
  char* in[2];  // alternating: one is the application's while the next message arrives in the other
  bool own;
  int application, poller, partner;  // cpus
  _Atomic long handed_over;          // messages that the polling thread has received
  _Atomic long checked;              // of those, with whose buffer the application is done
} job;

static void bind_to(int cpu) {
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET((size_t)cpu, &one);
  if (sched_setaffinity(0, sizeof one, &one)) perror("polling: sched_setaffinity");
}

// True if a list in the kernel's format, "0-3,8", has the number.
static bool listed(const char* list, int number) {
  for (const char* at = list; *at >= '0' && *at <= '9';) {
    char* end;
    const long first = strtol(at, &end, 10);
    const long last = *end == '-' ? strtol(end + 1, &end, 10) : first;
    if (first <= number && number <= last) return true;
    at = *end == ',' ? end + 1 : end;
  }
  return false;
}

static bool read_line(const char* path, char* text, int bytes) {
  FILE* file = fopen(path, "r");
  if (!file) return false;
  const bool read = fgets(text, bytes, file) != NULL;
  fclose(file);
  return read;
}

// The level of the nearest cache that two cpus share; 1: they are of one core; 0: they share none.
static int shared_level(const char* cpus_folder, int a, int b) {
  int nearest = 0;
  for (int index = 0; index < 8; ++index) {
    char path[4096], level[16], cpus[4096];
    snprintf(path, sizeof path, "%s/cpu%d/cache/index%d/level", cpus_folder, a, index);
    if (!read_line(path, level, sizeof level)) break;
    snprintf(path, sizeof path, "%s/cpu%d/cache/index%d/shared_cpu_list", cpus_folder, a, index);
    if (!read_line(path, cpus, sizeof cpus) || !listed(cpus, b)) continue;
    if (!nearest || atoi(level) < nearest) nearest = atoi(level);
  }
  return nearest;
}

// Chooses the cpus; false if none is at that distance.
static bool place(job* j, const char* mode) {
  static const char* const distances[] = {"apart", "core", "l2", "l3"};  // by the level of the shared cache
  const char* const folder = j->b->file ? j->b->file : "/sys/devices/system/cpu";
  cpu_set_t allowed;
  sched_getaffinity(0, sizeof allowed, &allowed);
  j->application = j->poller = j->partner = NO_CPU;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (!CPU_ISSET((size_t)cpu, &allowed)) continue;
    if (j->application == NO_CPU) {
      j->application = cpu;
      if (j->own) j->poller = cpu;
    } else if (j->poller == NO_CPU && shared_level(folder, j->application, cpu) < 4 &&
               !strcmp(mode, distances[shared_level(folder, j->application, cpu)])) {
      j->poller = cpu;
    } else {
      j->partner = cpu;
    }
  }
  if (j->partner == NO_CPU) j->partner = j->poller;
  return j->poller != NO_CPU;
}

static const char* receive(job* j, long i) {
  char* in = j->in[i % 2];
  MPI_Recv(in, (int)j->b->size, MPI_BYTE, bench_partner(j->b), 0, j->b->comms[0], MPI_STATUS_IGNORE);
  return in;
}

// Spinning, but not for long at a time: the core may be wanted.
static void await(const _Atomic long* word, long value) {
  for (int looks = 1; atomic_load_explicit(word, memory_order_acquire) < value; ++looks)
    if (looks % 1000 == 0) sched_yield();
}

static void apply(job* j, long first, long rounds) {
  const bench* b = j->b;
  bind_to(j->application);
  for (long i = first; i < first + rounds; ++i) {
    bench_stamp(j->out, b->size, (uint64_t)i);
    MPI_Send(j->out, (int)b->size, MPI_BYTE, bench_partner(b), 0, b->comms[0]);
    if (j->own)
      receive(j, i);
    else
      await(&j->handed_over, i + 1);
    const char* in = j->in[i % 2];
    if (!bench_stamped(in, b->size, ~(uint64_t)i)) bench_wrong(b, "answer", i, *(const unsigned char*)in);
    atomic_store_explicit(&j->checked, i + 1, memory_order_release);
  }
  bench_checked(rounds);
}

static void poll_for_it(job* j, long first, long rounds) {
  bind_to(j->poller);
  for (long i = first; i < first + rounds; ++i) {
    await(&j->checked, i - 1);
    receive(j, i);
    atomic_store_explicit(&j->handed_over, i + 1, memory_order_release);
  }
}

static void answer(job* j, long first, long rounds) {
  const bench* b = j->b;
  bind_to(j->partner);
  for (long i = first; i < first + rounds; ++i) {
    const char* in = receive(j, i);
    if (!bench_stamped(in, b->size, (uint64_t)i)) bench_wrong(b, "message", i, *(const unsigned char*)in);
    bench_stamp(j->out, b->size, ~(uint64_t)i);
    MPI_Send(j->out, (int)b->size, MPI_BYTE, bench_partner(b), 0, b->comms[0]);
  }
}

static void rounds_of(void* ctx, int thread, long first, long rounds) {
  job* j = ctx;
  const bool leads = bench_leads(j->b);
  if (thread == 0)
    leads ? apply(j, first, rounds) : answer(j, first, rounds);
  else if (leads && !j->own)
    poll_for_it(j, first, rounds);
}

int main(int argc, char** argv) {
  bench b = {.threads = 2, .mode = "own"};
  bench_begin(&b, "polling", 2, &argc, &argv);
  static const char* const modes[] = {"own", "core", "l2", "l3", "apart"};
  bool known = false;
  for (int i = 0; i < 5; ++i) known |= !strcmp(b.mode, modes[i]);
  if (!known || b.threads != 2) {
    if (!b.rank) fprintf(stderr, "polling: --mode own|core|l2|l3|apart, with two threads\n");
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  job j = {.b = &b,
           .out = bench_alloc(b.size),
           .in = {bench_alloc(b.size), bench_alloc(b.size)},
           .own = !strcmp(b.mode, "own")};
  int here = place(&j, b.mode), everywhere = 0;
  MPI_Allreduce(&here, &everywhere, 1, MPI_INT, MPI_LAND, b.control);
  if (everywhere) {
    bench_timing t = bench_measure(&b, rounds_of, &j, 0);
    char text[64];
    snprintf(text, sizeof text, "{\"application\":%d,\"poller\":%d,\"partner\":%d}", j.application, j.poller,
             j.partner);
    bench_note("cpus", text);
    bench_report(&b, &t, BENCH_TIME, 0.5e6, "half round trip", "us");
  } else {
    char text[80];
    snprintf(text, sizeof text, "this machine has no core at the distance %s from the first", b.mode);
    bench_absent(&b, text);
  }
  free(j.out), free(j.in[0]), free(j.in[1]);
  bench_end(&b);
}
