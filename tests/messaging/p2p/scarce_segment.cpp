// The job's shared segment has k free blocks of each size and no more: of what wants one, one after the other fails as k grows
// from
// 0. A call succeeds, or ends with MPI_ERR_NO_MEM on every process that takes part; what can do without the segment succeeds; and
//   once there is memory again everything does.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <thread>
#include <vector>

#include "mpi/check.hpp"

using namespace test;

namespace {

constexpr int sizes = 10;  // of blocks: 4 KiB and its next doubles
constexpr MPI_Aint page = 4096;
constexpr int tag = 5;

MPI_Comm quiet;  // for what the test itself says

MPI_Win window_of(MPI_Aint bytes, bool& made) {
  MPI_Win win = MPI_WIN_NULL;
  void* base;
  const int error = MPI_Win_allocate(bytes, 1, MPI_INFO_NULL, MPI_COMM_SELF, static_cast<void*>(&base), &win);
  made = error == MPI_SUCCESS;
  if (!made) equal(class_of(error), MPI_ERR_NO_MEM, "of a window that does not fit");
  return win;
}

// Collective. While it is there, `blocks` of each size are free and nothing else. Each process takes what it has in store, one after the other, and
// rank 1 leaves the free blocks. A window takes a block of the smallest size beside its memory.
class Scarcity {
 public:
  explicit Scarcity(int blocks) {
    std::vector<MPI_Win> spare;
    bool made = false;
    for (int size = 0; rank() == 1 && size < sizes; ++size)
      for (int i = 0; i < blocks; ++i) {
        spare.push_back(window_of(page << size, made));
        check(made, "there is memory at first");
      }
    MPI_Barrier(quiet);
    if (rank() == 0) take_all();
    MPI_Barrier(quiet);
    if (rank() == 0) return;
    take_all();
    for (MPI_Win& win : spare) MPI_Win_free(&win);
    // The smallest ones exist beside all the spare windows, too.
    for (int surplus = sizes * blocks; surplus >= 2; surplus -= 2) windows_.push_back(window_of(1, made));
  }
  Scarcity(const Scarcity&) = delete;
  Scarcity& operator=(const Scarcity&) = delete;
  ~Scarcity() {
    for (MPI_Win& win : windows_) MPI_Win_free(&win);
  }

 private:
  void take_all() {
    for (MPI_Aint bytes = MPI_Aint{1} << 46; bytes >= 1;) {
      bool made = false;
      const MPI_Win win = window_of(bytes, made);
      made ? windows_.push_back(win) : void(bytes /= 2);
    }
  }

  std::vector<MPI_Win> windows_;
};

// True if a call on a communicator of both has succeeded; on both or on none.
bool agreed(int error, const char* what) {
  if (error != MPI_SUCCESS) equal(class_of(error), MPI_ERR_NO_MEM, what);
  int failed[2] = {error != MPI_SUCCESS, error == MPI_SUCCESS};
  MPI_Allreduce(MPI_IN_PLACE, failed, 2, MPI_INT, MPI_MAX, quiet);
  check(failed[0] != failed[1], what);
  return !failed[0];
}

void must(int error, const char* what) { equal(error, MPI_SUCCESS, what); }

// From rank 0 to rank 1; whether it came. The sender's part succeeds whatever the receiver finds.
bool message(int bytes, MPI_Datatype type, int extent, MPI_Comm comm) {
  const int n = bytes / 8;
  std::vector<char> data(static_cast<std::size_t>(n * extent), rank() == 0 ? 'x' : '-');
  int error = MPI_SUCCESS;
  if (rank() == 0) must(MPI_Send(data.data(), n, type, 1, tag, comm), "a send");
  if (rank() == 1) {
    error = MPI_Recv(data.data(), n, type, 0, tag, comm, MPI_STATUS_IGNORE);
    if (error == MPI_SUCCESS)
      check(data[0] == 'x' && data[static_cast<std::size_t>((n - 1) * extent) + 7] == 'x', "data");
    if (error != MPI_SUCCESS) equal(class_of(error), MPI_ERR_NO_MEM, "a receive");
  }
  int failed = error != MPI_SUCCESS;
  MPI_Allreduce(MPI_IN_PLACE, &failed, 1, MPI_INT, MPI_MAX, quiet);
  return !failed;
}

bool window(bool shared, bool own_memory) {
  std::vector<int> memory(1000, 0);
  int* base = memory.data();
  const MPI_Aint bytes = 1000 * sizeof(int);
  MPI_Win win = MPI_WIN_NULL;
  int error = MPI_SUCCESS;
  if (own_memory) {
    error = MPI_Win_create(base, bytes, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  } else {
    error = (shared ? MPI_Win_allocate_shared : MPI_Win_allocate)(bytes, 4, MPI_INFO_NULL, MPI_COMM_WORLD,
                                                                  static_cast<void*>(&base), &win);
  }
  if (!agreed(error, "a window")) return false;
  must(MPI_Win_fence(0, win), "a fence");
  const int value = rank() + 1;
  must(MPI_Put(&value, 1, MPI_INT, 1 - rank(), 7, 1, MPI_INT, win), "a put");
  must(MPI_Win_fence(0, win), "a fence");
  equal(base[7], 2 - rank(), "what was put");
  must(MPI_Win_free(&win), "freeing a window");
  return true;
}

bool dynamic_window() {
  MPI_Win win = MPI_WIN_NULL;
  if (!agreed(MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win), "a dynamic window")) return false;
  MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
  int target = 0;
  const int error = MPI_Win_attach(win, &target, sizeof target);
  if (error != MPI_SUCCESS) equal(class_of(error), MPI_ERR_NO_MEM, "attaching");
  int failed = error != MPI_SUCCESS;
  if (!failed) must(MPI_Win_detach(win, &target), "detaching");
  MPI_Allreduce(MPI_IN_PLACE, &failed, 1, MPI_INT, MPI_MAX, quiet);
  must(MPI_Win_free(&win), "freeing a dynamic window");
  return !failed;
}

// Collectives of a new communicator, and its messages.
bool communicator(const char* model) {
  MPI_Info info = MPI_INFO_NULL;
  if (model != nullptr) {
    MPI_Info_create(&info);
    MPI_Info_set(info, "heddle_model", model);
  }
  MPI_Comm comm = MPI_COMM_NULL;
  const bool made = agreed(MPI_Comm_dup_with_info(MPI_COMM_WORLD, info, &comm), "a duplicate");
  if (info != MPI_INFO_NULL) MPI_Info_free(&info);
  if (!made) return false;
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  bool whole = true;
  for (const int n : {1, 5000, 1 << 18}) {
    std::vector<int> ones(static_cast<std::size_t>(n), 1), sum(ones.size());
    const int error = MPI_Allreduce(ones.data(), sum.data(), n, MPI_INT, MPI_SUM, comm);
    if (!agreed(error, "a reduction")) {
      whole = false;
      break;
    }
    equal(sum.front() + sum.back(), 4, "a sum of two");
  }
  must(MPI_Comm_free(&comm), "freeing a duplicate");
  return whole;
}

bool buffered() {
  std::vector<char> room(1 << 16);
  MPI_Buffer_attach(room.data(), static_cast<int>(room.size()));
  std::vector<char> data(20000, 'x'), in(data.size());
  if (rank() == 0) must(MPI_Bsend(data.data(), 20000, MPI_CHAR, 1, tag, MPI_COMM_WORLD), "a buffered send");
  if (rank() == 1) must(MPI_Recv(in.data(), 20000, MPI_CHAR, 0, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE), "its receive");
  void* detached;
  int bytes;
  MPI_Buffer_detach(static_cast<void*>(&detached), &bytes);
  return true;
}

bool synchronous() {
  std::vector<MPI_Request> requests(300);
  char byte = 'x';
  for (MPI_Request& request : requests)
    rank() == 0 ? must(MPI_Issend(&byte, 1, MPI_CHAR, 1, tag, MPI_COMM_WORLD, &request), "a synchronous send")
                : must(MPI_Irecv(&byte, 1, MPI_CHAR, 0, tag, MPI_COMM_WORLD, &request), "its receive");
  must(MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE), "the end of them");
  return true;
}

