// The properties of a window, beside its memory: attributes, group, name, info, error handlers; shared windows and what they can be
// asked; dynamic windows and what is attached to them.
#include <algorithm>
#include <cstdint>
#include <numeric>
#include <random>
#include <string>

#include "harness.hpp"

using namespace test;

namespace {

template <class T>
T attribute(MPI_Win win, int key) {
  void* value = nullptr;
  int flag = 0;
  MPI_Win_get_attr(win, key, static_cast<void*>(&value), &flag);
  equal(flag, 1, "a predefined attribute is there");
  return *static_cast<T*>(value);
}

void attributes(Flavor flavor) {
  constexpr int kinds[] = {MPI_WIN_FLAVOR_CREATE, MPI_WIN_FLAVOR_ALLOCATE, MPI_WIN_FLAVOR_SHARED,
                           MPI_WIN_FLAVOR_DYNAMIC};
  Window<double> window(flavor, 3);
  void* base = nullptr;
  int flag = 0;
  MPI_Win_get_attr(window.win, MPI_WIN_BASE, static_cast<void*>(&base), &flag);
  const bool dynamic = flavor == Flavor::dynamic;
  check(base == (dynamic ? nullptr : window.data), "MPI_WIN_BASE");
  equal(attribute<MPI_Aint>(window.win, MPI_WIN_SIZE), dynamic ? 0 : 24, "MPI_WIN_SIZE");
  equal(attribute<int>(window.win, MPI_WIN_DISP_UNIT), dynamic ? 1 : 8, "MPI_WIN_DISP_UNIT");
  equal(attribute<int>(window.win, MPI_WIN_CREATE_FLAVOR), kinds[static_cast<int>(flavor)], "MPI_WIN_CREATE_FLAVOR");
  equal(attribute<int>(window.win, MPI_WIN_MODEL), MPI_WIN_UNIFIED, "MPI_WIN_MODEL");
  MPI_Win_set_errhandler(window.win, MPI_ERRORS_RETURN);
  equal(class_of(MPI_Win_set_attr(window.win, MPI_WIN_SIZE, nullptr)), MPI_ERR_KEYVAL, "it cannot be set");
}

int deleted = 0;
int on_delete(MPI_Win, int, void* value, void*) {
  equal(*static_cast<int*>(value), 5, "the value that is deleted");
  ++deleted;
  return MPI_SUCCESS;
}

int handled = 0;
void on_error(MPI_Win* win, int* code, ...) {
  int length;
  char text[MPI_MAX_OBJECT_NAME];
  MPI_Win_get_name(*win, text, &length);
  check(std::string(text) == "loom", "the handler gets the window");
  equal(class_of(*code), MPI_ERR_RMA_SYNC, "and the error");
  ++handled;
}

void objects() {
  auto window = new Window<int>(Flavor::allocate, 1);
  MPI_Win win = window->win;
  int length;
  char text[MPI_MAX_OBJECT_NAME];
  MPI_Win_set_name(win, "loom");
  MPI_Win_get_name(win, text, &length);
  check(std::string(text) == "loom" && length == 4, "name");

  MPI_Group group, world;
  int same;
  MPI_Win_get_group(win, &group);
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  MPI_Group_compare(group, world, &same);
  equal(same, MPI_IDENT, "group");
  MPI_Group_free(&group);
  MPI_Group_free(&world);

  MPI_Info info;
  MPI_Info_create(&info);
  MPI_Info_set(info, "no_locks", "false");
  MPI_Info_set(info, "of_no_meaning", "true");
  MPI_Win_set_info(win, info);
  MPI_Info_free(&info);
  MPI_Win_get_info(win, &info);
  int keys;
  MPI_Info_get_nkeys(info, &keys);
  equal(keys, 1, "hints that mean something");
  MPI_Info_free(&info);

  MPI_Errhandler handler;
  MPI_Win_create_errhandler(on_error, &handler);
  MPI_Win_set_errhandler(win, handler);
  MPI_Errhandler_free(&handler);
  MPI_Win_unlock(0, win);
  equal(handled, 1, "the window's handler is called");
  MPI_Win_call_errhandler(win, MPI_ERR_RMA_SYNC);
  equal(handled, 2, "and by hand");

  int keyval, value = 5;
  MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, on_delete, &keyval, nullptr);
  MPI_Win_set_attr(win, keyval, &value);
  MPI_Win_free_keyval(&keyval);
  delete window;
  equal(deleted, 1, "attributes are deleted with the window");
}

