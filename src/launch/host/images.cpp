// A copy is a memfd with the parts of the file that the loader reads, a few of its bytes changed. Once it is loaded, every
// page that is as it is in the file is mapped from the file instead, so that ranks share them, and the memfd goes away.
#include "launch/host/images.hpp"
#include "base/platform/next_function.hpp"

#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <mutex>

namespace heddle::host {
namespace {

using boot::ElfFile;

constexpr std::uintptr_t page = 4096;
constexpr std::uintptr_t page_of(std::uintptr_t address) { return address / page * page; }
constexpr std::uintptr_t page_after(std::uintptr_t address) { return page_of(address + page - 1); }

constinit platform::Next<void*(const char*, int)> next_dlopen("dlopen");

// Guards the loader's view of images: while one is made, and its pages are exchanged.
std::mutex loading;

// A descriptor with a number that is unique in this process for all time, since the loader identifies a library's copy
// by it.
int with_unique_number(int fd) {
  static std::atomic<int> next{200};  // beyond what ranks have inherited
  for (int wanted = next.fetch_add(1);; wanted = next.fetch_add(1)) {
    const int got = fcntl(fd, F_DUPFD_CLOEXEC, wanted);
    if (got >= 0 && got != wanted) {
      close(got);
      continue;
    }
    close(fd);
    return got;
  }
}

bool write_all(int fd, const void* from, std::size_t bytes, std::size_t at) {
  const auto* p = static_cast<const char*>(from);
  while (bytes > 0) {
    const ssize_t written = pwrite(fd, p, bytes, static_cast<off_t>(at));
    if (written <= 0) return false;
    p += written;
    at += static_cast<std::size_t>(written);
    bytes -= static_cast<std::size_t>(written);
  }
  return true;
}

struct Copy {
  int fd = -1;
  std::string number;
};

bool write_copy(const Part& part, const CopyNames& names, int fd) {
  const ElfFile& file = *part.pattern;
  bool good = ftruncate(fd, static_cast<off_t>(file.bytes().size())) == 0;
  for (const Elf64_Phdr& s : file.segments())
    if (s.p_type == PT_LOAD) good = good && write_all(fd, file.bytes().data() + s.p_offset, s.p_filesz, s.p_offset);
  for (const Part::Reference& reference : part.references) {
    const std::string& number = names.at(reference.name);
    good = good && write_all(fd, number.c_str(), number.size() + 1, reference.offset);
  }
  return good;
}

// Replaces the pages [begin, begin + bytes) by those at `pages`, atomically.
void exchange(void* pages, std::uintptr_t begin, std::size_t bytes) {
  mremap(pages, bytes, bytes, MREMAP_MAYMOVE | MREMAP_FIXED, reinterpret_cast<void*>(begin));
}

void map_from_file(int fd, std::size_t offset, std::uintptr_t begin, std::size_t bytes, int protection) {
  void* pages = mmap(nullptr, bytes, protection, MAP_PRIVATE, fd, static_cast<off_t>(offset));
  if (pages != MAP_FAILED) exchange(pages, begin, bytes);
}

void make_anonymous(std::uintptr_t begin, std::size_t bytes, int protection) {
  void* pages = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (pages == MAP_FAILED) return;
  memcpy(pages, reinterpret_cast<void*>(begin), bytes);
  mprotect(pages, bytes, protection);
  exchange(pages, begin, bytes);
}

int protection_of(const Elf64_Phdr& segment) {
  return ((segment.p_flags & PF_R) != 0 ? PROT_READ : 0) | ((segment.p_flags & PF_W) != 0 ? PROT_WRITE : 0) |
         ((segment.p_flags & PF_X) != 0 ? PROT_EXEC : 0);
}

// After this no page of the image comes from the memfd.
void share_pages(const Image& image) {
  const ElfFile& file = *image.part->file;
  const int fd = open(file.path().c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return;                               // then it only costs memory
  std::uintptr_t sealed_begin = 0, sealed_end = 0;  // pages that the loader has made read-only
  if (const Elf64_Phdr* relro = file.segment(PT_GNU_RELRO)) {
    sealed_begin = page_of(image.base + relro->p_vaddr);
    sealed_end = page_of(image.base + relro->p_vaddr + relro->p_memsz);
  }
  for (const Elf64_Phdr& s : file.segments()) {
    if (s.p_type != PT_LOAD) continue;
    const std::uintptr_t begin = page_of(image.base + s.p_vaddr);
    const std::uintptr_t end = page_after(image.base + s.p_vaddr + s.p_filesz);
    const std::size_t offset = page_of(s.p_offset);
    const auto same = [&](std::uintptr_t at) {
      const std::size_t in_file = offset + (at - begin);
      return in_file + page <= file.bytes().size() &&
             memcmp(reinterpret_cast<void*>(at), file.bytes().data() + in_file, page) == 0;
    };
    const auto protection = [&](std::uintptr_t at) {
      const int own = protection_of(s);
      return at >= sealed_begin && at < sealed_end ? own & ~PROT_WRITE : own;
    };
    for (std::uintptr_t at = begin; at < end;) {
      const bool shared = same(at);
      const int wanted = protection(at);
      std::uintptr_t stop = at + page;
      while (stop < end && same(stop) == shared && protection(stop) == wanted) stop += page;
      if (shared)
        map_from_file(fd, offset + (at - begin), at, stop - at, wanted);
      else
        make_anonymous(at, stop - at, wanted);
      at = stop;
    }
  }
  close(fd);
}

// Into an image, some of whose pages the loader has already made read-only.
void write(const Image& image, std::uint64_t address, const void* from, std::size_t bytes) {
  const std::uintptr_t at = image.base + address;
  const Elf64_Phdr* relro = image.part->file->segment(PT_GNU_RELRO);
  const bool sealed = relro != nullptr && at >= page_of(image.base + relro->p_vaddr) &&
                      at < page_of(image.base + relro->p_vaddr + relro->p_memsz);
  void* const pages = reinterpret_cast<void*>(page_of(at));
  const std::size_t length = page_after(at + bytes) - page_of(at);
  if (sealed) mprotect(pages, length, PROT_READ | PROT_WRITE);
  memcpy(reinterpret_cast<void*>(at), from, bytes);
  if (sealed) mprotect(pages, length, PROT_READ);
}

using Constructor = void (*)(int, char**, char**);

void call_constructors(const Image& image, int argc, char** argv, char** environment) {
  const ElfFile& file = *image.part->file;
  const auto call_all = [&](std::int64_t array, std::int64_t bytes) {
    const auto* functions = reinterpret_cast<Constructor const*>(image.base + file.dynamic_value(array));
    for (std::size_t i = 0; i < file.dynamic_value(bytes) / sizeof(Constructor); ++i)
      functions[i](argc, argv, environment);
  };
  call_all(DT_PREINIT_ARRAY, DT_PREINIT_ARRAYSZ);
  if (const std::uint64_t init = file.dynamic_value(DT_INIT); init != 0)
    reinterpret_cast<Constructor>(image.base + init)(argc, argv, environment);
  call_all(DT_INIT_ARRAY, DT_INIT_ARRAYSZ);
}

void call_destructors(const Image& image) {
  using Destructor = void (*)();
  const ElfFile& file = *image.part->file;
  const auto* functions = reinterpret_cast<Destructor const*>(image.base + file.dynamic_value(DT_FINI_ARRAY));
  for (std::size_t i = file.dynamic_value(DT_FINI_ARRAYSZ) / sizeof(Destructor); i-- > 0;) functions[i]();
  if (const std::uint64_t fini = file.dynamic_value(DT_FINI); fini != 0)
    reinterpret_cast<Destructor>(image.base + fini)();
}

}  // namespace

Result<void> Images::load(const Program& program, Variables& variables, CopyNames& known) {
  program_ = &program;
  CopyNames names = known;
  std::vector<Copy> copies(program.parts().size());
  const auto close_all = [&] {
    for (const Copy& copy : copies)
      if (copy.fd >= 0) close(copy.fd);
  };
  const auto fail = [&](const std::string& what) {
    close_all();
    return Failure{.text = what};
  };
  for (std::size_t i = 0; i < copies.size(); ++i) {
    Copy& copy = copies[i];
    copy.fd = with_unique_number(memfd_create("heddle-copy", MFD_CLOEXEC));
    if (copy.fd < 0) return fail(std::string("cannot make a copy of the program: ") + strerror(errno));
    copy.number = std::to_string(copy.fd);
    names[program.parts()[i].name] = copy.number;
  }
  for (std::size_t i = 0; i < copies.size(); ++i)
    if (!write_copy(program.parts()[i], names, copies[i].fd))
      return fail("cannot make a copy of " + program.parts()[i].name + ": " + strerror(errno));

  const std::lock_guard guard(loading);
  const std::string path = std::string(boot::host_library_path) + '/';
  handle_ = next_dlopen((path + copies[0].number).c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle_ == nullptr)
    return fail(std::string("cannot load a copy of ") + program.parts()[0].name + ": " + dlerror());
  link_map* map = nullptr;
  dlinfo(handle_, RTLD_DI_LINKMAP, &map);
  images_.resize(copies.size());
  for (; map != nullptr; map = map->l_next) {
    const auto copy = std::ranges::find_if(copies, [&](const Copy& c) { return path + c.number == map->l_name; });
    if (copy == copies.end()) continue;
    const auto i = static_cast<std::size_t>(copy - copies.begin());
    images_[i] = {&program.parts()[i], map->l_addr};
  }
  for (std::size_t i = 0; i < images_.size(); ++i)
    if (images_[i].part == nullptr) return fail("the loader took no copy of " + program.parts()[i].name);
  place_variables(variables);
  for (const Image& image : images_) share_pages(image);
  close_all();
  known = std::move(names);
  return {};
}

void Images::place_variables(Variables& variables) const {
  for (const Part::CopiedData& data : images_[0].part->copied)
    write(images_[0], data.address, reinterpret_cast<void*>(images_[data.from].base + data.from_address), data.bytes);
  for (const Image& image : images_)
    for (const Part::Use& use : image.part->uses)
      if (use.is_copy) variables.move_to(use.variable, reinterpret_cast<void*>(image.base + use.address));
  for (const Image& image : images_) {
    for (const Part::Use& use : image.part->uses) {
      if (use.is_copy) continue;
      void* const place = variables.place(use.variable);
      write(image, use.address, &place, sizeof place);
    }
    for (const Part::Replaced& replaced : image.part->replaced)
      write(image, replaced.address, &replaced.function, sizeof replaced.function);
  }
}

void Images::prepare_thread() const {
  const Elf64_Phdr* tls = images_.empty() ? nullptr : images_[0].part->file->segment(PT_TLS);
  if (tls == nullptr) return;
  // The linker has fixed the distance from the thread pointer: this block ends there.
  const std::size_t size = (tls->p_memsz + tls->p_align - 1) / tls->p_align * tls->p_align;
  auto* block = static_cast<std::byte*>(__builtin_thread_pointer()) - size;
  memcpy(block, reinterpret_cast<void*>(images_[0].base + tls->p_vaddr), tls->p_filesz);
}

void Images::construct_libraries(int argc, char** argv, char** environment) const {
  for (std::size_t i : program_->construction_order())
    if (i != 0) call_constructors(images_[i], argc, argv, environment);
}

void Images::construct_program(int argc, char** argv, char** environment) const {
  call_constructors(images_[0], argc, argv, environment);
}

void Images::destruct() const {
  const auto& order = program_->construction_order();
  for (auto i = order.rbegin(); i != order.rend(); ++i) call_destructors(images_[*i]);
}

const Image* Images::image_with(const void* address) const {
  const auto at = reinterpret_cast<std::uintptr_t>(address);
  for (const Image& image : images_)
    for (const Elf64_Phdr& s : image.part->file->segments())
      if (s.p_type == PT_LOAD && at - image.base - s.p_vaddr < s.p_memsz) return &image;
  return nullptr;
}

void* Images::entry() const { return reinterpret_cast<void*>(images_[0].base + images_[0].part->file->entry()); }

}  // namespace heddle::host
