#include "base/platform/sparse_memory.hpp"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

namespace heddle::platform {
namespace {

bool identify(int file, std::uint64_t (&identity)[2]) {
  struct stat about {};
  if (fstat(file, &about) != 0) return false;
  identity[0] = about.st_dev;
  identity[1] = about.st_ino;
  return true;
}

}  // namespace

SparseMemory::SparseMemory(std::size_t bytes, int file, std::string path)
    : bytes_(bytes), file_(file), path_(std::move(path)), identity_{}, mapped_(bytes / part_bytes + 1) {}

SparseMemory::~SparseMemory() {
  if (file_ != AddressRange::no_file && has_file()) close(file_);
}

std::shared_ptr<SparseMemory> SparseMemory::make(std::size_t bytes) { return make(bytes, AddressRange::no_file, {}); }

std::shared_ptr<SparseMemory> SparseMemory::make(std::size_t bytes, int file, std::string path) {
  std::shared_ptr<SparseMemory> memory(new SparseMemory(bytes, file, std::move(path)));
  if (file != AddressRange::no_file && !identify(file, memory->identity_)) return nullptr;
  return memory->range_.find(bytes) ? memory : nullptr;
}

// True if the descriptor is still that of the file.
bool SparseMemory::has_file() {
  std::uint64_t now[2];
  return identify(file_, now) && std::equal(now, now + 2, identity_);
}

[[gnu::cold, gnu::noinline]] bool SparseMemory::map_missing(std::size_t first, std::size_t last) {
  const std::lock_guard guard(mutex_);
  if (file_ != AddressRange::no_file && !has_file()) {
    const int again = path_.empty() ? -1 : open(path_.c_str(), O_RDWR | O_CLOEXEC);
    if (again < 0) return false;
    file_ = again;
    if (!has_file()) {
      close(std::exchange(file_, -2));
      errno = EBADF;
      return false;
    }
  }
  for (std::size_t part = first; part <= last; ++part) {
    if (mapped_[part].load(std::memory_order_relaxed) != 0) continue;
    const std::size_t at = part * part_bytes, n = std::min(part_bytes, bytes_ - at);
    if (!range_.map(at, n, file_, static_cast<off_t>(at))) return false;
    // The shared state of the ranks is of little use after their end, and a core dump would read each page.
    madvise(start() + at, n, MADV_DONTDUMP);
    mapped_[part].store(1, std::memory_order_release);
  }
  return true;
}

}  // namespace heddle::platform
