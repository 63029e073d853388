// Collectives that one process is refused, for an argument that only it has wrong: it gets the error, and what follows on the
// communicator meets the right operations of the others, whose calls were good.
#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <thread>

#include "harness.hpp"

using namespace test;

namespace {

int refused_rank;
bool is_refused() { return world_rank == refused_rank; }

void expect_class(int code, int wanted, const std::string& what) {
  int error_class = MPI_SUCCESS;
  if (code != MPI_SUCCESS) MPI_Error_class(code, &error_class);
  expect(error_class == wanted, what + ": class " + std::to_string(error_class) + ", not " + std::to_string(wanted));
}

// By messages, and in shared memory.
void expect_in_step(MPI_Comm comm, const std::string& after) {
  for (int i = 0; i < 3; ++i) {
    int mine = world_rank + i, sum = 0;
    MPI_Request request;
    MPI_Iallreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, comm, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    expect(sum == world_size * (world_size - 1) / 2 + i * world_size, "in step after " + after);
    std::vector<int> all(static_cast<std::size_t>(world_size), -1);
    const std::vector<int> counts(all.size(), 1);
    std::vector<int> displs(all.size());
    for (int r = 0; r < world_size; ++r) displs[static_cast<std::size_t>(r)] = r;
    MPI_Allgatherv(&mine, 1, MPI_INT, all.data(), counts.data(), displs.data(), MPI_INT, comm);
    for (int r = 0; r < world_size; ++r) expect(all[static_cast<std::size_t>(r)] == r + i, "allgatherv after " + after);
    MPI_Barrier(comm);
  }
}

// The arguments of calls. It stays until the end, since the others' operations may never be over.
struct Arguments {
  std::vector<int> in, out, counts, displs, places, bad_counts;
  std::vector<MPI_Aint> wide_places;
  std::vector<MPI_Datatype> types, bad_types;

