// The mappings of a rank: little at the start and after messages, all of it may be locked, and what is shared stays out of core
// dumps.
//
// An argument says what is limited: nothing; `lock`: all memory is locked before and after the initialization; `tool`: a tool
// runs the program; `limit`: the program lowers RLIMIT_AS to what it has, and then messages arrive or a call says MPI_ERR_NO_MEM.
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "mpi/check.hpp"

namespace {

using test::check;

// Bytes.
std::size_t mapped() {
  std::ifstream statm("/proc/self/statm");
  std::size_t pages = 0;
  statm >> pages;
  return pages * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

// The size of all readable and writable mappings, that a core dump would have; bytes.
std::size_t dumped() {
  std::ifstream smaps("/proc/self/smaps");
  std::size_t sum = 0, size = 0;
  bool writable = false;
  for (std::string line; std::getline(smaps, line);) {
    unsigned long first = 0, last = 0;
    char access[5] = "";
    if (std::sscanf(line.c_str(), "%lx-%lx %4s", &first, &last, access) == 3 && line.find('-') < line.find(' ')) {
      size = last - first;
      writable = access[1] == 'w';
    } else if (line.starts_with("VmFlags:") && writable && line.find(" dd") == std::string::npos) {
      sum += size;
    }
  }
  return sum;
}

void lock() {
  rlimit limit{};
  getrlimit(RLIMIT_MEMLOCK, &limit);
  // Where it is not permitted there is nothing to test.
  if (mlockall(MCL_CURRENT | MCL_FUTURE) != 0)
    std::printf("mlockall is refused, %zu KiB may be locked\n", static_cast<std::size_t>(limit.rlim_cur) >> 10);
}

using Bytes = std::vector<char>;

void communicate(Bytes& out, Bytes& in) {
  const int peers = test::size(), rank = test::rank();
  for (const std::size_t bytes : {std::size_t{1}, std::size_t{4000}, std::size_t{60'000}, out.size()})
    for (int d = 1; d < peers; ++d)
      MPI_Sendrecv(out.data(), static_cast<int>(bytes), MPI_BYTE, (rank + d) % peers, 0, in.data(),
                   static_cast<int>(bytes), MPI_BYTE, (rank - d + peers) % peers, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  int sum = 0;
  for (int i = 0; i < 3; ++i) MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view mode = argc > 1 ? argv[1] : "";
  constexpr std::size_t most = std::size_t{1} << 30;
  if (mode == "lock") lock();
  const std::size_t mapped_before = mapped(), dumped_before = dumped();
  Bytes out(std::size_t{1} << 20), in(out.size());
  MPI_Init(&argc, &argv);
  if (mode == "lock") lock();
  check(mapped() < mapped_before + most, "less than 1 GiB is mapped at the start");
  if (mode == "limit") {
    // The limit is that of the process, in which other ranks may be starting.
    MPI_Barrier(MPI_COMM_WORLD);
    const std::size_t now = mapped();
    const rlimit limit{now, now};
    MPI_Barrier(MPI_COMM_WORLD);
    setrlimit(RLIMIT_AS, &limit);
    communicate(out, in);
    std::printf("messages have arrived\n");
  } else {
    communicate(out, in);
    check(mapped() < mapped_before + most, "less than 1 GiB is mapped after messages");
    // A tool such as valgrind dumps what it wants to.
    if (mode != "tool") check(dumped() < dumped_before + most / 16, "less than 64 MiB more are dumped");
  }
  MPI_Finalize();
}
