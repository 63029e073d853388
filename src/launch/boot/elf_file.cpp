#include "launch/boot/elf_file.hpp"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <utility>

namespace heddle::boot {
namespace {

#if defined(__x86_64__)
constexpr Elf64_Half this_machine = EM_X86_64;
#elif defined(__aarch64__)
constexpr Elf64_Half this_machine = EM_AARCH64;
#else
constexpr Elf64_Half this_machine = EM_NONE;
#endif

// The number of symbols up to the last one that a DT_GNU_HASH table covers: the end of the chain that begins last. The table is
// a header (number of buckets, first symbol covered, words of the Bloom filter, its shift), the filter in 64-bit words, the
// buckets with the first symbol of each chain, and a word for each covered symbol whose lowest bit ends a chain.
std::size_t count_hashed_symbols(std::span<const std::uint32_t> table) {
  constexpr std::size_t header_words = 4;
  if (table.size() < header_words) return 0;
  const std::size_t bucket_count = table[0], first = table[1], filter_words = std::size_t{2} * table[2];
  if (bucket_count + filter_words > table.size() - header_words) return 0;
  const auto buckets = table.subspan(header_words + filter_words, bucket_count);
  const auto chains = table.subspan(header_words + filter_words + bucket_count);
  const std::size_t last = buckets.empty() ? 0 : *std::ranges::max_element(buckets);
  if (last < first) return first;
  for (std::size_t i = last - first; i < chains.size(); ++i)
    if ((chains[i] & 1) != 0) return first + i + 1;
  return 0;
}

}  // namespace

Result<ElfFile> ElfFile::read(const std::string& path) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  struct stat status;
  if (fd < 0 || fstat(fd, &status) != 0) {
    const Failure failure{.text = std::strerror(errno)};
    if (fd >= 0) close(fd);
    return failure;
  }
  const auto size = static_cast<std::size_t>(status.st_size);
  void* content = size != 0 ? mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0) : nullptr;
  close(fd);
  if (content == MAP_FAILED) return Failure{.text = std::strerror(errno)};
  return ElfFile(path, {static_cast<const std::byte*>(content), size});
}

ElfFile::ElfFile(const std::string& path, std::span<const std::byte> bytes) : path_(path), bytes_(bytes) {
  kind_ = find_kind();
  if (!is_program_of_this_machine()) return;
  if (const Elf64_Phdr* found = segment(PT_DYNAMIC))
    dynamic_ = {reinterpret_cast<const Elf64_Dyn*>(bytes_.data() + found->p_offset),
                found->p_filesz / sizeof(Elf64_Dyn)};
  symbol_count_ = count_symbols();
  kind_ = find_kind();
}

ElfFile::ElfFile(ElfFile&& other) noexcept
    : path_(std::move(other.path_)),
      bytes_(std::exchange(other.bytes_, {})),
      dynamic_(std::exchange(other.dynamic_, {})),
      symbol_count_(other.symbol_count_),
      kind_(other.kind_) {}

ElfFile::~ElfFile() {
  if (!bytes_.empty()) munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
}

// All data that are read later are inside the file and aligned.
bool ElfFile::headers_fit() const {
  const auto inside = [&](std::uint64_t offset, std::uint64_t bytes) {
    return offset <= bytes_.size() && bytes <= bytes_.size() - offset;
  };
  if (header().e_phentsize != sizeof(Elf64_Phdr) || header().e_phoff % alignof(Elf64_Phdr) != 0 ||
      !inside(header().e_phoff, std::uint64_t{header().e_phnum} * sizeof(Elf64_Phdr)))
    return false;
  return std::ranges::all_of(segments(), [&](const Elf64_Phdr& s) {
    return inside(s.p_offset, s.p_filesz) && (s.p_type != PT_DYNAMIC || s.p_offset % alignof(Elf64_Dyn) == 0);
  });
}

