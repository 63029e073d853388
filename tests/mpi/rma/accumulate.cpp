// Operations that combine: every predefined operation against MPI_Reduce_local, fetching, comparing, derived datatypes and
// pairs at both sides, and atomicity with many ranks and threads.
#include <cstdint>
#include <string>

#include "harness.hpp"

using namespace test;

namespace {

struct DoubleInt {
  double value;
  int index;
};

template <class T>
void operation(Flavor flavor, MPI_Datatype type, MPI_Op op, const char* what) {
  constexpr int n = 3000;  // more than one piece
  Window<T> window(flavor, n);
  std::vector<T> operand(n), expected(n), fetched(n);
  for (int i = 0; i < n; ++i) {
    window.data[i] = static_cast<T>(i % 11);
    operand[i] = static_cast<T>((i * 3 + 1) % 7);
    expected[i] = window.data[i];
  }
  const std::vector<T> before = expected;
  if (op == MPI_REPLACE) {
    expected = operand;
  } else if (op != MPI_NO_OP) {
    MPI_Reduce_local(operand.data(), expected.data(), n, type, op);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  const int target = (rank() + 1) % size();
  MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, window.win);
  MPI_Get_accumulate(operand.data(), n, type, fetched.data(), n, type, target, window.disp(target), n, type, op,
                     window.win);
  MPI_Win_unlock(target, window.win);
  MPI_Barrier(MPI_COMM_WORLD);
  for (int i = 0; i < n; ++i) {
    check(fetched[i] == before[i], what);
    check(window.data[i] == expected[i], what);
    window.data[i] = before[i];
  }
  if (op == MPI_NO_OP) return;
  MPI_Win_fence(0, window.win);
  MPI_Accumulate(operand.data(), n, type, target, window.disp(target), n, type, op, window.win);
  MPI_Win_fence(0, window.win);
  for (int i = 0; i < n; ++i) check(window.data[i] == expected[i], what);
}

void operations(Flavor flavor) {
  const struct {
    MPI_Op op;
    const char* name;
    bool integers_only;
  } ops[] = {{MPI_SUM, "sum", false},  {MPI_PROD, "prod", false},       {MPI_MAX, "max", false},
             {MPI_MIN, "min", false},  {MPI_LAND, "land", true},        {MPI_LOR, "lor", true},
             {MPI_LXOR, "lxor", true}, {MPI_BAND, "band", true},        {MPI_BOR, "bor", true},
             {MPI_BXOR, "bxor", true}, {MPI_REPLACE, "replace", false}, {MPI_NO_OP, "no_op", false}};
  for (const auto& [op, what, integers_only] : ops) {
    operation<int>(flavor, MPI_INT, op, what);
    operation<std::uint8_t>(flavor, MPI_UINT8_T, op, what);
    if (!integers_only) operation<double>(flavor, MPI_DOUBLE, op, what);
  }
}

// Pairs have gaps, here also between them: the packed stream is not what lies in memory.
void pairs(Flavor flavor) {
  constexpr int n = 500;
  Window<DoubleInt> window(flavor, 2 * n, {5.0, 50});
  MPI_Datatype every_second, even;
  MPI_Type_vector(n, 1, 2, MPI_DOUBLE_INT, &every_second);
  MPI_Type_create_resized(MPI_DOUBLE_INT, 0, 2 * sizeof(DoubleInt), &even);
  MPI_Type_commit(&every_second);
  MPI_Type_commit(&even);
  std::vector<DoubleInt> operand(2 * n), fetched(n);
  for (int i = 0; i < n; ++i) operand[2 * i] = {i % 2 == 0 ? 4.0 : 6.0, i};
  const int target = (rank() + 1) % size();
  MPI_Win_fence(0, window.win);
  MPI_Get_accumulate(operand.data(), n, even, fetched.data(), n, MPI_DOUBLE_INT, target, window.disp(target), 1,
                     every_second, MPI_MINLOC, window.win);
  MPI_Win_fence(0, window.win);
  for (int i = 0; i < n; ++i) {
    check(fetched[i].value == 5.0 && fetched[i].index == 50, "fetched pairs");
    const DoubleInt& there = window.data[2 * i];
    check(i % 2 == 0 ? there.value == 4.0 && there.index == i : there.value == 5.0 && there.index == 50, "minimum");
    check(window.data[2 * i + 1].value == 5.0, "between the pairs");
  }
  MPI_Type_free(&every_second);
  MPI_Type_free(&even);
}

// Strided ints here, an indexed layout of ints there.
void layouts(Flavor flavor) {
  constexpr int n = 2000;
  Window<int> window(flavor, 3 * n, 1);
  MPI_Datatype here, there;
  MPI_Type_vector(n, 1, 2, MPI_INT, &here);
  std::vector<int> places(n);
  for (int i = 0; i < n; ++i) places[i] = 3 * (n - 1 - i) + i % 3;
  MPI_Type_create_indexed_block(n, 1, places.data(), MPI_INT, &there);
  MPI_Type_commit(&here);
  MPI_Type_commit(&there);
  std::vector<int> operand(2 * n, -1);
  for (int i = 0; i < n; ++i) operand[2 * i] = i;
  MPI_Win_fence(0, window.win);
  for (int target = 0; target < size(); ++target)
    MPI_Accumulate(operand.data(), 1, here, target, window.disp(target), 1, there, MPI_SUM, window.win);
  MPI_Win_fence(0, window.win);
  for (int i = 0; i < n; ++i) equal(window.data[places[i]], 1 + size() * i, name(flavor));
  MPI_Type_free(&here);
  MPI_Type_free(&there);
}

// All threads of all ranks on one element: single increments, long vectors over the same memory, a lock of
// compare-and-swaps.
void atomicity(Flavor flavor) {
  constexpr int threads = 3;
  constexpr int rounds = 50;
  constexpr int n = 2500;
  Window<std::int64_t> window(flavor, n);
  std::vector<std::int64_t> seen(static_cast<std::size_t>(threads * rounds), -1);
  const std::vector<std::int64_t> ones(n, 1);
  MPI_Win_lock_all(0, window.win);
  in_threads(threads, [&](int thread) {
    const std::int64_t one = 1;
    for (int round = 0; round < rounds; ++round) {
      MPI_Fetch_and_op(&one, &seen[static_cast<std::size_t>(thread * rounds + round)], MPI_INT64_T, 0, window.disp(0),
                       MPI_SUM, window.win);
      MPI_Win_flush(0, window.win);
      if (round % 10 == 0)
        MPI_Accumulate(&ones[1], n - 1, MPI_INT64_T, 0, window.disp(0, 1), n - 1, MPI_INT64_T, MPI_SUM, window.win);
    }
  });
  MPI_Win_unlock_all(window.win);
  MPI_Barrier(MPI_COMM_WORLD);
  const std::int64_t total = std::int64_t{threads} * rounds * size();
  if (rank() == 0) {
    equal(window.data[0], total, "increments");
    for (int i = 1; i < n; ++i) equal(window.data[i], total / 10, "vectors");
  }
  // Every value was fetched once.
  std::vector<int> count(static_cast<std::size_t>(total));
  for (std::int64_t value : seen) {
    check(0 <= value && value < total, "a fetched value");
    ++count[static_cast<std::size_t>(value)];
  }
  MPI_Allreduce(MPI_IN_PLACE, count.data(), static_cast<int>(total), MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  for (int c : count) equal(c, 1, "each value is fetched by one");
}

void compare_and_swap(Flavor flavor) {
  constexpr int rounds = 30;
  Window<int> window(flavor, 2);
  const int free = 0, mine = rank() + 1;
  MPI_Win_lock_all(0, window.win);
  for (int round = 0; round < rounds; ++round) {
    for (int holder = -1; holder != free;) {
      MPI_Compare_and_swap(&mine, &free, &holder, MPI_INT, 0, window.disp(0), window.win);
      MPI_Win_flush(0, window.win);
    }
    int value;
    MPI_Get(&value, 1, MPI_INT, 0, window.disp(0, 1), 1, MPI_INT, window.win);
    MPI_Win_flush(0, window.win);
    ++value;
    MPI_Put(&value, 1, MPI_INT, 0, window.disp(0, 1), 1, MPI_INT, window.win);
    MPI_Win_flush(0, window.win);
    int holder = -1;
    MPI_Compare_and_swap(&free, &mine, &holder, MPI_INT, 0, window.disp(0), window.win);
    MPI_Win_flush(0, window.win);
    equal(holder, mine, "the lock was ours");
  }
  MPI_Win_unlock_all(window.win);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank() == 0) equal(window.data[1], rounds * size(), "under a lock of compare-and-swaps");
}

// Elements that no address is aligned for.
void unaligned(Flavor flavor) {
  Window<char> window(flavor, 64);
  const int target = (rank() + 1) % size();
  const std::int64_t operand = 0x0101010101010101;
  std::int64_t before = -1, fetched = -1;  // of two operations under way, whose answers may come in any order
  MPI_Win_lock(MPI_LOCK_SHARED, target, 0, window.win);
  MPI_Fetch_and_op(&operand, &before, MPI_INT64_T, target, window.disp(target, 3), MPI_SUM, window.win);
  MPI_Fetch_and_op(nullptr, &fetched, MPI_INT64_T, target, window.disp(target, 3), MPI_NO_OP, window.win);
  MPI_Win_unlock(target, window.win);
  equal(before, std::int64_t{0}, name(flavor));
  equal(fetched, operand, name(flavor));
  MPI_Barrier(MPI_COMM_WORLD);
}

void requests(Flavor flavor) {
  Window<int> window(flavor, 4, 10);
  const int target = (rank() + 1) % size();
  const int operand[4] = {1, 2, 3, 4};
  int fetched[4] = {};
  MPI_Request request[2];
  MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, window.win);
  MPI_Raccumulate(operand, 4, MPI_INT, target, window.disp(target), 4, MPI_INT, MPI_SUM, window.win, &request[0]);
  MPI_Rget_accumulate(operand, 4, MPI_INT, fetched, 4, MPI_INT, target, window.disp(target), 4, MPI_INT, MPI_REPLACE,
                      window.win, &request[1]);
  MPI_Waitall(2, request, MPI_STATUSES_IGNORE);
  MPI_Win_unlock(target, window.win);
  MPI_Barrier(MPI_COMM_WORLD);
  for (int i = 0; i < 4; ++i) {
    equal(fetched[i], 10 + operand[i], "sum");
    equal(window.data[i], operand[i], "replaced");
  }
}

}  // namespace

int main(int argc, char** argv) {
  const test::Session session(&argc, &argv);
  for (Flavor flavor : flavors()) {
    operations(flavor);
    pairs(flavor);
    layouts(flavor);
    atomicity(flavor);
    compare_and_swap(flavor);
    unaligned(flavor);
    requests(flavor);
  }
}
