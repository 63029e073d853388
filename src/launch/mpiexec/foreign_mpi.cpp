#include "launch/mpiexec/foreign_mpi.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <map>
#include <vector>

#include "launch/boot/elf_file.hpp"
#include "launch/mpiexec/children.hpp"
#include "launch/mpiexec/linked_libraries.hpp"
#include "launch/mpiexec/words.hpp"
#include "network/descriptor.hpp"

namespace heddle::mpiexec {
namespace {

// Written pages of zero-initialized memory from which on a library counts as initialized. Loaded: MPICH 5.0.2 has 1, Open
// MPI 5 none; after MPI_Init 39 and 21.
constexpr int pages_of_initialized = 8;
constexpr int most_processes = 16;  // of a rank that are checked

std::string of_process(pid_t process, const char* file) { return "/proc/" + std::to_string(process) + '/' + file; }

// The address of each MPI library in the process, by its path.
std::map<std::string, std::uint64_t> libraries_of_mpi(pid_t process) {
  std::map<std::string, std::uint64_t> found;
  for (const std::string& line : split(bytes_of_file(of_process(process, "maps")), '\n')) {
    const std::size_t path = line.find('/');
    if (path == std::string::npos || !is_mpi_library(line.substr(line.rfind('/') + 1))) continue;
    unsigned long long from = 0, offset = 0;
    if (std::sscanf(line.c_str(), "%llx-%*x %*s %llx", &from, &offset) == 2 && offset == 0)
      found.try_emplace(line.substr(path), from);
  }
  return found;
}

// Pages of the library's zero-initialized memory that are there or swapped out.
int written_pages(const boot::ElfFile& library, std::uint64_t base, const lln::Descriptor& pagemap) {
  const auto page = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  int written = 0;
  for (const Elf64_Phdr& part : library.segments()) {
    if (part.p_type != PT_LOAD || part.p_memsz <= part.p_filesz) continue;
    const std::uint64_t first = (base + part.p_vaddr + part.p_filesz + page - 1) / page;
    const std::uint64_t end = (base + part.p_vaddr + part.p_memsz) / page;
    std::vector<std::uint64_t> entries(end > first ? end - first : 0);
    const ssize_t got = pread(pagemap.number(), entries.data(), entries.size() * sizeof entries[0],
                              static_cast<off_t>(first * sizeof entries[0]));
    entries.resize(got > 0 ? static_cast<std::size_t>(got) / sizeof entries[0] : 0);
    for (const std::uint64_t entry : entries) written += (entry >> 62) != 0 ? 1 : 0;
  }
  return written;
}

ForeignMpi foreign_mpi_of_one(pid_t process) {
  ForeignMpi foreign;
  const lln::Descriptor pagemap(open(of_process(process, "pagemap").c_str(), O_RDONLY | O_CLOEXEC));
  for (const auto& [path, base] : libraries_of_mpi(process)) {
    const Result<boot::ElfFile> library = boot::ElfFile::read(path);
    if (!library || library->kind() != boot::ElfFile::Kind::library) continue;
    if (is_ours(*library)) {
      foreign.has_ours = true;
    } else if (written_pages(*library, base, pagemap) >= pages_of_initialized) {
      foreign.path = path;
      foreign.family = mpi_family(path.substr(path.rfind('/') + 1));
    }
  }
  return foreign;
}

}  // namespace

ForeignMpi foreign_mpi_of(pid_t process) {
  std::vector<pid_t> processes{process};
  for (std::size_t i = 0; i < processes.size() && i < most_processes; ++i) {
    ForeignMpi foreign = foreign_mpi_of_one(processes[i]);
    foreign.is_own = i == 0;
    if (foreign) return foreign;
    for (const pid_t child : listed_children(processes[i])) processes.push_back(child);
  }
  return {};
}

}  // namespace heddle::mpiexec
