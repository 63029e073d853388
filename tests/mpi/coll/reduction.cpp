// Every reduction: all modes, operations that commute and that do not, predefined and the user's, roots, in place, and
// counts that select each algorithm.
#include "operations.hpp"

using namespace test;

namespace {

struct Case {
  Communicator c;
  Mode mode;
  const Operation& o;
  int count;
  int root;
  bool in_place;

  std::string text(const char* what) const {
    return std::string(what) + " " + name_of(mode) + " on " + c.name + ", " + o.name + ", count " +
           std::to_string(count) + ", root " + std::to_string(root) + (in_place ? ", in place" : "");
  }
};

void fill_operand(const Case& t, Buffer& buffer, int elements) {
  buffer.fill(0, static_cast<MPI_Count>(elements) * t.o.type.ints(),
              [&](MPI_Count i) { return operand(t.o, t.c.rank, i); });
}

// Elements [0, n) of `buffer` are the reduction over `ranks` ranks of elements [first, first + n) of their operands.
void verify_result(const Case& t, Buffer& buffer, int ranks, MPI_Count first, int n, const char* what) {
  const int k = t.o.type.ints();
  Element element{};
  buffer.verify(
      0, static_cast<MPI_Count>(n) * k,
      [&](MPI_Count i) {
        if (i % k == 0) element = reduced(t.o, ranks, first + i / k);
        return element[static_cast<std::size_t>(i % k)];
      },
      t.text(what));
}

// Elements [first, end) are still what they were: programs rely on it, though the standard leaves it open.
void verify_operand(const Case& t, Buffer& buffer, int first, int end) {
  const int k = t.o.type.ints();
  const MPI_Count before = static_cast<MPI_Count>(first) * k;
  buffer.verify(
      before, static_cast<MPI_Count>(end - first) * k, [&](MPI_Count i) { return operand(t.o, t.c.rank, before + i); },
      t.text("the rest of the buffer"));
}

struct Buffers {
  Buffer mine, result;
  const void* send;
  void* recv;
  Buffers(const Case& t, int elements, int result_elements, bool in_place)
      : mine(t.o.type, elements),
        result(t.o.type, in_place ? elements : result_elements),
        send(in_place ? MPI_IN_PLACE : mine.data()),
        recv(result.data()) {}
};

void test_reduce(const Case& t) {
  const bool at_root = t.c.rank == t.root;
  const bool in_place = t.in_place && at_root;
  Buffers b(t, t.count, t.count, in_place);
  exercise(
      t.mode, reduce, [&] { fill_operand(t, in_place ? b.result : b.mine, t.count); },
      [&] {
        if (at_root) verify_result(t, b.result, t.c.size, 0, t.count, "reduce");
        b.result.verify_rest(t.text("reduce"));
      },
      b.send, at_root ? b.recv : nullptr, t.count, t.o.type.handle, t.o.op, t.root, t.c.comm);
}

void test_allreduce(const Case& t) {
  Buffers b(t, t.count, t.count, t.in_place);
  exercise(
      t.mode, allreduce, [&] { fill_operand(t, t.in_place ? b.result : b.mine, t.count); },
      [&] {
        verify_result(t, b.result, t.c.size, 0, t.count, "allreduce");
        b.result.verify_rest(t.text("allreduce"));
      },
      b.send, b.recv, t.count, t.o.type.handle, t.o.op, t.c.comm);
}

void test_scans(const Case& t, bool inclusive) {
  const char* what = inclusive ? "scan" : "exscan";
  Buffers b(t, t.count, t.count, t.in_place);
  const auto fill = [&] { fill_operand(t, t.in_place ? b.result : b.mine, t.count); };
  const auto verify = [&] {
    const int ranks = t.c.rank + (inclusive ? 1 : 0);
    if (ranks == 0) {
      b.result.clear();  // undefined
    } else {
      verify_result(t, b.result, ranks, 0, t.count, what);
    }
    b.result.verify_rest(t.text(what));
  };
  if (inclusive) {
    exercise(t.mode, scan, fill, verify, b.send, b.recv, t.count, t.o.type.handle, t.o.op, t.c.comm);
  } else {
    exercise(t.mode, exscan, fill, verify, b.send, b.recv, t.count, t.o.type.handle, t.o.op, t.c.comm);
  }
}

void test_reduce_scatter_block(const Case& t) {
  const int total = t.count * t.c.size;
  Buffers b(t, total, t.count, t.in_place);
  exercise(
      t.mode, reduce_scatter_block, [&] { fill_operand(t, t.in_place ? b.result : b.mine, total); },
      [&] {
        verify_result(t, b.result, t.c.size, static_cast<MPI_Count>(t.c.rank) * t.count, t.count,
                      "reduce_scatter_block");
        if (t.in_place) verify_operand(t, b.result, t.count, total);
        b.result.verify_rest(t.text("reduce_scatter_block"));
      },
      b.send, b.recv, t.count, t.o.type.handle, t.o.op, t.c.comm);
}

void test_reduce_scatter(const Case& t) {
  std::vector<int> counts;
  int total = 0, before = 0;
  for (int r = 0; r < t.c.size; ++r) {
    if (r == t.c.rank) before = total;
    counts.push_back(r % 3 == 1 ? 0 : t.count + r);
    total += counts.back();
  }
  const int own = counts[static_cast<std::size_t>(t.c.rank)];
  Buffers b(t, total, own, t.in_place);
  exercise(
      t.mode, reduce_scatter, [&] { fill_operand(t, t.in_place ? b.result : b.mine, total); },
      [&] {
        verify_result(t, b.result, t.c.size, before, own, "reduce_scatter");
        if (t.in_place) verify_operand(t, b.result, own, total);
        b.result.verify_rest(t.text("reduce_scatter"));
      },
      b.send, b.recv, counts.data(), t.o.type.handle, t.o.op, t.c.comm);
}

void test_all(const Case& t) {
  test_reduce(t);
  test_allreduce(t);
  test_scans(t, true);
  test_scans(t, false);
  test_reduce_scatter_block(t);
  test_reduce_scatter(t);
}

}  // namespace

int main(int argc, char** argv) {
  begin(argc, argv);
  std::vector<Operation> operations = all_operations();
  std::vector<Communicator> communicators = all_communicators();
  for (const Communicator& c : communicators) {
    for (Mode mode : all_modes) {
      int turn = static_cast<int>(seed % 97);
      for (const Operation& o : operations) {
        for (int count : {0, 1, 7, 260}) {
          for (bool in_place : {false, true}) test_all({c, mode, o, count, turn++ % c.size, in_place});
        }
      }
      const auto large = [&](std::size_t i, int count, bool in_place) {
        test_all({c, mode, operations[i], count, turn++ % c.size, in_place});
      };
      large(0, 20011, false);
      large(0, 20011, true);
      large(6, 5003, false);
      large(4, 33333, mode == Mode::blocking);
      // A part through shared memory is 16 KiB, and four are under way at a time. In pairs of ints whose composition does not commute.
      for (const int count : {2047, 2048, 2049, 8192, 8193}) {
        if (mode != Mode::blocking) continue;
        const Case t{c, mode, operations[6], count, 0, turn++ % 2 == 0};
        test_scans(t, true);
        test_scans(t, false);
      }
    }
  }
  free_communicators(communicators);
  free_operations(operations);
  return end();
}
