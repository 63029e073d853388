#include "launch/host/program.hpp"
#include "base/platform/next_function.hpp"

#include <dlfcn.h>
#include <limits.h>
#include <link.h>
#include <string.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <stdexcept>

namespace heddle::host {
namespace {

constexpr std::int64_t ignored_tag = 0x60000e0d;  // of the range that is the system's; no loader knows this one

// Parts of libc and of this process, which exist once.
constexpr std::string_view core_libraries[] = {
    "libc.so",      "libm.so",     "libpthread.so", "libdl.so",           "librt.so",   "libutil.so",
    "libresolv.so", "libanl.so",   "libmvec.so",    "libnsl.so",          "libnss_",    "libthread_db.so",
    "ld-linux",     "libgcc_s.so", "libmpi_abi.so", "libBrokenLocale.so", "linux-vdso", "libheddle-host.so"};
constexpr std::string_view language_runtimes[] = {"libstdc++.so", "libc++.so",   "libc++abi.so",   "libgomp.so",
                                                  "libomp.so",    "libiomp5.so", "libgfortran.so", "libmpifort_abi"};
// Runtimes of user-level threads know threads of one program: they can't be copied, and the library would not find a copy.
constexpr std::string_view thread_runtimes[] = {"libboost_fiber.so", "libabt.so", "libqthread.so"};
// Libraries that an interpreter opens while it runs are shared by all ranks of a process, and would find the state of
// one of them.
constexpr std::string_view interpreter_entry = "Py_BytesMain";

// Data of libc that never change once there is a second thread: a copy is as good as another.
constexpr std::string_view constants[] = {"in6addr_any",      "in6addr_loopback",      "_sys_errlist",
                                          "sys_errlist",      "sys_siglist",           "_sys_siglist",
                                          "_nl_msg_cat_cntr", "__libc_single_threaded"};

template <class List>
bool begins_with_one_of(std::string_view name, const List& list) {
  return std::ranges::any_of(list, [&](std::string_view one) { return name.starts_with(one); });
}

std::string base_name(std::string_view path) { return std::string(path.substr(path.rfind('/') + 1)); }
std::string folder_of(const std::string& path) { return path.substr(0, path.rfind('/')); }

std::string real_path(const std::string& path) {
  char resolved[PATH_MAX];
  return realpath(path.c_str(), resolved) != nullptr ? resolved : path;
}

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> pieces;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(separator), text.size());
    pieces.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return pieces;
}

void replace(std::string& text, std::string_view what, const std::string& with) {
  for (std::size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += with.size())
    text.replace(at, what.size(), with);
}

// The loader's own folders: those of LD_LIBRARY_PATH and of the system.
std::vector<std::string> default_folders() {
  void* self = dlopen(nullptr, RTLD_LAZY);
  Dl_serinfo size;
  if (self == nullptr || dlinfo(self, RTLD_DI_SERINFOSIZE, &size) != 0) return {};
  const std::unique_ptr<std::byte[]> room(new std::byte[size.dls_size]);
  auto& info = *reinterpret_cast<Dl_serinfo*>(room.get());
  info = size;
  if (dlinfo(self, RTLD_DI_SERINFO, &info) != 0) return {};
  std::vector<std::string> folders;
  for (unsigned i = 0; i < info.dls_cnt; ++i) folders.emplace_back(info.dls_serpath[i].dls_name);
  return folders;
}

bool is_loaded(const std::string& name) {
  void* handle = dlopen(name.c_str(), RTLD_LAZY | RTLD_NOLOAD);
  if (handle != nullptr) dlclose(handle);
  return handle != nullptr;
}

[[noreturn]] void refuse(const std::string& what) { throw std::runtime_error(what); }

std::unique_ptr<boot::ElfFile> read_file(const std::string& path) {
  Result<boot::ElfFile> file = boot::ElfFile::read(path);
  if (!file) refuse("cannot read " + path + ": " + file.failure().text);
  return std::make_unique<boot::ElfFile>(*std::move(file));
}

}  // namespace

std::unique_ptr<boot::ElfFile> Program::read() {
  std::unique_ptr<boot::ElfFile> program = read_file(path_);
  program_ = program.get();
  return program;
}

