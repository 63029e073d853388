#include "graph.h"

#include <stdlib.h>
#include <string.h>

// A counter-based generator: the n-th number of a stream is known without the ones before, so that the graph does not
// depend on the number of ranks (splitmix64's finalizer).
static uint64_t random_bits(uint64_t stream, uint64_t n) {
  uint64_t z = (stream * 0x9E3779B97F4A7C15u) ^ (n + 0x632BE59BD9B4E019u) * 0xD1342543DE82EF95u;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  return z ^ (z >> 31);
}

// A bijection on `scale` bits: multiply by odd constants and fold, twice. Hides the structure of the generator.
static int64_t shuffle(int64_t v, int scale) {
  const uint64_t mask = ((uint64_t)1 << scale) - 1;
  uint64_t x = (uint64_t)v;
  for (int i = 0; i < 2; ++i) {
    x = (x * 0x9E3779B97F4A7C15u + 0x7F4A7C15u) & mask;
    x ^= x >> (scale / 2 ? scale / 2 : 1);
  }
  return (int64_t)x;
}

static void edge_at(int scale, int64_t index, int64_t ends[2]) {
  int64_t u = 0, v = 0;
  for (int bit = 0; bit < scale; ++bit) {
    double r = (double)(random_bits((uint64_t)bit + 1, (uint64_t)index) >> 11) * 0x1p-53;
    int quadrant = r < 0.57 ? 0 : r < 0.76 ? 1 : r < 0.95 ? 2 : 3;
    u = 2 * u + quadrant / 2;
    v = 2 * v + quadrant % 2;
  }
  ends[0] = shuffle(u, scale), ends[1] = shuffle(v, scale);
}

void graph_make(graph* g, bench* b, int scale, int edges_per_vertex) {
  *g = (graph){.b = b, .scale = scale, .vertices = (int64_t)1 << scale};
  g->edges = g->vertices * edges_per_vertex;
  g->local_vertices = (g->vertices - b->rank + b->ranks - 1) / b->ranks;
  // Each rank generates all edges and keeps its own: twice the work of sending them, none of the messages. It is not timed.
  g->offsets = bench_alloc((size_t)(g->local_vertices + 1) * sizeof *g->offsets);
  for (int pass = 0; pass < 2; ++pass) {
    for (int64_t i = 0; i < g->edges; ++i) {
      int64_t ends[2];
      edge_at(scale, i, ends);
      for (int k = 0; k < 2; ++k) {
        if (graph_owner(g, ends[k]) != b->rank) continue;
        int64_t local = graph_local(g, ends[k]);
        if (pass)
          g->targets[g->offsets[local]++] = ends[1 - k];
        else
          ++g->offsets[local + 1];
      }
    }
    if (!pass) {
      for (int64_t v = 0; v < g->local_vertices; ++v) g->offsets[v + 1] += g->offsets[v];
      g->targets = bench_alloc((size_t)(g->offsets[g->local_vertices] + 1) * sizeof *g->targets);
    }
  }
  // Filling moved each offset to the end of its list, where the next one begins.
  memmove(g->offsets + 1, g->offsets, (size_t)g->local_vertices * sizeof *g->offsets);
  g->offsets[0] = 0;
}

void graph_free(graph* g) { free(g->offsets), free(g->targets); }

int64_t graph_root(const graph* g, int i) {
  for (uint64_t attempt = 0;; ++attempt) {
    int64_t v = (int64_t)(random_bits(1000 + (uint64_t)i, attempt) % (uint64_t)g->vertices);
    int useful = 0;
    if (graph_owner(g, v) == g->b->rank) {
      int64_t local = graph_local(g, v);
      for (int64_t e = g->offsets[local]; e < g->offsets[local + 1]; ++e) useful |= g->targets[e] != v;
    }
    MPI_Allreduce(MPI_IN_PLACE, &useful, 1, MPI_INT, MPI_MAX, g->b->control);
    if (useful) return v;
  }
}

// All ranks' values, indexed by global number.
static int64_t* gather(const graph* g, const int64_t* mine) {
  const int ranks = g->b->ranks;
  int counts[ranks], starts[ranks];
  for (int r = 0, at = 0; r < ranks; ++r) {
    counts[r] = (int)((g->vertices - r + ranks - 1) / ranks);
    starts[r] = at;
    at += counts[r];
  }
  int64_t* by_rank = bench_alloc((size_t)g->vertices * sizeof *by_rank);
  int64_t* all = bench_alloc((size_t)g->vertices * sizeof *all);
  MPI_Allgatherv(mine, (int)g->local_vertices, MPI_INT64_T, by_rank, counts, starts, MPI_INT64_T, g->b->control);
  for (int64_t v = 0; v < g->vertices; ++v) all[v] = by_rank[starts[v % ranks] + v / ranks];
  free(by_rank);
  return all;
}

// Depth below the root by following parents; a path longer than the number of vertices is a cycle.
static void levels_of(const graph* g, int64_t root, const int64_t* parent, int64_t* level) {
  for (int64_t v = 0; v < g->vertices; ++v) level[v] = -1;
  if (parent[root] != root) bench_wrong(g->b, "root's parent", root, parent[root]);
  level[root] = 0;
  for (int64_t v = 0; v < g->vertices; ++v) {
    int64_t steps = 0, at = v;
    while (parent[at] != -1 && level[at] < 0) {
      at = parent[at];
      if (at < 0 || at >= g->vertices || ++steps > g->vertices)
        bench_wrong(g->b, "parents form a tree; vertex", root, v);
    }
    if (parent[v] == -1) continue;
    if (level[at] < 0) bench_wrong(g->b, "path from vertex ends at the root", root, v);
    for (int64_t depth = level[at] + steps, w = v; level[w] < 0; w = parent[w]) level[w] = depth--;
  }
}

int64_t graph_validate(const graph* g, int64_t root, const int64_t* mine, int64_t* edges) {
  int64_t* parent = gather(g, mine);
  int64_t* level = bench_alloc((size_t)g->vertices * sizeof *level);
  levels_of(g, root, parent, level);
  int64_t sums[2] = {0, 0};  // levels, edge ends in the component
  for (int64_t local = 0; local < g->local_vertices; ++local) {
    const int64_t v = graph_global(g, local);
    bool parent_is_neighbour = v == root || parent[v] == -1;
    for (int64_t e = g->offsets[local]; e < g->offsets[local + 1]; ++e) {
      const int64_t w = g->targets[e];
      if ((level[v] < 0) != (level[w] < 0)) bench_wrong(g->b, "both ends of an edge are reached; vertex", v, w);
      if (llabs(level[v] - level[w]) > 1)
        bench_wrong(g->b, "levels along an edge differ by one at most", level[v], level[w]);
      parent_is_neighbour |= w == parent[v];
      sums[1] += level[v] >= 0;
    }
    if (!parent_is_neighbour) bench_wrong(g->b, "tree edge is in the graph; vertex", v, parent[v]);
    if (level[v] > 0) {
      sums[0] += level[v];
      if (level[v] != level[parent[v]] + 1) bench_wrong(g->b, "level", level[parent[v]] + 1, level[v]);
    }
  }
  bench_checked(g->local_vertices);
  free(parent), free(level);
  MPI_Allreduce(MPI_IN_PLACE, sums, 2, MPI_INT64_T, MPI_SUM, g->b->control);
  *edges = sums[1] / 2;
  return sums[0];
}
