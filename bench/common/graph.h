// A Kronecker graph spread over the ranks, and the validation of a search tree in it, after the Graph500 specification
// (graph500.org, version 2): initiator A=0.57, B=C=0.19, D=0.05; vertex numbers shuffled; undirected; every edge known to the
// owners of both ends. Self loops and repeated edges stay, as there.
#ifndef HEDDLE_BENCH_GRAPH_H
#define HEDDLE_BENCH_GRAPH_H

#include "bench.h"

typedef struct {
  bench* b;
  int scale;
  int64_t vertices, edges, local_vertices;
  int64_t* offsets;  // local_vertices + 1
  int64_t* targets;  // global numbers
} graph;

void graph_make(graph* g, bench* b, int scale, int edges_per_vertex);  // collective
void graph_free(graph* g);

// Vertex v belongs to rank v mod ranks.
static inline int graph_owner(const graph* g, int64_t v) { return (int)(v % g->b->ranks); }
static inline int64_t graph_local(const graph* g, int64_t v) { return v / g->b->ranks; }
static inline int64_t graph_global(const graph* g, int64_t local) { return local * g->b->ranks + g->b->rank; }

// The i-th search's root: a vertex with at least one edge to another. Collective.
int64_t graph_root(const graph* g, int i);

// Checks the tree and ends the job if it is wrong; gives the sum of all levels, and in `edges` the input edges of the
// component that was searched. Collective.
int64_t graph_validate(const graph* g, int64_t root, const int64_t* parent, int64_t* edges);

#endif