ElfFile::Kind ElfFile::find_kind() const {
  if (bytes_.size() < SELFMAG || std::memcmp(bytes_.data(), ELFMAG, SELFMAG) != 0) return Kind::not_elf;
  if (bytes_.size() < sizeof(Elf64_Ehdr)) return Kind::damaged;
  if (header().e_ident[EI_CLASS] != ELFCLASS64 || header().e_ident[EI_DATA] != ELFDATA2LSB ||
      header().e_machine != this_machine)
    return Kind::other_machine;
  if (header().e_type == ET_REL || header().e_type == ET_CORE) return Kind::object;
  if ((header().e_type != ET_EXEC && header().e_type != ET_DYN) || !headers_fit() || segment(PT_LOAD) == nullptr)
    return Kind::damaged;
  if (segment(PT_INTERP) == nullptr && header().e_type == ET_DYN)
    return (dynamic_value(DT_FLAGS_1) & DF_1_PIE) != 0 ? Kind::static_program : Kind::library;
  if (segment(PT_INTERP) == nullptr || segment(PT_DYNAMIC) == nullptr) return Kind::static_program;
  return header().e_type == ET_EXEC ? Kind::fixed_program : Kind::position_independent_program;
}

std::string_view ElfFile::machine() const {
  struct Name {
    Elf64_Half machine;
    const char* name;
  };
  static constexpr Name names[] = {{EM_X86_64, "x86-64"},    {EM_386, "x86, 32 bits"}, {EM_AARCH64, "AArch64"},
                                   {EM_ARM, "ARM, 32 bits"}, {EM_PPC64, "POWER"},      {EM_RISCV, "RISC-V"},
                                   {EM_S390, "IBM Z"}};
  const auto found = std::ranges::find(names, header().e_machine, &Name::machine);
  return found != std::end(names) ? found->name : "another processor";
}

std::string_view ElfFile::interpreter() const {
  const Elf64_Phdr* found = segment(PT_INTERP);
  if (found == nullptr || found->p_filesz == 0) return "";
  const std::string_view text(reinterpret_cast<const char*>(bytes_.data() + found->p_offset), found->p_filesz);
  return text.substr(0, text.find('\0'));
}

std::span<const Elf64_Phdr> ElfFile::segments() const {
  return {reinterpret_cast<const Elf64_Phdr*>(bytes_.data() + header().e_phoff), header().e_phnum};
}

const Elf64_Phdr* ElfFile::segment(std::uint32_t type) const {
  const auto all = segments();
  const auto found = std::ranges::find(all, type, &Elf64_Phdr::p_type);
  return found != all.end() ? &*found : nullptr;
}

std::uint64_t ElfFile::dynamic_value(std::int64_t tag) const {
  for (const Elf64_Dyn& entry : dynamic_) {
    if (entry.d_tag == tag) return entry.d_un.d_val;
    if (entry.d_tag == DT_NULL) break;
  }
  return 0;
}

std::size_t ElfFile::offset_of(std::uint64_t address) const {
  for (const Elf64_Phdr& s : segments())
    if (s.p_type == PT_LOAD && address >= s.p_vaddr && address < s.p_vaddr + s.p_filesz)
      return address - s.p_vaddr + s.p_offset;
  return bytes_.size();
}

template <class T>
std::span<const T> ElfFile::table(std::uint64_t address, std::uint64_t bytes) const {
  const std::size_t at = offset_of(address);
  if (address == 0 || at > bytes_.size() || bytes > bytes_.size() - at || at % alignof(T) != 0) return {};
  return {reinterpret_cast<const T*>(bytes_.data() + at), bytes / sizeof(T)};
}

const char* ElfFile::string(std::uint64_t offset) const {
  const auto strings = table<char>(dynamic_value(DT_STRTAB), dynamic_value(DT_STRSZ));
  const bool ends = !strings.empty() && strings.back() == '\0';
  return ends && offset < strings.size() ? &strings[offset] : "";
}

std::vector<std::string_view> ElfFile::needed() const {
  std::vector<std::string_view> names;
  for (const Elf64_Dyn& entry : dynamic_)
    if (entry.d_tag == DT_NEEDED) names.emplace_back(string(entry.d_un.d_val));
  return names;
}

std::string_view ElfFile::name() const {
  const std::uint64_t offset = dynamic_value(DT_SONAME);
  return offset != 0 ? string(offset) : "";
}

std::string_view ElfFile::search_path() const {
  const std::uint64_t run = dynamic_value(DT_RUNPATH);
  const std::uint64_t old = dynamic_value(DT_RPATH);
  return run != 0 ? string(run) : old != 0 ? string(old) : "";
}

