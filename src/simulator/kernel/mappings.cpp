// Memory that several mappings share: a byte is the same at all of its addresses.
#include <errno.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "simulator/kernel/real.hpp"
#include "simulator/simulation.hpp"

namespace heddle::simulator {
namespace {

void* map(void* address, std::size_t bytes, int protection, int flags, int fd, off_t offset) {
  const long result = with_errno(
      system_call(SYS_mmap, reinterpret_cast<long>(address), static_cast<long>(bytes), protection, flags, fd, offset));
  if (result == -1 || simulation == nullptr) return reinterpret_cast<void*>(result);
  struct stat status {};
  if ((flags & MAP_SHARED) != 0 && fd >= 0 && fstat(fd, &status) == 0)
    simulation->memory.map(static_cast<std::uintptr_t>(result), bytes, status.st_ino ^ status.st_dev << 48,
                           static_cast<std::uint64_t>(offset));
  else
    simulation->memory.unmap(static_cast<std::uintptr_t>(result), bytes);
  return reinterpret_cast<void*>(result);
}

}  // namespace
}  // namespace heddle::simulator

extern "C" {

void* mmap(void* address, std::size_t bytes, int protection, int flags, int fd, off_t offset) {
  return heddle::simulator::map(address, bytes, protection, flags, fd, offset);
}
void* mmap64(void* address, std::size_t bytes, int protection, int flags, int fd, off_t offset) {
  return heddle::simulator::map(address, bytes, protection, flags, fd, offset);
}
int munmap(void* address, std::size_t bytes) {
  if (heddle::simulator::simulation != nullptr)
    heddle::simulator::simulation->memory.unmap(reinterpret_cast<std::uintptr_t>(address), bytes);
  return static_cast<int>(heddle::simulator::with_errno(
      heddle::simulator::system_call(SYS_munmap, reinterpret_cast<long>(address), static_cast<long>(bytes))));
}
}