int worst = 0;

// With ever more memory until nothing fails any more; and each time once more when there is plenty.
void play(const char* name, const std::function<bool()>& scenario) {
  for (int blocks = 0;; ++blocks) {
    check(blocks < 30, name);
    bool whole = false;
    {
      const Scarcity scarcity(blocks);
      MPI_Barrier(quiet);
      whole = scenario();
      MPI_Barrier(quiet);
    }
    MPI_Barrier(quiet);
    check(scenario(), "with plenty of memory");
    if (!whole) worst = std::max(worst, blocks + 1);
    if (rank() == 0 && std::getenv("VERBOSE"))
      std::printf("%s with %d blocks: %s\n", name, blocks, whole ? "whole" : "failed");
    if (whole && blocks >= 2) return;
  }
}

}  // namespace

int main(int argc, char** argv) {
  const Session session(&argc, &argv);
  equal(size(), 2, "ranks");
  MPI_Comm_dup(MPI_COMM_WORLD, &quiet);
  for (MPI_Comm comm : {MPI_COMM_WORLD, MPI_COMM_SELF}) MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  MPI_Barrier(quiet);
  MPI_Datatype vector, column, eight;
  MPI_Type_vector(1, 8, 16, MPI_CHAR, &vector);
  MPI_Type_create_resized(vector, 0, 16, &column);
  MPI_Type_free(&vector);
  MPI_Type_commit(&column);
  MPI_Type_contiguous(8, MPI_CHAR, &eight);
  MPI_Type_commit(&eight);

  // A pair has its channels in each of the VNIs: the segment keeps room for those of one.
  constexpr const char* models[] = {"mtx", "clh", "flux"};
  for (int i = 0; i < 16; ++i) check(communicator(nullptr), "there is memory at first");
  for (const char* model : models) check(communicator(model), "there is memory at first");

  play("a window of the library's memory", [] { return window(false, false); });
  play("a shared window", [] { return window(true, false); });
  play("a window of the program's memory", [] { return window(false, true); });
  play("a dynamic window", dynamic_window);
  play("a long message in pieces", [&] { return message(1 << 20, eight, 8, MPI_COMM_WORLD); });
  play("a strided message", [&] { return message(1 << 20, column, 16, MPI_COMM_WORLD); });
  play("a communicator", [] { return communicator(nullptr); });
  for (const char* model : models) play("a communicator with a model", [model] { return communicator(model); });
  play("buffered sends", buffered);
  play("synchronous sends", synchronous);
  play("a new thread", [&] {
    bool whole = false;
    std::thread([&] { whole = message(8, eight, 8, MPI_COMM_WORLD); }).join();
    return whole;
  });
  check(worst > 0, "something has found no memory");
  MPI_Type_free(&column);
  MPI_Type_free(&eight);
  MPI_Comm_free(&quiet);
}
