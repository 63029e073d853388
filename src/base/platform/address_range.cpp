#include "base/platform/address_range.hpp"

#include <errno.h>
#include <sys/mman.h>

#include <atomic>
#include <cstdint>

namespace heddle::platform {
namespace {

// Between the addresses of programs at fixed places and those of libraries and of position-independent programs.
constexpr std::uintptr_t first_place = std::uintptr_t{1} << 45;
constexpr std::uintptr_t last_place = first_place + (std::uintptr_t{1} << 44);
constexpr std::size_t step = std::size_t{1} << 40;
constexpr std::size_t page = 4096;

// A place of its own for each range of this copy of the library. A process has several copies where ranks are threads whose programs are linked
// with it statically.
std::atomic<std::uintptr_t> next_place{first_place};

// Reserves exactly this place without access. False, with errno, EEXIST if it is not free. The place is a hint, which needs no
// MAP_FIXED_NOREPLACE: where a place is not for programs, ThreadSanitizer asks the kernel for address 0 instead, and root would get that.
bool reserve(std::byte* place, std::size_t bytes) {
  void* const mapped = mmap(place, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapped == MAP_FAILED || mapped == place) return mapped == place;
  munmap(mapped, bytes);
  errno = EEXIST;
  return false;
}

// Takes the page before the place for good, which another copy then cannot: false, that has the place.
bool claim(std::byte* place) { return reserve(place - page, page) || errno != EEXIST; }

// True if the kernel maps exactly there.
bool is_free(std::byte* place, std::size_t bytes) {
  if (!reserve(place, bytes)) return false;
  munmap(place, bytes);
  return true;
}

}  // namespace

bool AddressRange::find(std::size_t bytes) {
  const std::size_t steps = (bytes + page + step - 1) / step * step;
  for (std::uintptr_t at = 0; (at = next_place.fetch_add(steps)) <= last_place;) {
    auto* const place = reinterpret_cast<std::byte*>(at);
    if (!claim(place)) continue;
    // A limit on addresses or on locked memory forbids the whole range, but not the parts that will be used.
    if (!is_free(place, bytes) && (errno == EEXIST || !is_free(place, page))) continue;
    start_ = place;
    return true;
  }
  void* const space = mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (space == MAP_FAILED) return false;
  start_ = static_cast<std::byte*>(space);
  reserved_ = true;
  return true;
}

bool AddressRange::map(std::size_t at, std::size_t bytes, int file, off_t offset) const {
  std::byte* const place = start_ + at;
  const int kind = file == no_file ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED;
  const int where = reserved_ ? MAP_FIXED : MAP_FIXED_NOREPLACE;
  void* const mapped = mmap(place, bytes, PROT_READ | PROT_WRITE, kind | MAP_NORESERVE | where, file, offset);
  if (mapped == place) return true;
  if (mapped != MAP_FAILED) {  // by a kernel that does not know MAP_FIXED_NOREPLACE
    munmap(mapped, bytes);
    errno = ENOMEM;
  }
  return false;
}

}  // namespace heddle::platform
