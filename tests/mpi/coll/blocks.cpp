// Gather and scatter with blocks on both sides of every border: what lies beside its label, in a slot of its own, in a deposit,
// or comes as a message. Every root, in place, layouts on both sides, and vector variants whose blocks differ so that each is on
// another side; alternating with other operations that use the same memory, and many at once, so that ranks run ahead of the
// root. With the argument `full` the node has no memory for deposits; nor for long messages with layouts, so that there are none.
#include "harness.hpp"

using namespace test;

namespace {

// The lengths of blocks, in pairs of ints: around 240 bytes (beside the label), 4 KiB (a slot, between ranks of one process) and 16 KiB (between
// processes); then around 64 and 256 KiB (a deposit), and several MiB.
constexpr int lengths[] = {0,    1,    29,   30,   31,   511,   512,   513,   2047,  2048,
                           2049, 5001, 8191, 8192, 8193, 32767, 32768, 32769, 300001};
constexpr int border_count = sizeof lengths / sizeof *lengths;
constexpr int first_long = 12;  // from there on one root each is enough

int elements(const Type& type, int pairs) { return pairs * 2 / type.ints(); }

struct Blocks {
  std::vector<int> counts, displs;  // in elements of the type, backwards and with gaps
  int total = 0;
};

// The length of block r; long ones are together with short ones, but only where the first is long, as they take their time.
int pairs_of(int r, int first, int step) {
  return lengths[(first + r * step) % (first < first_long ? first_long : border_count)];
}

Blocks blocks_of(const Communicator& c, const Type& type, int first, int step) {
  Blocks b;
  for (int r = 0; r < c.size; ++r) {
    b.counts.push_back(elements(type, pairs_of(r, first, step)));
    b.total += b.counts.back() + 1;
  }
  int at = b.total;
  for (const int n : b.counts) b.displs.push_back(at -= n + 1);
  return b;
}

struct Case {
  const Communicator& c;
  const Type& sends;
  const Type& receives;
  int first, step;  // of lengths; step 0: all alike, and the regular call
  int root;
  bool in_place;

