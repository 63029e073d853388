#include "mpi/io/mapping.hpp"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/mman.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <iterator>
#include <string>

namespace heddle::io {

namespace {

constexpr std::int64_t page = 4096;
constexpr int populate_write = 23;       // MADV_POPULATE_WRITE, since Linux 5.14; older headers lack it
constexpr long xfs_magic = 0x58465342;   // XFS_SUPER_MAGIC, which no installed header has
constexpr long f2fs_magic = 0xf2f52010;  // F2FS_SUPER_MAGIC

bool is_local(int descriptor) {
  static constexpr long local[] = {EXT4_SUPER_MAGIC,      TMPFS_MAGIC, BTRFS_SUPER_MAGIC,
                                   OVERLAYFS_SUPER_MAGIC, xfs_magic,   f2fs_magic};
  struct statfs system {};
  return fstatfs(descriptor, &system) == 0 &&
         std::ranges::find(local, static_cast<long>(system.f_type)) != std::end(local);
}

// A shared mapping for stores needs a descriptor that may read, too. Returns an own one, or -1. A rank that is a thread has a
// table of descriptors of its own.
int open_again(int descriptor) {
  return ::open(("/proc/thread-self/fd/" + std::to_string(descriptor)).c_str(), O_RDWR | O_CLOEXEC);
}

}  // namespace

Mapping::Mapping(const Device& device, std::int64_t offset, std::int64_t bytes) {
  const int descriptor = device.descriptor();
  if (device.is_stream() || bytes <= 0 || !is_local(descriptor)) return;
  const int mode = fcntl(descriptor, F_GETFL);
  if (mode < 0 || (mode & O_ACCMODE) == O_RDONLY) return;
  const bool again = (mode & O_ACCMODE) != O_RDWR;
  const int readable = again ? open_again(descriptor) : descriptor;
  if (readable < 0) return;
  begin_ = offset / page * page;
  length_ = static_cast<std::size_t>(offset - begin_ + bytes);
  void* const pages = mmap(nullptr, length_, PROT_READ | PROT_WRITE, MAP_SHARED, readable, begin_);
  if (again) ::close(readable);
  if (pages == MAP_FAILED) return;
  // Reads the bytes between the runs, and reserves room on the device: a store could only report either failure by a
  // signal.
  if (madvise(pages, length_, populate_write) != 0) {
    munmap(pages, length_);
    return;
  }
  pages_ = static_cast<std::byte*>(pages);
}

Mapping::~Mapping() {
  if (pages_ != nullptr) munmap(pages_, length_);
}

}  // namespace heddle::io
