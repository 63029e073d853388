// Messages between ranks of which process ids say nothing: a rank that moves data with the kernel's help must know whose memory
// it is. All pairs exchange messages of every protocol, from and to memory that lies at the same addresses in every process.
//
// With arguments it is a process that is none of the job's: it has that memory too, with something else in it, and runs the
// command that they are.
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstddef>
#include <string>
#include <vector>

#include "mpi/check.hpp"

using namespace test;

namespace {

constexpr std::size_t most = std::size_t{1} << 20;
constexpr std::size_t sizes[] = {8, 16 * 1024, 20 * 1024, 100 * 1000, most};

// Memory at an address that is the same in every process of this program; null: something else is there.
unsigned char* fixed_memory(std::size_t bytes) {
  void* const wanted = reinterpret_cast<void*>(0x6f0000000000);
  void* const at =
      mmap(wanted, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
  return at == wanted ? static_cast<unsigned char*>(at) : nullptr;
}

int be_a_foreign_process(char** command) {
  unsigned char* const memory = fixed_memory(4 * most);
  if (memory == nullptr) return 1;
  std::memset(memory, 0xee, 4 * most);
  const pid_t child = fork();
  if (child == 0) {
    execvp(command[0], command);
    _exit(127);
  }
  int status = 1;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

unsigned char byte_of(int from, std::size_t i) { return static_cast<unsigned char>(13 * from + 7 * i + i / 251); }

struct Buffers {
  unsigned char* out;
  unsigned char* in;

  void fill(std::size_t bytes) const {
    for (std::size_t i = 0; i < bytes; ++i) out[i] = byte_of(rank(), i);
    std::memset(in, 0x55, 2 * most);
  }
};

void exchange(const Buffers& buffers, int peer, std::size_t bytes) {
  buffers.fill(bytes);
  const int n = static_cast<int>(bytes);
  MPI_Status status;
  MPI_Sendrecv(buffers.out, n, MPI_BYTE, peer, 1, buffers.in, n, MPI_BYTE, peer, 1, MPI_COMM_WORLD, &status);
  int got;
  MPI_Get_count(&status, MPI_BYTE, &got);
  equal(got, n, "bytes");
  for (std::size_t i = 0; i < bytes; ++i) check(buffers.in[i] == byte_of(peer, i), "what arrived");
  check(buffers.in[bytes] == 0x55, "what lies behind");
}

// Every other byte.
void exchange_strided(const Buffers& buffers, int peer, std::size_t bytes) {
  MPI_Datatype strided;
  MPI_Type_vector(static_cast<int>(bytes / 2), 1, 2, MPI_BYTE, &strided);
  MPI_Type_commit(&strided);
  buffers.fill(bytes);
  MPI_Sendrecv(buffers.out, 1, strided, peer, 2, buffers.in, 1, strided, peer, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  for (std::size_t i = 0; i < bytes; ++i)
    check(buffers.in[i] == (i % 2 == 0 ? byte_of(peer, i) : 0x55), "what arrived, strided");
  // From every other byte into one after the other.
  buffers.fill(bytes);
  MPI_Sendrecv(buffers.out, 1, strided, peer, 3, buffers.in, static_cast<int>(bytes / 2), MPI_BYTE, peer, 3,
               MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  for (std::size_t i = 0; i < bytes / 2; ++i) check(buffers.in[i] == byte_of(peer, 2 * i), "what arrived, in a row");
  MPI_Type_free(&strided);
}

// A window over ordinary memory is right, or refused everywhere; one that MPI allocates is always right.
void put_and_get(const Buffers& buffers, MPI_Win win, unsigned char* memory) {
  const int next = (rank() + 1) % size();
  const int previous = (rank() + size() - 1) % size();
  constexpr int n = 5000;
  std::memset(memory, 0, 2 * n);
  buffers.fill(n);
  MPI_Win_fence(0, win);
  MPI_Put(buffers.out, n, MPI_BYTE, next, 0, n, MPI_BYTE, win);
  MPI_Win_fence(0, win);
  for (int i = 0; i < n; ++i) check(memory[i] == byte_of(previous, static_cast<std::size_t>(i)), "what was put");
  MPI_Get(buffers.in, n, MPI_BYTE, next, 0, n, MPI_BYTE, win);
  MPI_Win_fence(0, win);
  for (int i = 0; i < n; ++i) check(buffers.in[i] == byte_of(rank(), static_cast<std::size_t>(i)), "what was got");
}

void windows(const Buffers& buffers) {
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  unsigned char* const memory = buffers.in + 2 * most;
  MPI_Win win;
  // Where the kernel moves nothing between these processes they go by messages.
  MPI_Win_create(memory, most, 1, MPI_INFO_NULL, comm, &win);
  put_and_get(buffers, win, memory);
  MPI_Win_free(&win);
  unsigned char* allocated;
  MPI_Win_allocate(most, 1, MPI_INFO_NULL, comm, static_cast<void*>(&allocated), &win);
  put_and_get(buffers, win, allocated);
  MPI_Win_free(&win);
  MPI_Comm_free(&comm);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1) return be_a_foreign_process(argv + 1);
  const Session session(&argc, &argv);
  unsigned char* memory = fixed_memory(4 * most);
  std::vector<unsigned char> other;
  if (memory == nullptr) {  // a rank that is a thread has it not for itself
    other.resize(6 * most);
    memory = other.data();
  }
  const Buffers buffers{memory, memory + most};
  for (int shift = 0; shift < size(); ++shift) {
    const int peer = (shift + size() - rank()) % size();  // each pair meets, and each rank meets itself
    for (const std::size_t bytes : sizes) {
      exchange(buffers, peer, bytes);
      exchange_strided(buffers, peer, bytes);
    }
  }
  windows(buffers);
  if (rank() == 0) std::puts("all messages are right");
}