Program::Program(const boot::HostPlan& plan, unsigned long tls_bytes, unsigned long tls_alignment)
    : path_(plan.program) {
  std::unique_ptr<boot::ElfFile> program = read();
  directory_ = folder_of(real_path(plan.program));
  if (const Elf64_Phdr* tls = program->segment(PT_TLS)) {
    if (tls->p_align > tls_alignment || (tls->p_memsz + tls->p_align - 1) / tls->p_align * tls->p_align > tls_bytes)
      refuse(plan.program + " has " + std::to_string(tls->p_memsz) +
             " bytes of thread-local variables, more than its host reserves");
  }
  find_libraries();
  choose_private(plan.private_libraries);
  spread_private();
  open_shared();
  make_parts(std::move(program));
  find_copied_data();
  std::vector<bool> seen(parts_.size());
  order_construction(0, seen);
}

Program::Program(const std::string& library, Own own, std::vector<std::string> there, Replacement replacement)
    : path_(library), there_(std::move(there)), replacement_(replacement) {
  std::unique_ptr<boot::ElfFile> file = read();
  if (file->kind() != boot::ElfFile::Kind::library) refuse(path_ + " is not a library of this machine");
  find_libraries();
  choose_own(own);
  spread_private();
  make_parts(std::move(file));
  std::vector<bool> seen(parts_.size());
  order_construction(0, seen);
}

void Program::find_libraries() {
  for (std::string_view name : program_->needed()) library(std::string(name), *program_);
  for (std::size_t i = 0; i < libraries_.size(); ++i) {
    if (!libraries_[i].file) continue;
    const boot::ElfFile& file = *libraries_[i].file;
    for (std::string_view name : file.needed()) {
      const std::size_t needed = library(std::string(name), file);
      libraries_[i].needs.push_back(needed);
    }
  }
}

// Searches for it as the loader would, and for all that it needs.
std::size_t Program::library(const std::string& name, const boot::ElfFile& needed_by) {
  const auto known = std::ranges::find(libraries_, name, &Library::name);
  if (known != libraries_.end()) return static_cast<std::size_t>(known - libraries_.begin());
  Library found;
  found.name = name;
  found.there = found.is_private = std::ranges::find(there_, name) != there_.end();
  found.core = !found.there && (begins_with_one_of(base_name(name), core_libraries) || is_loaded(name));
  if (!found.there && !found.core) {
    const std::string origin = folder_of(real_path(needed_by.path()));
    std::vector<std::pair<std::string, bool>> candidates;  // path, and whether a relative run path led there
    if (name.find('/') != std::string::npos) {
      candidates.emplace_back(name, name.front() != '/');
    } else {
      for (std::string folder : split(needed_by.search_path(), ':')) {
        const bool relative = folder.find("$ORIGIN") != std::string::npos ||
                              folder.find("${ORIGIN}") != std::string::npos || folder.front() != '/';
        replace(folder, "${ORIGIN}", origin);
        replace(folder, "$ORIGIN", origin);
        candidates.emplace_back(folder.append("/").append(name), relative);
      }
      for (std::string& folder : default_folders()) candidates.emplace_back(folder.append("/").append(name), false);
    }
    for (const auto& [path, relative] : candidates) {
      if (access(path.c_str(), R_OK) != 0) continue;
      Result<boot::ElfFile> file = boot::ElfFile::read(path);
      if (!file || file->kind() == boot::ElfFile::Kind::not_elf) continue;
      found.path = path;
      found.relative = relative;
      found.file = std::make_unique<boot::ElfFile>(*std::move(file));
      break;
    }
  }
  libraries_.push_back(std::move(found));
  return libraries_.size() - 1;
}

void Program::choose_private(const std::vector<std::string>& private_libraries) {
  const auto refuse_interpreter = [&](const std::string& where) {
    refuse(path_ + " has a Python interpreter (" + where +
           "), whose modules the ranks of one process would share; use --ranks processes");
  };
  if (program_->definition(interpreter_entry) != nullptr) refuse_interpreter("its own");
  std::vector<bool> used(private_libraries.size());
  for (Library& one : libraries_) {
    const std::string file_name = base_name(one.path.empty() ? one.name : one.path);
    bool named = false;
    for (std::size_t i = 0; i < used.size(); ++i) {
      const std::string wanted = base_name(private_libraries[i]);
      if (wanted != one.name && wanted != file_name && base_name(one.name).rfind(wanted + '.', 0) != 0) continue;
      named = used[i] = true;
    }
    if (named && one.core)
      refuse("--private " + one.name + ": libc, Heddle and what they need are shared by all ranks of a process");
    if (begins_with_one_of(one.name, thread_runtimes))
      refuse(path_ + " has user-level threads (" + one.name +
             "), which ranks of one process do not support. Use --ranks processes");
    if (one.core || !one.file) continue;
    if (!named && one.file->definition(interpreter_entry) != nullptr) refuse_interpreter(one.name);
    const bool own = one.relative || real_path(one.path).starts_with(directory_ + '/');
    one.is_private = named || own || begins_with_one_of(one.name, language_runtimes);
  }
  for (std::size_t i = 0; i < used.size(); ++i)
    if (!used[i]) refuse("--private " + private_libraries[i] + ": " + path_ + " is not linked with such a library");
}

