// Wrong synchronization, places outside of the window, operations and datatypes that do not go together: the right error
// class, and the window works afterwards.
#include "harness.hpp"

using namespace test;

namespace {

int value = 1;
int result = 0;

int put(const Window<int>& window, MPI_Aint disp = 0, int count = 1, int target = 0) {
  std::vector<int> out(static_cast<std::size_t>(count > 0 ? count : 1), 7);
  return class_of(MPI_Put(out.data(), count, MPI_INT, target, disp, count, MPI_INT, window.win));
}

void synchronization() {
  Window<int> window(Flavor::allocate, 4);
  MPI_Win win = window.win;
  MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
  const auto expect_sync = [](int code, const char* what) { equal(class_of(code), MPI_ERR_RMA_SYNC, what); };
  MPI_Request request;
  int flag;

  equal(put(window), MPI_ERR_RMA_SYNC, "outside of every epoch");
  expect_sync(MPI_Win_unlock(0, win), "unlock without lock");
  expect_sync(MPI_Win_unlock_all(win), "unlock all without lock all");
  expect_sync(MPI_Win_complete(win), "complete without start");
  expect_sync(MPI_Win_wait(win), "wait without post");
  expect_sync(MPI_Win_test(win, &flag), "test without post");
  expect_sync(MPI_Win_flush(0, win), "flush without lock");
  expect_sync(MPI_Win_flush_all(win), "flush all without lock");

  MPI_Win_fence(0, win);
  expect_sync(MPI_Rput(&value, 1, MPI_INT, 0, 0, 1, MPI_INT, win, &request), "a request between fences");
  equal(put(window), MPI_SUCCESS, "between fences");
  expect_sync(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win), "a lock after an operation between fences");
  expect_sync(MPI_Win_lock_all(0, win), "lock all after an operation between fences");
  expect_sync(MPI_Win_start(MPI_GROUP_EMPTY, 0, win), "start after an operation between fences");
  MPI_Win_fence(0, win);
  MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);  // nothing happened since the fence
  expect_sync(MPI_Win_fence(0, win), "a fence under a lock");
  expect_sync(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win), "the same lock again");
  expect_sync(MPI_Win_lock_all(0, win), "lock all under a lock");
  expect_sync(MPI_Win_start(MPI_GROUP_EMPTY, 0, win), "start under a lock");
  if (size() > 1) equal(put(window, 0, 1, 1), MPI_ERR_RMA_SYNC, "a rank that is not locked");
  MPI_Win copy = win;
  expect_sync(MPI_Win_free(&copy), "free under a lock");
  MPI_Win_unlock(0, win);
  equal(put(window), MPI_ERR_RMA_SYNC, "after the lock");

  MPI_Win_start(MPI_GROUP_EMPTY, 0, win);
  equal(put(window), MPI_ERR_RMA_SYNC, "a rank that was not started");
  expect_sync(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win), "a lock in an epoch of start");
  MPI_Win_complete(win);
  MPI_Win_post(MPI_GROUP_EMPTY, 0, win);
  expect_sync(MPI_Win_post(MPI_GROUP_EMPTY, 0, win), "post again");
  expect_sync(MPI_Win_fence(0, win), "a fence while exposed");
  MPI_Win_wait(win);
  MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
  equal(put(window), MPI_ERR_RMA_SYNC, "after a fence that nothing was to follow");

  equal(class_of(MPI_Win_fence(MPI_MODE_NOCHECK, win)), MPI_ERR_ASSERT, "an assertion that fences have not");
  equal(class_of(MPI_Win_lock(MPI_LOCK_SHARED, 0, MPI_MODE_NOPUT, win)), MPI_ERR_ASSERT, "nor locks");
  equal(class_of(MPI_Win_lock(77, 0, 0, win)), MPI_ERR_LOCKTYPE, "a type of lock");
  equal(class_of(MPI_Win_lock(MPI_LOCK_SHARED, size(), 0, win)), MPI_ERR_RANK, "a rank beyond the last");
}

void ranges() {
  Window<int> window(Flavor::allocate, 4);
  MPI_Win_set_errhandler(window.win, MPI_ERRORS_RETURN);
  MPI_Win_lock_all(0, window.win);
  equal(put(window, 3), MPI_SUCCESS, "the last element");
  equal(put(window, 4), MPI_ERR_RMA_RANGE, "behind the last");
  equal(put(window, 2, 3), MPI_ERR_RMA_RANGE, "over the end");
  equal(put(window, MPI_Aint{1} << 61), MPI_ERR_RMA_RANGE, "too far to be multiplied");
  equal(put(window, 0, 1, size()), MPI_ERR_RANK, "a rank beyond the last");
  equal(put(window, 9, 0), MPI_SUCCESS, "nothing, anywhere");
  MPI_Datatype backwards;
  MPI_Type_create_hvector(2, 1, -4, MPI_INT, &backwards);
  MPI_Type_commit(&backwards);
  const int pair[2] = {1, 2};
  const auto put_backwards = [&](MPI_Aint disp) {
    return class_of(MPI_Put(pair, 2, MPI_INT, 0, disp, 1, backwards, window.win));
  };
  equal(put_backwards(0), MPI_ERR_RMA_RANGE, "before the first");
  equal(put_backwards(1), MPI_SUCCESS, "from the second to the first");
  MPI_Type_free(&backwards);
  equal(class_of(MPI_Put(pair, 2, MPI_INT, 0, 0, 1, MPI_INT, window.win)), MPI_ERR_TRUNCATE, "more than there is room");
  equal(class_of(MPI_Get(&result, 1, MPI_INT, 0, 0, 2, MPI_INT, window.win)), MPI_ERR_TRUNCATE, "nor here");
  MPI_Win_unlock_all(window.win);
}

