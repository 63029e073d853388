// The common part of the benchmark programs: options, a team of threads, calibrated timing, checks, one JSON line.
//
// A program calls bench_begin, measures with bench_measure, and leaves through bench_end. All of it is plain
// MPI and POSIX threads, so that a program runs on any MPI that grants MPI_THREAD_MULTIPLE.
//
// Time is taken in samples. Rank 0 doubles the number of rounds until one sample lasts long enough, then
// takes
// `--samples` of them; the value is the median. Between samples only the main thread of a rank talks MPI and
// the rest of the team sleeps, so what is timed is the body and nothing else.
#ifndef HEDDLE_BENCH_H
#define HEDDLE_BENCH_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { BENCH_PAIRS = -1 };

enum { BENCH_MAX_SAMPLES = 64, BENCH_MAX_THREADS = 1024 };

typedef struct {
  const char* name;
  int rank, ranks;
  int threads;       // --threads N: threads of each rank that communicate, the main thread included
  size_t size;       // --size BYTES of one message
  int window;        // --window N: messages in flight per thread; 0 lets the program choose
  bool comm_each;    // --comm shared|each: one communicator for all threads, or a duplicate for each
  double seconds;    // --seconds S: wished length of the measured part
  int samples;       // --samples N
  const char* mode;  // --mode WORD: a program's own variants
  bool single;       // --level single: MPI_Init at MPI_THREAD_SINGLE, for what thread safety costs; one thread only
  long scale;        // --scale N: problem size of the mini-applications
  const char* file;  // --file PATH, where a program needs one
  const char* variables;  // --variables A,B: performance variables of the MPI library to report (variables.h)
  const char* runtime;    // --thread-runtime NAME: whose threads those are (team.h); NULL: pthreads
  MPI_Comm control;       // for the main threads, between samples
  MPI_Comm* comms;        // what thread i talks on; with --comm shared the same handle for all
} bench;

typedef struct {
  long rounds;                        // rounds of one sample
  int count;                          // samples taken
  double elapsed[BENCH_MAX_SAMPLES];  // seconds from the first thread's start to the last one's end, at rank 0
} bench_timing;

// One thread's part of a sample: `rounds` rounds of whatever is measured. `first` numbers the first of them
// and grows over the run, so that a body can stamp its messages and check what arrives.
typedef void (*bench_body)(void* ctx, int thread, long first, long rounds);

// Parses the options, initializes MPI at MPI_THREAD_MULTIPLE (ends the job if that is not granted) and starts
// the team. Fields of `b` set beforehand are the program's own defaults. `ranks_wanted` 0 takes any number, BENCH_PAIRS any even one.
void bench_begin(bench* b, const char* name, int ranks_wanted, int* argc, char*** argv);

// Measures `body` on all ranks; `most` bounds the rounds of a sample (0: no bound). The result is rank 0's.
bench_timing bench_measure(bench* b, bench_body body, void* ctx, long most);

// Lets the team of this rank run `rounds` rounds, and gives the seconds they took; no MPI of its own. For programs that
// alternate between threads that talk and a main thread that does.
double bench_together(bench_body body, void* ctx, long rounds);

// True if `measured` seconds fill a sample's share of --seconds; rank 0's view of it, told to all ranks.
bool bench_enough(const bench* b, double measured);

// Rank 0 prints the result line (all ranks call): `value` is computed from a sample's elapsed time as
// scale*elapsed/rounds for times or scale*rounds/elapsed for rates.
typedef enum { BENCH_TIME, BENCH_RATE } bench_kind;
void bench_report(const bench* b, const bench_timing* t, bench_kind kind, double scale, const char* metric,
                  const char* unit);

// The same for a program that has its samples itself.
void bench_report_samples(const bench* b, const double* samples, int count, const char* metric, const char* unit);

// Rank 0 says that what is asked for does not exist on this machine, instead of a result (all ranks call).
void bench_absent(const bench* b, const char* what);

// Adds a field to rank 0's next result line; `json` is a JSON value.
void bench_note(const char* key, const char* json);

// A wrong answer: says what was wrong and ends the job with status 3.
_Noreturn void bench_wrong(const bench* b, const char* what, long long expected, long long found);

// Counts answers that were checked; thread-safe. The count is part of the result line.
void bench_checked(long answers);

void bench_end(bench* b);

// With BENCH_PAIRS: the first half of the ranks lead, each with a partner in the second half.
bool bench_leads(const bench* b);
int bench_partner(const bench* b);

double bench_now(void);                 // seconds, CLOCK_MONOTONIC: one clock for all processes of a machine
double bench_median(double* v, int n);  // sorts v
void* bench_alloc(size_t bytes);        // page-aligned, touched; ends the program when there is no memory

// A message's stamp lies in its first bytes and, if there is room, in its last: a torn or misplaced copy
// shows.
void bench_stamp(void* message, size_t size, uint64_t stamp);
bool bench_stamped(const void* message, size_t size, uint64_t stamp);

#endif
