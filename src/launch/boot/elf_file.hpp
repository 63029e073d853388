// A program or shared library as a file: the data needed to run a program several times in one process.
//
// Reads the System V ABI's executable and linking format, 64 bits, of this machine. All results point into a private
// mapping of the file, which lives as long as the object and may be changed without changing the file.
#pragma once

#include <elf.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace heddle::boot {

class ElfFile {
 public:
  enum class Kind {
    position_independent_program,
    fixed_program,
    static_program,
    library,
    object,         // a compiler's output before linking, or a core dump
    damaged,        // the file ends too early for its headers, or they are invalid
    other_machine,  // another processor's, or 32 bits
    not_elf
  };

  // kind() describes the file. A failure, the system's reason: it is unreadable.
  static Result<ElfFile> read(const std::string& path);
  ElfFile(ElfFile&& other) noexcept;
  ~ElfFile();
  ElfFile(const ElfFile&) = delete;
  ElfFile& operator=(const ElfFile&) = delete;

  const std::string& path() const { return path_; }
  std::span<const std::byte> bytes() const { return bytes_; }
  Kind kind() const { return kind_; }
  bool is_program_of_this_machine() const { return kind_ <= Kind::library; }
  std::string_view machine() const;      // the machine that it is for: "AArch64, 64 bits"
  std::string_view interpreter() const;  // the loader that the program requests, or ""
  std::uint64_t entry() const { return header().e_entry; }
  std::span<const Elf64_Phdr> segments() const;
  const Elf64_Phdr* segment(std::uint32_t type) const;  // the first of this type; null: there is none

  std::span<const Elf64_Dyn> dynamic() const { return dynamic_; }
  std::uint64_t dynamic_value(std::int64_t tag) const;  // 0 if there is none
  const char* string(std::uint64_t offset) const;       // of the dynamic string table
  std::vector<std::string_view> needed() const;
  std::string_view name() const;         // DT_SONAME, or ""
  std::string_view search_path() const;  // DT_RUNPATH or DT_RPATH, or ""

  std::span<const Elf64_Rela> relocations() const;
  std::span<const Elf64_Rela> calls() const;  // relocations of functions in the procedure linkage table
  const Elf64_Sym& symbol(std::uint32_t index) const;
  std::span<const Elf64_Sym> symbols() const;
  const Elf64_Sym* definition(std::string_view name) const;  // null: it has none
  // Also searches the table for debuggers, if the file still has it.
  bool has_function(std::string_view name) const;

  // The same part of the mapping, to be changed.
  template <class T>
  std::span<T> writable(std::span<const T> part) {
    return {const_cast<T*>(part.data()), part.size()};
  }

  // The offset in the file of an address of the image.
  std::size_t offset_of(std::uint64_t address) const;

 private:
  ElfFile(const std::string& path, std::span<const std::byte> bytes);
  const Elf64_Ehdr& header() const { return *reinterpret_cast<const Elf64_Ehdr*>(bytes_.data()); }
  Kind find_kind() const;
  bool headers_fit() const;
  std::size_t count_symbols() const;
  template <class T>
  std::span<const T> table(std::uint64_t address, std::uint64_t bytes) const;
  std::span<const std::uint32_t> words_from(std::uint64_t address) const;  // up to the end of its segment

  std::string path_;
  std::span<const std::byte> bytes_;
  std::span<const Elf64_Dyn> dynamic_;
  std::size_t symbol_count_ = 0;
  Kind kind_ = Kind::not_elf;
};

}  // namespace heddle::boot
