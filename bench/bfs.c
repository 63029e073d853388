// bfs: breadth-first search of a Kronecker graph, after the Graph500 benchmark, in million traversed edges a second.
//
// 2^--scale vertices, 16 edges each, spread over the ranks by a shuffled numbering. Searches go level by level: threads of
// a rank share its part of the frontier; an edge into another rank becomes a (vertex, parent) pair in a buffer for that
// rank, sent when full. Two ways to communicate:
//   --mode nonblocking  every thread sends with Isend and receives with Irecv and Test, its twin being its receiver
//   --mode blocking     odd threads search and MPI_Send, even threads MPI_Recv (Dang 2017, Fig. 16b); two threads at least
// A sample is eight searches from different roots; its value is their harmonic mean. Every tree is validated as Graph500
// demands, outside the time, and the levels' sum is the answer that all runs must share.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graph.h"

enum { ROOTS = 8, BATCH = 512, SENDS = 4 };

typedef struct {
  int64_t vertex, parent;
} visit;

typedef struct {
  visit pairs[BATCH];
  MPI_Request request;
} packet;

// The buffers of one thread: per destination a ring of packets, one of them being filled.
typedef struct {
  packet (*rings)[SENDS];
  int *slot, *fill;
  visit inbox[BATCH];
  MPI_Request receive;
  int ends;  // senders that have said they are done with this level
} worker;

typedef struct {
  bench* b;
  graph g;
  worker* workers;
  int64_t* parent;  // of each vertex of this rank, -1 if unvisited
  int64_t *frontier, *next;
  int64_t frontier_count, next_count;
  bool blocking;
  int searchers, receivers;
} search;