// Libraries that the program has opened for all of its ranks are found before a copy.
void Program::choose_own(Own own) {
  if (own == Own::none) return;
  for (std::string_view name : program_->needed()) {
    Library& one = *std::ranges::find(libraries_, name, &Library::name);
    if (begins_with_one_of(base_name(one.name), core_libraries) || one.there) continue;
    if (one.core)
      refuse("the ranks of a process need copies of " + one.name +
             ", which their program uses itself; use --ranks processes");
    one.is_private = one.file != nullptr;
  }
}

// A shared library can't use one that exists several times, nor variables of which each rank has a copy.
void Program::spread_private() {
  for (bool changed = true; changed;) {
    changed = false;
    for (Library& one : libraries_) {
      if (one.is_private || one.core || !one.file) continue;
      const bool needs_private =
          std::ranges::any_of(one.needs, [&](std::size_t needed) { return libraries_[needed].is_private; });
      if (needs_private || copies_data_of(one)) one.is_private = changed = true;
    }
  }
}

// Does the program have copies of this library's variables?
bool Program::copies_data_of(const Library& library) const {
  for (const Elf64_Rela& relocation : program_->relocations()) {
    if (ELF64_R_TYPE(relocation.r_info) != R_X86_64_COPY) continue;
    const Elf64_Sym& symbol = program_->symbol(ELF64_R_SYM(relocation.r_info));
    if (library.file->definition(program_->string(symbol.st_name)) != nullptr) return true;
  }
  return false;
}

void Program::open_shared() {
  for (const Library& one : libraries_) {
    if (one.is_private) continue;
    const std::string& place = one.path.empty() ? one.name : one.path;
    if (dlopen(place.c_str(), RTLD_NOW | RTLD_GLOBAL) == nullptr)
      refuse(std::string("cannot open a library of ") + path_ + ": " + dlerror());
  }
}

void Program::make_parts(std::unique_ptr<boot::ElfFile> program) {
  const auto add = [&](const std::string& name, std::unique_ptr<boot::ElfFile> file) {
    Part& part = parts_.emplace_back();
    part.name = name;
    part.file = std::move(file);
  };
  add(path_, std::move(program));
  for (Library& one : libraries_)
    if (one.is_private && !one.there) add(one.name, std::move(one.file));
  for (Part& part : parts_) describe(part);
}

// The changes in a copy: it is no program to the loader, its name is hidden from other libraries' searches, its
// constructors wait for us, and the libraries that it needs are this rank's.
void Program::describe(Part& part) {
  const boot::ElfFile& file = *part.file;
  const auto refer = [&](std::uint64_t string) {
    const std::string name = file.string(string);
    if (std::ranges::find(parts_, name, &Part::name) == parts_.end() && std::ranges::find(there_, name) == there_.end())
      return;
    const std::size_t offset = file.offset_of(file.dynamic_value(DT_STRTAB) + string);
    if (std::ranges::find(part.references, offset, &Part::Reference::offset) == part.references.end())
      part.references.push_back({offset, name});
  };
  part.pattern = read_file(file.path());
  for (Elf64_Dyn& entry : part.pattern->writable(part.pattern->dynamic())) {
    switch (entry.d_tag) {
      case DT_NEEDED:
        refer(entry.d_un.d_val);
        break;
      case DT_FLAGS_1:
        entry.d_un.d_val &= ~static_cast<std::uint64_t>(DF_1_PIE);
        break;
      case DT_SONAME:
      case DT_INIT:
      case DT_FINI:
      case DT_INIT_ARRAY:
      case DT_INIT_ARRAYSZ:
      case DT_FINI_ARRAY:
      case DT_FINI_ARRAYSZ:
      case DT_PREINIT_ARRAY:
      case DT_PREINIT_ARRAYSZ:
        entry.d_tag = ignored_tag;
        break;
      default:
        break;
    }
  }
  // A unique symbol (of C++ templates' static members) would be that of the first rank.
  for (const Elf64_Sym& symbol : file.symbols()) {
    if (ELF64_ST_BIND(symbol.st_info) != STB_GNU_UNIQUE) continue;
    const auto i = static_cast<std::size_t>(&symbol - file.symbols().data());
    part.pattern->writable(part.pattern->symbols())[i].st_info =
        ELF64_ST_INFO(STB_GLOBAL, ELF64_ST_TYPE(symbol.st_info));
  }
  // The versions that it wants of a library refer to the library by name.
  std::size_t at = file.offset_of(file.dynamic_value(DT_VERNEED));
  for (std::uint64_t left = file.dynamic_value(DT_VERNEEDNUM);
       left != 0 && at + sizeof(Elf64_Verneed) <= file.bytes().size(); --left) {
    const auto& wanted = *reinterpret_cast<const Elf64_Verneed*>(file.bytes().data() + at);
    refer(wanted.vn_file);
    at += wanted.vn_next;
  }
  find_uses(part);
  if (replacement_ != nullptr) find_replaced(part);
}

