// The program of a host, analysed once for all of its ranks: the libraries that it needs, those of which each rank has
// a private copy, and the changes in a copy. Or a library that ranks open while they run (opened.hpp).
//
// Private are, besides those that the user names: the program's own libraries (under its directory, or found through a
// relative run path), the runtime libraries of languages, whose state the languages give to each process (iostreams,
// OpenMP's teams and locks, Fortran's units, and its MPI_IN_PLACE, which is a variable), and every library that needs a
// private one. All others are shared, libc and Heddle among them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "launch/boot/elf_file.hpp"
#include "launch/boot/host_plan.hpp"
#include "launch/host/variables.hpp"

namespace heddle::host {

// The program, or a private library.
struct Part {
  std::string name;  // its name in references; for the program: its path
  std::unique_ptr<boot::ElfFile> file;

  // A string in the file that names another part, or an existing copy of the rank.
  struct Reference {
    std::size_t offset;  // in the file
    std::string name;
  };
  std::vector<Reference> references;
  std::unique_ptr<boot::ElfFile> pattern;  // the file as it is in a copy, without those references

  // The place in a copy of one of libc's variables, or of its address.
  struct Use {
    std::uint64_t address;
    Variable variable;
    bool is_copy;
  };
  std::vector<Use> uses;

  // A variable of a private library of which the program has the valid copy. The loader makes such copies only for the
  // program of the process.
  struct CopiedData {
    std::uint64_t address;
    std::size_t from;  // the library
    std::uint64_t from_address;
    std::size_t bytes;
  };
  std::vector<CopiedData> copied;

  // The place in a copy of the address of a libc function that is replaced by another.
  struct Replaced {
    std::uint64_t address;
    void* function;
  };
  std::vector<Replaced> replaced;
};

// For an opened library: the libraries that it needs and that must be a rank's own.
enum class Own : std::uint8_t {
  needed,  // those that it needs itself
  none     // but those that need what the rank has copies of
};

// For functions of libc that identify a library by its file: the replacement in a copy. Null: none.
using Replacement = void* (*)(std::string_view function);

class Program {
 public:
  // Throws std::runtime_error if the program can't be run in this way. Opens the shared libraries.
  Program(const boot::HostPlan& plan, unsigned long tls_bytes, unsigned long tls_alignment);
  // A library, for ranks that have copies of those in `there`. Throws std::runtime_error if it cannot be copied.
  Program(const std::string& library, Own own, std::vector<std::string> there, Replacement replacement);

  // The program first; libraries follow those that need them, except for cycles.
  const std::vector<Part>& parts() const { return parts_; }
  // Indices into parts() in the order in which constructors are to be called.
  const std::vector<std::size_t>& construction_order() const { return order_; }

 private:
  struct Library {
    std::string name;
    std::string path;  // empty: the loader will find it
    bool relative = false;
    bool is_private = false;
    bool core = false;
    bool there = false;  // the rank has a copy already
    std::unique_ptr<boot::ElfFile> file;
    std::vector<std::size_t> needs;
  };

  std::unique_ptr<boot::ElfFile> read();
  void find_libraries();
  std::size_t library(const std::string& name, const boot::ElfFile& needed_by);
  void choose_private(const std::vector<std::string>& named);
  void choose_own(Own own);
  void spread_private();
  bool copies_data_of(const Library& library) const;
  void open_shared();
  void make_parts(std::unique_ptr<boot::ElfFile> program);
  void describe(Part& part);
  void find_uses(Part& part) const;
  void find_replaced(Part& part) const;
  void find_copied_data();
  void order_construction(std::size_t part, std::vector<bool>& seen);

  std::string path_;
  std::vector<std::string> there_;
  Replacement replacement_ = nullptr;
  std::string directory_;  // of the program
  boot::ElfFile* program_ = nullptr;
  std::vector<Library> libraries_;
  std::vector<Part> parts_;
  std::vector<std::size_t> order_;
};

}  // namespace heddle::host
