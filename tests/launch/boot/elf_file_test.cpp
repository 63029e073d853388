// The results of ElfFile for a file, against the section headers of the same file, which ElfFile does not use for it.
// Arguments: files. Prints what differs.
#include "launch/boot/elf_file.hpp"

#include <cstdio>
#include <cstring>
#include <string>

namespace {

using heddle::boot::ElfFile;

int differences = 0;

void expect(bool holds, const ElfFile& file, const std::string& what) {
  if (holds) return;
  std::fprintf(stderr, "%s: %s\n", file.path().c_str(), what.c_str());
  ++differences;
}

const Elf64_Shdr* section(const ElfFile& file, std::uint32_t type) {
  const auto& header = *reinterpret_cast<const Elf64_Ehdr*>(file.bytes().data());
  const auto* sections = reinterpret_cast<const Elf64_Shdr*>(file.bytes().data() + header.e_shoff);
  for (unsigned i = 0; i < header.e_shnum; ++i)
    if (sections[i].sh_type == type) return &sections[i];
  return nullptr;
}

void compare(const char* path) {
  const heddle::Result<ElfFile> read = ElfFile::read(path);
  if (!read) {
    std::fprintf(stderr, "%s: cannot be read: %s\n", path, read.failure().text.c_str());
    ++differences;
    return;
  }
  const ElfFile& file = *read;
  expect(file.is_program_of_this_machine(), file, "is no program of this machine");
  const Elf64_Shdr* symbols = section(file, SHT_DYNSYM);
  expect(symbols != nullptr, file, "has no dynamic symbols");
  if (symbols == nullptr) return;
  const std::size_t count = symbols->sh_size / sizeof(Elf64_Sym);
  const auto* all = reinterpret_cast<const Elf64_Sym*>(file.bytes().data() + symbols->sh_offset);
  expect(file.symbols().size() <= count, file, "more symbols are found than there are");
  for (std::size_t i = 0; i < count; ++i) {
    const std::string name = file.string(all[i].st_name);
    if (all[i].st_shndx != SHN_UNDEF)
      expect(file.definition(name) != nullptr && file.definition(name)->st_value == all[i].st_value, file,
             "the definition of " + name + " is not found");
  }
  for (const auto& relocations : {file.relocations(), file.calls()})
    for (const Elf64_Rela& relocation : relocations) {
      const std::size_t i = ELF64_R_SYM(relocation.r_info);
      expect(i < count && std::memcmp(&file.symbol(static_cast<std::uint32_t>(i)), &all[i], sizeof all[i]) == 0, file,
             "the symbol of a relocation is not found: " + std::to_string(i));
    }
}

}  // namespace

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) compare(argv[i]);
  return argc > 1 && differences == 0 ? 0 : 1;
}
