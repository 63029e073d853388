// The common part of the tests of collectives. They are plain MPI programs, so that any MPI can judge the tests themselves.
//
// A buffer is checked int by int against what a sequential program computes, and everything that must not be written
// (gaps of datatypes, memory before and behind) against the sentinel that stood there before.
#pragma once

#include <mpi.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

namespace test {

inline int world_rank, world_size;
inline std::uint64_t seed = 1;
inline std::atomic<long> checks = 0;

[[noreturn]] inline void die(const std::string& what) {
  std::fprintf(stderr, "FAILED on rank %d of %d, seed %llu: %s\n", world_rank, world_size,
               static_cast<unsigned long long>(seed), what.c_str());
  MPI_Abort(MPI_COMM_WORLD, 1);
  std::abort();
}

inline void expect(bool good, const std::string& what) {
  ++checks;
  if (!good) die(what);
}

inline void begin(int argc, char** argv, int needed = MPI_THREAD_SINGLE) {
  int provided;
  MPI_Init_thread(&argc, &argv, needed, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
  MPI_Comm_size(MPI_COMM_WORLD, &world_size);
  if (argc > 1) seed = std::strtoull(argv[1], nullptr, 10);
  if (provided < needed) die("the thread level is too low");
}

inline int end() {
  MPI_Barrier(MPI_COMM_WORLD);
  if (world_rank == 0) {
    std::printf("passed: %ld checks on rank 0 of %d, seed %llu\n", checks.load(), world_size,
                static_cast<unsigned long long>(seed));
  }
  MPI_Finalize();
  return 0;
}

// The same numbers on every rank.
class Random {
 public:
  explicit Random(std::uint64_t s) : state_(s * 0x9e3779b97f4a7c15ull + 1) {}
  std::uint32_t operator()() {
    state_ ^= state_ << 13;
    state_ ^= state_ >> 7;
    state_ ^= state_ << 17;
    return static_cast<std::uint32_t>(state_ >> 16);
  }
  int below(int n) { return static_cast<int>((*this)() % static_cast<std::uint32_t>(n)); }

 private:
  std::uint64_t state_;
};

// A datatype of ints: where in an element its ints are, in the order of its stream.
struct Type {
  const char* name;
  MPI_Datatype handle;
  std::vector<int> offsets;  // in ints
  int extent;                // in ints

  int ints() const { return static_cast<int>(offsets.size()); }
};

inline Type make_type(const char* name, const std::vector<int>& offsets, int lb, int extent) {
  std::vector<int> ones(offsets.size(), 1);
  MPI_Datatype indexed, resized;
  MPI_Type_indexed(static_cast<int>(offsets.size()), ones.data(), offsets.data(), MPI_INT, &indexed);
  MPI_Type_create_resized(indexed, lb * static_cast<MPI_Aint>(sizeof(int)), extent * static_cast<MPI_Aint>(sizeof(int)),
                          &resized);
  MPI_Type_commit(&resized);
  MPI_Type_free(&indexed);
  return {name, resized, offsets, extent};
}

// Types of two ints each besides MPI_INT, so that any of them can receive what another one sent.
inline std::vector<Type> all_types() {
  return {{"int", MPI_INT, {0}, 1},
          make_type("pair", {0, 1}, 0, 2),
          make_type("gap", {0, 2}, 0, 4),
          make_type("swapped", {1, 0}, 0, 3),
          make_type("negative", {-1, 1}, -1, 3)};
}

// Memory for `count` elements of a type, with guards all around.
class Buffer {
 public:
  static constexpr int sentinel = -77;

  Buffer(const Type& type, MPI_Count count) : type_(type), count_(count) {
    memory_.assign(static_cast<std::size_t>(2 * guard + (count + 1) * type.extent), sentinel);
  }
  void clear() { memory_.assign(memory_.size(), sentinel); }
  void* data() { return memory_.data() + guard; }
  void* at(MPI_Count element) { return memory_.data() + guard + element * type_.extent; }
  MPI_Count count() const { return count_; }
  const Type& type() const { return type_; }

  // Int number `i` of the stream.
  int& operator[](MPI_Count i) {
    const MPI_Count n = type_.ints();
    return memory_[static_cast<std::size_t>(guard + i / n * type_.extent +
                                            type_.offsets[static_cast<std::size_t>(i % n)])];
  }
  // Ints [first, first + n) are f(0), f(1), ...
  void fill(MPI_Count first, MPI_Count n, const std::function<int(MPI_Count)>& f) {
    for (MPI_Count i = 0; i < n; ++i) (*this)[first + i] = f(i);
  }
  void verify(MPI_Count first, MPI_Count n, const std::function<int(MPI_Count)>& f, const std::string& what) {
    for (MPI_Count i = 0; i < n; ++i) {
      int& value = (*this)[first + i];
      if (value != f(i)) {
        die(what + ": int " + std::to_string(first + i) + " is " + std::to_string(value) + ", not " +
            std::to_string(f(i)));
      }
      value = sentinel;  // what is left over is checked by verify_rest
    }
    ++checks;
  }
  // Nothing but what was verified has been written. The buffer is clear again.
  void verify_rest(const std::string& what) {
    for (std::size_t i = 0; i < memory_.size(); ++i) {
      if (memory_[i] != sentinel) die(what + ": memory that is not its own was written");
    }
    ++checks;
  }

 private:
  static constexpr int guard = 16;
  Type type_;
  MPI_Count count_;
  std::vector<int> memory_;
};

// The three ways to call a collective.
enum class Mode { blocking, nonblocking, persistent };
inline constexpr Mode all_modes[] = {Mode::blocking, Mode::nonblocking, Mode::persistent};
inline const char* name_of(Mode mode) {
  return mode == Mode::blocking ? "blocking" : mode == Mode::nonblocking ? "nonblocking" : "persistent";
}

template <class Blocking, class Nonblocking, class Init>
struct Trio {
  const char* name;
  Blocking blocking;
  Nonblocking nonblocking;
  Init init;
};
template <class... T>
Trio(const char*, T...) -> Trio<T...>;

// Fills, calls and verifies; a persistent operation three times over.
template <class T, class Fill, class Verify, class... Args>
void exercise(Mode mode, const T& trio, Fill&& fill, Verify&& verify, Args... args) {
  MPI_Request request = MPI_REQUEST_NULL;
  switch (mode) {
    case Mode::blocking:
      fill();
      expect(trio.blocking(args...) == MPI_SUCCESS, trio.name);
      verify();
      break;
    case Mode::nonblocking:
      fill();
      expect(trio.nonblocking(args..., &request) == MPI_SUCCESS, trio.name);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
      expect(request == MPI_REQUEST_NULL, "the request is null after the wait");
      verify();
      break;
    case Mode::persistent:
      trio.init(args..., MPI_INFO_NULL, &request);
      for (int round = 0; round < 3; ++round) {
        fill();
        MPI_Start(&request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        verify();
      }
      MPI_Request_free(&request);
  }
}

inline const Trio barrier{"barrier", MPI_Barrier, MPI_Ibarrier, MPI_Barrier_init};
inline const Trio bcast{"bcast", MPI_Bcast, MPI_Ibcast, MPI_Bcast_init};
inline const Trio gather{"gather", MPI_Gather, MPI_Igather, MPI_Gather_init};
inline const Trio gatherv{"gatherv", MPI_Gatherv, MPI_Igatherv, MPI_Gatherv_init};
inline const Trio scatter{"scatter", MPI_Scatter, MPI_Iscatter, MPI_Scatter_init};
inline const Trio scatterv{"scatterv", MPI_Scatterv, MPI_Iscatterv, MPI_Scatterv_init};
inline const Trio allgather{"allgather", MPI_Allgather, MPI_Iallgather, MPI_Allgather_init};
inline const Trio allgatherv{"allgatherv", MPI_Allgatherv, MPI_Iallgatherv, MPI_Allgatherv_init};
inline const Trio alltoall{"alltoall", MPI_Alltoall, MPI_Ialltoall, MPI_Alltoall_init};
inline const Trio alltoallv{"alltoallv", MPI_Alltoallv, MPI_Ialltoallv, MPI_Alltoallv_init};
inline const Trio alltoallw{"alltoallw", MPI_Alltoallw, MPI_Ialltoallw, MPI_Alltoallw_init};
inline const Trio reduce{"reduce", MPI_Reduce, MPI_Ireduce, MPI_Reduce_init};
inline const Trio allreduce{"allreduce", MPI_Allreduce, MPI_Iallreduce, MPI_Allreduce_init};
inline const Trio reduce_scatter{"reduce_scatter", MPI_Reduce_scatter, MPI_Ireduce_scatter, MPI_Reduce_scatter_init};
inline const Trio reduce_scatter_block{"reduce_scatter_block", MPI_Reduce_scatter_block, MPI_Ireduce_scatter_block,
                                       MPI_Reduce_scatter_block_init};
inline const Trio scan{"scan", MPI_Scan, MPI_Iscan, MPI_Scan_init};
inline const Trio exscan{"exscan", MPI_Exscan, MPI_Iexscan, MPI_Exscan_init};

// Communicators of `size` processes and less, with the order of the ranks changed in some.
struct Communicator {
  std::string name;
  MPI_Comm comm;
  int rank, size;
};

inline Communicator describe(const std::string& name, MPI_Comm comm) {
  Communicator c{name, comm, 0, 0};
  MPI_Comm_rank(comm, &c.rank);
  MPI_Comm_size(comm, &c.size);
  return c;
}

// World, world backwards, world with every other process first, and world without its last process (who has that one alone, and
// draws other random numbers from there on).
inline std::vector<Communicator> all_communicators() {
  std::vector<Communicator> out{describe("world", MPI_COMM_WORLD)};
  MPI_Comm comm;
  MPI_Comm_split(MPI_COMM_WORLD, 0, -world_rank, &comm);
  out.push_back(describe("backwards", comm));
  if (world_size > 3) {
    MPI_Comm_split(MPI_COMM_WORLD, 0, world_rank % 2, &comm);
    out.push_back(describe("every other first", comm));
  }
  if (world_size > 2) {
    MPI_Comm_split(MPI_COMM_WORLD, world_rank == world_size - 1, world_rank, &comm);
    out.push_back(describe("all but one", comm));
  }
  return out;
}

inline void free_communicators(std::vector<Communicator>& all) {
  for (Communicator& c : all) {
    if (c.comm != MPI_COMM_WORLD) MPI_Comm_free(&c.comm);
  }
}

// Int `i` of what rank `from` sends to rank `to` (which is 0 where all get the same).
inline int value(int from, int to, MPI_Count i) {
  return (from + 1) * 1000003 + (to + 1) * 10007 + static_cast<int>(i) * 31;
}

}  // namespace test
