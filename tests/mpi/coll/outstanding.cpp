// Many collectives under way at once: nonblocking and persistent ones on one communicator, waited for in any order,
// between blocking collectives and point-to-point messages; and progress of a nonblocking one while its process blocks
// in something else.
#include <algorithm>

#include "harness.hpp"

using namespace test;

namespace {

constexpr int operations = 60;

struct Operation {
  std::vector<int> in, out, expected;
  MPI_Request request = MPI_REQUEST_NULL;
};

int r_of(int i) { return (world_rank + i) % world_size; }

// Starts operation `i`, whose kind and size the same random numbers choose everywhere.
void start(Operation& o, Random& random, int tag) {
  const int kind = random.below(7);
  const int n = random.below(3) == 0 ? random.below(20000) : random.below(50);
  const int root = random.below(1 << 20) % world_size;
  const auto size = static_cast<std::size_t>(n);
  const auto p = static_cast<std::size_t>(world_size);
  const auto v = [&](int r, int i) { return tag * 1000 + r * 7 + i; };
  const auto fill = [&](std::vector<int>& x, auto&& f) {
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = f(static_cast<int>(i));
  };
  const MPI_Comm comm = MPI_COMM_WORLD;
  const auto mine = [&](int i) { return v(world_rank, i); };
  const auto sum = [&](int i) {
    int s = 0;
    for (int r = 0; r < world_size; ++r) s += v(r, i);
    return s;
  };
  const auto shape = [&](std::size_t in, std::size_t out) {
    o.in.assign(in, 0);
    o.out.assign(out, -1);
    o.expected.assign(out, -1);
    fill(o.in, mine);
  };
  switch (kind) {
    case 0:
      shape(0, size);
      fill(o.expected, [&](int i) { return v(root, i); });
      if (world_rank == root) o.out = o.expected;
      MPI_Ibcast(o.out.data(), n, MPI_INT, root, comm, &o.request);
      break;
    case 1:
      shape(size, size);
      fill(o.expected, sum);
      MPI_Iallreduce(o.in.data(), o.out.data(), n, MPI_INT, MPI_SUM, comm, &o.request);
      break;
    case 2:
      shape(size, size);
      if (world_rank == root) fill(o.expected, sum);
      MPI_Ireduce(o.in.data(), o.out.data(), n, MPI_INT, MPI_SUM, root, comm, &o.request);
      break;
    case 3:
      shape(size, size * p);
      fill(o.expected, [&](int i) { return v(i / n, i % n); });
      MPI_Iallgather(o.in.data(), n, MPI_INT, o.out.data(), n, MPI_INT, comm, &o.request);
      break;
    case 4:
      shape(size * p, size * p);
      fill(o.expected, [&](int i) { return v(i / n, world_rank * n + i % n); });
      MPI_Ialltoall(o.in.data(), n, MPI_INT, o.out.data(), n, MPI_INT, comm, &o.request);
      break;
    case 5:
      shape(size, size);
      fill(o.expected, [&](int i) {
        int s = 0;
        for (int r = 0; r <= world_rank; ++r) s += v(r, i);
        return s;
      });
      MPI_Iscan(o.in.data(), o.out.data(), n, MPI_INT, MPI_SUM, comm, &o.request);
      break;
    default:
      shape(0, 0);
      MPI_Ibarrier(comm, &o.request);
  }
}

void test_any_order(Random& random, Random& own) {
  std::vector<Operation> all(operations);
  for (int i = 0; i < operations; ++i) {
    start(all[static_cast<std::size_t>(i)], random, i);
    if (i % 10 == 3) {
      int x = world_rank, y = -1;
      MPI_Allreduce(&x, &y, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
      expect(y == world_size * (world_size - 1) / 2, "a blocking allreduce in between");
    }
    if (i % 10 == 7) {
      int x = world_rank, y = -1;
      MPI_Sendrecv(&x, 1, MPI_INT, r_of(1), 9, &y, 1, MPI_INT, r_of(world_size - 1), 9, MPI_COMM_WORLD,
                   MPI_STATUS_IGNORE);
      expect(y == r_of(world_size - 1), "a message in between");
    }
  }
  // Every rank waits in an order of its own, half of them by testing.
  std::vector<int> order(operations);
  for (int i = 0; i < operations; ++i) order[static_cast<std::size_t>(i)] = i;
  for (int i = operations - 1; i > 0; --i) {
    std::swap(order[static_cast<std::size_t>(i)], order[static_cast<std::size_t>(own.below(i + 1))]);
  }
  for (int i : order) {
    Operation& o = all[static_cast<std::size_t>(i)];
    if (i % 2) {
      int done = 0;
      while (!done) MPI_Test(&o.request, &done, MPI_STATUS_IGNORE);
    } else {
      MPI_Wait(&o.request, MPI_STATUS_IGNORE);
    }
    expect(o.out == o.expected, "operation " + std::to_string(i));
  }
}

void test_persistent_together() {
  constexpr int n = 8;
  int in[n], out[n];
  MPI_Request requests[n];
  for (int i = 0; i < n; ++i) {
    MPI_Allreduce_init(&in[i], &out[i], 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[i]);
  }
  for (int round = 0; round < 20; ++round) {
    for (int i = 0; i < n; ++i) in[i] = round * 100 + i * 10 + world_rank;
    // Persistent collectives may be started in a different order on every rank.
    for (int i = 0; i < n; ++i) MPI_Start(&requests[(i + world_rank) % n]);
    MPI_Waitall(n, requests, MPI_STATUSES_IGNORE);
    for (int i = 0; i < n; ++i) expect(out[i] == round * 100 + i * 10 + world_size - 1, "persistent ones together");
  }
  for (MPI_Request& request : requests) MPI_Request_free(&request);
}

// Types and operations may be freed as soon as a nonblocking collective has been started.
void add(void* in, void* inout, int* n, MPI_Datatype*) {
  for (int i = 0; i < *n; ++i) static_cast<int*>(inout)[i] += static_cast<int*>(in)[i];
}
void test_freed_early() {
  MPI_Datatype type;
  MPI_Type_contiguous(1, MPI_INT, &type);
  MPI_Type_commit(&type);
  MPI_Op op;
  MPI_Op_create(add, 1, &op);
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  std::vector<int> in(1000, world_rank), out(1000, -1);
  MPI_Request request;
  MPI_Iallreduce(in.data(), out.data(), 1000, type, op, comm, &request);
  MPI_Type_free(&type);
  MPI_Op_free(&op);
  MPI_Comm_free(&comm);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  for (int x : out) expect(x == world_size * (world_size - 1) / 2, "with what was freed");
}

// A nonblocking collective moves while its process waits for a message that depends on it.
void test_progress() {
  if (world_size == 1) return;
  int x = 1, y = 0, token = 0;
  MPI_Request request;
  MPI_Iallreduce(&x, &y, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
  if (world_rank == 0) {
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    for (int r = 1; r < world_size; ++r) MPI_Send(&token, 1, MPI_INT, r, 1, MPI_COMM_WORLD);
  } else {
    MPI_Recv(&token, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  expect(y == world_size, "progress within a receive");
}

}  // namespace

int main(int argc, char** argv) {
  begin(argc, argv);
  Random random(seed), own(seed * 31 + static_cast<unsigned>(world_rank));
  for (int i = 0; i < 8; ++i) test_any_order(random, own);
  test_persistent_together();
  test_freed_early();
  for (int i = 0; i < 50; ++i) test_progress();
  return end();
}