void Program::find_replaced(Part& part) const {
  const boot::ElfFile& file = *part.file;
  for (const auto& relocations : {file.relocations(), file.calls()}) {
    for (const Elf64_Rela& relocation : relocations) {
      const auto type = ELF64_R_TYPE(relocation.r_info);
      if (type != R_X86_64_JUMP_SLOT && type != R_X86_64_GLOB_DAT && type != R_X86_64_64) continue;
      const Elf64_Sym& symbol = file.symbol(ELF64_R_SYM(relocation.r_info));
      if (symbol.st_shndx != SHN_UNDEF) continue;
      if (void* const function = replacement_(file.string(symbol.st_name)))
        part.replaced.push_back({relocation.r_offset, function});
    }
  }
}

void Program::find_uses(Part& part) const {
  const boot::ElfFile& file = *part.file;
  for (const Elf64_Rela& relocation : file.relocations()) {
    const auto type = ELF64_R_TYPE(relocation.r_info);
    if (type != R_X86_64_COPY && type != R_X86_64_GLOB_DAT && type != R_X86_64_64) continue;
    const Elf64_Sym& symbol = file.symbol(ELF64_R_SYM(relocation.r_info));
    const Variable variable = variable_named(file.string(symbol.st_name));
    const bool is_copy = type == R_X86_64_COPY;
    // A symbol of that name which the program defines itself is not libc's.
    if (variable == Variable::none ||
        (symbol.st_shndx != SHN_UNDEF && !is_copy && program_->definition(file.string(symbol.st_name)) == nullptr))
      continue;
    part.uses.push_back({relocation.r_offset, variable, is_copy});
  }
}

// A copy of a variable that libc changes without the program would yield wrong results.
void Program::find_copied_data() {
  for (const Elf64_Rela& relocation : program_->relocations()) {
    if (ELF64_R_TYPE(relocation.r_info) != R_X86_64_COPY) continue;
    const Elf64_Sym& symbol = program_->symbol(ELF64_R_SYM(relocation.r_info));
    const std::string_view name = program_->string(symbol.st_name);
    const Elf64_Sym* found = nullptr;
    for (std::size_t i = 1; i < parts_.size() && found == nullptr; ++i) {
      found = parts_[i].file->definition(name);
      if (found == nullptr) continue;
      parts_[0].copied.push_back({relocation.r_offset, i, found->st_value, std::min(symbol.st_size, found->st_size)});
    }
    if (found != nullptr || variable_named(name) != Variable::none || begins_with_one_of(name, constants)) continue;
    refuse(path_ + " has a copy of the variable " + std::string(name) +
           " of a library that is shared by all ranks of a process, so it would miss changes of it. Compile the "
           "program with -fPIC, or use --ranks processes");
  }
}

void Program::order_construction(std::size_t part, std::vector<bool>& seen) {
  if (seen[part]) return;
  seen[part] = true;
  for (const Part::Reference& reference : parts_[part].references) {
    const auto needed = std::ranges::find(parts_, reference.name, &Part::name);
    if (needed != parts_.end()) order_construction(static_cast<std::size_t>(needed - parts_.begin()), seen);
  }
  order_.push_back(part);
}

}  // namespace heddle::host