void operations() {
  Window<int> window(Flavor::allocate, 4);
  MPI_Win win = window.win;
  MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
  MPI_Win_lock_all(0, win);
  const auto accumulate = [&](MPI_Datatype origin, MPI_Datatype target, MPI_Op op) {
    return class_of(MPI_Accumulate(&value, 1, origin, 0, 0, 1, target, op, win));
  };
  MPI_Op own;
  MPI_Op_create([](void*, void*, int*, MPI_Datatype*) {}, 1, &own);
  equal(accumulate(MPI_INT, MPI_INT, own), MPI_ERR_OP, "an operation of the program's");
  MPI_Op_free(&own);
  equal(accumulate(MPI_INT, MPI_INT, MPI_NO_OP), MPI_ERR_OP, "no operation where nothing is fetched");
  equal(accumulate(MPI_INT, MPI_INT, MPI_MINLOC), MPI_ERR_OP, "pairs of what is none");
  equal(accumulate(MPI_INT, MPI_FLOAT, MPI_SUM), MPI_ERR_TYPE, "two types");
  MPI_Datatype mixture, uncommitted;
  const int lengths[] = {1, 1};
  const MPI_Aint places[] = {0, 4};
  const MPI_Datatype types[] = {MPI_INT, MPI_FLOAT};
  MPI_Type_create_struct(2, lengths, places, types, &mixture);
  MPI_Type_commit(&mixture);
  equal(accumulate(mixture, mixture, MPI_SUM), MPI_ERR_TYPE, "elements of two types");
  MPI_Type_contiguous(1, MPI_INT, &uncommitted);
  equal(accumulate(MPI_INT, uncommitted, MPI_SUM), MPI_ERR_TYPE, "a target's type that is not committed");
  equal(class_of(MPI_Fetch_and_op(&value, &result, mixture, 0, 0, MPI_SUM, win)), MPI_ERR_TYPE, "not predefined");
  equal(class_of(MPI_Compare_and_swap(&value, &value, &result, MPI_FLOAT, 0, 0, win)), MPI_ERR_TYPE, "not an integer");
  equal(class_of(MPI_Fetch_and_op(nullptr, &result, MPI_INT, 0, 0, MPI_SUM, win)), MPI_ERR_BUFFER, "no operand");
  MPI_Type_free(&mixture);
  MPI_Type_free(&uncommitted);
  MPI_Win_unlock_all(win);
  equal(window.data[0], 0, "nothing was changed");
}

// Errors of making a window are the same everywhere, and belong to the communicator.
void creation() {
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  MPI_Win win = MPI_WIN_NULL;
  void* base;
  const int last = size() - 1;
  equal(class_of(MPI_Win_create(nullptr, rank() == last ? 8 : 0, 1, MPI_INFO_NULL, comm, &win)), MPI_ERR_BASE,
        "no memory at one of the ranks");
  equal(class_of(MPI_Win_allocate(MPI_Aint{1} << 50, 1, MPI_INFO_NULL, comm, static_cast<void*>(&base), &win)),
        MPI_ERR_NO_MEM, "more than there is");
  check(win == MPI_WIN_NULL, "no window was made");
  equal(class_of(MPI_Win_allocate(8, 0, MPI_INFO_NULL, comm, static_cast<void*>(&base), &win)), MPI_ERR_DISP, "unit");
  MPI_Comm_free(&comm);

  Window<int> fixed(Flavor::allocate, 1);
  MPI_Win_set_errhandler(fixed.win, MPI_ERRORS_RETURN);
  equal(class_of(MPI_Win_attach(fixed.win, &value, 4)), MPI_ERR_RMA_FLAVOR, "attach to memory of its own");
  Window<int> dynamic(Flavor::dynamic, 1);
  MPI_Win_set_errhandler(dynamic.win, MPI_ERRORS_RETURN);
  MPI_Aint bytes;
  int unit;
  equal(class_of(MPI_Win_shared_query(dynamic.win, 0, &bytes, &unit, static_cast<void*>(&base))), MPI_ERR_RMA_FLAVOR,
        "what is shared of a dynamic window");
}

}  // namespace

int main(int argc, char** argv) {
  const test::Session session(&argc, &argv);
  synchronization();
  ranges();
  operations();
  creation();
}
