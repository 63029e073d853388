// Memory of another process, which the kernel reads and writes for us: what it is asked for is what an operation moves, not more, so
// that long operations take time in proportion to their length, whatever the datatypes at both sides. The calls of the C library that
// do it are counted here.
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <numeric>

#include "harness.hpp"

using namespace test;

namespace {

struct Counted {
  std::size_t calls = 0;
  std::size_t asked_here = 0;   // bytes in the lists for our memory,
  std::size_t asked_there = 0;  // and for that of the other process
  std::size_t moved = 0;
};
Counted counted;
bool one_node;

std::size_t bytes_in(const iovec* list, unsigned long n) {
  return std::accumulate(list, list + n, std::size_t{0},
                         [](std::size_t sum, const iovec& v) { return sum + v.iov_len; });
}

ssize_t count_call(long number, pid_t pid, const iovec* here, unsigned long n_here, const iovec* there,
                   unsigned long n_there, unsigned long flags) {
  const ssize_t moved = syscall(number, pid, here, n_here, there, n_there, flags);
  ++counted.calls;
  counted.asked_here += bytes_in(here, n_here);
  counted.asked_there += bytes_in(there, n_there);
  if (moved > 0) counted.moved += static_cast<std::size_t>(moved);
  return moved;
}

}  // namespace

// In the place of the C library's.
extern "C" [[gnu::visibility("default")]] ssize_t process_vm_readv(pid_t pid, const iovec* here, unsigned long n_here,
                                                                   const iovec* there, unsigned long n_there,
                                                                   unsigned long flags) noexcept {
  return count_call(SYS_process_vm_readv, pid, here, n_here, there, n_there, flags);
}
extern "C" [[gnu::visibility("default")]] ssize_t process_vm_writev(pid_t pid, const iovec* here, unsigned long n_here,
                                                                    const iovec* there, unsigned long n_there,
                                                                    unsigned long flags) noexcept {
  return count_call(SYS_process_vm_writev, pid, here, n_here, there, n_there, flags);
}

