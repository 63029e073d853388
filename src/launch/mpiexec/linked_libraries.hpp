// The libraries of a program, as far as mpiexec must know them: if its ranks can join a job, and if the loader finds
// all of them. Only the files are read; nothing is loaded.
//
// Every other result than "unknown" is certain: a program that loads MPI itself (an interpreter, a plugin) is not
// judged.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "launch/boot/elf_file.hpp"

namespace heddle::mpiexec {

struct LinkedMpi {
  enum class Kind {
    none,               // or unknown
    ours,               // the standard ABI, and Heddle behind it
    other_abi,          // `name`, of `family`
    other_abi_library,  // the standard ABI, but the library at `name` is not Heddle's
    inside,             // it has an MPI_Init of its own
  };
  Kind kind = Kind::none;
  std::string name, family;
};

// `environment` is that of the program: its LD_LIBRARY_PATH counts.
LinkedMpi linked_mpi(const boot::ElfFile& program, const std::vector<std::string>& environment);

// True if a file of this name is a library of some MPI; the MPI's name unless the file has the standard ABI's name;
// true if the library is Heddle's.
bool is_mpi_library(std::string_view name);
std::string mpi_family(std::string_view name);
bool is_ours(const boot::ElfFile& library);

// The libraries of the program that its loader does not find, as reported by the loader itself, which is asked only if
// we don't find them either. Empty if all are there or it is unknown.
std::vector<std::string> missing_libraries(const boot::ElfFile& program, const std::vector<std::string>& environment);

// The folder of our library, for LD_LIBRARY_PATH; empty if it isn't where it is built or installed.
std::string library_folder();

}  // namespace heddle::mpiexec
