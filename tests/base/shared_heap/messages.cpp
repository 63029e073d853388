// Long messages between blocks of malloc, with and without mpiexec -shared-heap: what arrives, and on which way it came. The argument says which is
// expected: `seen` or `staged`.
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <string_view>
#include <vector>

#include "mpi/check.hpp"
#include "mpi/tool/tool.hpp"

namespace {

using test::check;
using test::equal;

constexpr std::size_t lengths[] = {64 * 1024, 100'003, 256 * 1024, 1 << 20, (3 << 20) + 5};

unsigned char value(std::size_t i, int salt) {
  return static_cast<unsigned char>(i * 13 + i / 4093 + static_cast<std::size_t>(salt));
}

void fill(unsigned char* block, std::size_t bytes, int salt) {
  for (std::size_t i = 0; i < bytes; ++i) block[i] = value(i, salt);
}
void expect(const unsigned char* block, std::size_t bytes, int salt, const char* what) {
  for (std::size_t i = 0; i < bytes; ++i) equal(static_cast<int>(block[i]), static_cast<int>(value(i, salt)), what);
}

// From rank 0 to rank 1 and back.
void there_and_back(unsigned char* block, std::size_t bytes, int salt, const char* what) {
  const int count = static_cast<int>(bytes);
  if (test::rank() == 0) {
    fill(block, bytes, salt);
    MPI_Send(block, count, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
    std::memset(block, 0, bytes);
    MPI_Recv(block, count, MPI_BYTE, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    expect(block, bytes, salt + 1, what);
  } else {
    MPI_Recv(block, count, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    expect(block, bytes, salt, what);
    fill(block, bytes, salt + 1);
    MPI_Send(block, count, MPI_BYTE, 0, 0, MPI_COMM_WORLD);
  }
}

void blocks_of_every_kind() {
  for (const std::size_t bytes : lengths) {
    auto* block = static_cast<unsigned char*>(malloc(bytes));
    there_and_back(block, bytes, 1, "malloc");
    block = static_cast<unsigned char*>(realloc(block, 3 * bytes));
    there_and_back(block, 3 * bytes, 2, "realloc");
    free(block);
    block = static_cast<unsigned char*>(calloc(bytes, 1));
    for (std::size_t i = 0; i < bytes; ++i) equal(static_cast<int>(block[i]), 0, "calloc");
    there_and_back(block + 1, bytes - 1, 3, "calloc, from the second byte on");
    free(block);
    void* aligned = nullptr;
    equal(posix_memalign(&aligned, 1 << 16, bytes), 0, "posix_memalign");
    there_and_back(static_cast<unsigned char*>(aligned), bytes, 4, "posix_memalign");
    free(aligned);
  }
}

// That lies in memory that both see, whatever malloc does: messages and windows.
void allocated_memory() {
  for (const std::size_t bytes : lengths) {
    void* memory = nullptr;
    MPI_Alloc_mem(static_cast<MPI_Aint>(bytes), MPI_INFO_NULL, &memory);
    auto* const block = static_cast<unsigned char*>(memory);
    there_and_back(block, bytes, 5, "MPI_Alloc_mem");
    fill(block, bytes, 11 + test::rank());
    MPI_Win win;
    MPI_Win_create(memory, static_cast<MPI_Aint>(bytes), 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    std::vector<unsigned char> theirs(bytes);
    MPI_Win_fence(0, win);
    MPI_Get(theirs.data(), static_cast<int>(bytes), MPI_BYTE, 1 - test::rank(), 0, static_cast<int>(bytes), MPI_BYTE,
            win);
    MPI_Win_fence(0, win);
    expect(theirs.data(), bytes, 11 + 1 - test::rank(), "got from a window");
    fill(theirs.data(), bytes, 13 + test::rank());
    MPI_Put(theirs.data(), static_cast<int>(bytes), MPI_BYTE, 1 - test::rank(), 0, static_cast<int>(bytes), MPI_BYTE,
            win);
    MPI_Win_fence(0, win);
    expect(block, bytes, 13 + 1 - test::rank(), "put into a window");
    MPI_Win_free(&win);
    MPI_Free_mem(memory);
  }
}

// One side's memory is such a block, the other's is not.
void blocks_and_other_memory() {
  static unsigned char other[1 << 20];
  std::vector<unsigned char> block(sizeof other);
  there_and_back(test::rank() == 0 ? block.data() : other, sizeof other, 6, "from a block to static memory and back");
  there_and_back(test::rank() == 0 ? other : block.data(), sizeof other, 7, "from static memory to a block and back");
}

void too_long_for_its_receive() {
  constexpr int bytes = 1 << 20, room = 300'000;
  std::vector<unsigned char> block(bytes, 0xEE);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  if (test::rank() == 0) {
    fill(block.data(), bytes, 8);
    MPI_Send(block.data(), bytes, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
  } else {
    equal(MPI_Recv(block.data(), room, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE), MPI_ERR_TRUNCATE, "class");
    expect(block.data(), room, 8, "what there was room for");
    for (int i = room; i < bytes; ++i) equal(static_cast<int>(block[static_cast<std::size_t>(i)]), 0xEE, "behind it");
  }
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
}

// A child of fork writes to its memory, and to no other.
void child_of_fork() {
  constexpr std::size_t bytes = 1 << 20;
  std::vector<unsigned char> block(bytes);
  fill(block.data(), bytes, 9);
  const pid_t child = fork();
  if (child == 0) {
    bool same = true;
    for (std::size_t i = 0; i < bytes; ++i) same = same && block[i] == value(i, 9);
    std::memset(block.data(), 0, bytes);
    std::vector<unsigned char> own(bytes, 1);  // it may ask for more, too
    _exit(same && own[bytes - 1] == 1 ? 0 : 1);
  }
  int status = 0;
  equal(waitpid(child, &status, 0), child, "the child");
  equal(WIFEXITED(status) ? WEXITSTATUS(status) : -1, 0, "how it ended");
  expect(block.data(), bytes, 9, "of the parent");
  there_and_back(block.data(), bytes, 10, "after a fork");
}

}  // namespace

int main(int argc, char** argv) {
  const bool seen = argc > 1 && std::string_view(argv[1]) == "seen";
  MPI_Init(&argc, &argv);
  test::Tool tool;
  MPI_T_pvar_session session;
  test::ok(MPI_T_pvar_session_create(&session));
  {
    const test::Counter staged(session, "vni_messages_staged");
    allocated_memory();
    test::holds(staged.read() == 0, "what MPI_Alloc_mem has handed out is seen");
    blocks_of_every_kind();
    test::holds((staged.read() == 0) == seen, "long messages go through shared memory unless their blocks are seen");
  }
  test::ok(MPI_T_pvar_session_free(&session));
  blocks_and_other_memory();
  too_long_for_its_receive();
  child_of_fork();
  MPI_Finalize();
  return 0;
}