namespace {

constexpr int elements = 20'000;

// Layouts of `elements` elements of int64_t in at most twice as much memory.
struct Layout {
  const char* name;
  std::size_t runs;  // contiguous
  MPI_Datatype type;
  std::vector<int> places;  // of the elements in the order of the stream
};

std::vector<Layout> layouts() {
  std::vector<Layout> all;
  std::vector<int> places(elements);
  const auto add = [&](const char* name, std::size_t runs, MPI_Datatype type) {
    MPI_Type_commit(&type);
    all.push_back({name, runs, type, places});
  };
  MPI_Datatype type, inner;
  std::iota(places.begin(), places.end(), 0);
  MPI_Type_contiguous(elements, MPI_INT64_T, &type);
  add("contiguous", 1, type);
  for (int i = 0; i < elements; ++i) places[i] = 2 * i;
  MPI_Type_vector(elements, 1, 2, MPI_INT64_T, &type);
  add("every second", elements, type);
  for (int i = 0; i < elements; ++i) places[i] = i / 1000 * 2000 + i % 1000;
  MPI_Type_vector(elements / 1000, 1000, 2000, MPI_INT64_T, &type);
  add("long blocks", elements / 1000, type);
  for (int i = 0; i < elements; ++i) places[i] = 2 * (elements - 1 - i);
  MPI_Type_create_hvector(elements, 1, -16, MPI_INT64_T, &inner);
  const MPI_Aint last = 16 * (elements - 1);
  const int once = 1;
  MPI_Type_create_hindexed(1, &once, &last, inner, &type);
  MPI_Type_free(&inner);
  add("backwards", elements, type);
  std::vector<int> lengths;
  std::vector<int> starts;
  for (int i = 0, at = 0; i < elements; at += 2 * lengths.back()) {
    lengths.push_back(std::min(1 + i % 7, elements - i));
    starts.push_back(at);
    for (int j = 0; j < lengths.back(); ++j) places[i++] = at + j;
  }
  MPI_Type_indexed(static_cast<int>(lengths.size()), lengths.data(), starts.data(), MPI_INT64_T, &type);
  add("indexed", lengths.size(), type);
  return all;
}

enum class Operation { put, get, accumulate, get_accumulate };
constexpr Operation operations[] = {Operation::put, Operation::get, Operation::accumulate, Operation::get_accumulate};

// Between nodes the kernel is asked for nothing: data go by messages.
void check_counts(const char* what, std::size_t bytes, std::size_t most_calls) {
  if (!one_node) bytes = most_calls = 0;
  equal(static_cast<long long>(counted.moved), static_cast<long long>(bytes), what);
  equal(static_cast<long long>(counted.asked_here), static_cast<long long>(bytes), what);
  equal(static_cast<long long>(counted.asked_there), static_cast<long long>(bytes), what);
  if (counted.calls > most_calls)
    std::fprintf(stderr, "%s: %zu calls for %zu bytes, %zu are enough\n", what, counted.calls, bytes, most_calls);
  check(counted.calls <= most_calls, what);
}

// One operation of rank 0 on rank 1, of layout to layout.
void operate(Window<std::int64_t>& window, Operation operation, const Layout& here, const Layout& there) {
  window.fill(5);
  MPI_Barrier(MPI_COMM_WORLD);
  const auto bytes = static_cast<std::size_t>(elements) * sizeof(std::int64_t);
  if (rank() == 0) {
    std::vector<std::int64_t> ours(2 * elements, -1), result(2 * elements, -1);
    for (int i = 0; i < elements; ++i) ours[here.places[i]] = i;
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, window.win);
    counted = {};
    switch (operation) {
      case Operation::put:
        MPI_Put(ours.data(), 1, here.type, 1, window.disp(1), 1, there.type, window.win);
        break;
      case Operation::get:
        MPI_Get(ours.data(), 1, here.type, 1, window.disp(1), 1, there.type, window.win);
        break;
      case Operation::accumulate:
        MPI_Accumulate(ours.data(), 1, here.type, 1, window.disp(1), 1, there.type, MPI_SUM, window.win);
        break;
      case Operation::get_accumulate:
        MPI_Get_accumulate(ours.data(), 1, here.type, result.data(), 1, here.type, 1, window.disp(1), 1, there.type,
                           MPI_SUM, window.win);
        break;
    }
    // A list holds at least 64 entries, and combining needs the data here, of which it takes at least 4 KiB at a time.
    const bool combines = operation == Operation::accumulate || operation == Operation::get_accumulate;
    const std::size_t runs =
        combines ? 2 * (there.runs / 64 + 2 * (bytes / 4096 + 1)) : (here.runs + there.runs) / 64 + 2;
    check_counts(there.name, combines ? 2 * bytes : bytes, runs);
    MPI_Win_unlock(1, window.win);
    for (int i = 0; i < elements; ++i) {
      if (operation == Operation::get) equal(ours[here.places[i]], 5, there.name);
      if (operation == Operation::get_accumulate) equal(result[here.places[i]], 5, there.name);
    }
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank() == 1) {
    const std::int64_t before = operation == Operation::put ? 0 : 5;
    const std::int64_t factor = operation == Operation::get ? 0 : 1;
    std::int64_t sum = 0;
    for (int i = 0; i < elements; ++i) equal(window.data[there.places[i]], before + factor * i, there.name);
    for (int i = 0; i < 2 * elements; ++i) sum += window.data[i];
    const std::int64_t n = elements;
    equal(sum, 5 * n + n * before + factor * n * (n - 1) / 2, "nothing else has changed");
  }
}

// Operations on one element ask for that element.
void single(Window<std::int64_t>& window) {
  window.fill(5);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank() == 0) {
    const std::int64_t seven = 7, twelve = 12;
    std::int64_t fetched = -1;
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, window.win);
    counted = {};
    MPI_Fetch_and_op(&seven, &fetched, MPI_INT64_T, 1, window.disp(1, 3), MPI_SUM, window.win);
    check_counts("fetch_and_op", 16, 2);
    MPI_Win_flush(1, window.win);
    equal(fetched, 5, "fetched");
    counted = {};
    MPI_Compare_and_swap(&seven, &twelve, &fetched, MPI_INT64_T, 1, window.disp(1, 3), window.win);
    check_counts("compare_and_swap", 16, 2);
    MPI_Win_flush(1, window.win);
    equal(fetched, 12, "compared");
    MPI_Win_unlock(1, window.win);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank() == 1) equal(window.data[3], 7, "swapped");
}

}  // namespace

int main(int argc, char** argv) {
  const Session session(&argc, &argv);
  one_node = shares_memory();
  std::vector<Layout> all = layouts();
  for (Flavor flavor : {Flavor::create, Flavor::dynamic}) {
    Window<std::int64_t> window(flavor, 2 * elements);
    for (Operation operation : operations) {
      for (const Layout& there : all) operate(window, operation, all[0], there);
      for (const Layout& here : all) operate(window, operation, here, all[1]);
    }
    single(window);
  }
  for (Layout& layout : all) MPI_Type_free(&layout.type);
}