std::span<const Elf64_Rela> ElfFile::relocations() const {
  return table<Elf64_Rela>(dynamic_value(DT_RELA), dynamic_value(DT_RELASZ));
}

std::span<const Elf64_Rela> ElfFile::calls() const {
  return table<Elf64_Rela>(dynamic_value(DT_JMPREL), dynamic_value(DT_PLTRELSZ));
}

// The ELF format stores the number of dynamic symbols only in the hash tables. DT_HASH counts all of them. DT_GNU_HASH
// covers the defined ones, which come last; in a file that defines none, the relocations name all needed ones.
std::size_t ElfFile::count_symbols() const {
  const auto hash = words_from(dynamic_value(DT_HASH));
  if (hash.size() > 1) return hash[1];
  std::size_t count = count_hashed_symbols(words_from(dynamic_value(DT_GNU_HASH)));
  for (const auto& part : {relocations(), calls()})
    for (const Elf64_Rela& relocation : part) count = std::max<std::size_t>(count, ELF64_R_SYM(relocation.r_info) + 1);
  return count;
}

std::span<const std::uint32_t> ElfFile::words_from(std::uint64_t address) const {
  for (const Elf64_Phdr& s : segments())
    if (s.p_type == PT_LOAD && address >= s.p_vaddr && address < s.p_vaddr + s.p_filesz)
      return table<std::uint32_t>(address, s.p_vaddr + s.p_filesz - address);
  return {};
}

std::span<const Elf64_Sym> ElfFile::symbols() const {
  return table<Elf64_Sym>(dynamic_value(DT_SYMTAB), symbol_count_ * sizeof(Elf64_Sym));
}

const Elf64_Sym& ElfFile::symbol(std::uint32_t index) const {
  static constexpr Elf64_Sym none{};
  const auto all = symbols();
  return index < all.size() ? all[index] : none;
}

const Elf64_Sym* ElfFile::definition(std::string_view name) const {
  const auto all = symbols();
  const auto found = std::ranges::find_if(
      all, [&](const Elf64_Sym& s) { return s.st_shndx != SHN_UNDEF && name == string(s.st_name); });
  return found != all.end() ? &*found : nullptr;
}

bool ElfFile::has_function(std::string_view name) const {
  if (!is_program_of_this_machine()) return false;
  if (definition(name) != nullptr) return true;
  const auto inside = [&](std::uint64_t offset, std::uint64_t bytes) {
    return offset <= bytes_.size() && bytes <= bytes_.size() - offset && offset % alignof(Elf64_Shdr) == 0;
  };
  if (header().e_shentsize != sizeof(Elf64_Shdr) ||
      !inside(header().e_shoff, std::uint64_t{header().e_shnum} * sizeof(Elf64_Shdr)))
    return false;
  const std::span sections(reinterpret_cast<const Elf64_Shdr*>(bytes_.data() + header().e_shoff), header().e_shnum);
  for (const Elf64_Shdr& section : sections) {
    if (section.sh_type != SHT_SYMTAB || section.sh_link >= sections.size()) continue;
    const Elf64_Shdr& strings = sections[section.sh_link];
    if (!inside(section.sh_offset, section.sh_size) || strings.sh_offset > bytes_.size() ||
        strings.sh_size > bytes_.size() - strings.sh_offset)
      continue;
    const std::string_view text(reinterpret_cast<const char*>(bytes_.data() + strings.sh_offset), strings.sh_size);
    const std::span symbols(reinterpret_cast<const Elf64_Sym*>(bytes_.data() + section.sh_offset),
                            section.sh_size / sizeof(Elf64_Sym));
    const auto is_it = [&](const Elf64_Sym& s) {
      return s.st_shndx != SHN_UNDEF && ELF64_ST_TYPE(s.st_info) == STT_FUNC && s.st_name < text.size() &&
             text.substr(s.st_name).starts_with(name) && text.substr(s.st_name + name.size()).starts_with('\0');
    };
    if (std::ranges::any_of(symbols, is_it)) return true;
  }
  return false;
}

}  // namespace heddle::boot