  std::string text(const char* what) const {
    return std::string(what) + " on " + c.name + ", " + sends.name + " to " + receives.name + ", length " +
           std::to_string(lengths[first]) + " step " + std::to_string(step) + ", root " + std::to_string(root) +
           (in_place ? ", in place" : "");
  }
};

void test_gather(const Case& t) {
  const bool at_root = t.c.rank == t.root, in_place = t.in_place && at_root;
  const int pairs = pairs_of(t.c.rank, t.first, t.step), n = elements(t.sends, pairs);
  Blocks b = blocks_of(t.c, t.receives, t.first, t.step);
  Buffer mine(t.sends, n), all(t.receives, b.total);
  const auto place = [&](int r) {
    const MPI_Count at = t.step == 0 ? static_cast<MPI_Count>(r) * b.counts[0] : b.displs[static_cast<std::size_t>(r)];
    return at * t.receives.ints();
  };
  const auto own = [&](MPI_Count i) { return value(t.c.rank, 0, i); };
  if (in_place) {
    all.fill(place(t.root), 2 * pairs, own);
  } else {
    mine.fill(0, 2 * pairs, own);
  }
  const void* from = in_place ? MPI_IN_PLACE : mine.data();
  int error;
  if (t.step == 0) {
    error = MPI_Gather(from, n, t.sends.handle, all.data(), b.counts[0], t.receives.handle, t.root, t.c.comm);
  } else {
    error = MPI_Gatherv(from, n, t.sends.handle, all.data(), b.counts.data(), b.displs.data(), t.receives.handle,
                        t.root, t.c.comm);
  }
  expect(error == MPI_SUCCESS, t.text("gather"));
  for (int r = 0; at_root && r < t.c.size; ++r)
    all.verify(
        place(r), 2 * pairs_of(r, t.first, t.step), [&](MPI_Count i) { return value(r, 0, i); }, t.text("gather"));
  all.verify_rest(t.text("gather"));
}

void test_scatter(const Case& t) {
  const bool at_root = t.c.rank == t.root, in_place = t.in_place && at_root;
  const int pairs = pairs_of(t.c.rank, t.first, t.step), n = elements(t.receives, pairs);
  Blocks b = blocks_of(t.c, t.sends, t.first, t.step);
  Buffer all(t.sends, b.total), mine(t.receives, n);
  for (int r = 0; at_root && r < t.c.size; ++r) {
    const MPI_Count at = t.step == 0 ? static_cast<MPI_Count>(r) * b.counts[0] : b.displs[static_cast<std::size_t>(r)];
    all.fill(at * t.sends.ints(), 2 * pairs_of(r, t.first, t.step), [&](MPI_Count i) { return value(t.root, r, i); });
  }
  void* to = in_place ? MPI_IN_PLACE : mine.data();
  int error;
  if (t.step == 0) {
    error = MPI_Scatter(all.data(), b.counts[0], t.sends.handle, to, n, t.receives.handle, t.root, t.c.comm);
  } else {
    error = MPI_Scatterv(all.data(), b.counts.data(), b.displs.data(), t.sends.handle, to, n, t.receives.handle, t.root,
                         t.c.comm);
  }
  expect(error == MPI_SUCCESS, t.text("scatter"));
  if (!in_place)
    mine.verify(
        0, 2 * pairs, [&](MPI_Count i) { return value(t.root, t.c.rank, i); }, t.text("scatter"));
  mine.verify_rest(t.text("scatter"));
}

// Ranks that need not wait are many operations ahead of the root, or of the last one that receives.
void run_ahead(const Communicator& c) {
  std::vector<int> all(static_cast<std::size_t>(c.size));
  for (int i = 0; i < 200; ++i) {
    const int root = i / 50 % c.size, mine = c.rank + i;
    MPI_Gather(&mine, 1, MPI_INT, all.data(), 1, MPI_INT, root, c.comm);
    for (int r = 0; c.rank == root && r < c.size; ++r)
      expect(all[static_cast<std::size_t>(r)] == r + i, "a gather of many");
  }
  for (int i = 0; i < 200; ++i) {
    const int root = i / 50 % c.size;
    int mine = -1;
    for (int r = 0; r < c.size; ++r) all[static_cast<std::size_t>(r)] = r * i;
    MPI_Scatter(all.data(), 1, MPI_INT, &mine, 1, MPI_INT, root, c.comm);
    expect(mine == c.rank * i, "a scatter of many");
  }
}

// The same with blocks for deposits, of other lengths each time, whose first and last bytes are looked at. A sender is not delayed, and
// no block is overwritten before it is read.
void run_ahead_with_long_blocks(const Communicator& c) {
  constexpr int most = 8200, least = 4000;
  const auto n = [](int i) { return most - i * 97 % (most - least); };
  std::vector<int> mine(most), all(static_cast<std::size_t>(c.size) * most);
  const auto holds = [&](int r, int i, int what) {
    const int* block = all.data() + static_cast<std::ptrdiff_t>(r) * n(i);
    return block[0] == what && block[n(i) - 1] == what;
  };
  for (int i = 0; i < 60; ++i) {
    const int root = i < 30 ? i / 10 % c.size : i % c.size;
    std::fill(mine.begin(), mine.end(), c.rank + i);
    MPI_Gather(mine.data(), n(i), MPI_INT, all.data(), n(i), MPI_INT, root, c.comm);
    for (int r = 0; c.rank == root && r < c.size; ++r) expect(holds(r, i, r + i), "a long gather of many");
    if (i % 4 == 3) {
      for (int r = 0; r < c.size; ++r) std::fill_n(all.begin() + static_cast<std::ptrdiff_t>(r) * n(i), n(i), r * i);
      MPI_Scatter(all.data(), n(i), MPI_INT, mine.data(), n(i), MPI_INT, root, c.comm);
      expect(mine[0] == c.rank * i && mine[static_cast<std::size_t>(n(i)) - 1] == c.rank * i, "a long scatter of many");
    }
    if (i % 11 == 10) MPI_Barrier(c.comm);
  }
}

// All memory of the node that is left, in windows of this process alone; the larger pieces first.
std::vector<MPI_Win> take_all() {
  std::vector<MPI_Win> out;
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  for (MPI_Aint bytes = MPI_Aint{1} << 34; bytes >= 4096;) {
    void* memory;
    MPI_Win window;
    if (MPI_Win_allocate_shared(bytes, 1, MPI_INFO_NULL, MPI_COMM_SELF, static_cast<void*>(&memory), &window) ==
        MPI_SUCCESS) {
      out.push_back(window);
    } else {
      bytes /= 2;
    }
  }
  return out;
}

// Another operation in the same memory, and one of messages: all are in step.
void others(const Communicator& c, int i) {
  int x = c.rank + i, sum = 0;
  MPI_Allreduce(&x, &sum, 1, MPI_INT, MPI_SUM, c.comm);
  expect(sum == c.size * (c.size - 1) / 2 + c.size * i, "an allreduce in between");
  MPI_Request request;
  MPI_Iallreduce(&x, &sum, 1, MPI_INT, MPI_MAX, c.comm, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  expect(sum == c.size - 1 + i, "an iallreduce in between");
}

}  // namespace

int main(int argc, char** argv) {
  begin(argc, argv);
  Random random(seed);
  std::vector<Type> types = all_types();
  std::vector<Communicator> communicators = all_communicators();
  std::vector<MPI_Win> windows;
  const bool full = argc > 2 && std::string(argv[2]) == "full";
  if (full) {
    for (const Communicator& c : communicators) MPI_Barrier(c.comm);  // they have their memory
    if (world_rank == 0) windows = take_all();
    MPI_Barrier(MPI_COMM_WORLD);
  }
  const auto pick = [&]() -> const Type& {
    return types[full ? 0 : static_cast<std::size_t>(random.below(static_cast<int>(types.size())))];
  };
  for (const Communicator& c : communicators) {
    for (int first = 0; first < border_count; ++first) {
      const bool is_long = first >= first_long;
      for (int root = is_long ? first % c.size : 0; root < c.size; root += is_long ? c.size : 1) {
        const int step = 1 + random.below(border_count - 1);
        const bool in_place = random.below(2) == 1;
        test_gather({c, pick(), pick(), first, 0, root, in_place});
        test_scatter({c, pick(), pick(), first, 0, root, in_place});
        test_gather({c, pick(), pick(), first, step, root, !in_place});
        test_scatter({c, pick(), pick(), first, step, root, !in_place});
      }
      others(c, first);
    }
    run_ahead(c);
    run_ahead_with_long_blocks(c);
  }
  for (MPI_Win& window : windows) MPI_Win_free(&window);
  free_communicators(communicators);
  for (Type& type : types)
    if (type.handle != MPI_INT) MPI_Type_free(&type.handle);
  return end();
}