  Arguments() {
    const auto n = static_cast<std::size_t>(world_size);
    in.assign(2 * n, world_rank);
    out.assign(2 * n, -1);
    counts.assign(n + 2, 1);
    types.assign(n + 2, MPI_INT);
    for (std::size_t i = 0; i < n + 2; ++i) {
      displs.push_back(static_cast<int>(i % n));
      places.push_back(static_cast<int>(i % n * sizeof(int)));
      wide_places.push_back(places.back());
    }
    bad_counts = counts;
    bad_counts[n - 1] = bad_counts[1] = -1;
    bad_types = types;
    bad_types[0] = MPI_DATATYPE_NULL;
  }
};

struct Case {
  const char* name;
  // `type` is MPI_DATATYPE_NULL on the process that is to be refused, and `a.counts` has a negative one.
  std::function<int(Arguments& a, MPI_Datatype type, MPI_Comm comm, MPI_Request* request)> call;
};

std::vector<Case> nonblocking() {
  return {
      {"Igather",
       [](auto& a, auto t, auto c, auto* r) { return MPI_Igather(a.in.data(), 1, t, a.out.data(), 1, t, 0, c, r); }},
      {"Igatherv",
       [](auto& a, auto t, auto c, auto* r) {
         return MPI_Igatherv(a.in.data(), 1, t, a.out.data(), a.counts.data(), a.displs.data(), t, 0, c, r);
       }},
      {"Iscatter",
       [](auto& a, auto t, auto c, auto* r) { return MPI_Iscatter(a.in.data(), 1, t, a.out.data(), 1, t, 0, c, r); }},
      {"Iscatterv",
       [](auto& a, auto t, auto c, auto* r) {
         return MPI_Iscatterv(a.in.data(), a.counts.data(), a.displs.data(), t, a.out.data(), 1, t, 0, c, r);
       }},
      {"Iallgather",
       [](auto& a, auto t, auto c, auto* r) { return MPI_Iallgather(a.in.data(), 1, t, a.out.data(), 1, t, c, r); }},
      {"Iallgatherv",
       [](auto& a, auto t, auto c, auto* r) {
         return MPI_Iallgatherv(a.in.data(), 1, t, a.out.data(), a.counts.data(), a.displs.data(), t, c, r);
       }},
      {"Ialltoall",
       [](auto& a, auto t, auto c, auto* r) { return MPI_Ialltoall(a.in.data(), 1, t, a.out.data(), 1, t, c, r); }},
      {"Ialltoallv",
       [](auto& a, auto t, auto c, auto* r) {
         return MPI_Ialltoallv(a.in.data(), a.counts.data(), a.displs.data(), t, a.out.data(), a.counts.data(),
                               a.displs.data(), t, c, r);
       }},
      {"Ialltoallw",
       [](auto& a, auto t, auto c, auto* r) {
         const auto& types = t == MPI_INT ? a.types : a.bad_types;
         return MPI_Ialltoallw(a.in.data(), a.counts.data(), a.places.data(), types.data(), a.out.data(),
                               a.counts.data(), a.places.data(), types.data(), c, r);
       }},
      {"Ibcast", [](auto& a, auto t, auto c, auto* r) { return MPI_Ibcast(a.out.data(), 1, t, 0, c, r); }},
      {"Ireduce",
       [](auto& a, auto t, auto c, auto* r) { return MPI_Ireduce(a.in.data(), a.out.data(), 1, t, MPI_SUM, 0, c, r); }},
      {"Iallreduce",
       [](auto& a, auto t, auto c, auto* r) { return MPI_Iallreduce(a.in.data(), a.out.data(), 1, t, MPI_SUM, c, r); }},
      {"Ireduce_scatter",
       [](auto& a, auto t, auto c, auto* r) {
         return MPI_Ireduce_scatter(a.in.data(), a.out.data(), a.counts.data(), t, MPI_SUM, c, r);
       }},
      {"Iscan",
       [](auto& a, auto t, auto c, auto* r) { return MPI_Iscan(a.in.data(), a.out.data(), 1, t, MPI_SUM, c, r); }},
      {"Gatherv_init",
       [](auto& a, auto t, auto c, auto* r) {
         return MPI_Gatherv_init(a.in.data(), 1, t, a.out.data(), a.counts.data(), a.displs.data(), t, 0, c,
                                 MPI_INFO_NULL, r);
       }},
      {"Bcast_init",
       [](auto& a, auto t, auto c, auto* r) { return MPI_Bcast_init(a.out.data(), 1, t, 0, c, MPI_INFO_NULL, r); }},
      {"Ineighbor_allgather",
       [](auto& a, auto t, auto c, auto* r) {
         return MPI_Ineighbor_allgather(a.in.data(), 1, t, a.out.data(), 1, t, c, r);
       }},
      {"Ineighbor_alltoallv",
       [](auto& a, auto t, auto c, auto* r) {
         return MPI_Ineighbor_alltoallv(a.in.data(), a.counts.data(), a.displs.data(), t, a.out.data(), a.counts.data(),
                                        a.displs.data(), t, c, r);
       }},
      {"Ineighbor_alltoallw",
       [](auto& a, auto t, auto c, auto* r) {
         const auto& types = t == MPI_INT ? a.types : a.bad_types;
         return MPI_Ineighbor_alltoallw(a.in.data(), a.counts.data(), a.wide_places.data(), types.data(), a.out.data(),
                                        a.counts.data(), a.wide_places.data(), types.data(), c, r);
       }},
  };
}

// The others' operations may wait for ever for what the refused one does not send; they are given up.
void refuse_one(const Case& operation, std::vector<std::unique_ptr<Arguments>>& kept, MPI_Comm comm) {
  Arguments& a = *kept.emplace_back(std::make_unique<Arguments>());
  MPI_Request request = MPI_REQUEST_NULL;
  const int code = operation.call(a, is_refused() ? MPI_DATATYPE_NULL : MPI_INT, comm, &request);
  expect_class(code, is_refused() ? MPI_ERR_TYPE : MPI_SUCCESS, operation.name);
  expect((request == MPI_REQUEST_NULL) == is_refused(), "a request where there is no error");
  if (request != MPI_REQUEST_NULL) MPI_Request_free(&request);
  expect_in_step(comm, operation.name);
}

// Blocking ones. The root of a gather is refused: the others have only to send.
void refused_roots(MPI_Comm comm) {
  if (refused_rank != 0) return;
  Arguments a;
  if (is_refused()) a.counts = a.bad_counts;
  const int wanted = is_refused() ? MPI_ERR_COUNT : MPI_SUCCESS;
  expect_class(MPI_Gatherv(a.in.data(), 1, MPI_INT, a.out.data(), a.counts.data(), a.displs.data(), MPI_INT, 0, comm),
               wanted, "Gatherv");
  expect_in_step(comm, "Gatherv");
  expect_class(MPI_Gather(a.in.data(), 1, MPI_INT, is_refused() ? a.in.data() : a.out.data(), 1, MPI_INT, 0, comm),
               is_refused() ? MPI_ERR_BUFFER : MPI_SUCCESS, "Gather");
  expect_in_step(comm, "Gather");
}

// A leaf of a scatter is refused: the root has only to send.
void refused_leaves(MPI_Comm comm) {
  if (refused_rank == 0) return;
  Arguments a;
  const int count = is_refused() ? -1 : 1;
  expect_class(
      MPI_Scatterv(a.in.data(), a.counts.data(), a.displs.data(), MPI_INT, a.out.data(), count, MPI_INT, 0, comm),
      is_refused() ? MPI_ERR_COUNT : MPI_SUCCESS, "Scatterv");
  expect_in_step(comm, "Scatterv");
}

// In shared memory those who would get a block of a refused process are told, also a root that sleeps by then and hears nothing else of it. By
// messages, as between nodes, they would wait for ever.
void refused_senders(MPI_Comm comm) {
  MPI_Comm node;
  int on_node;
  MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
  MPI_Comm_size(node, &on_node);
  MPI_Comm_free(&node);
  if (on_node != world_size) return;
  Arguments a;
  const auto n = static_cast<std::size_t>(world_size);
  const int root = world_size - 1 - refused_rank, count = is_refused() ? -1 : 1;
  const bool is_root = world_rank == root;
  int* word = nullptr;  // all see it; to ask it is no call
  MPI_Win window;
  MPI_Win_allocate_shared(is_root ? sizeof(int) : 0, sizeof(int), MPI_INFO_NULL, comm, &word, &window);
  MPI_Aint bytes;
  int unit;
  MPI_Win_shared_query(window, root, &bytes, &unit, &word);
  std::atomic_ref root_is_through(*word);
  if (is_root) root_is_through = 0;
  MPI_Barrier(comm);
  if (is_refused()) std::this_thread::sleep_for(std::chrono::milliseconds(20));
  expect_class(MPI_Gather(a.in.data(), count, MPI_INT, a.out.data(), 1, MPI_INT, root, comm),
               is_refused() ? MPI_ERR_COUNT
               : is_root    ? MPI_ERR_OTHER
                            : MPI_SUCCESS,
               "Gather from a refused process");
  if (is_root) root_is_through = 1;
  while (is_refused() && root_is_through == 0) std::this_thread::sleep_for(std::chrono::microseconds(100));
  MPI_Win_free(&window);
  for (std::size_t r = 0; is_root && r < n; ++r)
    expect(a.out[r] == (static_cast<int>(r) == refused_rank ? -1 : static_cast<int>(r)), "the blocks of the others");
  expect_in_step(comm, "Gather from a refused process");
  if (is_refused()) a.counts = a.bad_counts;
  expect_class(MPI_Scatterv(a.in.data(), a.counts.data(), a.displs.data(), MPI_INT, a.out.data(), 1, MPI_INT,
                            refused_rank, comm),
               is_refused() ? MPI_ERR_COUNT : MPI_ERR_OTHER, "Scatterv of a refused root");
  expect_in_step(comm, "Scatterv of a refused root");
}

// The own block is given as both source and destination. All else arrives everywhere.
void aliased(MPI_Comm comm) {
  const int wanted = is_refused() ? MPI_ERR_BUFFER : MPI_SUCCESS;
  const auto me = static_cast<std::size_t>(world_rank), n = static_cast<std::size_t>(world_size);
  const auto expect_from_all = [&](const Arguments& a, const char* what) {
    for (std::size_t r = 0; r < n; ++r)
      expect(a.out[r] == static_cast<int>(r), std::string(what) + ": the block of " + std::to_string(r));
  };
  {
    Arguments a;
    a.out[me] = world_rank;
    expect_class(MPI_Allgatherv(is_refused() ? &a.out[me] : a.in.data(), 1, MPI_INT, a.out.data(), a.counts.data(),
                                a.displs.data(), MPI_INT, comm),
                 wanted, "Allgatherv");
    expect_from_all(a, "Allgatherv");
    expect_in_step(comm, "Allgatherv");
  }
  {
    Arguments a;
    if (is_refused()) a.out = a.in;
    expect_class(MPI_Alltoallv(is_refused() ? a.out.data() : a.in.data(), a.counts.data(), a.displs.data(), MPI_INT,
                               a.out.data(), a.counts.data(), a.displs.data(), MPI_INT, comm),
                 wanted, "Alltoallv");
    expect_from_all(a, "Alltoallv");
    expect_in_step(comm, "Alltoallv");
  }
  {
    Arguments a;
    if (is_refused()) a.out = a.in;
    expect_class(MPI_Alltoallw(is_refused() ? a.out.data() : a.in.data(), a.counts.data(), a.places.data(),
                               a.types.data(), a.out.data(), a.counts.data(), a.places.data(), a.types.data(), comm),
                 wanted, "Alltoallw");
    expect_from_all(a, "Alltoallw");
    expect_in_step(comm, "Alltoallw");
  }
  if (refused_rank != 0) return;
  Arguments a;
  for (std::size_t r = 0; r < n; ++r) a.in[r] = static_cast<int>(r);
  expect_class(MPI_Scatterv(a.in.data(), a.counts.data(), a.displs.data(), MPI_INT,
                            is_refused() ? a.in.data() : a.out.data(), 1, MPI_INT, 0, comm),
               wanted, "Scatterv");
  if (!is_refused()) expect(a.out[0] == world_rank, "what the root has sent");
  expect_in_step(comm, "Scatterv of a root that is refused");
}

}  // namespace

int main(int argc, char** argv) {
  begin(argc, argv);
  std::vector<std::unique_ptr<Arguments>> kept;
  for (refused_rank = 0; refused_rank < world_size; refused_rank += world_size - 1) {
    MPI_Comm comm;
    const int dims[] = {world_size}, periods[] = {1};
    MPI_Cart_create(MPI_COMM_WORLD, 1, dims, periods, 0, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    for (const Case& operation : nonblocking()) refuse_one(operation, kept, comm);
    refused_roots(comm);
    refused_leaves(comm);
    aliased(comm);
    refused_senders(comm);
    MPI_Comm_free(&comm);
  }
  return end();
}