// The members' memory lies side by side, of whatever size, and stores are seen by the others.
void shared() {
  const MPI_Aint mine = rank() % 3 == 1 ? 0 : 10 + rank();
  char* base;
  MPI_Win win;
  MPI_Win_allocate_shared(mine, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
  MPI_Win_lock_all(MPI_MODE_NOCHECK, win);
  for (MPI_Aint i = 0; i < mine; ++i) base[i] = static_cast<char>(rank());
  MPI_Win_sync(win);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Win_sync(win);
  const char* end = nullptr;
  for (int r = 0; r < size(); ++r) {
    MPI_Aint bytes;
    int unit;
    char* theirs;
    MPI_Win_shared_query(win, r, &bytes, &unit, static_cast<void*>(&theirs));
    equal(bytes, r % 3 == 1 ? 0 : 10 + r, "size");
    equal(unit, 1, "displacement unit");
    check(end == nullptr || theirs == end, "side by side");
    for (MPI_Aint i = 0; i < bytes; ++i) equal(theirs[i], r, "what its owner stored");
    end = theirs + bytes;
  }
  MPI_Aint bytes;
  int unit;
  char* first;
  MPI_Win_shared_query(win, MPI_PROC_NULL, &bytes, &unit, static_cast<void*>(&first));
  equal(bytes, 10, "the first that is not empty");
  MPI_Win_unlock_all(win);
  MPI_Win_free(&win);
}

// Ranks of several nodes share no memory; they are told so, and who does.
void not_shared() {
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  void* base;
  MPI_Win win = MPI_WIN_NULL;
  const int error = MPI_Win_allocate_shared(8, 1, MPI_INFO_NULL, comm, static_cast<void*>(&base), &win);
  equal(class_of(error), MPI_ERR_RMA_SHARED, "memory shared by several nodes");
  char text[MPI_MAX_ERROR_STRING];
  int length;
  MPI_Error_string(error, text, &length);
  check(std::strstr(text, "MPI_Comm_split_type") != nullptr, "the cure is named");
  MPI_Comm_free(&comm);
}

// A program's own memory is seen in its process alone.
void queries() {
  Window<int> own(Flavor::create, 4);
  own.data[3] = rank();
  MPI_Win_fence(0, own.win);
  MPI_Aint bytes;
  int unit;
  void* base;
  const int other = (rank() + 1) % size();
  MPI_Win_shared_query(own.win, other, &bytes, &unit, static_cast<void*>(&base));
  if (other == rank() || bytes != 0) {
    equal(bytes, 16, "size");
    equal(static_cast<int*>(base)[3], other, "memory of another rank of this process");
  }
  MPI_Win_fence(0, own.win);
}

// With gaps every member has pages of its own.
void gaps() {
  void* base;
  MPI_Info info;
  MPI_Info_create(&info);
  MPI_Info_set(info, "alloc_shared_noncontig", "true");
  MPI_Win win;
  MPI_Win_allocate_shared(1, 1, info, MPI_COMM_WORLD, static_cast<void*>(&base), &win);
  MPI_Info_free(&info);
  equal(static_cast<long long>(reinterpret_cast<std::uintptr_t>(base) % 64), 0, "apart");
  MPI_Win_free(&win);
}

void attachments() {
  MPI_Win win;
  MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
  constexpr int blocks = 600;  // more than a table begins with
  std::vector<int> memory(blocks * 4, rank());
  const auto block = [&](int i) { return &memory[static_cast<std::size_t>(i) * 4]; };
  for (int i = 0; i < blocks; i += 2) equal(MPI_Win_attach(win, block(i), 16), MPI_SUCCESS, "attach");
  equal(class_of(MPI_Win_attach(win, block(2) + 1, 4)), MPI_ERR_RMA_ATTACH, "attached already");
  equal(class_of(MPI_Win_detach(win, block(1))), MPI_ERR_ARG, "not attached");
  std::vector<MPI_Aint> bases(static_cast<std::size_t>(size()));
  MPI_Aint mine;
  MPI_Get_address(memory.data(), &mine);
  MPI_Allgather(&mine, 1, MPI_AINT, bases.data(), 1, MPI_AINT, MPI_COMM_WORLD);
  const int target = (rank() + 1) % size();
  const MPI_Aint there = bases[static_cast<std::size_t>(target)];
  int value[8];
  const auto get = [&](MPI_Aint disp, int n, MPI_Datatype type) {
    return class_of(MPI_Get(value, n, MPI_INT, target, disp, 1, type, win));
  };
  MPI_Datatype four, eight, gap;
  MPI_Type_contiguous(4, MPI_INT, &four);
  MPI_Type_contiguous(8, MPI_INT, &eight);
  MPI_Type_vector(2, 4, 8, MPI_INT, &gap);
  for (MPI_Datatype* type : {&four, &eight, &gap}) MPI_Type_commit(type);
  MPI_Win_lock_all(0, win);
  equal(get(there + 32 * (blocks / 2 - 1), 4, four), MPI_SUCCESS, "the last one");
  equal(value[3], target, "what is there");
  equal(get(there + 16, 4, four), MPI_ERR_RMA_RANGE, "between");
  equal(get(there, 8, eight), MPI_ERR_RMA_RANGE, "over the end");
  equal(get(there, 8, gap), MPI_SUCCESS, "around what is not attached");
  MPI_Win_unlock_all(win);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Win_attach(win, block(1), 16);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Win_lock_all(0, win);
  equal(get(there, 8, eight), MPI_SUCCESS, "over two that touch");
  MPI_Win_unlock_all(win);
  MPI_Barrier(MPI_COMM_WORLD);
  equal(MPI_Win_detach(win, block(1)), MPI_SUCCESS, "detach");
  for (MPI_Datatype* type : {&four, &eight, &gap}) MPI_Type_free(type);
  MPI_Win_free(&win);
}

// Thousands of regions, some of which touch, attached and detached in any order: what is attached can be reached in one operation,
// over all of it and around holes, and nothing else.
void many_attachments(unsigned seed) {
  constexpr int blocks = 4000;
  constexpr int bytes = 16;
  std::mt19937 random(seed + static_cast<unsigned>(rank()));
  MPI_Win win;
  MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
  std::vector<char> memory(blocks * bytes, static_cast<char>(rank()));
  const auto block = [&](int i) { return &memory[static_cast<std::size_t>(i) * bytes]; };
  std::vector<int> order(blocks);
  std::iota(order.begin(), order.end(), 0);
  const auto all = [&](auto call, int step) {
    std::shuffle(order.begin(), order.end(), random);
    for (int i : order)
      if (i % step == 0) equal(call(i), MPI_SUCCESS, "attach or detach");
  };
  const int target = (rank() + 1) % size();
  std::vector<MPI_Aint> bases(static_cast<std::size_t>(size()));
  MPI_Aint mine;
  MPI_Get_address(memory.data(), &mine);
  MPI_Allgather(&mine, 1, MPI_AINT, bases.data(), 1, MPI_AINT, MPI_COMM_WORLD);
  MPI_Datatype odd;
  MPI_Type_vector(blocks / 2, bytes, 2 * bytes, MPI_CHAR, &odd);
  MPI_Type_commit(&odd);
  std::vector<char> in(memory.size());
  const auto get = [&](int first, MPI_Datatype type, int count) {
    MPI_Win_lock_all(0, win);
    const int n = type == odd ? blocks / 2 * bytes : count;
    const int error = MPI_Get(in.data(), n, MPI_CHAR, target, bases[static_cast<std::size_t>(target)] + first * bytes,
                              count, type, win);
    MPI_Win_unlock_all(win);
    if (error == MPI_SUCCESS) check(in[static_cast<std::size_t>(n) - 1] == static_cast<char>(target), "what is there");
    return class_of(error);
  };
  all([&](int i) { return MPI_Win_attach(win, block(i), bytes); }, 1);
  equal(class_of(MPI_Win_attach(win, block(7) - 1, 2)), MPI_ERR_RMA_ATTACH, "over two");
  equal(MPI_Win_attach(win, block(7) + 1, 0), MPI_SUCCESS, "nothing overlaps with nothing");
  equal(class_of(MPI_Win_attach(win, block(7) + 2, 2)), MPI_ERR_RMA_ATTACH, "within one");
  equal(MPI_Win_detach(win, block(7) + 1), MPI_SUCCESS, "detach nothing");
  MPI_Barrier(MPI_COMM_WORLD);
  equal(get(0, MPI_CHAR, blocks * bytes), MPI_SUCCESS, "all of it");
  equal(get(1, odd, 1), MPI_SUCCESS, "every second");
  equal(get(1, MPI_CHAR, blocks * bytes), MPI_ERR_RMA_RANGE, "beyond the end");
  MPI_Barrier(MPI_COMM_WORLD);
  all([&](int i) { return MPI_Win_detach(win, block(i)); }, 2);
  MPI_Barrier(MPI_COMM_WORLD);
  equal(get(1, odd, 1), MPI_SUCCESS, "every second, around holes");
  equal(get(0, odd, 1), MPI_ERR_RMA_RANGE, "the holes");
  equal(get(1, MPI_CHAR, 2 * bytes), MPI_ERR_RMA_RANGE, "into a hole");
  equal(get(3, MPI_CHAR, bytes), MPI_SUCCESS, "one");
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Type_free(&odd);
  MPI_Win_free(&win);
}

// Larger than anything that the library itself needs of its memory; only what is touched is used.
void large() {
  const MPI_Aint bytes = MPI_Aint{1} << 29;
  char* base;
  MPI_Win win;
  MPI_Win_allocate(bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, static_cast<void*>(&base), &win);
  const int target = (rank() + 1) % size();
  const char out = static_cast<char>(rank());
  MPI_Win_fence(0, win);
  MPI_Put(&out, 1, MPI_CHAR, target, bytes - 1, 1, MPI_CHAR, win);
  MPI_Win_fence(0, win);
  equal(base[bytes - 1], (rank() + size() - 1) % size(), "the last byte");
  MPI_Win_free(&win);
}

// Leak checkers know this name.
void leave_one_behind() {
  int* base;
  MPI_Win win;
  MPI_Win_allocate(64, 1, MPI_INFO_NULL, MPI_COMM_WORLD, static_cast<void*>(&base), &win);
}

// Windows come and go; one is still there when MPI ends.
void many() {
  int* base;
  MPI_Win win;
  for (int i = 0; i < 50; ++i) {
    MPI_Win_allocate(4 << 20, 1, MPI_INFO_NULL, MPI_COMM_WORLD, static_cast<void*>(&base), &win);
    MPI_Win_free(&win);
  }
  leave_one_behind();
}

}  // namespace

int main(int argc, char** argv) {
  const test::Session session(&argc, &argv);
  for (Flavor flavor : flavors()) attributes(flavor);
  objects();
  if (shares_memory()) {
    shared();
    gaps();
  } else {
    not_shared();
  }
  queries();
  attachments();
  many_attachments(test::seed(argc, argv));
  large();
  many();
}
