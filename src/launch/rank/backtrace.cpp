#include "launch/rank/backtrace.hpp"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <unistd.h>
#include <unwind.h>

// Newer C libraries find the module of an address without a lock. Elsewhere frames are printed as bare addresses:
// dladdr could wait for ever for a thread that is loading a library.
extern "C" [[gnu::weak]] int _dl_find_object(void* address, dl_find_object* result) noexcept;

namespace heddle {

namespace {

struct Walk {
  std::uintptr_t (&addresses)[most_frames];
  std::uintptr_t first;
  std::size_t count = 0;
  bool found = false;
};

_Unwind_Reason_Code step(_Unwind_Context* context, void* data) {
  Walk& walk = *static_cast<Walk*>(data);
  int before_instruction = 0;
  const std::uintptr_t address = _Unwind_GetIPInfo(context, &before_instruction);
  if (address == 0) return _URC_END_OF_STACK;
  if (address == walk.first) {  // the frames above are the handler's
    walk.count = 0;
    walk.found = true;
  }
  if (walk.count == most_frames) return _URC_END_OF_STACK;
  walk.addresses[walk.count++] = address;
  return _URC_NO_REASON;
}

// The symbols in a module's dynamic section.
struct Symbols {
  const ElfW(Sym) * table = nullptr;
  const char* names = nullptr;
  std::size_t count = 0;
};

// The number of symbols is only in the hash table, as the end of the chain that begins last.
std::size_t count_symbols(const std::uint32_t* hash) {
  const std::uint32_t buckets = hash[0], first = hash[1], bloom_words = hash[2];
  const std::uint32_t* const bucket = hash + 4 + bloom_words * (sizeof(ElfW(Addr)) / sizeof(std::uint32_t));
  std::uint32_t last = 0;
  for (std::uint32_t i = 0; i < buckets; ++i)
    if (bucket[i] > last) last = bucket[i];
  if (last < first) return first;
  const std::uint32_t* const chain = bucket + buckets;
  while ((chain[last - first] & 1) == 0) ++last;
  return last + 1;
}

Symbols symbols_of(const link_map& module) {
  Symbols symbols;
  for (const ElfW(Dyn)* entry = module.l_ld; entry != nullptr && entry->d_tag != DT_NULL; ++entry) {
    // The loader has made addresses of them; those of the kernel's own module are still offsets.
    std::uintptr_t address = entry->d_un.d_ptr;
    if (address < module.l_addr) address += module.l_addr;
    if (entry->d_tag == DT_SYMTAB) symbols.table = reinterpret_cast<const ElfW(Sym)*>(address);
    if (entry->d_tag == DT_STRTAB) symbols.names = reinterpret_cast<const char*>(address);
    if (entry->d_tag == DT_GNU_HASH) symbols.count = count_symbols(reinterpret_cast<const std::uint32_t*>(address));
  }
  return symbols;
}

void find_symbol(const link_map& module, Frame& frame) {
  const Symbols symbols = symbols_of(module);
  if (symbols.table == nullptr || symbols.names == nullptr) return;
  for (std::size_t i = 0; i < symbols.count; ++i) {
    const ElfW(Sym)& symbol = symbols.table[i];
    const bool is_function = (symbol.st_info & 0xf) == STT_FUNC && symbol.st_shndx != SHN_UNDEF;
    if (!is_function || frame.offset < symbol.st_value || frame.offset - symbol.st_value >= symbol.st_size) continue;
    frame.symbol = symbols.names + symbol.st_name;
    frame.distance = frame.offset - symbol.st_value;
    return;
  }
}

// The program's own path: the loader keeps an empty one.
const char* program_path() {
  static char path[4096];
  const ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
  path[length > 0 ? length : 0] = '\0';
  return length > 0 ? path : "the program";
}

}  // namespace

std::size_t collect_frames(std::uintptr_t (&addresses)[most_frames], std::uintptr_t first) {
  Walk walk{addresses, first};
  (void)_Unwind_Backtrace(step, &walk);
  if (!walk.found) addresses[0] = first;
  return walk.found ? walk.count : 1;
}

Frame find_frame(std::uintptr_t address) {
  Frame frame{.address = address};
  dl_find_object found{};
  if (_dl_find_object == nullptr || _dl_find_object(reinterpret_cast<void*>(address), &found) != 0) return frame;
  const link_map* const module = found.dlfo_link_map;
  if (module == nullptr) return frame;
  frame.module = module->l_name != nullptr && module->l_name[0] != '\0' ? module->l_name : program_path();
  frame.offset = address - module->l_addr;
  find_symbol(*module, frame);
  return frame;
}

}  // namespace heddle
