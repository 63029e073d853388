// The executable of a host. Its only thread-local variable is the room for those of the program: they lie at distances
// from the thread pointer that the linker has fixed, as if the program were this executable.
#include <link.h>

#include "launch/boot/host_plan.hpp"
#include "launch/host/host.hpp"

namespace {

[[gnu::used]] alignas(heddle::boot::host_tls_alignment) thread_local char room[heddle::boot::host_tls_bytes];

struct Room {
  unsigned long bytes = 0;
  unsigned long alignment = 1;
};

// As the loader has found it, which may be more than was compiled in (mpiexec makes it larger where a program needs it).
int find_room(dl_phdr_info* info, std::size_t, void* found) {
  for (int i = 0; i < info->dlpi_phnum; ++i)
    if (info->dlpi_phdr[i].p_type == PT_TLS)
      *static_cast<Room*>(found) = {info->dlpi_phdr[i].p_memsz, info->dlpi_phdr[i].p_align};
  return 1;  // the first is the executable
}

}  // namespace

int main() {
  Room found;
  dl_iterate_phdr(find_room, &found);
  return heddle_host_main(found.bytes, found.alignment);
}