static void claim(search* s, visit v) {
  int64_t local = graph_local(&s->g, v.vertex), none = -1;
  if (__atomic_load_n(&s->parent[local], __ATOMIC_RELAXED) != -1) return;
  if (__atomic_compare_exchange_n(&s->parent[local], &none, v.parent, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
    s->next[__atomic_fetch_add(&s->next_count, 1, __ATOMIC_RELAXED)] = local;
}

// An empty message is a sender's last one of a level.
static void take(search* s, worker* w, const MPI_Status* status) {
  int bytes;
  MPI_Get_count(status, MPI_BYTE, &bytes);
  for (size_t i = 0; i < (size_t)bytes / sizeof(visit); ++i) claim(s, w->inbox[i]);
  w->ends += !bytes;
}

static void post_receive(search* s, worker* w, int thread) {
  MPI_Irecv(w->inbox, sizeof w->inbox, MPI_BYTE, MPI_ANY_SOURCE, thread, s->b->comms[thread], &w->receive);
}

static void poll_receive(search* s, worker* w, int thread) {
  int done;
  MPI_Status status;
  MPI_Test(&w->receive, &done, &status);
  if (!done) return;
  take(s, w, &status);
  post_receive(s, w, thread);
}

static void ship(search* s, worker* w, int thread, int rank, int count) {
  MPI_Comm comm = s->b->comms[s->blocking ? 0 : thread];
  packet* p = &w->rings[rank][w->slot[rank]];
  if (s->blocking) {
    MPI_Send(p->pairs, count * (int)sizeof(visit), MPI_BYTE, rank, thread / 2 % s->receivers, comm);
    return;
  }
  MPI_Isend(p->pairs, count * (int)sizeof(visit), MPI_BYTE, rank, thread, comm, &p->request);
  w->slot[rank] = (w->slot[rank] + 1) % SENDS;
  p = &w->rings[rank][w->slot[rank]];
  for (int done = 0;;) {
    MPI_Test(&p->request, &done, MPI_STATUS_IGNORE);
    if (done) break;
    poll_receive(s, w, thread);
  }
}

static void reach(search* s, worker* w, int thread, int64_t vertex, int64_t parent) {
  const int rank = graph_owner(&s->g, vertex);
  const visit v = {vertex, parent};
  if (rank == s->b->rank) {
    claim(s, v);
    return;
  }
  w->rings[rank][w->slot[rank]].pairs[w->fill[rank]++] = v;
  if (w->fill[rank] < BATCH) return;
  w->fill[rank] = 0;
  ship(s, w, thread, rank, BATCH);
}

static void expand(search* s, worker* w, int thread, int part) {
  const graph* g = &s->g;
  const int64_t from = s->frontier_count * part / s->searchers, to = s->frontier_count * (part + 1) / s->searchers;
  for (int64_t i = from; i < to; ++i) {
    const int64_t local = s->frontier[i], global = graph_global(g, local);
    for (int64_t e = g->offsets[local]; e < g->offsets[local + 1]; ++e) reach(s, w, thread, g->targets[e], global);
    if (!s->blocking && i % 16 == 0) poll_receive(s, w, thread);
  }
  for (int rank = 0; rank < s->b->ranks; ++rank) {
    if (rank == s->b->rank) continue;
    int rest = w->fill[rank];
    w->fill[rank] = 0;
    if (rest) ship(s, w, thread, rank, rest);
    ship(s, w, thread, rank, 0);
  }
}

// One level, as one thread of the team lives it.
static void level_body(void* ctx, int thread, long first, long rounds) {
  search* s = ctx;
  worker* w = &s->workers[thread];
  const int others = s->b->ranks - 1;
  (void)first, (void)rounds;
  w->ends = 0;
  if (!s->blocking) {
    expand(s, w, thread, thread);
    while (w->ends < others) poll_receive(s, w, thread);
  } else if (thread % 2) {
    expand(s, w, thread, thread / 2);
  } else {
    // Searcher k of every other rank sends to receiver k mod receivers.
    const int mine = thread / 2;
    int senders = 0;
    for (int k = 0; k < s->searchers; ++k) senders += k % s->receivers == mine;
    while (w->ends < senders * others) {
      MPI_Status status;
      MPI_Recv(w->inbox, sizeof w->inbox, MPI_BYTE, MPI_ANY_SOURCE, mine, s->b->comms[0], &status);
      take(s, w, &status);
    }
  }
}

// Seconds of one search.
static double search_from(search* s, int64_t root) {
  bench* b = s->b;
  for (int64_t v = 0; v < s->g.local_vertices; ++v) s->parent[v] = -1;
  s->frontier_count = 0;
  if (graph_owner(&s->g, root) == b->rank) {
    s->parent[graph_local(&s->g, root)] = root;
    s->frontier[s->frontier_count++] = graph_local(&s->g, root);
  }
  MPI_Barrier(b->control);
  const double began = bench_now();
  for (int64_t alive = 1; alive;) {
    s->next_count = 0;
    bench_together(level_body, s, 1);
    int64_t* reached = s->next;
    s->next = s->frontier, s->frontier = reached;
    s->frontier_count = s->next_count;
    MPI_Allreduce(&s->frontier_count, &alive, 1, MPI_INT64_T, MPI_SUM, b->control);
  }
  return bench_now() - began;
}

static void start_workers(search* s) {
  bench* b = s->b;
  s->workers = bench_alloc((size_t)b->threads * sizeof *s->workers);
  for (int t = 0; t < b->threads; ++t) {
    worker* w = &s->workers[t];
    w->rings = bench_alloc((size_t)b->ranks * sizeof *w->rings);
    w->slot = bench_alloc((size_t)b->ranks * sizeof *w->slot);
    w->fill = bench_alloc((size_t)b->ranks * sizeof *w->fill);
    for (int r = 0; r < b->ranks; ++r)
      for (int k = 0; k < SENDS; ++k) w->rings[r][k].request = MPI_REQUEST_NULL;
    if (!s->blocking) post_receive(s, w, t);
  }
}

static void stop_workers(search* s) {
  for (int t = 0; t < s->b->threads; ++t) {
    worker* w = &s->workers[t];
    if (!s->blocking) {
      for (int r = 0; r < s->b->ranks; ++r)
        for (int k = 0; k < SENDS; ++k) MPI_Wait(&w->rings[r][k].request, MPI_STATUS_IGNORE);
      MPI_Cancel(&w->receive);
      MPI_Wait(&w->receive, MPI_STATUS_IGNORE);
    }
    free(w->rings), free(w->slot), free(w->fill);
  }
  free(s->workers);
}

int main(int argc, char** argv) {
  bench b = {.mode = "nonblocking", .scale = 14};
  bench_begin(&b, "bfs", 0, &argc, &argv);
  search s = {.b = &b, .blocking = !strcmp(b.mode, "blocking")};
  if ((!s.blocking && strcmp(b.mode, "nonblocking")) || (s.blocking && b.threads < 2) || b.scale > 26) {
    if (!b.rank) fprintf(stderr, "bfs: --mode nonblocking, or blocking with two threads or more; --scale at most 26\n");
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  s.searchers = s.blocking ? b.threads / 2 : b.threads;
  s.receivers = s.blocking ? b.threads - s.searchers : b.threads;
  graph_make(&s.g, &b, (int)b.scale, 16);
  s.parent = bench_alloc((size_t)s.g.local_vertices * sizeof *s.parent);
  s.frontier = bench_alloc((size_t)s.g.local_vertices * sizeof *s.frontier);
  s.next = bench_alloc((size_t)s.g.local_vertices * sizeof *s.next);
  start_workers(&s);

  double samples[BENCH_MAX_SAMPLES];
  int64_t answer = 0;
  long searches = 0;
  for (int k = -1; k < b.samples; ++k) {  // the first is to warm up: threads take some time to spread over the cores
    double inverse = 0, measured = 0;
    long of_sample = 0;
    do {
      for (int i = 0; i < ROOTS; ++i) {
        double seconds = search_from(&s, graph_root(&s.g, i));
        int64_t edges = 0;
        answer += graph_validate(&s.g, graph_root(&s.g, i), s.parent, &edges);
        inverse += seconds / (double)edges;
        measured += seconds;
      }
      of_sample += ROOTS;
    } while (!bench_enough(&b, measured));
    searches += of_sample;
    if (k >= 0) samples[k] = 1e-6 * (double)of_sample / inverse;
  }
  char text[32];
  snprintf(text, sizeof text, "%lld", (long long)(answer / (searches / ROOTS)));
  bench_note("answer", text);
  bench_report_samples(&b, samples, b.samples, "harmonic mean of traversed edges", "MTEPS");

  stop_workers(&s);
  free(s.parent), free(s.frontier), free(s.next);
  graph_free(&s.g);
  bench_end(&b);
}
